/* SPDX-License-Identifier: MIT */
/* Logs from eight threads of its own, which any may, and asks for the weights from one,
 * which only the loop's may. */
#define _DEFAULT_SOURCE
#include <pthread.h>

#include <lathe/callback.h>

#define THREADS 8

static lathe_status make(const lathe_host *host, void **self) {
    *self = (void *)host;
    return LATHE_OK;
}

static void *log_lines(void *context) {
    for (int i = 0; i < 100; i++) lathe_log(context, LATHE_LOG_DEBUG, "line %d", i);
    return NULL;
}

static void *take_weights(void *context) {
    const lathe_host *host = context;
    host->weights(host, LATHE_READ);
    return NULL;
}

static lathe_status step_end(void *self, const lathe_moment *at) {
    pthread_t threads[THREADS];
    (void)at;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, log_lines, self)) return LATHE_ENOMEM;
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    if (pthread_create(&threads[0], NULL, take_weights, self)) return LATHE_ENOMEM;
    pthread_join(threads[0], NULL);
    return LATHE_OK;
}

LATHE_CALLBACK(.create = make, .step_end = step_end);
