/* SPDX-License-Identifier: MIT */
/* Stages: each is the experiment with some of its parts written over, and is checked as
 * an experiment of its own. The first stage is the experiment itself. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "experiment_parts.h"

/* A part that names its plugin takes the place of the whole; otherwise members do. */
static struct json *merge(const struct json *base, const struct json *over) {
    if (json_kind(base) != JSON_MAP || json_kind(over) != JSON_MAP ||
        json_get(over, "use"))
        return json_clone(over);
    struct json *merged = json_clone(base);
    for (struct json_member at = {0}; json_next(over, &at);)
        merged = json_add(merged, at.key, merge(json_get(base, at.key), at.value));
    return merged;
}

static struct json *take_stage(const struct json *whole, size_t index) {
    static const char *const stages[] = {"stages", NULL};
    struct json *rest = json_clone_without(whole, stages);
    const struct json *stage = json_at(json_get(whole, "stages"), index);
    struct json *merged = rest ? merge(rest, stage ? stage : rest) : NULL;
    json_close(rest);
    return merged;
}

static bool check_stages(struct opening *opening, const struct json *stages) {
    const size_t errors = opening->errors->count;
    if (json_kind(stages) != JSON_LIST)
        experiment_fault(opening, "stages", "write [ { \"train\": { … } }, … ]",
                         "a list of stages was expected, found %s",
                         json_kind_name(json_kind(stages)));
    if (!json_size(stages)) return false; /* a list is told by the schema */
    for (size_t i = 0; i < json_size(stages); i++) {
        static const char *const parts[] = {"train", "optimizer", "schedule", "data"};
        const struct json *stage = json_at(stages, i);
        for (size_t k = 0; k < json_size(stage) && json_kind(stage) == JSON_MAP; k++) {
            bool is_part = false;
            for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
                is_part = is_part || !strcmp(json_key_at(stage, k), parts[p]);
            char path[128];
            snprintf(path, sizeof path, "stages.%zu.%.80s", i, json_key_at(stage, k));
            if (!is_part)
                experiment_fault(opening, path,
                                 "a stage may have: train, optimizer, schedule, data",
                                 "a stage cannot change this");
        }
        char path[32];
        snprintf(path, sizeof path, "stages.%zu", i);
        if (json_kind(stage) != JSON_MAP)
            experiment_fault(opening, path, "", "a stage is an object, found %s",
                             json_kind_name(json_kind(stage)));
    }
    return opening->errors->count == errors;
}

void experiment_take_stages(struct opening *opening) {
    struct experiment *e = opening->experiment;
    const struct json *stages = json_get(e->written, "stages");
    if (!stages || !check_stages(opening, stages)) return;
    e->staged = e->written;
    e->written = take_stage(e->staged, 0);
    if (!e->written) opening->is_broken = true;
}

/* Where an error of a stage stands in the file. */
static void relabel(struct experiment *e, size_t index, struct error *err) {
    struct json *stage = json_at(json_get(e->staged, "stages"), index);
    const size_t length = strnlen(e->file, EXPERIMENT_FILE_SHOWN);
    char path[sizeof err->where];
    if (strncmp(err->where, e->file, length) || strncmp(err->where + length, ": ", 2))
        return;
    snprintf(path, sizeof path, "%s", err->where + length + 2);
    char *part = text_make("%.*s", (int)strcspn(path, "."), path);
    if (part && json_get(stage, part)) {
        err->where[0] = '\0';
        error_where(err, "%.*s: stages.%zu.%.280s", EXPERIMENT_FILE_SHOWN, e->file,
                    index, path);
    }
    free(part);
}

static void add_errors(struct opening *opening, size_t index, struct errors *more) {
    for (size_t i = 0; i < more->count; i++) {
        struct error *err = &more->items[i];
        bool is_known = false;
        for (size_t k = 0; k < opening->errors->count && !is_known; k++)
            is_known = !strcmp(opening->errors->items[k].what, err->what) &&
                       !strcmp(opening->errors->items[k].where, err->where);
        if (is_known) continue;
        relabel(opening->experiment, index, err);
        *errors_add(opening->errors) = *err;
    }
    errors_finish(more);
}

/* The stage with what all stages share put in; the caller's. */
static struct json *complete_stage(const struct experiment *e, size_t index) {
    struct json *merged = take_stage(e->staged, index);
    merged = json_add(merged, "name", json_make_text(e->name));
    return json_add(merged, "seed", json_clone(json_get(e->resolved, "seed")));
}

void experiment_open_stages(struct opening *opening) {
    struct experiment *e = opening->experiment;
    const size_t count = json_size(json_get(e->staged, "stages"));
    if (!e->staged) return;
    e->stages = calloc(count, sizeof *e->stages);
    if (!e->stages) opening->is_broken = true;
    for (size_t i = 1; i < count && !opening->is_broken; i++) {
        struct errors errors = {0};
        struct json *given = complete_stage(e, i);
        if (given)
            experiment_open_as(given, e->file, e->directory, opening->registry,
                               &e->stages[e->stage_count], &errors);
        else
            opening->is_broken = true;
        if (e->stages[e->stage_count]) {
            e->stages[e->stage_count]->whole = e;
            e->stages[e->stage_count++]->stage = i;
        }
        add_errors(opening, i, &errors);
    }
}

/* What a stage may write over. */
static struct json *clone_parts(const struct json *resolved) {
    static const char *const parts[] = {"data", "optimizer", "schedule", "train"};
    struct json *stage = json_make_map();
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const struct json *part = json_get(resolved, parts[i]);
        if (part) stage = json_add(stage, parts[i], json_clone(part));
    }
    return stage;
}

struct json *experiment_whole(const struct experiment *e) {
    struct json *whole = json_clone(e->resolved);
    if (!e->stage_count) return whole;
    struct json *list = json_append(json_make_list(), json_make_map());
    for (size_t i = 0; i < e->stage_count; i++)
        list = json_append(list, clone_parts(e->stages[i]->resolved));
    return json_add(whole, "stages", list);
}

void experiment_close_stages(struct experiment *e) {
    for (size_t i = 0; i < e->stage_count; i++) experiment_close(e->stages[i]);
    free(e->stages);
    json_close(e->staged);
}
