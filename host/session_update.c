/* SPDX-License-Identifier: MIT */
/* From the gradients of a window to new weights: reduce, look, clip, update, count. */
#include <math.h>
#include <stdio.h>

#include "passes.h"
#include "session_calls.h"

#define SKIPPED_MAX 100 /* in a row, until the run ends */

/* ---- reduce ---- */

static struct reduce_pass reduce_pass(const lathe_session *s) {
    return (struct reduce_pass){.shards = s->shard_blocks,
                                .shard_count = s->shard_count,
                                .size = s->parameters.size,
                                .trained_end = s->parameters.trained_end,
                                .squares = s->squares};
}

static void reduce_part(void *context, int worker) {
    lathe_session *s = context;
    const struct reduce_pass pass = reduce_pass(s);
    passes_reduce(&pass, worker, workers_count(s->workers));
}

static void scale_part(void *context, int worker) {
    lathe_session *s = context;
    passes_scale(s->gradients, s->parameters.size, 1 / s->window.weight, worker,
                 workers_count(s->workers));
}

static bool is_bad(const lathe_session *s, const struct parameter *p) {
    bool is_bad = false;
    if (p->offset >= s->parameters.trained_end) return false;
    for (int64_t i = 0; i < p->count; i++)
        is_bad |= !isfinite(s->gradients[p->offset + i]);
    return is_bad;
}

/* Whose gradients are not finite, where the loss still was: " (layers.0.weight, and 2
 * parameters more)". */
static void name_bad(const lathe_session *s, char *text, size_t size) {
    const struct parameter *first = NULL;
    long long count = 0;
    for (int64_t i = 0; s->gradients && i < s->parameters.count; i++)
        if (is_bad(s, &s->parameters.items[i]) && count++ == 0)
            first = &s->parameters.items[i];
    if (count > 1)
        snprintf(text, size, " (%.99s, and %lld parameters more)", first->name,
                 count - 1);
    else if (first)
        snprintf(text, size, " (%.99s)", first->name);
}

static lathe_status check_finite(lathe_session *s) {
    const double loss = s->now.loss, norm = s->now.gradient_norm;
    if (isfinite(loss) && isfinite(norm)) return LATHE_OK;
    const double found = isfinite(loss) ? norm : loss;
    const char *spelled = isnan(found) ? "nan" : found > 0 ? "inf" : "-inf";
    char bad[160] = "";
    if (isfinite(loss)) name_bad(s, bad, sizeof bad);
    fail(&s->err, LATHE_EGATE, "the %s is %s%s",
         isfinite(loss) ? "gradient norm" : "loss", spelled, bad);
    error_where(&s->err, "training at epoch %lld, the step after %lld",
                (long long)s->now.epoch, (long long)s->now.step);
    if (s->now.step == 0)
        error_help(&s->err,
                   "nothing has been updated yet: look at the data, and at how "
                   "the weights start");
    else
        error_help(&s->err,
                   "the weights are those of step %lld; a smaller learning rate, or "
                   "train.clip_norm, may keep it finite",
                   (long long)s->now.step);
    return LATHE_EGATE;
}

/* Norm of the mean gradient, from a block that holds the sum, or the mean already. */
static void take_norm(lathe_session *s) {
    workers_run(s->workers, reduce_part, s);
    const struct reduce_pass pass = reduce_pass(s);
    double divisor = s->is_mean ? 1 : s->window.weight;
    s->now.gradient_norm = sqrt(passes_squares(&pass)) / divisor;
}

static void keep_only(lathe_session *s, const float *block) {
    for (int64_t i = 0; i < s->shard_count; i++)
        if (s->shard_blocks[i] != block) s->shard_blocks[i] = NULL;
}

static void gather_shards(lathe_session *s) {
    s->gradients = NULL;
    for (int64_t i = s->shard_count - 1; i >= 0; i--) {
        struct shard *shard = &s->shards[i];
        s->shard_blocks[i] = shard->has_gradients ? shard->gradients : NULL;
        if (shard->has_gradients) s->gradients = shard->gradients;
    }
}

float *session_take_gradients(lathe_session *s, uint32_t access) {
    if (!s->gradients) return NULL;
    if (!s->is_mean) workers_run(s->workers, scale_part, s);
    s->is_mean = true;
    if (access == LATHE_WRITE) s->is_written = true;
    return s->gradients;
}

