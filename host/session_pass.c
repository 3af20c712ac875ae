/* SPDX-License-Identifier: MIT */
/* Forward and backward of one micro-batch: every slice on its own instance, sums over
 * the tree. */
#include <math.h>
#include <string.h>

#include "passes.h"
#include "session_calls.h"

static const lathe_model_ops *model_ops(const struct shard *shard) {
    return shard->model.ops;
}

/* Each worker keeps the same contiguous range of shards, so caches stay warm. */
static void run_shards(lathe_session *s, void (*part)(void *context, int worker)) {
    s->phase = PHASE_PASS;
    workers_run(s->workers, part, s);
    s->phase = PHASE_LOOP;
}

static int64_t first_shard(const lathe_session *s, int worker) {
    return s->shard_count * worker / workers_count(s->workers);
}

/* A sum of weights is what everything is divided by. */
static void check_weight(struct shard *shard) {
    const double weight = shard->pass.weight_sum;
    if (shard->status != LATHE_OK || (weight >= 0 && isfinite(weight))) return;
    plugin_misuse(&shard->model, LATHE_EPLUGIN,
                  "weight_sum is %g; it must be finite and >= 0", weight);
}

static void forward_part(void *context, int worker) {
    lathe_session *s = context;
    for (int64_t i = first_shard(s, worker); i < first_shard(s, worker + 1); i++) {
        struct shard *shard = &s->shards[i];
        shard->status = LATHE_OK;
        shard->pass.loss_sum = shard->pass.weight_sum = 0;
        memset(shard->metrics, 0, (size_t)s->model_metric_count * 2 * sizeof(double));
        if (!shard->batch.rows) continue;
        if (session_enter(s, worker, &shard->model, FUNCTION_FORWARD))
            shard->status = model_ops(shard)->forward(shard->model.self, &shard->pass);
        else
            shard->pass.weight_sum = (double)shard->batch.rows;
        session_leave(s, worker, &shard->model, FUNCTION_FORWARD);
        check_weight(shard);
    }
}

static void backward_part(void *context, int worker) {
    lathe_session *s = context;
    for (int64_t i = first_shard(s, worker); i < first_shard(s, worker + 1); i++) {
        struct shard *shard = &s->shards[i];
        shard->status = LATHE_OK;
        if (!shard->batch.rows) continue;
        if (session_enter(s, worker, &shard->model, FUNCTION_BACKWARD))
            shard->status = model_ops(shard)->backward(shard->model.self, &shard->pass);
        session_leave(s, worker, &shard->model, FUNCTION_BACKWARD);
        shard->has_gradients = true;
    }
}

/* Of several failures the lowest shard's is reported. */
static lathe_status check_shards(lathe_session *s, const char *function) {
    for (int64_t i = 0; i < s->shard_count; i++) {
        struct shard *shard = &s->shards[i];
        if (shard->status != LATHE_OK || shard->model.misuse.status != LATHE_OK)
            return session_plugin_failed(s, &shard->model, shard->status, function);
    }
    return LATHE_OK;
}

/* ---- sums over the tree ---- */

typedef double number_of(const struct shard *shard, int64_t index);

static double loss_of(const struct shard *shard, int64_t index) {
    (void)index;
    return shard->pass.loss_sum;
}

static double weight_of(const struct shard *shard, int64_t index) {
    (void)index;
    return shard->pass.weight_sum;
}

static double metric_of(const struct shard *shard, int64_t index) {
    return shard->metrics[index];
}

static double sum_over(const lathe_session *s, number_of *number, int64_t index) {
    double leaves[PASS_SHARDS_MAX];
    for (int64_t i = 0; i < s->shard_count; i++)
        leaves[i] = number(&s->shards[i], index);
    passes_tree(leaves, s->shard_count);
    return leaves[0];
}

/* The mean loss as callbacks see it. printf writes the sign of a NaN: it has none. */
static void show_loss(lathe_session *s, const struct sums *sums) {
    s->now.weight = sums->weight;
    s->now.loss = sums->weight != 0 ? sums->loss / sums->weight : 0;
    if (isnan(s->now.loss)) s->now.loss = NAN;
}

