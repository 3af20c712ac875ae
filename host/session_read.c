/* SPDX-License-Identifier: MIT */
/* Reading a micro-batch: which samples, cut into which slices, and the workers fill
 * them. */
#include <string.h>

#include "session_calls.h"

lathe_tensor session_rows(const lathe_tensor *whole, int64_t first, int64_t rows) {
    lathe_tensor part = *whole;
    size_t bytes = whole->bits / 8;
    for (uint32_t i = 1; i < whole->rank; i++) bytes *= (size_t)whole->shape[i];
    if (whole->data) part.data = (char *)whole->data + (size_t)first * bytes;
    part.shape[0] = rows;
    return part;
}

static void cut_slice(lathe_session *s, struct shard *shard, int64_t first,
                      int64_t rows) {
    shard->first = first;
    shard->batch.rows = rows;
    shard->batch.epoch = s->batch.epoch;
    shard->batch.position = s->batch.position + first;
    for (uint32_t i = 0; i < s->batch.field_count; i++)
        shard->tensors[i] = session_rows(&s->tensors[i], first, rows);
    for (int64_t i = 0; s->wants_outputs && i < s->output_count; i++)
        shard->outputs[i] = session_rows(&s->output_tensors[i], first, rows).data;
}

/* A model that couples rows gets fewer slices of a short micro-batch, none too thin. */
int64_t session_slices(const lathe_session *s, int64_t rows) {
    if (s->least_rows <= 1) return s->shard_count;
    int64_t slices = rows / s->least_rows;
    if (slices < 1) return 1;
    return slices < s->shard_count ? slices : s->shard_count;
}

static void cut(lathe_session *s) {
    const int64_t rows = s->batch.rows, slices = session_slices(s, rows);
    for (int64_t i = 0; i < s->shard_count; i++) {
        int64_t first = i < slices ? sampler_slice(rows, i, slices) : rows;
        int64_t last = i < slices ? sampler_slice(rows, i + 1, slices) : rows;
        cut_slice(s, &s->shards[i], first, last - first);
    }
}

static lathe_status choose(lathe_session *s, const struct data_set *set,
                           const struct order *order, int64_t epoch, int64_t first,
                           int64_t rows) {
    const lathe_dataset_ops *ops = set->plugin.ops;
    const bool orders = LATHE_COVERS(ops, lathe_dataset_ops, order) && ops->order;
    if (order && orders) {
        lathe_status status = LATHE_OK;
        if (session_enter(s, 0, s->reader, FUNCTION_ORDER))
            status = ops->order(set->plugin.self, epoch, first, rows, s->indices);
        else
            memset(s->indices, 0, (size_t)rows * sizeof *s->indices);
        session_leave(s, 0, s->reader, FUNCTION_ORDER);
        for (int64_t i = 0; status == LATHE_OK && i < rows; i++)
            if (s->indices[i] < 0 || s->indices[i] >= set->samples) {
                plugin_misuse(s->reader, LATHE_EPLUGIN,
                              "order gave index %lld of %lld samples",
                              (long long)s->indices[i], (long long)set->samples);
                status = LATHE_EPLUGIN;
            }
        if (status == LATHE_OK) return LATHE_OK;
        return session_plugin_failed(s, s->reader, status, "order");
    }
    for (int64_t i = 0; i < rows; i++)
        s->indices[i] = order ? order_at(order, first + i) : first + i;
    return LATHE_OK;
}

static void read_part(void *context, int worker) {
    lathe_session *s = context;
    const int64_t workers = workers_count(s->workers);
    const lathe_dataset_ops *ops = s->reader->ops;
    for (int64_t i = s->shard_count * worker / workers;
         i < s->shard_count * (worker + 1) / workers; i++) {
        struct shard *shard = &s->shards[i];
        shard->status = LATHE_OK;
        if (!shard->batch.rows) continue;
        if (session_enter(s, worker, s->reader, FUNCTION_READ))
            shard->status =
                ops->read(s->reader->self, s->indices + shard->first, &shard->batch);
        session_leave(s, worker, s->reader, FUNCTION_READ);
    }
}

lathe_status session_read(lathe_session *s, struct data_set *set,
                          const struct order *order, int64_t epoch, int64_t first,
                          int64_t rows) {
    s->reader = &set->plugin;
    lathe_status status = choose(s, set, order, epoch, first, rows);
    if (status != LATHE_OK) return status;
    s->batch.rows = rows;
    s->batch.epoch = order ? epoch : 0;
    s->batch.position = first;
    for (uint32_t i = 0; i < s->batch.field_count; i++) s->tensors[i].shape[0] = rows;
    for (int64_t i = 0; s->wants_outputs && i < s->output_count; i++)
        s->output_tensors[i].shape[0] = rows;
    cut(s);
    session_trace_slices(s, s->reader, FUNCTION_READ);
    s->phase = PHASE_PASS;
    workers_run(s->workers, read_part, s);
    s->phase = PHASE_LOOP;
    for (int64_t i = 0; i < s->shard_count; i++)
        if (s->shards[i].status != LATHE_OK)
            return session_plugin_failed(s, s->reader, s->shards[i].status, "read");
    if (s->reader->misuse.status != LATHE_OK)
        return session_plugin_failed(s, s->reader, LATHE_EPLUGIN, "read");
    return LATHE_OK;
}

lathe_status session_read_visit(lathe_session *s, struct data_set *set, int64_t first) {
    const int64_t left = set->samples - first, batch = s->experiment->train.batch;
    return session_read(s, set, NULL, 0, first, left < batch ? left : batch);
}
