/* SPDX-License-Identifier: MIT */
/* What a manifest must be: the schema, and what the schema leaves to us. */
#include <stdlib.h>
#include <string.h>

#include "manifest_parts.h"
#include "options.h"

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

struct checking {
    struct option_check check;
    const struct json *root;
};

__attribute__((format(printf, 4, 5))) static void add_error(struct checking *checking,
                                                            const char *path,
                                                            const char *help,
                                                            const char *format, ...) {
    struct error *err = errors_add(checking->check.errors);
    va_list arguments;
    va_start(arguments, format);
    fail_list(err, LATHE_EINVAL, format, arguments);
    va_end(arguments);
    error_where(err, "%s: %s", checking->check.file, path);
    error_help(err, "%s", help);
}

static bool is_made_of(const char *text, const char *letters) {
    return text[0] != '\0' && text[strspn(text, letters)] == '\0';
}

/* Text that a terminal shows as it is: no control characters, C1 (U+0080 on)
 * included. */
bool manifest_is_line(const char *text) {
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if (*c < ' ' || *c == 0x7f || (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0))
            return false;
    return true;
}

bool manifest_is_name(const char *text) {
    return is_made_of(text, LOWER DIGITS "-");
}

bool manifest_is_library(const char *text) {
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
        if (!*name || strchr(name, '/') || !text_is_clean(name))
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
    else if (strcmp(format, "plugin-name") == 0 && !manifest_is_name(text))
        add_error(checking, path,
                  "a to z, 0 to 9 and - are allowed: \"early-stopping\"",
                  "\"%s\" is no name for a plugin", text);
    else if (strcmp(format, "library") == 0 && !manifest_is_library(text))
        add_error(
            checking, path,
            "letters, digits, . _ and - are allowed, with a letter or digit first: "
            "\"early-stopping.so\"",
            "\"%s\" is not the plain name of a file beside the manifest", text);
    else if (strcmp(format, "line") == 0 && !manifest_is_line(text))
        add_error(checking, path, "", "the text holds a control character");
}

lathe_status manifest_check(const struct manifest *manifest, const struct json *format,
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
