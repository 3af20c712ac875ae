/* SPDX-License-Identifier: MIT */
/* lathe plugins: what is there, what is not used, and why. Opens no library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/trust.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/entries.h"
#include "store.h"

/* By kind, then by name, then as they were found; what has neither comes last. */
static int compare_entries(const void *a, const void *b) {
    const struct registry_entry *left = *(const struct registry_entry *const *)a,
                                *right = *(const struct registry_entry *const *)b;
    uint32_t kinds[2] = {left->manifest ? left->manifest->kind : LATHE_KIND_NONE,
                         right->manifest ? right->manifest->kind : LATHE_KIND_NONE};
    /* NONE is 0: one less makes it the greatest. */
    if (kinds[0] != kinds[1]) return kinds[0] - 1u < kinds[1] - 1u ? -1 : 1;
    const char *names[2] = {entry_name(left), entry_name(right)};
    int order = strcmp(names[0] ? names[0] : "\x7f", names[1] ? names[1] : "\x7f");
    if (order != 0) return order;
    return left < right ? -1 : left > right;
}

struct selection {
    const struct registry_entry **entries;
    size_t count;
};

static lathe_status select_entries(const struct registry *registry, uint32_t kind,
                                   struct selection *selection, struct error *err) {
    size_t count = registry_count(registry);
    selection->count = 0;
    selection->entries = calloc(count + 1, sizeof(struct registry_entry *));
    if (!selection->entries) return fail(err, LATHE_ENOMEM, "out of memory");
    for (size_t i = 0; i < count; i++) {
        const struct registry_entry *entry = registry_at(registry, i);
        if (kind != LATHE_KIND_NONE &&
            (!entry->manifest || entry->manifest->kind != kind))
            continue;
        selection->entries[selection->count++] = entry;
    }
    qsort(selection->entries, selection->count, sizeof *selection->entries,
          compare_entries);
    return LATHE_OK;
}

static void add_json(const struct selection *selection, struct text *text) {
    text_add(text, "[");
    for (size_t i = 0; i < selection->count; i++) {
        text_add(text, i > 0 ? ",\n  {" : "\n  {");
        entry_add_json(selection->entries[i], text);
        text_add(text, "}");
    }
    text_add(text, selection->count > 0 ? "\n]\n" : "]\n");
}

static void widen(int *width, const char *text) {
    int length = (int)strlen(text);
    if (length > *width) *width = length;
}

static void add_row(struct text *text, const int widths[2],
                    const char *const cells[4]) {
    text_format(text, "%-10s %-*s %-*s %s\n", cells[0], widths[0], cells[1], widths[1],
                cells[2], cells[3]);
}

/* A library that is a link is told with where it leads. */
static void add_link(struct text *text, const struct manifest *manifest) {
    char *shown = trust_show(manifest->library_path);
    if (shown && strcmp(shown, manifest->library_path) != 0)
        text_format(text, "           %s\n", shown);
    free(shown);
}

static void add_table(const struct selection *selection, struct text *text) {
    static const char *const head[4] = {"KIND", "NAME", "VERSION", "SUMMARY"};
    int widths[2] = {(int)strlen(head[1]), (int)strlen(head[2])}, count = 0;
    for (size_t i = 0; i < selection->count; i++) {
        if (selection->entries[i]->status != REGISTRY_OK) continue;
        widen(&widths[0], selection->entries[i]->manifest->name);
        widen(&widths[1], selection->entries[i]->manifest->version);
        count++;
    }
    if (count > 0) add_row(text, widths, head);
    for (size_t i = 0; i < selection->count; i++) {
        if (selection->entries[i]->status != REGISTRY_OK) continue;
        const struct manifest *manifest = selection->entries[i]->manifest;
        const char *const cells[4] = {manifest_kind_name(manifest->kind),
                                      manifest->name, manifest->version,
                                      manifest->summary};
        add_row(text, widths, cells);
        add_link(text, manifest);
    }
}