lathe_status session_forward(lathe_session *s, uint32_t mode, const float *weights,
                             enum split split, struct sums *sums) {
    for (int64_t i = 0; i < s->shard_count; i++) {
        struct shard *shard = &s->shards[i];
        shard->pass =
            (lathe_pass){.size = sizeof shard->pass,
                         .mode = mode,
                         .batch = &shard->batch,
                         .weights = weights,
                         .gradients = mode == LATHE_TRAIN ? shard->gradients : NULL,
                         .add = mode == LATHE_TRAIN && shard->has_gradients,
                         .key = s->model_key,
                         .metrics = shard->metrics,
                         .outputs = shard->outputs};
    }
    session_trace_slices(s, &s->shards[0].model, FUNCTION_FORWARD);
    run_shards(s, forward_part);
    lathe_status status = check_shards(s, "forward");
    if (status != LATHE_OK) return status;
    struct sums micro = {.loss = sum_over(s, loss_of, 0),
                         .weight = sum_over(s, weight_of, 0)};
    sums->loss += micro.loss;
    sums->weight += micro.weight;
    show_loss(s, sums);
    metrics_add(s->metrics, split, METRICS_LOSS, micro.loss, micro.weight);
    for (int64_t i = 0; i < s->model_metric_count; i++)
        metrics_add(s->metrics, split, s->model_metrics[i],
                    sum_over(s, metric_of, 2 * i), sum_over(s, metric_of, 2 * i + 1));
    return LATHE_OK;
}

lathe_status session_backward(lathe_session *s) {
    session_trace_slices(s, &s->shards[0].model, FUNCTION_BACKWARD);
    run_shards(s, backward_part);
    return check_shards(s, "backward");
}

/* ---- predict ---- */

static lathe_status predict_rows(lathe_session *s, const lathe_batch *batch,
                                 const lathe_tensor *outputs, int64_t first,
                                 int64_t rows) {
    struct shard *shard = &s->shards[0];
    lathe_tensor fields[64];
    void *places[64];
    for (uint32_t i = 0; i < batch->field_count; i++)
        fields[i] = session_rows(&batch->fields[i], first, rows);
    for (int64_t i = 0; i < s->output_count; i++)
        places[i] = session_rows(&outputs[i], first, rows).data;
    const lathe_batch part = {.size = sizeof part,
                              .field_count = batch->field_count,
                              .rows = rows,
                              .epoch = batch->epoch,
                              .position = batch->position + first,
                              .fields = fields};
    lathe_pass pass = {.size = sizeof pass,
                       .mode = LATHE_PREDICT,
                       .batch = &part,
                       .weights = s->weights,
                       .key = s->model_key,
                       .metrics = shard->metrics,
                       .outputs = places};
    lathe_status status = LATHE_OK;
    if (session_enter(s, 0, &shard->model, FUNCTION_FORWARD))
        status = model_ops(shard)->forward(shard->model.self, &pass);
    session_leave(s, 0, &shard->model, FUNCTION_FORWARD);
    if (status == LATHE_OK) return LATHE_OK;
    return session_plugin_failed(s, &shard->model, status, "forward");
}

lathe_status session_predict(lathe_session *s, const lathe_batch *batch,
                             const lathe_tensor *outputs) {
    const int64_t most =
        (s->experiment->train.batch + s->shard_count - 1) / s->shard_count;
    if (batch->field_count > 64 || s->output_count > 64)
        return fail(&s->err, LATHE_EINVAL, "more than 64 fields or outputs");
    lathe_status status = LATHE_OK;
    const uint32_t before = workers_begin_arithmetic(s->workers);
    for (int64_t first = 0; status == LATHE_OK && first < batch->rows; first += most) {
        int64_t left = batch->rows - first;
        status = predict_rows(s, batch, outputs, first, left < most ? left : most);
    }
    workers_end_arithmetic(before);
    return status;
}
