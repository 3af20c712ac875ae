/* SPDX-License-Identifier: MIT */
#include "manifest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/nearest.h"
#include "base/path.h"
#include "base/trust.h"
#include "options.h"

#define SIZE_LIMIT (256 << 10) /* bytes */
#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

extern const char schema_plugin[]; /* manifests/schema/plugin.json */

static const char *const kind_names[] = {"?",        "dataset",  "model", "optimizer",
                                         "schedule", "callback", "comm"};
#define KIND_COUNT (sizeof kind_names / sizeof *kind_names)

const char *manifest_kind_name(uint32_t kind) {
    return kind < KIND_COUNT ? kind_names[kind] : kind_names[LATHE_KIND_NONE];
}

uint32_t manifest_kind_find(const char *kind_name) {
    for (uint32_t kind = 1; kind < KIND_COUNT; kind++)
        if (strcmp(kind_names[kind], kind_name) == 0) return kind;
    return LATHE_KIND_NONE;
}

lathe_status manifest_format(struct json **format, struct error *err) {
    return json_parse(schema_plugin, strlen(schema_plugin), "(format of plugin.json)",
                      format, err);
}

/* ---- what the schema leaves to us ---- */

struct checking {
    struct option_check check;
    const struct json *root;
};

__attribute__((format(printf, 4, 5))) static void add_error(struct checking *checking,
                                                            const char *path,
                                                            const char *help,
                                                            const char *format, ...) {
    char what[sizeof((struct error *)0)->what];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    struct error *err = errors_add(checking->check.errors);
    fail(err, LATHE_EINVAL, "%s", what);
    error_where(err, "%s: %s", checking->check.file, path);
    error_help(err, "%s", help);
}

static bool is_made_of(const char *text, const char *letters) {
    return text[0] != '\0' && text[strspn(text, letters)] == '\0';
}

/* Text that a terminal shows as it is: no control characters, C1 (U+0080 on)
 * included. */
static bool is_line(const char *text) {
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if (*c < ' ' || *c == 0x7f || (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0))
            return false;
    return true;
}

static bool is_name(const char *text) {
    return is_made_of(text, LOWER DIGITS "-");
}

static bool is_library(const char *text) {
    return is_made_of(text, LOWER UPPER DIGITS "._-") && text[0] != '.' &&
           text[0] != '-';
}

static void check_option_name(struct checking *checking, const char *path,
                              const char *name) {
    static const char *const reserved[] = {"use", "id", "groups", "keep"};
    const char *kind = json_text(json_get(checking->root, "kind"));
    size_t reserved_count = strcmp(kind, "optimizer") == 0 ? 4 : 2;
    for (size_t i = 0; i < reserved_count; i++)
        if (strcmp(name, reserved[i]) == 0)
            add_error(
                checking, path, "give the option another name",
                "the option name \"%s\" is reserved: experiments use it beside the "
                "options of %s plugin",
                name, i < 2 ? "every" : "an optimizer");
    if (!is_made_of(name, LOWER UPPER DIGITS "_-"))
        add_error(checking, path, "letters, digits, _ and - are allowed",
                  "\"%s\" is no name for an option", name);
}

static void check_options(struct checking *checking, const char *path,
                          const struct json *options) {
    for (struct json_member at = {0}; json_next(options, &at);) {
        char *place = text_make("%s.%s", path, at.key);
        const char *shown = place ? place : path;
        check_option_name(checking, shown, at.key);
        options_check_schema(at.value, shown, &checking->check);
        free(place);
    }
}

/* `lr` is asked for apart: an optimizer without any "options" must be told as well. */
static void check_rate(struct checking *checking) {
    if (strcmp(json_text(json_get(checking->root, "kind")), "optimizer") != 0) return;
    const struct json *rate = json_get(json_get(checking->root, "options"), "lr");
    if (rate && strcmp(json_text(json_get(rate, "type")), "number") == 0) return;
    add_error(checking, rate ? "options.lr" : "options",
              "\"lr\": { \"type\": \"number\", \"minimum\": 0, \"default\": 0.001 }",
              rate ? "the option \"lr\" of an optimizer must be of type \"number\""
                   : "an optimizer must declare the option \"lr\", its learning rate");
}

/* As host->metric will demand: what is listed here can then be declared. "loss" is the
 * host's own. */
