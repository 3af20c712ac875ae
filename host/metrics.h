/* SPDX-License-Identifier: MIT */
/* The numbers a run reports. Each is a sum and a weight and shown as their quotient;
 * index 0 is always the loss. Training keeps two sums of each: since the last record,
 * and since the epoch began. */
#ifndef HOST_METRICS_H
#define HOST_METRICS_H

#include <stdbool.h>

#include <lathe/host.h>

#include "base/error.h"
#include "base/text.h"
#include "json.h"

enum split { SPLIT_TRAIN = 0, SPLIT_VALIDATION, SPLIT_TEST, SPLIT_COUNT };
extern const char *const split_names[SPLIT_COUNT]; /* "train", "validation", "test" */

#define METRICS_LOSS 0

struct metrics;

lathe_status metrics_create(struct metrics **metrics, struct error *err);
/* Returns the index, or -1: the name is taken (LATHE_EINVAL) or there is no memory. */
int32_t metrics_declare(struct metrics *metrics, const char *name, uint32_t flags,
                        struct error *err);
/* Says that a split will be visited, so that its metrics can be watched. */
void metrics_open_split(struct metrics *metrics, enum split split);
int64_t metrics_count(const struct metrics *metrics); /* of declared names */
const char *metrics_name(const struct metrics *metrics, int64_t index);

void metrics_add(struct metrics *metrics, enum split split, int64_t index, double sum,
                 double weight);
/* Forgets the sums of a split: before a visit, and where an epoch begins. */
void metrics_restart(struct metrics *metrics, enum split split);
/* Means become the values in force: of the visit, or in training since the last record
 * (whose sums start again), produced at `step`. */
void metrics_settle(struct metrics *metrics, enum split split, int64_t step);
/* In training, at an epoch's end: the epoch's means become the values in force. */
void metrics_settle_epoch(struct metrics *metrics, int64_t step);

/* A watched number is index * SPLIT_COUNT + split. -1: unknown name or closed split. */
int32_t metrics_find(const struct metrics *metrics, const char *full_name);
/* Fills as much of *view as its size covers; `watched` in 0 … count*SPLIT_COUNT-1. */
void metrics_view(const struct metrics *metrics, int32_t watched,
                  lathe_metric_view *view);
/* The n-th number of an open split, or -1 past the last. */
int32_t metrics_at(const struct metrics *metrics, int64_t n);

/* {"loss":…,"accuracy":…} of the values last settled at `step`, with what is not finite
 * as null and named in "nonfinite": ,"metrics":{…}[,"nonfinite":{…}] */
void metrics_write(const struct metrics *metrics, enum split split, int64_t step,
                   struct text *text);
/* The same over all splits with full names, whatever their step. */
void metrics_write_all(const struct metrics *metrics, struct text *text);

/* Remembers all sums and values, so that what comes next can be taken back; taking back
 * twice is to have it again. */
void metrics_mark(struct metrics *metrics);
void metrics_take_back(struct metrics *metrics);
/* All sums and values, by full name, for metrics_load; NULL: out of memory. The map is
 * the caller's. */
struct json *metrics_save(const struct metrics *metrics);
/* Takes what `save` gave; names that are not declared any more are left out.
 * LATHE_EDATA: it is something else, and nothing was taken. */
lathe_status metrics_load(struct metrics *metrics, const struct json *saved,
                          struct error *err);
void metrics_destroy(struct metrics *metrics);

#endif
