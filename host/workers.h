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
/* The calling thread computes as the workers do, until it ends that with what begin
 * returned. */
uint32_t workers_begin_arithmetic(const struct workers *workers);
void workers_end_arithmetic(uint32_t before);
void workers_destroy(struct workers *workers);

/* A single thread beside those of a session, as its worker of this number: it works
 * while the caller does something else. */
lathe_status workers_create_beside(int number, bool flush_denormals,
                                   struct workers **workers, struct error *err);
/* It calls part(context, number). Returns at once; what it had before is done. */
void workers_start(struct workers *workers, void (*part)(void *context, int worker),
                   void *context);
void workers_wait(struct workers *workers); /* until it is done, if it began */

/* Which worker the calling thread is, of whichever session; -1: nobody's. */
int workers_self(void);
/* How many processors this process may use. */
int workers_cores(void);
/* The calling thread turns a loop: it is worker 0 from now on. */
void workers_adopt(void);

#endif