static void check_metrics(struct checking *checking) {
    const struct json *metrics = json_get(checking->root, "metrics");
    if (json_kind(metrics) != JSON_LIST) return;
    struct json *seen = json_make_map();
    for (size_t i = 0; i < json_size(metrics); i++) {
        const struct json *value = json_get(json_at(metrics, i), "name");
        const char *name = json_text(value), *fault = NULL;
        char path[64];
        if (json_kind(value) != JSON_TEXT) continue; /* the schema's matter */
        if (!*name || strchr(name, '/'))
            fault = "cannot be the name of a metric";
        else if (strcmp(name, "loss") == 0)
            fault = "is the host's metric, which every run has";
        else if (json_get(seen, name))
            fault = "is listed twice";
        if (seen) json_put(seen, name, json_make_truth(true));
        if (!fault) continue;
        snprintf(path, sizeof path, "metrics.%zu.name", i);
        add_error(checking, path,
                  "a name that no other metric has, without \"/\": \"accuracy\"",
                  "\"%.200s\" %s", name, fault);
    }
    json_close(seen);
}

static void check_format(void *context, const char *format, const char *path,
                         struct json *value) {
    struct checking *checking = context;
    const char *text = json_text(value);
    if (strcmp(format, "options") == 0)
        check_options(checking, path, value);
    else if (strcmp(format, "plugin-name") == 0 && !is_name(text))
        add_error(checking, path,
                  "a to z, 0 to 9 and - are allowed: \"early-stopping\"",
                  "\"%s\" is no name for a plugin", text);
    else if (strcmp(format, "library") == 0 && !is_library(text))
        add_error(
            checking, path,
            "letters, digits, . _ and - are allowed, with a letter or digit first: "
            "\"early-stopping.so\"",
            "\"%s\" is not the plain name of a file beside the manifest", text);
    else if (strcmp(format, "line") == 0 && !is_line(text))
        add_error(checking, path, "", "the text holds a control character");
}

static lathe_status check_root(struct manifest *manifest, const struct json *format,
                               struct error *err) {
    lathe_status status = LATHE_OK;
    struct errors errors = {0};
    struct checking checking = {.root = manifest->root};
    checking.check = (struct option_check){
        .errors = &errors, .file = manifest->path, .format = check_format};
    checking.check.context = &checking;
    options_check(format, manifest->root, "", &checking.check);
    check_rate(&checking);
    check_metrics(&checking);
    if (!manifest->linked && json_kind(manifest->root) == JSON_MAP &&
        !json_get(manifest->root, "library"))
        add_error(&checking, "library",
                  "\"library\": \"NAME.so\", a file beside this one",
                  "\"library\" is missing");
    if (errors.count > 0) {
        status = errors.items[0].status;
        if (err) *err = errors.items[0];
    }
    errors_finish(&errors);
    return status;
}

/* ---- reading ---- */

/* A member that may be shown, or "". */
static const char *find_line(const struct json *root, const char *key) {
    const char *text = json_text(json_get(root, key));
    return is_line(text) ? text : "";
}

static const struct json *find_value(const struct json *root, const char *key,
                                     enum json_kind kind) {
    const struct json *value = json_get(root, key);
    return json_kind(value) == kind ? value : NULL;
}

/* Whatever is sound; the rest was or will be refused. */
static lathe_status bind_members(struct manifest *manifest, struct error *err) {
    struct json *root = manifest->root;
    manifest->kind = manifest_kind_find(json_text(json_get(root, "kind")));
    const char *name = find_line(root, "name");
    if (is_name(name)) manifest->name = name;
    manifest->version = find_line(root, "version");
    manifest->license = find_line(root, "license");
    manifest->summary = find_line(root, "summary");
    if (json_kind(root) == JSON_MAP && !json_get(root, "options") &&
        !json_put(root, "options", json_make_map()))
        return fail(err, LATHE_ENOMEM, "out of memory");
    manifest->options = find_value(root, "options", JSON_MAP);
    manifest->metrics = find_value(root, "metrics", JSON_LIST);
    const char *library = find_line(root, "library");
    if (manifest->linked || !is_library(library)) return LATHE_OK;
    char *folder = path_directory(manifest->path);
    char *library_path = folder ? path_join(folder, library) : NULL;
    free(folder);
    if (!library_path) return fail(err, LATHE_ENOMEM, "out of memory");
    free(manifest->library_path);
    manifest->library = library;
    manifest->library_path = library_path;
    return LATHE_OK;
}

