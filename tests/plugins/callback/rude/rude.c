/* SPDX-License-Identifier: MIT */
/* Ends the process or has it told to end, prints to stdout, closes what the process was
 * given, or starts threads. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lathe/callback.h>

struct rude {
    const char *point, *act;
};

static void *wait_for_end(void *unused) {
    for (;;) pause();
    return unused;
}

static void start_threads(void) {
    pthread_t thread;
    for (int i = 0; i < 2; i++)
        if (!pthread_create(&thread, NULL, wait_for_end, NULL)) pthread_detach(thread);
}

static void act_at(const struct rude *rude, const char *point) {
    if (strcmp(rude->point, point) != 0) return;
    const char *act = rude->act;
    if (!strcmp(act, "exit")) exit(0);
    if (!strcmp(act, "quick-exit")) quick_exit(0);
    if (!strcmp(act, "vanish")) _exit(0);
    if (!strcmp(act, "interrupt")) kill(getpid(), SIGINT);
    if (!strcmp(act, "terminate")) kill(getpid(), SIGTERM);
    if (!strcmp(act, "threads")) start_threads();
    if (!strcmp(act, "close"))
        for (int fd = 0; fd <= 2; fd++) close(fd);
    if (!strcmp(act, "print") || !strcmp(act, "close")) printf("noise of a plugin\n");
}

static lathe_status create(const lathe_host *host, void **self) {
    struct rude *rude = calloc(1, sizeof *rude);
    if (!rude) return lathe_fail(host, LATHE_ENOMEM, "no memory");
    rude->point = lathe_string(host, "point");
    rude->act = lathe_string(host, "act");
    act_at(rude, "create");
    *self = rude;
    return LATHE_OK;
}

static lathe_status step_end(void *self, const lathe_moment *at) {
    (void)at;
    act_at(self, "step_end");
    return LATHE_OK;
}

static void destroy(void *self) {
    if (self) act_at(self, "destroy");
    free(self);
}

LATHE_CALLBACK(.create = create, .destroy = destroy, .step_end = step_end);
