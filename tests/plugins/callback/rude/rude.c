/* SPDX-License-Identifier: MIT */
/* Ends the process, prints to stdout, or closes what the process was given. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lathe/callback.h>

struct rude {
    const char *point, *act;
};

static void act(const struct rude *rude, const char *point) {
    if (strcmp(rude->point, point) != 0) return;
    if (!strcmp(rude->act, "exit")) exit(0);
    if (!strcmp(rude->act, "close"))
        for (int fd = 0; fd <= 2; fd++) close(fd);
    printf("noise of a plugin\n");
}

static lathe_status create(const lathe_host *host, void **self) {
    struct rude *rude = calloc(1, sizeof *rude);
    if (!rude) return lathe_fail(host, LATHE_ENOMEM, "no memory");
    rude->point = lathe_string(host, "point");
    rude->act = lathe_string(host, "act");
    act(rude, "create");
    *self = rude;
    return LATHE_OK;
}

static lathe_status step_end(void *self, const lathe_moment *at) {
    (void)at;
    act(self, "step_end");
    return LATHE_OK;
}

LATHE_CALLBACK(.create = create, .destroy = free, .step_end = step_end);
