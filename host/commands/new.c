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
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/embedded.h"
#include "manifest_parts.h"

#define SOURCE "plugin.c"

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

static lathe_status write_file(const char *folder, const struct embedded_text *template,
                               const char *name, const char *identifier,
                               struct error *err) {
    struct text text = {0};
    char *path = strcmp(template->name, SOURCE) == 0
                     ? text_make("%s/%s.c", folder, name)
                     : path_join(folder, template->name);
    fill_in(&text, template->text, name, identifier);
    lathe_status status = path && !text.is_broken
                              ? file_replace(path, text.data, text.length, err)
                              : fail(err, LATHE_ENOMEM, "out of memory");
    if (status == LATHE_OK) printf("%s\n", path);
    text_finish(&text);
    free(path);
    return status;
}

static lathe_status check_words(const char *kind, const char *name, struct error *err) {
    if (!has_template(kind)) return refuse_kind(kind, err);
    if (manifest_is_name(name)) return LATHE_OK;
    fail(err, LATHE_EINVAL, "\"%s\" is no name for a plugin", name);
    error_help(err, "a to z, 0 to 9 and - are allowed: \"early-stopping\"");
    return LATHE_EINVAL;
}

static lathe_status make_folder(const char *folder, struct error *err) {
    if (mkdir(folder, 0755) == 0) return LATHE_OK;
    const int failure = errno;
    if (failure != EEXIST)
        return fail(err, error_from_errno(failure), "\"%s\" cannot be made: %s", folder,
                    strerror(failure));
    fail(err, LATHE_EINVAL, "\"%s\" is there already", folder);
    error_help(err, "take another name, or remove it first");
    return LATHE_EINVAL;
}

static lathe_status make_plugin(const char *kind, const char *name, struct error *err) {
    lathe_status status = check_words(kind, name, err);
    char *identifier = status == LATHE_OK ? make_identifier(name) : NULL;
    if (status == LATHE_OK && !identifier)
        status = fail(err, LATHE_ENOMEM, "out of memory");
    if (status == LATHE_OK) status = make_folder(name, err);
    for (const struct embedded_text *t = plugin_templates;
         status == LATHE_OK && t->name; t++)
        if (!t->folder[0] || strcmp(t->folder, kind) == 0)
            status = write_file(name, t, name, identifier, err);
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
