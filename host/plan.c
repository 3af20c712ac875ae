/* SPDX-License-Identifier: MIT */
#include "plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "session_calls.h"

/* A map in the making; what fails shows in the end. */
struct making {
    struct json *map;
    bool is_broken;
};

static struct making make(void) {
    struct json *map = json_make_map();
    return (struct making){.map = map, .is_broken = !map};
}

static void put(struct making *to, const char *key, struct json *value) {
    if (!to->map || !json_put(to->map, key, value)) to->is_broken = true;
}

static void put_whole(struct making *to, const char *key, int64_t number) {
    put(to, key, json_make_whole(number));
}

static void put_text(struct making *to, const char *key, const char *text) {
    put(to, key, json_make_text(text));
}

static struct json *finish(struct making *made) {
    if (made->is_broken) json_close(made->map);
    return made->is_broken ? NULL : made->map;
}

static bool push(struct json *list, struct json *value) {
    return list && json_push(list, value);
}

/* ---- plugins ---- */

/* What only some plugins of a kind have. */
static const char *optional_function(const struct plugin *plugin) {
    const uint32_t kind = plugin->use->kind;
    const lathe_dataset_ops *data = plugin->ops;
    const lathe_optimizer_ops *optimizer = plugin->ops;
    const lathe_schedule_ops *schedule = plugin->ops;
    if (kind == LATHE_KIND_DATASET && LATHE_COVERS(data, lathe_dataset_ops, order) &&
        data->order)
        return "order";
    if (kind == LATHE_KIND_OPTIMIZER && optimizer->begin) return "begin";
    if (kind == LATHE_KIND_SCHEDULE && schedule->observe) return "observe";
    return NULL;
}

static const char *when_saved(const lathe_session *s, const struct plugin *plugin) {
    for (int64_t i = 0; i < s->state_count; i++)
        if (s->states[i].plugin == plugin)
            return s->states[i].is_in_window ? "window" : "rest";
    return NULL;
}

static struct json *describe_points(const lathe_session *s,
                                    const struct plugin *plugin) {
    struct json *list = json_make_list();
    const char *more = optional_function(plugin);
    if (more && !push(list, json_make_text(more))) return json_close(list), NULL;
    for (int point = 0; list && point < POINT_COUNT; point++)
        for (int i = 0; i < s->points[point].count; i++)
            if (s->points[point].plugins[i] == plugin &&
                !json_push(list, json_make_text(session_point_name((enum point)point))))
                return json_close(list), NULL;
    return list;
}

static bool push_plugin(const lathe_session *s, const struct plugin *plugin,
                        struct json *list) {
    const struct manifest *m = plugin->use->manifest;
    struct making to = make();
    put_text(&to, "path", plugin->use->path);
    put_text(&to, "kind", manifest_kind_name(m->kind));
    put_text(&to, "name", m->name);
    put_text(&to, "id", plugin->use->id);
    put_text(&to, "version", m->version);
    put_text(&to, "library", m->linked ? NULL : m->library_path);
    put(&to, "points", describe_points(s, plugin));
    put_text(&to, "saves", when_saved(s, plugin));
    put(&to, "notes", plugin->notes ? json_clone(plugin->notes) : json_make_map());
    bool is_done = push(list, finish(&to));
    for (size_t i = 0; is_done && i < plugin->use->nested_count; i++)
        is_done = push_plugin(s, &plugin->nested[i], list);
    return is_done;
}

static struct json *describe_plugins(lathe_session *s) {
    struct json *list = json_make_list();
    const struct plugin *plugin;
    bool is_done = list != NULL;
    for (int64_t i = 0; is_done && (plugin = session_plugin_at(s, i)) != NULL; i++)
        is_done = push_plugin(s, plugin, list);
    if (!is_done) json_close(list);
    return is_done ? list : NULL;
}

/* ---- values ---- */

static bool push_value(const struct experiment *e, const char *path,
                       const struct json *value, struct json *list) {
    struct making to = make();
    put_text(&to, "path", path);
    put(&to, "value", json_clone(value));
    put_text(&to, "origin", experiment_origin(e, path));
    return push(list, finish(&to));
}

/* A list of plain values is shown as one. */
static bool is_leaf(const struct json *value) {
    if (json_kind(value) == JSON_LIST)
        for (size_t i = 0; i < json_size(value); i++)
            if (json_size(json_at(value, i))) return false;
    return json_kind(value) != JSON_MAP || !json_size(value);
}

static bool push_values(const struct experiment *e, const char *path,
                        const struct json *value, struct json *list) {
    bool is_done = true;
    if (path[0] && is_leaf(value)) return push_value(e, path, value, list);
    for (size_t i = 0; i < json_size(value) && is_done; i++) {
        char *inner =
            json_kind(value) == JSON_MAP
                ? text_make("%s%s%s", path, path[0] ? "." : "", json_key_at(value, i))
            : !strcmp(path, "callbacks") ? text_copy(e->callbacks[i].path)
                                         : text_make("%s.%zu", path, i);
        is_done = inner && push_values(e, inner, json_at(value, i), list);
        free(inner);
    }
    return is_done;
}

