/* SPDX-License-Identifier: MIT */
/* Any bytes as the saved state of one plugin, PLUGIN. What it refuses leaves it as it
 * was; what it takes, it saves, and another instance takes that and saves the same. In
 * both cases it then goes on. */
#include PLUGIN_SOURCE

#include <lathe/callback.h>
#include <lathe/schedule.h>

#include <math.h>

#include "fuzz_dull.h"

#define STATE_MAX 4096

struct state_bytes {
    uint8_t data[STATE_MAX];
    size_t size, at;
};

static lathe_status write_bytes(const lathe_writer *to, const void *bytes,
                                int64_t count) {
    struct state_bytes *into = to->context;
    FUZZ_CHECK(count >= 0 && into->size + (size_t)count <= STATE_MAX);
    memcpy(into->data + into->size, bytes, (size_t)count);
    into->size += (size_t)count;
    return LATHE_OK;
}

static lathe_status read_bytes(const lathe_reader *from, void *bytes, int64_t count,
                               int64_t *got) {
    struct state_bytes *of = from->context;
    size_t left = of->size - of->at;
    FUZZ_CHECK(count >= 0);
    if ((size_t)count < left) left = (size_t)count;
    memcpy(bytes, of->data + of->at, left);
    of->at += left;
    *got = (int64_t)left;
    return LATHE_OK;
}

static void save_into(void *self, struct state_bytes *bytes) {
    const lathe_writer writer = {
        .size = sizeof writer, .context = bytes, .write = write_bytes};
    bytes->size = 0;
    FUZZ_CHECK(lathe_ops_.save(self, &writer) == LATHE_OK);
}

static lathe_status load_from(void *self, struct state_bytes *bytes) {
    const lathe_reader reader = {
        .size = sizeof reader, .context = bytes, .read = read_bytes};
    bytes->at = 0;
    return lathe_ops_.load(self, &reader);
}

static void check_same(const struct state_bytes *a, const struct state_bytes *b) {
    FUZZ_CHECK(a->size == b->size && !memcmp(a->data, b->data, a->size));
}

/* ---- going on ---- */

static void call(lathe_status (*point)(void *, const lathe_moment *), void *self,
                 const char *split) {
    const lathe_moment at = {
        .size = sizeof at, .stage = 1, .epoch = 2, .step = 7, .split = split};
    if (point) FUZZ_CHECK(point(self, &at) >= LATHE_OK);
}

static inline void work_on_callback(const lathe_callback_ops *ops, void *self) {
    call(ops->epoch_begin, self, "train");
    call(ops->step_begin, self, "train");
    call(ops->gradients_ready, self, "train");
    call(ops->step_end, self, "train");
    call(ops->validation_begin, self, "validation");
    call(ops->validation_end, self, "validation");
    call(ops->epoch_end, self, "train");
}

static inline void work_on_schedule(const lathe_schedule_ops *ops, void *self,
                                    double value) {
    const lathe_progress at = {
        .size = sizeof at, .step = 7, .steps = 100, .steps_per_epoch = 10};
    if (ops->observe) ops->observe(self, &at, value);
    double factor = ops->factor(self, &at);
    FUZZ_CHECK(isfinite(factor) && factor >= 0);
}

static void work_on(struct dull_host *dull, void *self) {
    static const double values[] = {1, NAN, 1, 0.5, INFINITY, -3, -3};
    const void *ops = &lathe_ops_;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        dull->value = values[i];
        if (LATHE_ENTRY.kind == LATHE_KIND_CALLBACK) work_on_callback(ops, self);
        if (LATHE_ENTRY.kind == LATHE_KIND_SCHEDULE)
            work_on_schedule(ops, self, values[i]);
    }
}

/* ---- the target ---- */

static void *open_instance(struct dull_host *dull) {
    void *self = NULL;
    FUZZ_CHECK(lathe_ops_.create(&dull->host.table, &self) == LATHE_OK && self);
    return self;
}

static void close_instance(void *self) {
    if (lathe_ops_.destroy) lathe_ops_.destroy(self);
}

static void check_again(struct dull_host *dull, struct state_bytes *saved) {
    struct state_bytes again;
    void *other = open_instance(dull);
    FUZZ_CHECK(load_from(other, saved) == LATHE_OK);
    save_into(other, &again);
    check_same(saved, &again);
    close_instance(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    struct dull_host *dull = dull_host(PLUGIN);
    struct state_bytes given = {.size = count}, before, after;
    if (count > STATE_MAX) return 0;
    if (count) memcpy(given.data, bytes, count);
    void *self = open_instance(dull);
    save_into(self, &before);
    dull->host.failure[0] = '\0';
    lathe_status status = load_from(self, &given);
    save_into(self, &after);
    if (status) {
        FUZZ_CHECK(status == LATHE_EDATA && dull->host.failure[0]);
        check_same(&before, &after);
    } else {
        check_again(dull, &after);
    }
    work_on(dull, self);
    close_instance(self);
    return 0;
}
