/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "commands/explain.h"

static long long number(const struct json *map, const char *key) {
    return (long long)json_whole(json_get(map, key));
}

static const char *plural(long long count) {
    return count == 1 ? "" : "s";
}

/* Columns that a text of several bytes a letter does not shift. */
static void add_column(struct text *text, const char *string, int width) {
    int letters = 0;
    for (const char *at = string; *at; at++) letters += (*at & 0xC0) != 0x80;
    text_format(text, "%s%*s", string, letters < width ? width - letters : 1, "");
}

static void trim(struct text *text) {
    while (text->length && text->data[text->length - 1] == ' ')
        text->data[--text->length] = 0;
}

/* ---- plugins ---- */

/* As somebody would type it: relative, where it is below the present directory. */
static const char *shown_path(const char *path) {
    char here[4096];
    const size_t length = getcwd(here, sizeof here) ? strlen(here) : 0;
    return length && !strncmp(path, here, length) && path[length] == '/'
               ? path + length + 1
               : path;
}

static void write_notes(const struct json *notes, struct text *text) {
    for (size_t i = 0; i < json_size(notes); i++) {
        text_add(text, "    ");
        add_column(text, json_key_at(notes, i), 24);
        text_format(text, "%s\n", json_text(json_at(notes, i)));
    }
}

static void write_plugins(const struct json *plan, struct text *text) {
    const struct json *plugins = json_get(plan, "plugins");
    text_add(text, "\nPlugins\n");
    for (size_t i = 0; i < json_size(plugins); i++) {
        const struct json *plugin = json_at(plugins, i);
        const char *library = json_text(json_get(plugin, "library"));
        struct text name = {0};
        text_format(&name, "%s %s", json_text(json_get(plugin, "name")),
                    json_text(json_get(plugin, "version")));
        text_add(text, "  ");
        add_column(text, json_text(json_get(plugin, "path")), 26);
        add_column(text, name.data ? name.data : "", 22);
        text_format(text, "%s\n", library[0] ? shown_path(library) : "linked in");
        text_finish(&name);
        write_notes(json_get(plugin, "notes"), text);
    }
}

/* ---- the loop ---- */

static void write_loop(const struct json *drawing, struct text *text) {
    text_add(text, "\nLoop\n");
    for (size_t i = 0; i < json_size(drawing); i++) {
        const struct json *line = json_at(drawing, i);
        const int indent = 2 + 2 * (int)number(line, "depth");
        text_format(text, "%*s", indent, "");
        add_column(text, json_text(json_get(line, "call")), 32 - indent);
        add_column(text, json_text(json_get(line, "who")), 24);
        text_add(text, json_text(json_get(line, "note")));
        trim(text);
        text_add(text, "\n");
    }
}

/* ---- numbers ---- */

static void label(struct text *text, const char *name) {
    text_format(text, "  %-14s", name);
}