static lathe_status create_manifest(const char *path, struct manifest **manifest,
                                    struct error *err) {
    *manifest = calloc(1, sizeof **manifest);
    if (!*manifest) return fail(err, LATHE_ENOMEM, "out of memory");
    (*manifest)->path = text_copy(path);
    (*manifest)->library_path = text_copy("");
    (*manifest)->name = (*manifest)->version = (*manifest)->license = "";
    (*manifest)->summary = (*manifest)->library = "";
    if ((*manifest)->path && (*manifest)->library_path) return LATHE_OK;
    manifest_close(*manifest);
    *manifest = NULL;
    return fail(err, LATHE_ENOMEM, "out of memory");
}

static lathe_status read_bytes(int fd, char *bytes, size_t size, size_t *count,
                               struct error *err) {
    *count = 0;
    while (*count < size) {
        ssize_t got = read(fd, bytes + *count, size - *count);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return fail(err, LATHE_EIO, "it cannot be read: %s", strerror(errno));
        if (got == 0) break;
        *count += (size_t)got;
    }
    return LATHE_OK;
}

static lathe_status parse_file(struct manifest *manifest, int fd, int64_t size,
                               struct error *err) {
    if (size > SIZE_LIMIT)
        return fail(err, LATHE_EINVAL, "it has %lld bytes, a manifest has at most %d",
                    (long long)size, SIZE_LIMIT);
    char *content = malloc((size_t)size + 1);
    if (!content) return fail(err, LATHE_ENOMEM, "out of memory");
    size_t length = 0;
    lathe_status status = read_bytes(fd, content, (size_t)size, &length, err);
    if (status == LATHE_OK)
        status = json_parse(content, length, manifest->path, &manifest->root, err);
    free(content);
    return status;
}

lathe_status manifest_read(const char *path, const struct json *format,
                           struct manifest **manifest, struct error *err) {
    int fd = -1;
    int64_t size = 0;
    lathe_status status = create_manifest(path, manifest, err);
    if (status != LATHE_OK) return status;
    status = file_open(path, &fd, &size, err);
    if (status == LATHE_OK) {
        status = parse_file(*manifest, fd, size, err);
        if (status == LATHE_OK) status = bind_members(*manifest, err);
        /* Known to be somebody else's, it is still worth showing by name. */
        if (status == LATHE_OK) status = trust_check(fd, path, err);
        if (status == LATHE_OK) status = check_root(*manifest, format, err);
        close(fd);
    }
    if (status != LATHE_OK && err && err->where[0] == '\0')
        error_where(err, "%s", path);
    return status;
}

lathe_status manifest_from_linked(const lathe_linked_plugin *linked,
                                  const struct json *format, struct manifest **manifest,
                                  struct error *err) {
    lathe_status status = create_manifest("(linked)", manifest, err);
    if (status != LATHE_OK) return status;
    if (!LATHE_COVERS(linked, lathe_linked_plugin, manifest) || !linked->plugin ||
        !linked->manifest) {
        status = fail(err, LATHE_EINVAL, "a linked plugin has no entry or no manifest");
    } else {
        (*manifest)->linked = linked->plugin;
        status = json_parse(linked->manifest, strlen(linked->manifest), "(linked)",
                            &(*manifest)->root, err);
    }
    if (status == LATHE_OK) status = bind_members(*manifest, err);
    if (status == LATHE_OK) status = check_root(*manifest, format, err);
    if (status != LATHE_OK && err && err->where[0] == '\0')
        error_where(err, "(linked)");
    return status;
}

void manifest_close(struct manifest *manifest) {
    if (!manifest) return;
    json_close(manifest->root);
    free(manifest->library_path);
    free(manifest->path);
    free(manifest);
}

bool manifest_declares_metric(const struct manifest *manifest, const char *name) {
    for (size_t i = 0; name && i < json_size(manifest->metrics); i++)
        if (!strcmp(json_text(json_get(json_at(manifest->metrics, i), "name")), name))
            return true;
    return false;
}
