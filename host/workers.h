/* SPDX-License-Identifier: MIT */
/* The threads of one session. They share out a fixed number of parts and meet again
 * before `workers_run` returns; which thread does which part changes no bit of any
 * result. The calling thread is worker 0, so with one worker there is no thread and no
 * lock. */
#ifndef HOST_WORKERS_H
#define HOST_WORKERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct workers;

/* Threads start with IEEE arithmetic, or with denormals flushed where that is asked for
 * (`workers_run` then sets it for the calling thread too, for as long as it runs). */
lathe_status workers_create(int count, bool flush_denormals, struct workers **workers,
                            struct error *err);
int workers_count(const struct workers *workers);
/* Calls part(context, worker) once on every worker, and returns when all are back. */
void workers_run(struct workers *workers, void (*part)(void *context, int worker),
                 void *context);
void workers_destroy(struct workers *workers);

/* Which worker the calling thread is, of whichever session; -1: nobody's. */
int workers_self(void);
/* How many processors this process may use. */
int workers_cores(void);
/* The calling thread turns a loop: it is worker 0 from now on. */
void workers_adopt(void);

#endif
