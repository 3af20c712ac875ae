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

/* A model that couples rows gets fewer slices of a short micro-batch, none too thin. */
int64_t session_slices(const lathe_session *s, int64_t rows) {
    if (s->least_rows <= 1) return s->shard_count;
    int64_t slices = rows / s->least_rows;
    if (slices < 1) return 1;
    return slices < s->shard_count ? slices : s->shard_count;
}

int64_t session_cut(const lathe_session *s, const lathe_batch *whole, int64_t i,
                    lathe_batch *part, lathe_tensor *tensors) {
    const int64_t rows = whole->rows, slices = session_slices(s, rows);
    const int64_t first = i < slices ? sampler_slice(rows, i, slices) : rows;
    const int64_t last = i < slices ? sampler_slice(rows, i + 1, slices) : rows;
    part->rows = last - first;
    part->epoch = whole->epoch;
    part->position = whole->position + first;
    for (uint32_t f = 0; f < whole->field_count; f++)
        tensors[f] = session_rows(&whole->fields[f], first, part->rows);
    return first;
}

static void cut(lathe_session *s) {
    for (int64_t i = 0; i < s->shard_count; i++) {
        struct shard *shard = &s->shards[i];
        shard->first = session_cut(s, &s->batch, i, &shard->batch, shard->tensors);
        for (int64_t o = 0; s->wants_outputs && o < s->output_count; o++)
            shard->outputs[o] =
                session_rows(&s->output_tensors[o], shard->first, 0).data;
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

/* Up to the first that fails, so that what is said last is said of the lowest. */
static void read_part(void *context, int worker) {
    lathe_session *s = context;
    const int64_t workers = workers_count(s->workers);
    const lathe_dataset_ops *ops = s->reader->ops;
    bool has_failed = false;
    for (int64_t i = s->shard_count * worker / workers;
         i < s->shard_count * (worker + 1) / workers; i++) {
        struct shard *shard = &s->shards[i];
        shard->status = LATHE_OK;
        shard->read_by = worker;
        if (!shard->batch.rows || has_failed) continue;
        if (session_enter(s, worker, s->reader, FUNCTION_READ))
            shard->status =
                ops->read(s->reader->self, s->indices + shard->first, &shard->batch);
        session_leave(s, worker, s->reader, FUNCTION_READ);
        has_failed = shard->status != LATHE_OK;
    }
}

/* A file may shrink while it is read. */
static lathe_status check_files(lathe_session *s) {
    lathe_status status = files_check(s->files, &s->err);
    if (status != LATHE_OK)
        error_where(&s->err, "%s in read at epoch %lld step %lld", s->reader->label,
                    (long long)s->now.epoch, (long long)s->now.step);
    return status;
}

lathe_status session_read(lathe_session *s, struct data_set *set,
                          const struct order *order, int64_t epoch, int64_t first,
                          int64_t rows) {
    s->reader = &set->plugin;
    const bool is_there = order && session_take_ahead(s, epoch, first);
    lathe_status status =
        is_there ? LATHE_OK : choose(s, set, order, epoch, first, rows);
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
    if (!is_there) workers_run(s->workers, read_part, s);
    s->phase = PHASE_LOOP;
    for (int64_t i = 0; i < s->shard_count; i++)
        if (s->shards[i].status != LATHE_OK) {
            plugin_hear(s->reader, s->shards[i].read_by);
            return session_plugin_failed(s, s->reader, s->shards[i].status, "read");
        }
    if (s->reader->misuse.status != LATHE_OK)
        return session_plugin_failed(s, s->reader, LATHE_EPLUGIN, "read");
    return check_files(s);
}

lathe_status session_read_visit(lathe_session *s, struct data_set *set, int64_t first) {
    const int64_t left = set->samples - first, batch = s->experiment->train.batch;
    return session_read(s, set, NULL, 0, first, left < batch ? left : batch);
}