static void add_unused(const struct selection *selection, struct text *text) {
    for (size_t i = 0; i < selection->count; i++) {
        const struct registry_entry *entry = selection->entries[i];
        if (entry->status == REGISTRY_OK) continue;
        text_format(text, "%s%s ", text->length > 0 ? "\n" : "", entry_status(entry));
        size_t before = text->length;
        entry_add_title(entry, text);
        text_format(text, text->length > before ? " (%s)\n" : "%s\n", entry->path);
        entry_add_reason(entry, "  ", text);
    }
}

/* Places that are simply not there are no news, but where there is nothing at all. */
static void print_places(const struct registry *registry) {
    const struct registry_place *place;
    for (size_t i = 0; (place = registry_place_at(registry, i)) != NULL; i++) {
        const struct error *problem = &place->problem;
        if (problem->status != LATHE_OK && problem->status != LATHE_ENOTFOUND)
            fprintf(stderr, "lathe: %s (%s)\n", problem->what, problem->where);
    }
    if (registry_count(registry) > 0) return;
    fprintf(stderr, "lathe: no plugins; looked in\n");
    for (size_t i = 0; (place = registry_place_at(registry, i)) != NULL; i++)
        fprintf(stderr, "  %s (%s)\n", place->path, place->origin);
}

static int list(const char *const *paths, uint32_t kind, int is_json) {
    struct registry *registry = NULL;
    struct selection selection = {0};
    struct text text = {0};
    struct error err = {0};
    lathe_status status = registry_open(paths, NULL, &registry, &err);
    if (status == LATHE_OK) status = select_entries(registry, kind, &selection, &err);
    if (status == LATHE_OK && is_json) {
        add_json(&selection, &text);
    } else if (status == LATHE_OK) {
        add_table(&selection, &text);
        add_unused(&selection, &text);
    }
    if (status == LATHE_OK) print_places(registry);
    if (status == LATHE_OK) status = entries_print(&text, !is_json, &err);
    if (status != LATHE_OK) command_print_error(&err);
    text_finish(&text);
    free(selection.entries);
    registry_close(registry);
    return error_exit_code(status);
}

static int refuse_kind(const char *word, struct error *err) {
    struct nearest nearest;
    nearest_begin(&nearest, word);
    for (uint32_t kind = LATHE_KIND_DATASET; kind <= LATHE_KIND_COMM; kind++)
        nearest_offer(&nearest, manifest_kind_name(kind));
    fail(err, LATHE_EINVAL, "\"%s\" is no kind of plugin", word);
    error_where(err, "command line of \"plugins\"");
    if (nearest.best)
        error_help(err, "did you mean \"%s\"?", nearest.best);
    else
        error_help(err, "kinds: dataset, model, optimizer, schedule, callback, comm");
    return EXIT_USAGE;
}

/* The kind in the words, if there is one; refuses everything else. */
static int read_kind(const struct arguments *arguments, uint32_t *kind,
                     struct error *err) {
    const char *word = NULL;
    if (arguments->words.count + arguments->overrides.count == 0) return 0;
    int code = arguments_lone_word(arguments, "plugins", "a kind", &word, err);
    if (code != 0) return code;
    *kind = manifest_kind_find(word);
    return *kind == LATHE_KIND_NONE ? refuse_kind(word, err) : 0;
}

static int rescan(struct error *err) {
    int count = 0;
    lathe_status status = store_forget_refused(&count, err);
    if (status != LATHE_OK)
        command_print_error(err);
    else if (count > 0)
        fprintf(stderr, "lathe: %d refused before: tried once more when next used\n",
                count);
    return error_exit_code(status);
}

int command_plugins(int argc, char **argv) {
    int is_json = 0, is_rescan = 0;
    uint32_t kind = LATHE_KIND_NONE;
    struct words paths = {0};
    const struct flag flags[] = {{"--json", .count = &is_json},
                                 {"--rescan", .count = &is_rescan},
                                 {"--plugin-path", "DIR", .values = &paths},
                                 {.name = NULL}};
    struct arguments arguments = {0};
    struct error err = {0};
    int code = arguments_read(argc, argv, flags, &arguments, &err);
    if (code == 0) code = read_kind(&arguments, &kind, &err);
    if (code != 0)
        command_print_error(&err);
    else if (is_rescan)
        code = rescan(&err);
    if (code == 0) code = list(paths.items, kind, is_json);
    arguments_finish(&arguments);
    return code;
}
