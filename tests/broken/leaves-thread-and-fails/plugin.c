/* SPDX-License-Identifier: MIT */
/* Leaves as much behind as leaves-thread, and fails: its status is what counts. */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <lathe/callback.h>

static pthread_key_t key;

static void forget(void *value) {
    free(value);
}

static void at_exit(void) {
    usleep(1000);
}

__attribute__((destructor)) static void unload(void) {
    usleep(1000);
}

static void *linger(void *context) {
    pthread_setspecific(key, malloc(1));
    for (;;) usleep(100);
    return context;
}

static lathe_status make(const lathe_host *host, void **self) {
    pthread_t thread;
    (void)self;
    if (pthread_key_create(&key, forget) || atexit(at_exit) ||
        pthread_create(&thread, NULL, linger, NULL) || pthread_detach(thread))
        return lathe_fail(host, LATHE_ENOMEM, "no thread");
    pthread_setspecific(key, malloc(1));
    return lathe_fail(host, LATHE_EDATA, "enough is left behind");
}

LATHE_CALLBACK(.create = make);
