/* SPDX-License-Identifier: MIT */
#include "bundle/uses.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

/* ---- who is in use ---- */

struct visit {
    void *context;
    lathe_status (*function)(void *context, const char *stage, const struct use *use);
    const char *stage;
};

static lathe_status visit_use(const struct visit *visit, const struct use *use) {
    if (!use->manifest) return LATHE_OK;
    lathe_status status = visit->function(visit->context, visit->stage, use);
    for (size_t i = 0; i < use->nested_count && !status; i++)
        status = visit_use(visit, &use->nested[i]);
    return status;
}

/* Later stages share the model and the callbacks of the first. */
static lathe_status visit_stage(const struct visit *visit, const struct experiment *e) {
    const bool is_first = !*visit->stage;
    lathe_status status = is_first ? visit_use(visit, &e->model) : LATHE_OK;
    for (size_t i = 0; i < e->data_count && !status; i++)
        status = visit_use(visit, &e->data[i].use);
    if (!status) status = visit_use(visit, &e->optimizer);
    if (!status) status = visit_use(visit, &e->schedule);
    for (size_t i = 0; is_first && i < e->callback_count && !status; i++)
        status = visit_use(visit, &e->callbacks[i]);
    return status;
}

lathe_status uses_each(const struct experiment *experiment, void *context,
                       lathe_status (*visit)(void *context, const char *stage,
                                             const struct use *use)) {
    struct visit visiting = {context, visit, ""};
    char stage[32];
    lathe_status status = visit_stage(&visiting, experiment);
    visiting.stage = stage;
    for (size_t i = 0; i < experiment->stage_count && !status; i++) {
        snprintf(stage, sizeof stage, "stages.%zu.", i + 1);
        status = visit_stage(&visiting, experiment->stages[i]);
    }
    return status;
}

/* ---- options ---- */

struct walk {
    void *context;
    lathe_status (*function)(void *context, const char *setting, struct json *value);
    const char *stage;
    const struct use *use;
};

/* Does the plugin declare this option, such as "files.0", as a path? */
static bool is_path(const struct use *use, const char *dotted) {
    char *path = text_copy(dotted);
    for (char *c = path; c && *c; c++)
        if (*c == '.') *c = '/';
    const struct json *schema =
        path ? options_declaration(use->manifest->options, path) : NULL;
    free(path);
    return !strcmp(json_text(json_get(schema, "format")), "path");
}

static lathe_status walk_value(const struct walk *walk, const char *path,
                               struct json *value);

static lathe_status walk_members(const struct walk *walk, const char *path,
                                 struct json *value) {
    lathe_status status = LATHE_OK;
    for (size_t i = 0; i < json_size(value) && !status; i++) {
        const bool is_map = json_kind(value) == JSON_MAP;
        const char *dot = *path ? "." : "";
        char *inner = is_map ? text_make("%s%s%s", path, dot, json_key_at(value, i))
                             : text_make("%s%s%zu", path, dot, i);
        status = inner ? walk_value(walk, inner, json_at(value, i)) : LATHE_ENOMEM;
        free(inner);
    }
    return status;
}

static lathe_status walk_value(const struct walk *walk, const char *path,
                               struct json *value) {
    if (json_kind(value) != JSON_TEXT) return walk_members(walk, path, value);
    if (!is_path(walk->use, path)) return LATHE_OK;
    char *setting = text_make("%s%s.%s", walk->stage, walk->use->path, path);
    lathe_status status =
        setting ? walk->function(walk->context, setting, value) : LATHE_ENOMEM;
    free(setting);
    return status;
}

/* The options are const here, but their values are not: visits may change them. */
static lathe_status walk_use(void *context, const char *stage, const struct use *use) {
    struct walk walk = *(const struct walk *)context;
    lathe_status status = LATHE_OK;
    walk.stage = stage;
    walk.use = use;
    for (size_t i = 0; i < json_size(use->options) && !status; i++)
        status =
            walk_value(&walk, json_key_at(use->options, i), json_at(use->options, i));
    return status;
}

lathe_status uses_each_path(const struct experiment *experiment, void *context,
                            lathe_status (*visit)(void *context, const char *setting,
                                                  struct json *value)) {
    struct walk walk = {.context = context, .function = visit};
    lathe_status status = uses_each(experiment, &walk, walk_use);
    struct json *weights = json_get(json_get(experiment->resolved, "start"), "weights");
    if (!status && weights) status = visit(context, "start.weights", weights);
    return status;
}
