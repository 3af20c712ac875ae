/* SPDX-License-Identifier: MIT */
/* lathe new: a plugin to begin with, which builds and passes "lathe check" as it is. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/nearest.h"
#include "base/path.h"
#include "base/text.h"
#include "bundle/staging.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/embedded.h"
#include "manifest_parts.h"

#define SOURCE "plugin.c"
#define STAGING_PREFIX ".new-"

static bool has_template(const char *kind) {
    for (const struct embedded_text *t = plugin_templates; t->name; t++)
        if (kind[0] && strcmp(t->folder, kind) == 0) return true;
    return false;
}

static lathe_status refuse_kind(const char *kind, struct error *err) {
    struct nearest nearest;
    struct text kinds = {0};
    nearest_begin(&nearest, kind);
    for (const struct embedded_text *t = plugin_templates; t->name; t++) {
        if (!t->folder[0] || strcmp(t->name, SOURCE) != 0) continue;
        nearest_offer(&nearest, t->folder);
        text_format(&kinds, "%s%s", kinds.length > 0 ? ", " : "", t->folder);
    }
    fail(err, LATHE_EINVAL, "there is no template for a \"%s\"", kind);
    if (nearest.best)
        error_help(err, "did you mean \"%s\"?", nearest.best);
    else
        error_help(err, "kinds: %s", kinds.is_broken ? "" : kinds.data);
    text_finish(&kinds);
    return LATHE_EINVAL;
}

/* early-stopping is early_stopping in C; a digit cannot begin a name there. */
static char *make_identifier(const char *name) {
    char *identifier = text_make("%s%s", name[0] <= '9' ? "_" : "", name);
    for (char *c = identifier; c && *c; c++)
        if (*c == '-') *c = '_';
    return identifier;
}

static void fill_in(struct text *text, const char *template, const char *name,
                    const char *identifier) {
    for (const char *at; (at = strchr(template, '@')) != NULL;) {
        const bool is_name = strncmp(at, "@name@", 6) == 0;
        const bool is_identifier = strncmp(at, "@ident@", 7) == 0;
        text_format(text, "%.*s", (int)(at - template), template);
        text_add(text, is_name ? name : is_identifier ? identifier : "@");
        template = at + (is_name ? 6 : is_identifier ? 7 : 1);
    }
    text_add(text, template);
}

static char *file_name(const struct embedded_text *template, const char *name) {
    const bool is_source = strcmp(template->name, SOURCE) == 0;
    return is_source ? text_make("%s.c", name) : text_copy(template->name);
}

static lathe_status write_file(const char *folder, const struct embedded_text *template,
                               const char *name, const char *identifier,
                               struct error *err) {
    struct text text = {0};
    char *file = file_name(template, name),
         *path = file ? path_join(folder, file) : NULL;
    fill_in(&text, template->text, name, identifier);
    lathe_status status = path && !text.is_broken
                              ? file_replace(path, text.data, text.length, err)
                              : fail(err, LATHE_ENOMEM, "out of memory");
    text_finish(&text);
    free(path);
    free(file);
    return status;
}

static void print_path(const char *name, const struct embedded_text *template) {
    char *file = file_name(template, name);
    printf("%s/%s\n", name, file ? file : template->name);
    free(file);
}

static lathe_status fail_make(const char *name, struct error *err) {
    return fail(err, error_from_create(errno), "\"%s\" cannot be made: %s", name,
                strerror(errno));
}

static lathe_status check_words(const char *kind, const char *name, struct error *err) {
    if (!has_template(kind)) return refuse_kind(kind, err);
    if (manifest_is_name(name)) return LATHE_OK;
    fail(err, LATHE_EINVAL, "\"%s\" is no name for a plugin", name);
    error_help(err, "a to z, 0 to 9 and - are allowed: \"early-stopping\"");
    return LATHE_EINVAL;
}

static lathe_status check_absent(const char *folder, struct error *err) {
    struct stat info;
    if (lstat(folder, &info) && errno == ENOENT) return LATHE_OK;
    fail(err, LATHE_EINVAL, "\"%s\" is there already", folder);
    error_help(err, "take another name, or remove it first");
    return LATHE_EINVAL;
}

/* In a staging directory, and then by its name: it is whole, or not there. */
static lathe_status make_folder(const char *kind, const char *name,
                                const char *identifier, struct error *err) {
    struct staging staging;
    staging_sweep(".", STAGING_PREFIX);
    lathe_status status = staging_open(".", STAGING_PREFIX, &staging, err);
    char *folder = status ? NULL : path_join(staging.path, name);
    if (!status && !folder) status = fail(err, LATHE_ENOMEM, "out of memory");
    if (!status && mkdir(folder, 0777)) status = fail_make(name, err);
    for (const struct embedded_text *t = plugin_templates; !status && t->name; t++)
        if (!t->folder[0] || strcmp(t->folder, kind) == 0)
            status = write_file(folder, t, name, identifier, err);
    if (!status) status = staging_check_signals(&staging, err);
    if (!status && rename(folder, name)) status = fail_make(name, err);
    free(folder);
    staging_close(&staging);
    return status;
}

static lathe_status make_plugin(const char *kind, const char *name, struct error *err) {
    lathe_status status = check_words(kind, name, err);
    if (status == LATHE_OK) status = check_absent(name, err);
    char *identifier = status == LATHE_OK ? make_identifier(name) : NULL;
    if (status == LATHE_OK && !identifier)
        status = fail(err, LATHE_ENOMEM, "out of memory");
    if (status == LATHE_OK) status = make_folder(kind, name, identifier, err);
    for (const struct embedded_text *t = plugin_templates; !status && t->name; t++)
        if (!t->folder[0] || strcmp(t->folder, kind) == 0) print_path(name, t);
    free(identifier);
    return status;
}

int command_new(int argc, char **argv) {
    const struct flag flags[] = {{.name = NULL}};
    struct arguments arguments = {0};
    struct error err = {0};
    int code = arguments_read(argc, argv, flags, &arguments, &err);
    if (code == 0 && (arguments.words.count != 2 || arguments.overrides.count > 0)) {
        code = EXIT_USAGE;
        fail(&err, LATHE_EINVAL, "\"lathe new\" takes a kind and a name");
        error_where(&err, "command line");
        error_help(&err, "lathe new callback loss-spike");
    }
    if (code == 0) {
        const char *const *words = arguments.words.items;
        lathe_status status = make_plugin(words[0], words[1], &err);
        if (status != LATHE_OK && err.where[0] == '\0') error_where(&err, "lathe new");
        code = status == LATHE_EINVAL ? EXIT_USAGE : error_exit_code(status);
    }
    if (code != 0) command_print_error(&err);
    arguments_finish(&arguments);
    return code;
}
