/* SPDX-License-Identifier: MIT */
/* What a session is made of: plugins, and the values they are given. */
#include <stdlib.h>
#include <string.h>

#include "plan_parts.h"

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

static struct json *list_points(const lathe_session *s, const struct plugin *plugin) {
    const char *more = optional_function(plugin);
    struct json *list = json_make_list();
    if (more) list = json_append(list, json_make_text(more));
    for (int point = 0; point < POINT_COUNT; point++)
        for (int i = 0; i < s->points[point].count; i++)
            if (s->points[point].plugins[i] == plugin)
                list = json_append(
                    list, json_make_text(session_point_name((enum point)point)));
    return list;
}

static struct json *describe_plugin(const lathe_session *s,
                                    const struct plugin *plugin) {
    const struct manifest *m = plugin->use->manifest;
    return JSON_MAP_OF(
        {"path", json_make_text(plugin->use->path)},
        {"kind", json_make_text(manifest_kind_name(m->kind))},
        {"name", json_make_text(m->name)}, {"id", json_make_text(plugin->use->id)},
        {"version", json_make_text(m->version)},
        {"library", json_make_text(m->linked ? NULL : m->library_path)},
        {"points", list_points(s, plugin)},
        {"saves", json_make_text(when_saved(s, plugin))},
        {"notes", plugin->notes ? json_clone(plugin->notes) : json_make_map()});
}

static struct json *append_plugin(struct json *list, const lathe_session *s,
                                  const struct plugin *plugin) {
    list = json_append(list, describe_plugin(s, plugin));
    for (size_t i = 0; i < plugin->use->nested_count; i++)
        list = append_plugin(list, s, &plugin->nested[i]);
    return list;
}

struct json *plan_plugins(lathe_session *s) {
    struct json *list = json_make_list();
    const struct plugin *plugin;
    for (int64_t i = 0; (plugin = session_plugin_at(s, i)) != NULL; i++)
        list = append_plugin(list, s, plugin);
    return list;
}

/* ---- values ---- */

/* A list of plain values is shown as one. */
static bool is_leaf(const struct json *value) {
    if (json_kind(value) == JSON_LIST)
        for (size_t i = 0; i < json_size(value); i++)
            if (json_size(json_at(value, i))) return false;
    return json_kind(value) != JSON_MAP || !json_size(value);
}

static struct json *append_values(struct json *list, const struct experiment *e,
                                  const char *path, const struct json *value) {
    if (path[0] && is_leaf(value))
        return json_append(
            list,
            JSON_MAP_OF({"path", json_make_text(path)}, {"value", json_clone(value)},
                        {"origin", json_make_text(experiment_origin(e, path))}));
    for (size_t i = 0; i < json_size(value); i++) {
        char *inner = experiment_path_at(e, path, value, i);
        list = inner ? append_values(list, e, inner, json_at(value, i))
                     : json_append(list, NULL);
        free(inner);
    }
    return list;
}

struct json *plan_values(const lathe_session *s) {
    return append_values(json_make_list(), s->experiment, "", s->experiment->resolved);
}
