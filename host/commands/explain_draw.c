/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "commands/explain.h"

struct drawing {
    const struct json *plan;
    struct json *lines; /* NULL: out of memory */
    int depth;
};

const struct json *explain_value(const struct json *plan, const char *path) {
    return json_get(json_find(json_get(plan, "values"), "path", path), "value");
}

void explain_add_durations(const struct json *durations, struct text *text) {
    if (json_kind(durations) == JSON_TEXT) text_add(text, json_text(durations));
    for (size_t i = 0; json_kind(durations) == JSON_LIST && i < json_size(durations);
         i++)
        text_format(text, "%s%s", i ? " or " : "", json_text(json_at(durations, i)));
}

/* Takes what the texts hold. */
static void add(struct drawing *d, const char *call, struct text *who,
                struct text *note) {
    const bool is_whole = !(who && who->is_broken) && !(note && note->is_broken);
    struct json *line = JSON_MAP_OF(
        {"depth", json_make_whole(d->depth)}, {"call", json_make_text(call)},
        {"who", json_make_text(who && who->data ? who->data : "")},
        {"note", json_make_text(note && note->data ? note->data : "")});
    d->lines = json_append(d->lines, line);
    if (!is_whole) d->lines = json_append(d->lines, NULL);
    if (who) text_finish(who);
    if (note) text_finish(note);
}

static const struct json *plugin_at(const struct drawing *d, const char *path) {
    return json_find(json_get(d->plan, "plugins"), "path", path);
}

static void call(struct drawing *d, const char *function, const char *path,
                 struct text *note) {
    struct text who = {0};
    text_add(&who, json_text(json_get(plugin_at(d, path), "name")));
    add(d, function, &who, note);
}

static bool is_subscribed(const struct json *plugin, const char *point) {
    return json_holds(json_get(plugin, "points"), point);
}

static void add_name(struct text *who, const struct json *plugin, const char *key) {
    text_format(who, "%s%s", who->length ? ", " : "", json_text(json_get(plugin, key)));
}

/* A point that nobody subscribed to is no call. */
static void fire(struct drawing *d, const char *point) {
    const struct json *plugins = json_get(d->plan, "plugins");
    struct text who = {0};
    for (size_t i = 0; i < json_size(plugins); i++)
        if (is_subscribed(json_at(plugins, i), point))
            add_name(&who, json_at(plugins, i), "id");
    if (who.length) add(d, point, &who, NULL);
}

/* Plugins that say what they would go on from, should the run end on its way. */
static void save(struct drawing *d, bool is_window) {
    const struct json *plugins = json_get(d->plan, "plugins");
    struct text who = {0};
    for (size_t i = 0; i < json_size(plugins); i++) {
        const char *when = json_text(json_get(json_at(plugins, i), "saves"));
        if (when[0] && (!is_window || !strcmp(when, "window")))
            add_name(&who, json_at(plugins, i), "id");
    }
    if (who.length) add(d, "save", &who, NULL);
}

static long long number(const struct json *map, const char *key) {
    return (long long)json_whole(json_get(map, key));
}

static const char *plural(long long count) {
    return count == 1 ? "" : "s";
}

/* "64 + 64", "4 of 16" */
static void add_rows(const struct json *rows, struct text *text) {
    const size_t count = json_size(rows);
    bool is_even = count > 2;
    for (size_t i = 1; i < count; i++)
        is_even = is_even && json_same(json_at(rows, 0), json_at(rows, i));
    if (is_even) {
        text_format(text, "%zu of %lld", count,
                    (long long)json_whole(json_at(rows, 0)));
        return;
    }
    for (size_t i = 0; i < count; i++)
        text_format(text, "%s%lld", i ? " + " : "",
                    (long long)json_whole(json_at(rows, i)));
}

static void pass(struct drawing *d, const char *data, bool is_training) {
    const struct json *slices = json_get(d->plan, "slices");
    struct text note = {0};
    if (is_training) {
        add_rows(json_get(slices, "full"), &note);
        text_add(&note, " rows");
        if (!json_same(json_get(slices, "full"), json_get(slices, "last"))) {
            text_add(&note, "; an epoch's last ");
            add_rows(json_get(slices, "last"), &note);
        }
    }
    if (is_training && is_subscribed(plugin_at(d, data), "order"))
        call(d, "order", data, NULL);
    call(d, "read", data, &note);
    if (is_training) fire(d, "batch_begin");
    call(d, "forward", "model", NULL);
}

