/* SPDX-License-Identifier: MIT */
/* Goes, and leaves a thread, a key with a destructor and a handler of exit behind: all
 * run on in code that must still be there, and change no exit status. */
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
    return LATHE_OK;
}

LATHE_CALLBACK(.create = make);
