/* SPDX-License-Identifier: MIT */
/* A data set visited for its own sake, before any run: what a checkpoint is worth, or
 * what its model says. Nothing is trained and nothing is written. */
#include <string.h>

#include "base/nearest.h"
#include "session_calls.h"

#define OUTPUTS_MAX 64

static const struct use *find_data(lathe_session *s, const char *name) {
    const struct experiment *e = s->experiment;
    const struct use *use = NULL;
    if (name)
        use = experiment_data(e, name);
    else if (!(use = experiment_data(e, split_names[SPLIT_TEST])))
        use = experiment_data(e, split_names[SPLIT_VALIDATION]);
    if (use) return use;
    if (!name) {
        fail(&s->err, LATHE_EINVAL,
             "the experiment has neither test nor validation data");
        error_help(&s->err, "the training data can be visited: train");
        return NULL;
    }
    struct nearest nearest;
    nearest_begin(&nearest, name);
    for (size_t i = 0; i < e->data_count; i++) nearest_list(&nearest, e->data[i].split);
    fail(&s->err, LATHE_EINVAL, "the experiment has no data \"%s\"", name);
    nearest_help(&nearest, "there are", &s->err);
    return NULL;
}

/* Data of other names has no place of its own: it takes that of the test data. */
static enum split place_of(const char *name) {
    for (int split = 0; split < SPLIT_COUNT; split++)
        if (!strcmp(split_names[split], name)) return (enum split)split;
    return SPLIT_TEST;
}

static const char *name_of(const struct use *use) {
    return use->path + strlen("data.");
}

static lathe_status open_data(lathe_session *s, const struct use *use,
                              bool is_for_outputs) {
    const enum split split = place_of(name_of(use));
    const bool is_open = s->data[split].plugin.use == use;
    lathe_status status = LATHE_OK;
    if (is_open && (s->wants_outputs || !is_for_outputs)) return LATHE_OK;
    session_free_states(s); /* nothing is saved from here on */
    if (!is_open) status = session_open_data(s, split, use, is_for_outputs);
    if (status != LATHE_OK) return status;
    s->wants_outputs = s->wants_outputs || is_for_outputs;
    session_free_buffers(s); /* it may have more rows, or none had outputs */
    return session_make_buffers(s);
}

static lathe_status begin(lathe_session *s, const char *name, bool is_for_outputs,
                          const char *function, const struct use **use) {
    lathe_status status = session_allow(s, PLACE_OPEN | PLACE_EVALUATED, function);
    if (status != LATHE_OK) return status;
    s->place = PLACE_EVALUATED;
    *use = find_data(s, name);
    if (!*use) return s->err.status;
    if (is_for_outputs && (s->output_count < 1 || s->output_count > OUTPUTS_MAX)) {
        fail(&s->err, LATHE_EINVAL, "1 to %d outputs can be written, and it has %lld",
             OUTPUTS_MAX, (long long)s->output_count);
        error_where(&s->err, "%s", s->shards[0].model.label);
        return LATHE_EINVAL;
    }
    s->phase = PHASE_LOAD;
    status = open_data(s, *use, is_for_outputs);
    s->phase = PHASE_LOOP;
    return status;
}

lathe_status lathe_evaluate(lathe_session *s, const char *split) {
    const struct use *use = NULL;
    lathe_status status = begin(s, split, false, "lathe_evaluate", &use);
    if (status != LATHE_OK) return status;
    const enum split place = place_of(name_of(use));
    status = session_visit_as(s, place, name_of(use));
    return status == LATHE_OK ? session_tell_visit(s, place, name_of(use)) : status;
}

/* ---- predict ---- */

struct taker {
    lathe_status (*take)(void *context, const lathe_prediction *prediction);
    void *context;
};

static int64_t count_classes(const lathe_session *s) {
    const struct data_set *train = &s->data[SPLIT_TRAIN];
    for (int64_t i = 0; i < train->field_count; i++)
        if (!strcmp(train->fields[i].name, "label")) return train->fields[i].classes;
    return 0;
}

static lathe_status predict_micro(lathe_session *s, enum split split, int64_t first,
                                  const struct taker *to) {
    struct data_set *set = &s->data[split];
    const lathe_field *fields[OUTPUTS_MAX];
    struct sums sums = {0};
    lathe_status status = session_read_visit(s, set, first);
    const float *weights = s->evaluated ? s->evaluated : s->weights;
    if (status == LATHE_OK)
        status = session_forward(s, LATHE_PREDICT, weights, split, &sums);
    if (status != LATHE_OK) return status;
    for (int64_t i = 0; i < s->output_count; i++) fields[i] = &s->outputs[i];
    const lathe_prediction prediction = {.size = sizeof prediction,
                                         .output_count = (uint32_t)s->output_count,
                                         .samples = set->samples,
                                         .first = first,
                                         .rows = s->batch.rows,
                                         .classes = count_classes(s),
                                         .fields = fields,
                                         .outputs = s->output_tensors};
    status = to->take(to->context, &prediction);
    if (status < 0) return fail(&s->err, status, "the predictions were not taken");
    return status;
}

static lathe_status predict_all(lathe_session *s, enum split split,
                                const struct taker *to) {
    lathe_status status = session_fire(s, POINT_VALIDATION_BEGIN);
    for (int64_t first = 0; status == LATHE_OK && first < s->data[split].samples;
         first += s->experiment->train.batch) {
        if (atomic_load(&s->stop_asked)) return LATHE_END;
        status = predict_micro(s, split, first, to);
    }
    return status;
}

lathe_status lathe_predict(lathe_session *s, const char *split,
                           lathe_status (*take)(void *context,
                                                const lathe_prediction *prediction),
                           void *context) {
    const struct taker to = {.take = take, .context = context};
    const struct use *use = NULL;
    lathe_status status = begin(s, split, true, "lathe_predict", &use);
    if (status != LATHE_OK) return status;
    const char *before = s->now.split;
    s->now.split = name_of(use);
    s->visiting = place_of(name_of(use));
    status = predict_all(s, s->visiting, &to);
    s->evaluated = NULL;
    s->visiting = SPLIT_TRAIN;
    s->now.split = before;
    return status;
}
