/* SPDX-License-Identifier: MIT */
/* From the experiment to instances that are ready for step 0: data, model, optimizer,
 * schedule, callbacks, in this order, undone in reverse. */
#include <stdlib.h>
#include <string.h>

#include "passes.h"
#include "session_calls.h"

static lathe_status find_library(lathe_session *s, const struct manifest *manifest,
                                 const struct library **library) {
    for (int64_t i = 0; i < s->library_count; i++)
        if (s->libraries[i].manifest == manifest) {
            *library = &s->libraries[i];
            return LATHE_OK;
        }
    struct error warning;
    struct library *slot = &s->libraries[s->library_count];
    lathe_status status = library_open(manifest, &s->loading, slot, &s->err);
    if (status != LATHE_OK) return status;
    s->library_count++;
    *library = slot;
    if (registry_warning(s->registry, manifest, &warning))
        log_line(&s->log, LATHE_LOG_WARNING, "%s", warning.what);
    return LATHE_OK;
}

static void name_plugin(struct plugin *plugin, const struct use *use,
                        const char *label) {
    const struct manifest *m = use->manifest;
    snprintf(plugin->label, sizeof plugin->label, "%s %s (%s %s)", label, use->id,
             m->linked ? "linked" : m->library, m->version);
}

static lathe_status open_nested(lathe_session *s, const struct use *use,
                                struct plugin *plugin) {
    if (!use->nested_count) return LATHE_OK;
    plugin->nested = calloc(use->nested_count, sizeof *plugin->nested);
    if (!plugin->nested)
        return fail(&s->err, LATHE_ENOMEM, "no memory for %s", use->path);
    lathe_status status = LATHE_OK;
    for (size_t i = 0; status == LATHE_OK && i < use->nested_count; i++)
        status = session_open_plugin(s, &use->nested[i], use->nested[i].path,
                                     &plugin->nested[i]);
    return status;
}

lathe_status session_open_plugin(lathe_session *s, const struct use *use,
                                 const char *label, struct plugin *plugin) {
    lathe_status status = session_is_wanted(s);
    if (status != LATHE_OK) return status;
    plugin->use = use;
    plugin->session = s;
    plugin->worker_count = workers_count(s->workers) + 1; /* who reads ahead */
    name_plugin(plugin, use, label);
    plugin->number = ring_add_plugin(s->ring, plugin->label);
    session_enter(s, 0, plugin, FUNCTION_OPEN);
    status = find_library(s, use->manifest, &plugin->library);
    session_leave(s, 0, plugin, FUNCTION_OPEN);
    if (status == LATHE_OK) status = open_nested(s, use, plugin);
    if (status != LATHE_OK) return status;
    session_enter(s, 0, plugin, FUNCTION_CREATE);
    status = plugin_create(plugin, &s->services, &s->log, &s->err);
    session_leave(s, 0, plugin, FUNCTION_CREATE);
    return status;
}

static size_t count_uses(const struct use *use) {
    size_t count = 1;
    for (size_t i = 0; i < use->nested_count; i++) count += count_uses(&use->nested[i]);
    return count;
}

static lathe_status make_room_for_libraries(lathe_session *s) {
    const struct experiment *e = s->experiment;
    size_t count =
        count_uses(&e->model) + count_uses(&e->optimizer) + count_uses(&e->schedule);
    for (size_t i = 0; i < e->data_count; i++) count += count_uses(&e->data[i].use);
    for (size_t i = 0; i < e->callback_count; i++)
        count += count_uses(&e->callbacks[i]);
    s->libraries = calloc(count, sizeof *s->libraries);
    return s->libraries ? LATHE_OK
                        : fail(&s->err, LATHE_ENOMEM, "no memory for plugins");
}