static struct json *describe_values(const lathe_session *s) {
    struct json *list = json_make_list();
    if (list && push_values(s->experiment, "", s->experiment->resolved, list))
        return list;
    json_close(list);
    return NULL;
}

/* ---- the loop in numbers ---- */

static struct json *describe_data(const lathe_session *s) {
    const int64_t batch = s->experiment->train.batch;
    struct making all = make();
    for (int split = 0; split < SPLIT_COUNT; split++) {
        const int64_t samples = s->data[split].samples;
        if (!s->data[split].is_used) continue;
        struct making to = make();
        put_whole(&to, "samples", samples);
        put_whole(&to, "batches", samples / batch + (samples % batch != 0));
        put_whole(&to, "last_batch", samples % batch ? samples % batch : batch);
        put(&all, split_names[split], finish(&to));
    }
    return finish(&all);
}

static struct json *describe_window(const struct sampler *sampler, int64_t window) {
    const int64_t micros = sampler_window(sampler, window);
    const int64_t first = window * sampler->accumulate;
    struct making to = make();
    put_whole(&to, "micros", micros);
    put_whole(&to, "samples",
              (micros - 1) * sampler->batch +
                  sampler_rows(sampler, first + micros - 1));
    return finish(&to);
}

static struct json *describe_loop(const lathe_session *s) {
    const struct sampler *sampler = &s->sampler;
    struct making to = make();
    put(&to, "until",
        json_clone(json_get(json_get(s->experiment->resolved, "train"), "until")));
    put(&to, "steps",
        s->now.steps_total ? json_make_whole(s->now.steps_total - s->stage.step)
                           : json_make_text(NULL));
    put_whole(&to, "steps_per_epoch", sampler->steps_per_epoch);
    put_whole(&to, "micros_per_epoch", sampler->micros_per_epoch);
    put(&to, "window", describe_window(sampler, 0));
    put(&to, "last_window", describe_window(sampler, sampler->steps_per_epoch - 1));
    return finish(&to);
}

static struct json *describe_rows(const lathe_session *s, int64_t rows) {
    struct json *list = json_make_list();
    const int64_t slices = session_slices(s, rows);
    for (int64_t i = 0; i < slices; i++) {
        int64_t count =
            sampler_slice(rows, i + 1, slices) - sampler_slice(rows, i, slices);
        if (count && !push(list, json_make_whole(count))) return json_close(list), NULL;
    }
    return list;
}

static struct json *describe_slices(const lathe_session *s) {
    const struct sampler *sampler = &s->sampler;
    struct making to = make();
    put_whole(&to, "shards", s->shard_count);
    put_whole(&to, "least_rows", s->least_rows);
    put(&to, "full", describe_rows(s, sampler_rows(sampler, 0)));
    put(&to, "last",
        describe_rows(s, sampler_rows(sampler, sampler->micros_per_epoch - 1)));
    return finish(&to);
}

static struct json *describe_prefetch(const lathe_session *s) {
    const char *obstacle = session_ahead_obstacle(s);
    const bool is_on = s->experiment->train.prefetch == PREFETCH_ON;
    const char *why = is_on ? "train.prefetch is true"
                            : "a core is idle; both ways are tried, the faster is kept";
    struct making to = make();
    put_text(&to, "ahead", obstacle ? "no" : is_on ? "yes" : "when it pays");
    put_text(&to, "why", obstacle ? obstacle : why);
    return finish(&to);
}

/* ---- the rate ---- */

#define RATES_MAX 100000 /* steps that are asked about, evenly spread over more */

static double rate_at(lathe_session *s, int64_t step) {
    const lathe_schedule_ops *ops = s->schedule.ops;
    lathe_progress progress = session_progress(s);
    progress.step = step;
    const uint32_t heed = s->heed;
    if (!s->schedule.use) return s->groups[0].base_rate;
    s->heed = 0; /* also in a dry run, and untraced */
    session_enter(s, 0, &s->schedule, FUNCTION_FACTOR);
    double factor = ops->factor(s->schedule.self, &progress);
    session_leave(s, 0, &s->schedule, FUNCTION_FACTOR);
    s->heed = heed;
    return s->groups[0].base_rate * factor;
}

