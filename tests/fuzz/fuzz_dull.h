/* SPDX-License-Identifier: MIT */
/* A host that answers everything and does nothing, for any callback or schedule: one
 * metric, due at every step, a model of eight weights. Options are the defaults; what
 * is left out but may name a metric names that one. */
#ifndef TESTS_FUZZ_FUZZ_DULL_H
#define TESTS_FUZZ_FUZZ_DULL_H

#include "fuzz.h"

#include <lathe/draft/checkpoint.h>

#include "support/fake_host.h"

#define DULL_METRIC "validation/loss"

#define DULL_WEIGHTS 8
#define DULL_BLOCKS 8

struct dull_host {
    struct fake_host host; /* first: a host's context is its fake */
    double value;          /* of the metric */
    float memory[DULL_BLOCKS][DULL_WEIGHTS];
    int blocks;
};

static inline struct dull_host *dull_of(const lathe_host *host) {
    return host->context;
}

static inline int32_t dull_metric(const lathe_host *host, const lathe_metric *metric) {
    (void)host, (void)metric;
    return 0;
}

static inline void dull_report(const lathe_host *host, int32_t metric, double sum,
                               double weight) {
    (void)host, (void)metric, (void)sum, (void)weight;
}

static inline int32_t dull_index(const lathe_host *host, const char *name) {
    (void)host, (void)name;
    return 0;
}

static inline int32_t dull_value(const lathe_host *host, int32_t index, double *value) {
    (void)index;
    *value = dull_of(host)->value;
    return 1;
}

static inline int64_t dull_count(const lathe_host *host) {
    (void)host;
    return 1;
}

static inline lathe_status dull_metric_at(const lathe_host *host, int64_t i,
                                          lathe_metric_view *view) {
    if (i) return LATHE_END;
    view->name = DULL_METRIC;
    view->value = dull_of(host)->value;
    return LATHE_OK;
}

static inline int32_t dull_due(const lathe_host *host, int32_t every) {
    (void)host, (void)every;
    return 1;
}

static inline void dull_request(const lathe_host *host, uint32_t what,
                                const char *reason) {
    (void)host, (void)what;
    FUZZ_CHECK(!reason || fuzz_is_line(reason));
}

static inline lathe_status dull_parameter(const lathe_host *host, int64_t i,
                                          lathe_parameter_view *view) {
    (void)host;
    if (i) return LATHE_END;
    view->name = "weight";
    view->count = view->shape[0] = DULL_WEIGHTS;
    view->rank = 1;
    return LATHE_OK;
}

static inline float *dull_memory(const lathe_host *host, uint32_t access) {
    (void)access;
    return dull_of(host)->memory[0];
}

static inline float *dull_block(const lathe_host *host, const char *name) {
    struct dull_host *dull = dull_of(host);
    (void)name;
    FUZZ_CHECK(dull->blocks + 1 < DULL_BLOCKS);
    return dull->memory[++dull->blocks];
}

static inline void dull_evaluate_with(const lathe_host *host, const float *block) {
    (void)host, (void)block;
}

static inline void dull_keep(const lathe_host *host, int64_t count) {
    (void)host, (void)count;
}

static inline void dull_best(const lathe_host *host) {
    (void)host;
}

static inline const void *dull_extension(const lathe_host *host, const char *id) {
    static const lathe_checkpoints checkpoints = {
        .size = sizeof checkpoints, .keep = dull_keep, .best = dull_best};
    (void)host;
    return !strcmp(id, LATHE_CHECKPOINTS) ? &checkpoints : NULL;
}

static inline void dull_choose_metric(struct fake_host *host) {
    const struct json *options = json_get(host->manifest, "options");
    for (size_t i = 0; i < json_size(options); i++) {
        const char *name = json_key_at(options, i);
        if (strcmp(json_text(json_get(json_at(options, i), "format")), "metric") == 0 &&
            !json_get(host->options, name))
            FUZZ_CHECK(json_put(host->options, name, json_make_text(DULL_METRIC)));
    }
}

/* The only one there is, as new; plugin.json is read once. */
static inline struct dull_host *dull_host(const char *plugin) {
    static struct dull_host dull;
    lathe_host *table = &dull.host.table;
    memset(dull.memory, 0, sizeof dull.memory);
    dull.blocks = 0;
    if (dull.host.manifest) return &dull;
    fake_host_init(&dull.host, "{}");
    fake_host_manifest(&dull.host, plugin);
    dull_choose_metric(&dull.host);
    table->extension = dull_extension;
    table->metric = dull_metric;
    table->report = dull_report;
    table->watch = table->every = dull_index;
    table->value = dull_value;
    table->metrics = table->parameters = dull_count;
    table->metric_at = dull_metric_at;
    table->is_due = dull_due;
    table->request = dull_request;
    table->parameter = dull_parameter;
    table->weights = table->gradients = dull_memory;
    table->block = dull_block;
    table->evaluate_with = dull_evaluate_with;
    return &dull;
}

#endif
