/* SPDX-License-Identifier: MIT */
/* Takes what signals do for itself, and blocks them: all is put back, and it is
 * named. */
#define _DEFAULT_SOURCE
#include <signal.h>

#include <lathe/callback.h>

static void nothing(int number) {
    (void)number;
}

static lathe_status make(const lathe_host *host, void **self) {
    sigset_t all;
    (void)host, (void)self;
    signal(SIGSEGV, nothing);
    signal(SIGINT, nothing);
    signal(SIGPIPE, nothing);
    signal(SIGCHLD, SIG_IGN);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    return LATHE_OK;
}

LATHE_CALLBACK(.create = make);
