/* SPDX-License-Identifier: MIT */
/* Writes where the records of a run go. */
#include <stdio.h>

#include <lathe/callback.h>

__attribute__((constructor)) static void load(void) {
    puts("\x01 garbage {");
}

static lathe_status make(const lathe_host *host, void **self) {
    (void)host, (void)self;
    return LATHE_OK;
}

LATHE_CALLBACK(.create = make);