/* Groups share the slots: each has its own part of every block. */
static lathe_status make_slots(lathe_session *s, struct optimizer_group *group) {
    const lathe_optimizer_ops *ops = group->plugin.ops;
    const char *const *names = NULL;
    session_enter(s, 0, &group->plugin, FUNCTION_SLOTS);
    int32_t count = ops->slots ? ops->slots(group->plugin.self, &names) : 0;
    session_leave(s, 0, &group->plugin, FUNCTION_SLOTS);
    if (count < 0 || count > PASS_SLOTS_MAX) {
        fail(&s->err, LATHE_EPLUGIN, "it asks for %d slots; 0 to %d are possible",
             count, PASS_SLOTS_MAX);
        error_where(&s->err, "%s in slots", group->plugin.label);
        return LATHE_EPLUGIN;
    }
    group->slot_count = count;
    if (group == s->groups) s->slot_names = names;
    for (; s->slot_count < count; s->slot_count++) {
        float *slot = block_create(s->parameters.size);
        if (!slot)
            return fail(&s->err, LATHE_ENOMEM,
                        "no memory for %d optimizer slots of %lld bytes", count,
                        (long long)s->parameters.size * 4);
        s->slots[s->slot_count] = slot;
    }
    return LATHE_OK;
}

static lathe_status compose_group(lathe_session *s, const struct use *use,
                                  const char *label) {
    struct optimizer_group *group = &s->groups[s->group_count++];
    lathe_status status = session_open_plugin(s, use, label, &group->plugin);
    if (status == LATHE_OK) status = make_slots(s, group);
    group->base_rate = json_number(options_find(use->options, "lr"));
    return status;
}

static lathe_status compose_optimizer(lathe_session *s) {
    const struct experiment *e = s->experiment;
    s->groups = calloc(e->group_count + 1, sizeof *s->groups);
    if (!s->groups) return fail(&s->err, LATHE_ENOMEM, "no memory for the optimizer");
    lathe_status status = compose_group(s, &e->optimizer, "optimizer");
    for (size_t i = 0; status == LATHE_OK && i < e->group_count; i++) {
        char label[48];
        snprintf(label, sizeof label, "optimizer.groups[%zu]", i);
        status = compose_group(s, &e->groups[i].use, label);
    }
    return status;
}

static lathe_status watch_for_schedule(lathe_session *s) {
    const lathe_schedule_ops *ops = s->schedule.ops;
    const struct json *watch = options_find(s->experiment->schedule.options, "watch");
    if (!ops->observe || json_kind(watch) != JSON_TEXT) return LATHE_OK;
    s->schedule_watch = metrics_find(s->metrics, json_text(watch));
    if (s->schedule_watch >= 0) return LATHE_OK;
    fail(&s->err, LATHE_EINVAL, "nobody reports the metric \"%s\"", json_text(watch));
    error_where(&s->err, "%s: schedule.watch", s->experiment->file);
    return LATHE_EINVAL;
}

static lathe_status compose_schedule(lathe_session *s) {
    s->schedule_watch = -1;
    if (!s->experiment->schedule.manifest) return LATHE_OK;
    lathe_status status =
        session_open_plugin(s, &s->experiment->schedule, "schedule", &s->schedule);
    if (status != LATHE_OK) return status;
    const lathe_schedule_ops *ops = s->schedule.ops;
    if (ops->flags & LATHE_NEEDS_HORIZON && !s->now.steps_total) {
        fail(&s->err, LATHE_EINVAL,
             "schedule \"%s\" needs to know how many steps there will "
             "be, and train.until gives only a time",
             s->experiment->schedule.manifest->name);
        error_where(&s->err, "%s: train.until", s->experiment->file);
        error_help(&s->err, "add a bound that can be counted: train.until=[\"10ep\", "
                            "\"30min\"]");
        return LATHE_EINVAL;
    }
    return watch_for_schedule(s);
}

static lathe_status compose_callbacks(lathe_session *s) {
    const struct experiment *e = s->experiment;
    s->callbacks = calloc(e->callback_count + 1, sizeof *s->callbacks);
    if (!s->callbacks) return fail(&s->err, LATHE_ENOMEM, "no memory for callbacks");
    for (size_t i = 0; i < e->callback_count; i++) {
        char label[32];
        snprintf(label, sizeof label, "callbacks[%zu]", i);
        struct plugin *callback = &s->callbacks[s->callback_count++];
        lathe_status status = session_open_plugin(s, &e->callbacks[i], label, callback);
        if (status != LATHE_OK) return status;
        const lathe_callback_ops *ops = callback->ops;
        if (ops->flags & LATHE_WANTS_OUTPUTS) s->wants_outputs = true;
    }
    return session_list_points(s);
}

