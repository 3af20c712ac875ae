/* SPDX-License-Identifier: MIT */
/* A composed session seen from outside, for the program: what it is made of, with the
 * arithmetic of its loop in numbers; the loop turned without calling anybody; the ring
 * of its calls. Nothing here changes what a run does. */
#ifndef HOST_PLAN_H
#define HOST_PLAN_H

#include <lathe/session.h>

#include "base/duration.h"
#include "base/plain.h"
#include "json.h"
#include "ring.h"

/* Of the present stage, before its first step: after lathe_open, or while options.trace
 * gets PLAN_STAGE. The caller's; NULL: out of memory.
 *
 *   name, seed, stage, stages
 *   plugins      [{path, kind, name, id, version, library, points, saves, notes}] as
 *                composed; points: those a callback subscribed to, and the functions
 *                that not all plugins of a kind have; saves: "window", "rest", null:
 *                when its state; notes: {name: text} of how it works
 *   values, origin          as in resolved.json
 *   data         {train: {samples, batches, last_batch}, …}
 *   loop         {until: [text], steps, steps_per_epoch, micros_per_epoch,
 *                 window: {micros, samples}, last_window: {micros, samples}}; steps and
 *                 all that depends on it null where only time bounds the run
 *   slices       {shards, full: [rows], last: [rows]}, threads, cores
 *   prefetch     {ahead: "no" | "yes" | "when it pays", why}
 *   rate         {start, peak, peak_step, end, observes}
 *   parameters   {count, floats, trained, groups: [{match, parameters, floats, rate}]}
 *   memory       {weights, gradients, slots, own, total} in bytes of blocks
 *   checkpoint   bytes of tensors
 *   kernels      "OpenBLAS Haswell", or null */
#define PLAN_STAGE "host                     stage " /* how its line begins */
struct json *plan_describe(lathe_session *session);
/* Turns host/loop.c for so many steps (NULL: all), with every call left out as if it
 * had returned LATHE_OK: options.trace gets the calls. Nothing takes any time, so what
 * only a time bounds is over at once. The session is spent then. LATHE_EINVAL: the
 * length is a time. */
lathe_status plan_turn(lathe_session *session, const struct duration *length,
                       struct error *err);
/* Borrowed until lathe_close; from the beginning of lathe_open on, which puts the
 * session where it was told to before it composes. */
const struct ring *plan_ring(const lathe_session *session);
/* The directory will be removed: from now on no message names it, or tells how to go
 * on. */
void plan_hide_directory(lathe_session *session);
/* The directory of the run; NULL: none, or not yet. */
const char *plan_directory(const lathe_session *session);
/* Is there a file of that name, and is it data that the session reads? */
bool plan_reads(const lathe_session *session, const char *path);
/* In a handler of SIGBUS: was it a data file that has become shorter? Then whoever read
 * it can go on, and the run ends once it has. */
bool plan_mend(const lathe_session *session, const void *address);
/* In a signal handler, the end being near: notes in the directory's status.json that
 * the run has failed, and where. */
void plan_note_crash(const lathe_session *session, int directory, int exit_code);
/* The end record of such a run, as far as it is known then; session NULL: there is none
 * yet. Safe in a signal handler. */
void plan_end_record(const lathe_session *session, struct plain *record);

#endif