/* Somebody wrote the gradients: what depends on them is made again. */
static lathe_status check_written(lathe_session *s) {
    if (!s->is_written) return LATHE_OK;
    s->is_written = false;
    keep_only(s, s->gradients);
    take_norm(s);
    return check_finite(s);
}

/* train.nonfinite = "skip": the data is gone past, the weights stay. The numbers are
 * logged as they are. */
static lathe_status skip(lathe_session *s) {
    if (!s->experiment->train.skips_nonfinite) return LATHE_EGATE;
    s->is_skipped = true;
    s->gradients = NULL;
    s->skipped++;
    if (++s->skipped_in_a_row == SKIPPED_MAX) {
        fail(&s->err, LATHE_EGATE, "%d windows in a row were not finite", SKIPPED_MAX);
        error_where(&s->err, "training at epoch %lld, after step %lld",
                    (long long)s->now.epoch, (long long)s->now.step);
        return LATHE_EGATE;
    }
    session_trace_act(s, "skip", NULL, 0);
    if (s->skipped_in_a_row == 1)
        log_line(&s->log, LATHE_LOG_WARNING,
                 "%s: %s; the window is skipped (%lld so far)", s->err.where,
                 s->err.what, (long long)s->skipped);
    s->err = (struct error){0};
    return LATHE_OK;
}

lathe_status lathe_reduce(lathe_session *s) {
    lathe_status status =
        session_allow(s, PLACE_WINDOW | PLACE_UPDATED, "lathe_reduce");
    if (status != LATHE_OK || s->place == PLACE_UPDATED) return status;
    s->place = PLACE_REDUCED;
    s->is_mean = s->is_written = s->is_skipped = false;
    s->now.gradient_norm = 0;
    gather_shards(s);
    session_trace_act(s, "reduce", "weight", s->window.weight);
    if (s->window.weight == 0) {
        s->gradients = NULL;
        return LATHE_OK;
    }
    if (!session_is_dry(s)) take_norm(s);
    status = check_finite(s);
    if (status == LATHE_EGATE) return skip(s);
    if (status == LATHE_OK) status = session_fire(s, POINT_GRADIENTS_READY);
    if (status == LATHE_OK && check_written(s) == LATHE_EGATE) status = skip(s);
    return status;
}

/* ---- update ---- */

static lathe_status take_rate(lathe_session *s) {
    double factor = 1;
    if (s->schedule.use) {
        const lathe_schedule_ops *ops = s->schedule.ops;
        const lathe_progress progress = session_progress(s);
        if (session_enter(s, 0, &s->schedule, FUNCTION_FACTOR))
            factor = ops->factor(s->schedule.self, &progress);
        session_leave(s, 0, &s->schedule, FUNCTION_FACTOR);
        if (!isfinite(factor) || factor < 0) {
            plugin_misuse(&s->schedule, LATHE_EPLUGIN,
                          "the factor is %g; it must be finite and >= 0", factor);
            return session_plugin_failed(s, &s->schedule, LATHE_EPLUGIN, "factor");
        }
    }
    for (int32_t i = 0; i < s->group_count; i++)
        s->groups[i].rate = s->groups[i].base_rate * factor;
    s->now.rate = s->groups[0].rate;
    return LATHE_OK;
}

static double mean_of(const lathe_session *s) {
    return s->is_mean ? 1 : 1 / s->window.weight;
}

/* gradient * scale is the mean over the window, no longer than clip_norm. */
static double scale_of(const lathe_session *s) {
    const double most = s->experiment->train.clip_norm, norm = s->now.gradient_norm;
    return most > 0 && norm > most ? mean_of(s) * (most / norm) : mean_of(s);
}

struct stepping {
    lathe_session *s;
    struct step_pass common; /* but for what a group has of its own */
    struct plugin *failed;   /* of the last worker that failed */
    lathe_status status;
};

static struct step_pass pass_of(const struct stepping *stepping, int32_t index) {
    const struct optimizer_group *group = &stepping->s->groups[index];
    struct step_pass pass = stepping->common;
    pass.group = index;
    pass.ops = group->plugin.ops;
    pass.optimizer = group->plugin.self;
    pass.slot_count = group->slot_count;
    pass.rate = group->rate;
    return pass;
}