static void add_bytes(struct text *text, long long bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double amount = (double)bytes;
    size_t unit = 0;
    for (; amount >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
        amount /= 1024;
    text_format(text, unit ? "%.1f %s" : "%.0f %s", amount, units[unit]);
}

static void add_list(struct text *text, const struct json *rows) {
    for (size_t i = 0; i < json_size(rows) && i < 8; i++)
        text_format(text, "%s%lld", i ? " + " : "",
                    (long long)json_whole(json_at(rows, i)));
    if (json_size(rows) > 8) text_format(text, " … (%zu slices)", json_size(rows));
}

static void write_data(const struct json *plan, struct text *text) {
    const struct json *data = json_get(plan, "data");
    label(text, "samples");
    for (size_t i = 0; i < json_size(data); i++)
        text_format(text, "%s%lld %s", i ? ", " : "",
                    number(json_at(data, i), "samples"), json_key_at(data, i));
    text_add(text, "\n");
}

static void write_windows(const struct json *plan, struct text *text) {
    const struct json *loop = json_get(plan, "loop");
    const struct json *window = json_get(loop, "window");
    const struct json *last = json_get(loop, "last_window");
    label(text, "step");
    text_format(text, "%lld micro-batch%s, %lld samples", number(window, "micros"),
                number(window, "micros") == 1 ? "" : "es", number(window, "samples"));
    if (!json_same(window, last))
        text_format(text, "; an epoch's last: %lld, %lld samples",
                    number(last, "micros"), number(last, "samples"));
    text_add(text, "\n");
    label(text, "epoch");
    text_format(
        text, "%lld step%s, %lld micro-batches\n", number(loop, "steps_per_epoch"),
        plural(number(loop, "steps_per_epoch")), number(loop, "micros_per_epoch"));
    label(text, "run");
    if (json_kind(json_get(loop, "steps")) == JSON_NUMBER)
        text_format(text, "%lld step%s at most", number(loop, "steps"),
                    plural(number(loop, "steps")));
    else
        text_add(text, "as many steps as the time allows");
    text_add(text, ": until ");
    explain_add_durations(json_get(loop, "until"), text);
    text_add(text, "\n");
}

static void write_rate(const struct json *plan, struct text *text) {
    const struct json *rate = json_get(plan, "rate");
    const double start = json_number(json_get(rate, "start"));
    const double peak = json_number(json_get(rate, "peak"));
    const double end = json_number(json_get(rate, "end"));
    const bool has_end = json_kind(json_get(rate, "end")) == JSON_NUMBER;
    label(text, "rate");
    if (has_end && start == peak && end == peak) {
        text_format(text, "%g", start);
    } else {
        text_format(text, "%g at the start", start);
        if (peak > start)
            text_format(text, ", %g at step %lld", peak, number(rate, "peak_step"));
        if (has_end) text_format(text, ", %g at the end", end);
    }
    if (json_truth(json_get(rate, "observes")))
        text_add(text, "; it follows a metric, which may change it");
    text_add(text, "\n");
}

/* What more cores, or more shards, would do. */
static void write_threads(const struct json *plan, struct text *text) {
    const struct json *slices = json_get(plan, "slices");
    const long long threads = number(plan, "threads"), cores = number(plan, "cores");
    const long long shards = number(slices, "shards");
    label(text, "slices");
    text_format(text, "%lld shard%s: ", shards, plural(shards));
    add_list(text, json_get(slices, "full"));
    text_add(text, " rows");
    if (!json_same(json_get(slices, "full"), json_get(slices, "last"))) {
        text_add(text, "; of an epoch's last micro-batch ");
        add_list(text, json_get(slices, "last"));
    }
    if (number(slices, "least_rows") > 1)
        text_format(text, "; the model couples rows and sees %lld of them at a time",
                    (long long)json_whole(json_at(json_get(slices, "full"), 0)));
    text_add(text, "\n");
    label(text, "threads");
    text_format(text, "%lld, of %lld core%s", threads, cores, plural(cores));
    if (shards < cores)
        text_format(text, "; train.shards=%lld would use all (and makes other numbers)",
                    cores);
    else if (threads < shards)
        text_format(text, "; up to %lld would help, and change no bit", shards);
    else
        text_add(text,
                 "; more would need more train.shards, which makes other numbers");
    text_add(text, "\n");
}

static void write_prefetch(const struct json *plan, struct text *text) {
    const struct json *prefetch = json_get(plan, "prefetch");
    const char *ahead = json_text(json_get(prefetch, "ahead"));
    label(text, "reads");
    text_format(text, "%s%s: %s\n", strcmp(ahead, "no") ? "ahead" : "in the loop",
                strcmp(ahead, "when it pays") ? "" : " when it pays",
                json_text(json_get(prefetch, "why")));
}

static void write_parameters(const struct json *plan, struct text *text) {
    const struct json *parameters = json_get(plan, "parameters");
    const struct json *groups = json_get(parameters, "groups");
    label(text, "parameters");
    text_format(text, "%lld, %lld numbers; %lld trained\n", number(parameters, "count"),
                number(parameters, "floats"), number(parameters, "trained"));
    for (size_t i = 0; json_size(groups) > 1 && i < json_size(groups); i++) {
        const struct json *group = json_at(groups, i);
        label(text, "");
        add_column(text, i ? json_text(json_get(group, "match")) : "all others", 16);
        text_format(text, "%lld, %lld numbers; lr %g\n", number(group, "parameters"),
                    number(group, "floats"), json_number(json_get(group, "rate")));
    }
}

static void write_memory(const struct json *plan, struct text *text) {
    const struct json *memory = json_get(plan, "memory");
    label(text, "memory");
    add_bytes(text, number(memory, "total"));
    text_add(text, " of blocks: weights ");
    add_bytes(text, number(memory, "weights"));
    text_add(text, ", gradients ");
    add_bytes(text, number(memory, "gradients"));
    if (number(memory, "slots")) text_add(text, ", optimizer ");
    if (number(memory, "slots")) add_bytes(text, number(memory, "slots"));
    if (number(memory, "own")) text_add(text, ", callbacks ");
    if (number(memory, "own")) add_bytes(text, number(memory, "own"));
    text_add(text, "\n");
    label(text, "checkpoint");
    add_bytes(text, number(plan, "checkpoint"));
    text_add(text, " each, and the same once in memory while one is written\n");
    label(text, "kernels");
    text_format(text, "%s\n",
                json_kind(json_get(plan, "kernels")) == JSON_TEXT
                    ? json_text(json_get(plan, "kernels"))
                    : "the plugins' own");
}

/* ---- values ---- */

/* Is it as in the first stage? */
static bool is_known(const struct json *value, const struct json *first) {
    const char *path = json_text(json_get(value, "path"));
    const struct json *before = first ? explain_value(first, path) : NULL;
    return before && json_same(before, json_get(value, "value"));
}

static void write_values(const struct json *plan, const struct json *first,
                         struct text *text) {
    const struct json *values = json_get(plan, "values");
    text_add(text, "\nValues\n");
    for (size_t i = 0; i < json_size(values); i++) {
        const struct json *value = json_at(values, i);
        struct text shown = {0};
        if (is_known(value, first)) continue;
        json_write(json_get(value, "value"), &shown, 0);
        text_add(text, "  ");
        if (!first) add_column(text, json_text(json_get(value, "origin")), 14);
        add_column(text, json_text(json_get(value, "path")), 40);
        text_format(text, "%s\n", shown.data ? shown.data : "");
        text_finish(&shown);
    }
}

/* ---- the whole ---- */

static void write_stage(const struct json *plan, struct text *text) {
    write_loop(json_get(plan, "drawing"), text);
    text_add(text, "\nNumbers\n");
    write_data(plan, text);
    write_windows(plan, text);
    write_rate(plan, text);
    write_threads(plan, text);
    write_prefetch(plan, text);
    write_parameters(plan, text);
    write_memory(plan, text);
}

void explain_write(const struct json *stages, const char *experiment,
                   struct text *text) {
    const struct json *first = json_at(stages, 0);
    text_format(text, "%s, seed %lld", json_text(json_get(first, "name")),
                number(first, "seed"));
    if (experiment[0] != '{') text_format(text, ": %s", experiment);
    text_add(text, "\n");
    write_plugins(first, text);
    for (size_t i = 0; i < json_size(stages); i++) {
        if (json_size(stages) > 1)
            text_format(text, "\nStage %zu of %zu\n", i + 1, json_size(stages));
        write_stage(json_at(stages, i), text);
        if (i) write_values(json_at(stages, i), first, text);
    }
    if (json_size(stages) > 1)
        text_add(text, "\nAll stages, but for values of their own\n");
    write_values(first, NULL, text);
}
