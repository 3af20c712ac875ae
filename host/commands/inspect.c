/* SPDX-License-Identifier: MIT */
/* lathe inspect: what one plugin is and takes, as its manifest says. Opens no
 * library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/trust.h"
#include "bundle/magic.h"
#include "commands/arguments.h"
#include "commands/bundle_page.h"
#include "commands/commands.h"
#include "commands/entries.h"
#include "commands/example.h"
#include "facts.h"
#include "options.h"
#include "store.h"

/* ---- which one ---- */

/* The manifest that goes with a folder, a manifest or a library; the caller's. */
static char *manifest_path(const char *word) {
    struct stat info;
    char *path = path_absolute(word);
    if (!path || strcmp(path_name(path), "plugin.json") == 0) return path;
    bool is_folder = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    if (!is_folder && !text_ends_with(path, ".so")) return path;
    char *folder = is_folder ? text_copy(path) : path_directory(path);
    free(path);
    path = folder ? path_join(folder, "plugin.json") : NULL;
    free(folder);
    return path;
}

/* Was the manifest that was read asked for? Where `word` is a library, only if it names
 * that. */
static bool is_meant(const char *word, const struct registry_entry *entry) {
    if (!text_ends_with(word, ".so")) return true;
    return entry->reason.status != LATHE_ENOTFOUND && entry->manifest &&
           strcmp(path_name(word), entry->manifest->library) == 0;
}

/* The library alone, with the manifest that it carries. */
static lathe_status read_alone(const char *word, const struct json *format,
                               struct registry_entry *entry) {
    char *path = path_absolute(word);
    if (!path) return path_fail(&entry->reason);
    manifest_close(entry->manifest);
    free(entry->path);
    entry->path = path;
    entry->reason = (struct error){0};
    return manifest_from_library(path, format, &entry->manifest, &entry->reason);
}

static lathe_status recall(struct registry_entry *entry) {
    char digest[DIGEST_HEX];
    const char *path = entry->manifest->library_path;
    if (digest_file(path, NULL, digest, NULL) ||
        store_recall(digest, &entry->reason) != STORE_REFUSED)
        return LATHE_OK;
    error_where(&entry->reason, "%s", path);
    return LATHE_EMISSING;
}

/* Somebody took an experiment for a plugin's manifest. */
static bool is_experiment(const struct registry_entry *entry) {
    const struct json *root = entry->manifest ? entry->manifest->root : NULL;
    return json_get(root, "data") && json_get(root, "model") && !json_get(root, "kind");
}

static lathe_status read_entry(const char *word, struct registry_entry *entry,
                               struct error *err) {
    entry->path = manifest_path(word);
    if (!entry->path) return path_fail(err);
    struct json *format = NULL;
    lathe_status status = manifest_format(&format, err);
    if (status != LATHE_OK) return status;
    status = manifest_read(entry->path, format, &entry->manifest, &entry->reason);
    if (!is_meant(word, entry))
        status = read_alone(word, format, entry);
    else if (status == LATHE_OK)
        status = manifest_check_library(entry->manifest, format, &entry->reason);
    json_close(format);
    if (status == LATHE_OK) status = recall(entry);
    if (status != LATHE_OK && is_experiment(entry)) {
        fail(err, LATHE_EINVAL, "%s is an experiment, and no plugin's manifest", word);
        error_help(err, "\"lathe explain %s\" shows what it does", word);
        return LATHE_EINVAL;
    }
    if (status != LATHE_OK) entry->status = REGISTRY_REFUSED;
    if (entry->manifest && (status != LATHE_ENOTFOUND || entry->manifest->root))
        return LATHE_OK;
    *err = entry->reason;
    return status;
}

/* ---- what is shown ---- */

/* Descriptions go on a line of their own, where a narrow terminal leaves them whole. */
static void add_options(const struct manifest *manifest, struct text *text) {
    int width = 0;
    size_t count = json_size(manifest->options);
    if (count == 0) return;
    for (size_t i = 0; i < count; i++) {
        int length = (int)strlen(json_key_at(manifest->options, i));
        if (length > width) width = length;
    }
    text_add(text, "\noptions\n");
    for (size_t i = 0; i < count; i++) {
        const struct json *schema = json_at(manifest->options, i);
        text_format(text, "  %-*s  ", width, json_key_at(manifest->options, i));
        options_describe(schema, text);
        text_add(text, "\n");
        const char *description = json_text(json_get(schema, "description"));
        if (description[0]) text_format(text, "  %*s  %s\n", width, "", description);
    }
}

static void add_metrics(const struct manifest *manifest, struct text *text) {
    for (size_t i = 0; i < json_size(manifest->metrics); i++) {
        const struct json *metric = json_at(manifest->metrics, i);
        text_format(text, "%s  %s, %s is better\n", i == 0 ? "\nmetrics\n" : "",
                    json_text(json_get(metric, "name")),
                    json_truth(json_get(metric, "higher_is_better")) ? "higher"
                                                                     : "lower");
    }
}

