/* SPDX-License-Identifier: MIT */
/* What `explain` shows, made from plan_describe's JSON: the loop as a drawing, and all
 * of it as text. */
#ifndef HOST_COMMANDS_EXPLAIN_H
#define HOST_COMMANDS_EXPLAIN_H

#include "json.h"

/* The loop as the calls it will make, outermost first: [{depth, call, who, note}]. The
 * caller's; NULL: out of memory. */
struct json *explain_draw(const struct json *plan);
/* For people: the plans of all stages, each with its "drawing". */
void explain_write(const struct json *stages, const char *experiment,
                   struct text *text);
/* The value at a path of the experiment, such as "train.log"; NULL: there is none.
 * Borrowed. */
const struct json *explain_value(const struct json *plan, const char *path);
/* "every 1ep or 30min": a duration or a list of them. */
void explain_add_durations(const struct json *durations, struct text *text);

#endif