static struct json *describe_rate(lathe_session *s) {
    const lathe_schedule_ops *ops = s->schedule.ops;
    const int64_t steps = session_progress(s).steps;
    const int64_t stride = steps / RATES_MAX + 1;
    double start = rate_at(s, 0), peak = start;
    int64_t peak_step = 0;
    for (int64_t step = 0; s->schedule.use && step < steps; step += stride) {
        double rate = rate_at(s, step);
        if (!(rate > peak)) continue;
        peak = rate;
        peak_step = step;
    }
    struct making to = make();
    put(&to, "start", json_make_number(start));
    put(&to, "peak", json_make_number(peak));
    put_whole(&to, "peak_step", peak_step);
    put(&to, "end",
        steps ? json_make_number(rate_at(s, steps - 1)) : json_make_text(NULL));
    put(&to, "observes", json_make_truth(s->schedule.use && ops->observe));
    return finish(&to);
}

/* ---- memory ---- */

static struct json *describe_group(const lathe_session *s, int32_t index) {
    int64_t parameters = 0, floats = 0;
    for (int64_t i = 0; i < s->parameters.count; i++) {
        const struct parameter *p = &s->parameters.items[i];
        if (p->group != index || p->offset >= s->parameters.trained_end) continue;
        parameters++;
        floats += p->count;
    }
    struct making to = make();
    put_text(&to, "match", index ? s->experiment->groups[index - 1].match : NULL);
    put_whole(&to, "parameters", parameters);
    put_whole(&to, "floats", floats);
    put(&to, "rate", json_make_number(s->groups[index].base_rate));
    return finish(&to);
}

static int64_t count_floats(const lathe_session *s, bool is_trained_only) {
    int64_t floats = 0;
    for (int64_t i = 0; i < s->parameters.count; i++)
        if (!is_trained_only ||
            s->parameters.items[i].offset < s->parameters.trained_end)
            floats += s->parameters.items[i].count;
    return floats;
}

static struct json *describe_parameters(const lathe_session *s) {
    struct json *groups = json_make_list();
    struct making to = make();
    for (int32_t i = 0; i < s->group_count; i++)
        if (!push(groups, describe_group(s, i))) to.is_broken = true;
    put_whole(&to, "count", s->parameters.count);
    put_whole(&to, "floats", count_floats(s, false));
    put_whole(&to, "trained", count_floats(s, true));
    put(&to, "groups", groups);
    return finish(&to);
}

static struct json *describe_memory(const lathe_session *s) {
    const int64_t block = s->parameters.size * (int64_t)sizeof(float);
    struct making to = make();
    put_whole(&to, "weights", block);
    put_whole(&to, "gradients", block * s->shard_count);
    put_whole(&to, "slots", block * s->slot_count);
    put_whole(&to, "own", block * s->block_count);
    put_whole(&to, "total",
              block * (1 + s->shard_count + s->slot_count + s->block_count));
    return finish(&to);
}

static int64_t checkpoint_bytes(const lathe_session *s) {
    return (int64_t)sizeof(float) * (count_floats(s, false) * (1 + s->block_count) +
                                     count_floats(s, true) * s->slot_count);
}

static void put_machine(lathe_session *s, struct making *to) {
    char blas[128] = "";
    for (int64_t i = 0; i < s->library_count && !blas[0]; i++)
        library_blas_name(&s->libraries[i], blas, sizeof blas);
    put_whole(to, "threads", workers_count(s->workers));
    put_whole(to, "cores", workers_cores());
    put_text(to, "kernels", blas[0] ? blas : NULL);
}

struct json *plan_describe(lathe_session *s) {
    struct making to = make();
    put_text(&to, "name", s->experiment->name);
    put_whole(&to, "seed", (int64_t)s->experiment->seed);
    put_whole(&to, "stage", s->now.stage);
    put_whole(&to, "stages", (int64_t)s->experiments->stage_count + 1);
    put(&to, "plugins", describe_plugins(s));
    put(&to, "values", describe_values(s));
    put(&to, "data", describe_data(s));
    put(&to, "loop", describe_loop(s));
    put(&to, "slices", describe_slices(s));
    put(&to, "prefetch", describe_prefetch(s));
    put(&to, "rate", describe_rate(s));
    put(&to, "parameters", describe_parameters(s));
    put(&to, "memory", describe_memory(s));
    put_whole(&to, "checkpoint", checkpoint_bytes(s));
    put_machine(s, &to);
    return finish(&to);
}

/* ---- the calls ---- */

lathe_status plan_turn(lathe_session *s, const struct duration *length,
                       struct error *err) {
    if (length && length->unit == DURATION_SECONDS) {
        fail(err, LATHE_EINVAL, "how many calls a time allows cannot be known");
        error_help(err, "count them in 20step, 4096sample or 1ep");
        return LATHE_EINVAL;
    }
    s->heed |= HEED_DRY;
    s->dry_end = length ? session_steps(s, length) : 0;
    lathe_status status = lathe_run(s);
    if (status != LATHE_OK && err) *err = s->err;
    return status;
}

const struct ring *plan_ring(const lathe_session *s) {
    return s->ring;
}