static void add_example(const struct manifest *manifest, struct text *text) {
    struct json *example = example_make(manifest);
    if (!example) return;
    text_add(text, "\nexample\n  \"");
    text_add(text, json_key_at(example, 0));
    text_add(text, "\": ");
    json_write(json_at(example, 0), text, 0);
    text_add(text, "\n");
    json_close(example);
}

static void add_page(const struct registry_entry *entry, struct text *text) {
    const struct manifest *manifest = entry->manifest;
    struct facts facts;
    size_t before = text->length;
    entry_add_title(entry, text);
    text_add(text, text->length > before ? "\n" : "");
    if (manifest->summary[0]) text_format(text, "%s\n", manifest->summary);
    text_add(text, text->length > before ? "\n" : "");
    if (manifest->license[0]) text_format(text, "license   %s\n", manifest->license);
    char *library = manifest->library[0] ? trust_show(manifest->library_path) : NULL;
    if (library) text_format(text, "library   %s\n", library);
    free(library);
    text_format(text, "manifest  %s\n", entry->path);
    if (!facts_read(manifest->library_path, &facts, NULL))
        facts_add_lines(&facts, text);
    facts_finish(&facts);
    text_format(text, "status    %s\n", entry_status(entry));
    if (entry->status != REGISTRY_OK) entry_add_reason(entry, "          ", text);
    if (entry->status == REGISTRY_REFUSED) return;
    add_options(manifest, text);
    add_metrics(manifest, text);
    add_example(manifest, text);
}

static void add_value(struct text *text, const char *key, const struct json *value) {
    text_format(text, ", \"%s\": ", key);
    if (value)
        json_write(value, text, 0);
    else
        text_add(text, "null");
}

static void add_json(const struct registry_entry *entry, struct text *text) {
    const struct manifest *manifest = entry->manifest;
    struct facts facts;
    struct json *example =
        entry->status == REGISTRY_REFUSED ? NULL : example_make(manifest);
    text_add(text, "{");
    entry_add_json(entry, text);
    text_add(text, ", \"license\": ");
    text_json_string(text, manifest->license[0] ? manifest->license : NULL);
    add_value(text, "options", manifest->options);
    add_value(text, "metrics", manifest->metrics);
    add_value(text, "example", example);
    const bool is_there = !facts_read(manifest->library_path, &facts, NULL);
    facts_add_json(&facts, is_there, text);
    text_add(text, "}\n");
    facts_finish(&facts);
    json_close(example);
}

static int show(const struct registry_entry *entry, int is_json, struct error *err) {
    struct text text = {0};
    if (is_json)
        add_json(entry, &text);
    else
        add_page(entry, &text);
    lathe_status status = entries_print(&text, !is_json, err);
    text_finish(&text);
    if (status != LATHE_OK) return error_exit_code(status);
    return entry->status == REGISTRY_REFUSED ? error_exit_code(LATHE_EMISSING) : 0;
}

/* ---- the command ---- */

static int inspect_path(const char *word, int is_json, struct error *err) {
    struct registry_entry entry = {0};
    lathe_status status = read_entry(word, &entry, err);
    int code =
        status == LATHE_OK ? show(&entry, is_json, err) : error_exit_code(status);
    manifest_close(entry.manifest);
    free(entry.path);
    return code;
}

static int inspect_name(const char *word, const char *const *paths, int is_json,
                        struct error *err) {
    const struct registry_entry *entry = NULL;
    struct registry *registry = NULL;
    lathe_status status = registry_open(paths, NULL, &registry, err);
    if (status != LATHE_OK) return error_exit_code(status);
    status = registry_find_word(registry, word, &entry, err);
    int code = error_exit_code(status);
    if (status == LATHE_EINVAL) {
        error_where(err, "command line of \"inspect\"");
        code = EXIT_USAGE;
    }
    if (status == LATHE_OK) code = show(entry, is_json, err);
    registry_close(registry);
    return code;
}

int command_inspect(int argc, char **argv) {
    int is_json = 0;
    struct words paths = {0};
    const struct flag flags[] = {{"--json", .count = &is_json},
                                 {"--plugin-path", "DIR", .values = &paths},
                                 {.name = NULL}};
    struct arguments arguments = {0};
    struct error err = {0};
    const char *word = NULL;
    int code = arguments_read(argc, argv, flags, &arguments, &err);
    if (code == 0)
        code = arguments_lone_word(&arguments, "inspect", "a plugin", &word, &err);
    if (code == 0 && magic_is_bundle(word))
        code = error_exit_code(bundle_page_print(word, is_json, &err));
    else if (code == 0)
        code = registry_is_path(word) ? inspect_path(word, is_json, &err)
                                      : inspect_name(word, paths.items, is_json, &err);
    const char *found = err.status == LATHE_EMISSING ? magic_name(word) : NULL;
    if (found) error_help(&err, "\"%.200s\" is a file, and looks like %s", word, found);
    if (err.status != LATHE_OK) command_print_error(&err);
    arguments_finish(&arguments);
    return code;
}