static void step_part(void *context, int worker) {
    struct stepping *stepping = context;
    lathe_session *s = stepping->s;
    for (int32_t i = 0; i < s->group_count; i++) {
        const struct step_pass pass = pass_of(stepping, i);
        lathe_status status = LATHE_OK;
        if (session_enter(s, worker, &s->groups[i].plugin, FUNCTION_STEP))
            status = passes_step(&pass, worker, workers_count(s->workers));
        session_leave(s, worker, &s->groups[i].plugin, FUNCTION_STEP);
        if (status == LATHE_OK) continue;
        __atomic_store_n(&stepping->status, status, __ATOMIC_RELAXED);
        __atomic_store_n(&stepping->failed, &s->groups[i].plugin, __ATOMIC_RELAXED);
        return;
    }
}

static void begin_groups(lathe_session *s) {
    for (int32_t i = 0; i < s->group_count; i++) {
        struct plugin *plugin = &s->groups[i].plugin;
        const lathe_optimizer_ops *ops = plugin->ops;
        if (!ops->begin) continue;
        if (session_enter(s, 0, plugin, FUNCTION_BEGIN))
            ops->begin(plugin->self, s->updates + 1, s->groups[i].rate);
        session_leave(s, 0, plugin, FUNCTION_BEGIN);
    }
    for (int32_t i = 0; i < s->group_count; i++)
        session_trace_call(s, &s->groups[i].plugin, FUNCTION_STEP);
}

static lathe_status apply(lathe_session *s) {
    struct stepping stepping = {
        .s = s,
        .common = {.parameters = &s->parameters,
                   .weights = s->weights,
                   .gradients = s->gradients,
                   .slots = s->slots,
                   .mean = mean_of(s),
                   .scale = scale_of(s),
                   .clip_value = s->experiment->train.clip_value,
                   .step = s->updates + 1}};
    begin_groups(s);
    s->phase = PHASE_PASS;
    workers_run(s->workers, step_part, &stepping);
    s->phase = PHASE_LOOP;
    for (int32_t i = 0; i < s->group_count && !stepping.failed; i++)
        if (s->groups[i].plugin.misuse.status != LATHE_OK)
            stepping.failed = &s->groups[i].plugin;
    if (stepping.failed)
        return session_plugin_failed(s, stepping.failed, stepping.status, "step");
    if (!session_is_dry(s)) passes_buffers(&stepping.common);
    s->updates++;
    return LATHE_OK;
}

static void warn_about_weight(lathe_session *s) {
    if (s->has_warned_weight) return;
    s->has_warned_weight = true;
    log_line(
        &s->log, LATHE_LOG_WARNING,
        "the window of step %lld has weight 0: it counts as a step, and the weights "
        "stay (said once)",
        (long long)s->now.step + 1);
}

/* New weights, and everybody told. */
static lathe_status make_step(lathe_session *s) {
    lathe_status status = take_rate(s);
    if (status != LATHE_OK) return status;
    s->rest.kind = REST_NONE;
    if (!s->gradients)
        warn_about_weight(s);
    else if ((status = apply(s)) != LATHE_OK)
        return status;
    s->gradients = NULL;
    s->skipped_in_a_row = 0;
    s->now.step++;
    session_end_window(s);
    status = session_fire(s, POINT_STEP_END);
    if (s->heed & HEED_THREADS) session_ignore_threads(s);
    return status;
}

lathe_status lathe_update(lathe_session *s) {
    lathe_status status =
        session_allow(s, PLACE_REDUCED | PLACE_UPDATED, "lathe_update");
    const bool was_updated = s->place == PLACE_UPDATED;
    if (status == LATHE_OK && !was_updated && check_written(s) == LATHE_EGATE)
        status = skip(s);
    if (status != LATHE_OK) return status;
    s->place = PLACE_EPOCH;
    if (was_updated) return LATHE_OK;
    s->is_epoch_done = s->micro >= s->sampler.micros_per_epoch;
    if (s->is_epoch_done) s->epochs++;
    if (s->is_skipped)
        session_end_window(s);
    else
        status = make_step(s);
    if (status == LATHE_OK && (s->log_due.is_due || s->is_epoch_done))
        status = session_record(s, SPLIT_TRAIN);
    if (s->is_epoch_done) metrics_settle_epoch(s->metrics, s->now.step);
    if (status == LATHE_OK) s->rest.kind = REST_HERE;
    return status;
}
