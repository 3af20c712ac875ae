/* SPDX-License-Identifier: MIT */
/* Two runs beside one another, by what their directories hold: what is different in
 * how they were made, and where what came out of them parts. For `diff` and
 * `reproduce`; nothing is run. The report is JSON (manifests/README.md has it), its
 * text is made of that. */
#ifndef HOST_COMMANDS_COMPARE_H
#define HOST_COMMANDS_COMPARE_H

#include "json.h"

struct side {
    char *run;             /* its directory */
    struct json *receipt;  /* receipt.json, or what it would be now */
    struct json *resolved; /* resolved.json; NULL: not there */
    struct json *records;  /* metrics.jsonl as a list; NULL: not there */
    bool is_packed;        /* from a bundle, where its data has other paths */
};

/* Of a run's directory. has_receipt: what it holds has to be what its receipt.json
 * says, LATHE_EDATA; else a receipt is made of what is there. LATHE_ENOTFOUND: it is no
 * run, or one without a receipt. Finish it in any case. */
lathe_status side_open(const char *run, bool has_receipt, struct side *side,
                       struct error *err);
void side_finish(struct side *side);

/* How much is compared. */
struct scope {
    int64_t steps; /* what came after this step is left out; < 0: nothing is */
    bool is_part; /* b may hold records that a has not, and ends where it was told to */
};

/* The report: {"settings", "plugins", "data", "environment": [{"what", "a", "b"}],
 * "apart": null or {"step", "epoch", "what", "a", "b"}, "compared": {"records",
 * "weights": [step]}, "metrics": [{"what", "a", "b"}]}; the caller's; NULL: out of
 * memory. */
struct json *compare_sides(const struct side *a, const struct side *b,
                           struct scope scope);
#define COMPARE_NOTHING "no record and no weights are there on both sides"
/* Was anything of what came out compared? LATHE_ENOTFOUND: neither records nor weights,
 * so that nothing can be said of it. */
lathe_status compare_check(const struct json *report, struct error *err);
/* Does any list of the report hold something, or do they part? */
bool compare_has_difference(const struct json *report);

/* Says what differs in how they were made, a group of lines for each list. */
void compare_write_causes(const struct json *report, struct text *text);
/* "train/loss at step 50 (epoch 1): 0.5 and 0.6" */
void compare_write_apart(const struct json *apart, struct text *text);
/* "40 steps, 9 records, weights at 3 steps" */
void compare_write_compared(const struct json *report, int64_t steps,
                            struct text *text);
/* Lines of "what  a  b" of one list. */
void compare_write_list(const struct json *list, struct text *text);

/* ---- compare*.c to one another ---- */

/* Puts "settings", "plugins", "data", "environment" in; false: out of memory. */
bool compare_causes(struct json *report, const struct side *a, const struct side *b);

/* The first record in which they part, within the scope; NULL: none. *count: of those
 * that are the same up to there. false in *is_whole: out of memory. */
struct json *compare_records(const struct side *a, const struct side *b,
                             struct scope scope, int64_t *count, bool *is_whole);
/* The item of [{"step"}] that is of the step; NULL: there is none. */
const struct json *compare_find_step(const struct json *list, int64_t step);
/* The last value of each metric, where they differ; NULL: out of memory. */
struct json *compare_ends(const struct side *a, const struct side *b);
/* {"what", "a", "b"}; values are cloned, NULL is null. */
struct json *compare_pair(const char *what, const struct json *a, const struct json *b);

#endif
