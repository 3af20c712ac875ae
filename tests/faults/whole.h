/* SPDX-License-Identifier: MIT */
/* A run whose end is known, and the same run disturbed: it stops and says why, leaves
 * what can be resumed, and comes to the same bits once the cause is gone. Include after
 * test.h and scratch.h. */
#ifndef TESTS_FAULTS_WHOLE_H
#define TESTS_FAULTS_WHOLE_H

#include "support/turns.h"

#include <sys/stat.h>

#include "checkpoints.h"

/* 10 steps of windows of 3, the last of an epoch short; all that keeps state. Files are
 * written at most of them. */
static const char whole_experiment[] =
    "{ \"lathe\": 1, \"name\": \"whole\", \"seed\": 7,"
    "  \"data\": {"
    "    \"train\": { \"use\": \"slow\", \"of\": { \"use\": \"ids\", \"count\": 26,"
    "                 \"inputs\": [1, 2, 0.5], \"noise\": 0.25 } },"
    "    \"validation\": { \"use\": \"ids\", \"count\": 7, \"inputs\": [1, 3] } },"
    "  \"model\": { \"use\": \"scalar\", \"square\": true, \"start\": 3 },"
    "  \"optimizer\": { \"use\": \"adamw\", \"lr\": 0.05 },"
    "  \"schedule\": { \"use\": \"plateau\", \"watch\": \"validation/loss\","
    "                  \"patience\": 1, \"factor\": 0.7, \"threshold\": 0.2 },"
    "  \"train\": { \"until\": \"2ep\", \"batch\": 2, \"accumulate\": 3, \"shards\": 2,"
    "               \"validate\": \"4step\", \"log\": \"3step\" },"
    "  \"callbacks\": ["
    "    { \"use\": \"ema\", \"decay\": 0.8 },"
    "    { \"use\": \"early-stopping\", \"patience\": 9 }, { \"use\": \"csv\" },"
    "    { \"use\": \"checkpoint\", \"every\": \"3step\", \"best\": "
    "\"validation/loss\" },"
    "    { \"use\": \"ledger\" }, { \"use\": \"chaos\", \"act\": \"none\" } ] }";

static const char *const whole_calm[] = {"callbacks.chaos.act=none",
                                         "callbacks.ledger.fails=never", NULL};

/* What a run left that must be the same: every tensor of its newest checkpoint, which
 * has the state of plugins too, then the files of metrics. The caller's; *tensors of
 * its bytes are tensors. */
static inline char *whole_left(const char *run, size_t *tensors, size_t *size) {
    struct text all = {0};
    struct safetensors *file = NULL;
    struct error err = {0};
    char *path = NULL;
    if (checkpoints_newest(run, &(struct log){0}, &file, &path, &err) != LATHE_OK)
        text_format(&all, "%s\n", err.what);
    for (size_t i = 0; file && i < safetensors_count(file); i++) {
        const struct safetensor *tensor = safetensors_at(file, i);
        char *bytes = malloc((size_t)tensor->bytes + 1);
        text_format(&all, "%s %s ", tensor->name, tensor->dtype);
        if (safetensors_read(file, tensor, bytes, NULL) == LATHE_OK)
            text_add_bytes(&all, bytes, (size_t)tensor->bytes);
        free(bytes);
    }
    *tensors = all.length;
    text_format(&all, "\n%s", path ? strrchr(path, '/') : "no checkpoint");
    safetensors_close(file);
    free(path);
    char *metrics = read_whole(run, "metrics.jsonl"),
         *csv = read_whole(run, "results.csv");
    text_format(&all, "\n%s\n%s", metrics, csv);
    free(metrics);
    free(csv);
    *size = all.length;
    return all.data;
}

struct whole {
    struct scratch scratch;
    char run[300]; /* of the disturbed one */
    char *left;    /* by the one that was not */
    size_t tensors, left_size;
};

static inline void whole_begin(struct whole *whole) {
    scratch_init_fast(&whole->scratch);
    const char *path = scratch_path(&whole->scratch, "whole");
    struct outcome outcome = turn(whole_experiment, path, 1, NULL);
    if (outcome.status != LATHE_OK)
        fail_msg("%s; %s", outcome.error.what, outcome.error.where);
    finish(&outcome);
    whole->left = whole_left(path, &whole->tensors, &whole->left_size);
    snprintf(whole->run, sizeof whole->run, "%s/run", whole->scratch.directory);
}

static inline void whole_end(struct whole *whole) {
    free(whole->left);
    scratch_finish(&whole->scratch);
}

/* The disturbed one came to the same, after all; and is no more. */
static inline void whole_compare(struct whole *whole, const char *when) {
    size_t tensors, size;
    char *left = whole_left(whole->run, &tensors, &size);
    if (tensors != whole->tensors || memcmp(left, whole->left, tensors) != 0)
        fail_msg("%s: other tensors are in%s", when, left + tensors);
    if (strcmp(left + tensors, whole->left + tensors) != 0)
        fail_msg("%s: it left%s\nnot%s", when, left + tensors, whole->left + tensors);
    free(left);
    scratch_run(&whole->scratch, "rm -rf run");
}

static inline bool whole_is_begun(const struct whole *whole) {
    char *path = text_make("%s/resolved.json", whole->run);
    const bool is_begun = !access(path, F_OK);
    free(path);
    return is_begun;
}

/* Goes on, or begins again where nothing was begun. */
static inline void whole_go_on(struct whole *whole, int threads,
                               const char *const *overrides, const char *when) {
    const char *experiment = whole_is_begun(whole) ? NULL : whole_experiment;
    struct outcome found = turn(experiment, whole->run, threads, overrides);
    if (found.status != LATHE_OK || strcmp(found.reason, "completed") != 0)
        fail_msg("%s: %s; %s", when, found.error.what, found.error.where);
    finish(&found);
    whole_compare(whole, when);
}

#endif