static void micro(struct drawing *d) {
    const struct json *loop = json_get(d->plan, "loop");
    const struct json *window = json_get(loop, "window");
    const struct json *last = json_get(loop, "last_window");
    struct text note = {0};
    text_format(&note, "× %lld of %lld samples", number(window, "micros"),
                (long long)json_whole(explain_value(d->plan, "train.batch")));
    if (!json_same(window, last))
        text_format(&note, "; in an epoch's last step × %lld, %lld samples in all",
                    number(last, "micros"), number(last, "samples"));
    add(d, "micro-batch", NULL, &note);
    d->depth++;
    pass(d, "data.train", true);
    fire(d, "loss_ready");
    call(d, "backward", "model", NULL);
    fire(d, "batch_end");
    d->depth--;
}

static void step(struct drawing *d, struct text *note) {
    const struct json *plugins = json_get(d->plan, "plugins");
    struct text who = {0};
    for (size_t i = 0; i < json_size(plugins); i++)
        if (!strcmp(json_text(json_get(json_at(plugins, i), "kind")), "optimizer"))
            add_name(&who, json_at(plugins, i), "id");
    add(d, "step", &who, note);
}

static void host(struct drawing *d, const char *act, struct text *note) {
    struct text who = {0};
    text_add(&who, "host");
    add(d, act, &who, note);
}

static void update(struct drawing *d) {
    const long long shards = number(json_get(d->plan, "slices"), "shards");
    const double norm = json_number(explain_value(d->plan, "train.clip_norm"));
    const double value = json_number(explain_value(d->plan, "train.clip_value"));
    struct text note = {0};
    if (shards > 1) text_format(&note, "adds %lld shards; ", shards);
    text_add(&note, "÷ weight of the window; must be finite");
    host(d, "reduce", &note);
    fire(d, "gradients_ready");
    if (plugin_at(d, "schedule")) call(d, "factor", "schedule", NULL);
    fire(d, "begin");
    note = (struct text){0};
    if (norm > 0) text_format(&note, "gradient scaled to norm %g at most", norm);
    if (value > 0) text_format(&note, "gradient clamped to ±%g", value);
    if (norm <= 0 && value <= 0) text_add(&note, "gradient not clipped");
    step(d, &note);
    fire(d, "step_end");
}

static void visit(struct drawing *d, const char *split, struct text *note) {
    const struct json *data = json_get(json_get(d->plan, "data"), split);
    char path[64];
    snprintf(path, sizeof path, "data.%s", split);
    if (!data) {
        text_finish(note);
        return;
    }
    add(d, split, NULL, note);
    d->depth++;
    if (!strcmp(split, "validation")) save(d, false);
    fire(d, "validation_begin");
    struct text batches = {0};
    text_format(&batches, "× %lld", number(data, "batches"));
    if (number(data, "last_batch") != json_whole(explain_value(d->plan, "train.batch")))
        text_format(&batches, "; the last of %lld sample%s", number(data, "last_batch"),
                    plural(number(data, "last_batch")));
    add(d, "batch", NULL, &batches);
    d->depth++;
    pass(d, path, false);
    fire(d, "validation_batch_end");
    d->depth--;
    fire(d, "validation_end");
    host(d, "record", NULL);
    if (!strcmp(split, "validation")) fire(d, "observe");
    d->depth--;
}

static void after_step(struct drawing *d) {
    const struct json *validate = explain_value(d->plan, "train.validate");
    struct text note = {0};
    if (json_kind(explain_value(d->plan, "train.log")) != JSON_NULL_KIND) {
        text_add(&note, "every ");
        explain_add_durations(explain_value(d->plan, "train.log"), &note);
        text_add(&note, ", and at an epoch's end");
    }
    host(d, "record", &note);
    if (!strcmp(json_text(validate), "off") || !validate) return;
    note = (struct text){0};
    text_add(&note, "every ");
    explain_add_durations(validate, &note);
    visit(d, "validation", &note);
}

static void epoch(struct drawing *d) {
    const struct json *loop = json_get(d->plan, "loop");
    const long long each = number(loop, "steps_per_epoch");
    struct text note = {0};
    text_add(&note, "until ");
    explain_add_durations(json_get(loop, "until"), &note);
    add(d, "epoch", NULL, &note);
    d->depth++;
    fire(d, "epoch_begin");
    note = (struct text){0};
    text_format(&note, "× %lld", each);
    add(d, "step", NULL, &note);
    d->depth++;
    save(d, true);
    fire(d, "step_begin");
    micro(d);
    update(d);
    after_step(d);
    d->depth--;
    fire(d, "epoch_end");
    d->depth--;
}

struct json *explain_draw(const struct json *plan) {
    struct drawing d = {.plan = plan, .lines = json_make_list()};
    struct text note = {0};
    fire(&d, "run_begin");
    epoch(&d);
    if (number(plan, "stage") < number(plan, "stages")) return d.lines;
    text_add(&note, "the last whole step");
    host(&d, "save", &note);
    save(&d, false);
    note = (struct text){0};
    text_add(&note, "once, unless told to stop");
    visit(&d, "test", &note);
    fire(&d, "run_end");
    return d.lines;
}