void session_quiet_blas(void *context, int worker) {
    lathe_session *s = context;
    (void)worker;
    for (int64_t i = 0; i < s->library_count; i++) library_quiet_blas(&s->libraries[i]);
}

lathe_status session_compose(lathe_session *s) {
    const struct train_settings *train = &s->experiment->train;
    lathe_status status = make_room_for_libraries(s);
    if (status == LATHE_OK) status = session_compose_data(s);
    if (status == LATHE_OK) {
        sampler_init(&s->sampler, s->data[SPLIT_TRAIN].samples, train->batch,
                     train->accumulate);
        session_set_horizon(s);
        status = session_compose_model(s);
    }
    if (status == LATHE_OK) status = compose_optimizer(s);
    if (status == LATHE_OK) status = compose_schedule(s);
    if (status == LATHE_OK) status = compose_callbacks(s);
    if (status == LATHE_OK) status = session_make_buffers(s);
    if (status == LATHE_OK) status = session_list_states(s);
    if (status == LATHE_OK) workers_run(s->workers, session_quiet_blas, s);
    return status == LATHE_OK ? session_open_ahead(s) : status;
}

struct plugin *session_plugin_at(lathe_session *s, int64_t i) {
    struct plugin *plugins[SPLIT_COUNT + 1];
    int64_t count = 0;
    for (int split = 0; split < SPLIT_COUNT; split++)
        if (s->data[split].is_used) plugins[count++] = &s->data[split].plugin;
    plugins[count++] = &s->shards[0].model;
    if (i < count) return plugins[i];
    i -= count;
    if (i < s->group_count) return &s->groups[i].plugin;
    i -= s->group_count;
    if (s->schedule.use && i-- == 0) return &s->schedule;
    return i < s->callback_count ? &s->callbacks[i] : NULL;
}

void session_free_services(lathe_session *s) {
    for (int64_t i = 0; i < s->tally_count; i++) free(s->tallies[i].numbers);
    for (int64_t i = 0; i < s->block_count; i++) {
        block_destroy(s->blocks[i].block, s->parameters.size);
        free(s->blocks[i].name);
    }
    for (int64_t i = 0; i < s->interval_count; i++) free(s->intervals[i].name);
    free(s->tallies);
    free(s->blocks);
    free(s->intervals);
    s->tallies = NULL;
    s->blocks = NULL;
    s->intervals = NULL;
    s->tally_count = s->block_count = s->interval_count = 0;
}

void session_decompose(lathe_session *s) {
    session_close_ahead(s);
    session_free_states(s);
    for (int64_t i = s->callback_count - 1; i >= 0; i--)
        session_finish_plugin(s, &s->callbacks[i]);
    session_finish_plugin(s, &s->schedule);
    for (int32_t i = s->group_count - 1; i >= 0; i--)
        session_finish_plugin(s, &s->groups[i].plugin);
    services_close_streams(s);
    session_free_buffers(s);
    session_free_services(s);
    for (int32_t i = 0; i < s->slot_count; i++)
        block_destroy(s->slots[i], s->parameters.size);
    session_decompose_model(s);
    session_decompose_data(s);
    for (int point = 0; point < POINT_COUNT; point++) free(s->points[point].plugins);
    for (int64_t i = 0; i < s->library_count; i++) library_close(&s->libraries[i]);
    free(s->groups);
    free(s->callbacks);
    free(s->libraries);
    memset(s->points, 0, sizeof s->points);
    memset(&s->schedule, 0, sizeof s->schedule);
    s->groups = NULL;
    s->slot_names = NULL;
    s->callbacks = NULL;
    s->libraries = NULL;
    s->callback_count = s->library_count = 0;
    s->group_count = s->slot_count = 0;
}
