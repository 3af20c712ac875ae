/* SPDX-License-Identifier: MIT */
/* lathe verify: is a bundle whole, and can this machine run it? Runs nothing. */
#include <stdlib.h>
#include <string.h>

#include "bundle/machine.h"
#include "bundle/outside.h"
#include "commands/bundles.h"
#include "commands/commands.h"
#include "commands/entries.h"

struct verdict {
    struct error damage;         /* it is not whole; else LATHE_OK */
    struct errors reasons;       /* why it cannot be run here */
    const struct bundle *bundle; /* NULL: not even its bundle.json is sound */
    bool is_signed;
};

static void look_for_data(const struct bundle *bundle, const struct bundle_flags *flags,
                          struct errors *reasons) {
    for (size_t i = 0; i < bundle->outside_count; i++) {
        struct error err = {0};
        char *path = NULL;
        if (outside_find(&bundle->outside[i], flags->data.items, &path, &err))
            *errors_add(reasons) = err;
        free(path);
    }
}

/* What is missing alone is 66, what cannot be is 69. */
static int exit_code(const struct verdict *verdict) {
    int code = error_exit_code(verdict->damage.status);
    for (size_t i = 0; i < verdict->reasons.count && !verdict->damage.status; i++) {
        const lathe_status status = verdict->reasons.items[i].status;
        if (!code || status == LATHE_EMISSING) code = error_exit_code(status);
    }
    return code;
}

static void add_error(const struct error *error, struct text *text) {
    text_add(text, "{\"message\": ");
    text_json_string(text, error->what);
    text_add(text, ", \"where\": ");
    text_json_string(text, error->where);
    text_add(text, ", \"help\": ");
    text_json_string(text, error->help);
    text_add(text, "}");
}

static void add_json(const struct verdict *verdict, const char *path,
                     struct text *text) {
    const struct bundle *bundle = verdict->bundle;
    text_format(text,
                "{\"ok\": %s, \"bundle\": ", exit_code(verdict) ? "false" : "true");
    text_json_string(text, path);
    text_add(text, ", \"id\": ");
    text_json_string(text, bundle ? bundle->id : NULL);
    text_add(text, ", \"name\": ");
    text_json_string(text, bundle ? bundle->name : NULL);
    text_format(text, ", \"files\": %zu, \"size\": %lld, \"signed\": %s, \"damage\": ",
                bundle ? bundle->file_count : 0,
                (long long)(bundle ? bundle->total : 0),
                verdict->is_signed ? "true" : "false");
    if (verdict->damage.status)
        add_error(&verdict->damage, text);
    else
        text_add(text, "null");
    text_add(text, ", \"reasons\": [");
    for (size_t i = 0; i < verdict->reasons.count; i++) {
        if (i) text_add(text, ", ");
        add_error(&verdict->reasons.items[i], text);
    }
    text_add(text, "]}\n");
}

static void add_lines(const struct verdict *verdict, const char *path,
                      struct text *text) {
    const struct bundle *bundle = verdict->bundle;
    if (verdict->damage.status) return;
    text_format(text, "%s: %s, %s: %zu files with ", path, bundle->name, BUNDLE_FORMAT,
                bundle->file_count);
    bundle_add_size(bundle->total, text);
    text_format(text, ", all as listed; %s\nid %s\n",
                verdict->is_signed ? "there is a signature" : "not signed", bundle->id);
    if (!verdict->reasons.count) text_add(text, "ok: this machine can run it\n");
}

static void look(const char *path, const struct bundle_flags *flags,
                 struct intake **intake, struct verdict *verdict) {
    size_t signature = 0;
    if (bundles_open(path, intake, &verdict->bundle, &verdict->damage)) return;
    intake_signature(*intake, &signature);
    verdict->is_signed = signature > 0;
    if (intake_files(*intake, NULL, &verdict->damage)) return;
    machine_check(verdict->bundle, &verdict->reasons);
    look_for_data(verdict->bundle, flags, &verdict->reasons);
}

static int verify(const char *path, const struct bundle_flags *flags, int is_json) {
    struct verdict verdict = {0};
    struct intake *intake = NULL;
    struct text text = {0};
    struct error err = {0};
    look(path, flags, &intake, &verdict);
    int code = exit_code(&verdict);
    if (is_json)
        add_json(&verdict, path, &text);
    else
        add_lines(&verdict, path, &text);
    if (entries_print(&text, !is_json, &err)) {
        command_print_error(&err);
        code = error_exit_code(err.status);
    }
    if (verdict.damage.status) command_print_error(&verdict.damage);
    for (size_t i = 0; i < verdict.reasons.count && !is_json; i++)
        command_print_error(&verdict.reasons.items[i]);
    errors_finish(&verdict.reasons);
    intake_close(intake);
    text_finish(&text);
    return code;
}

int command_verify(int argc, char **argv) {
    int is_json = 0;
    struct bundle_flags bundle = {0};
    const struct flag flags[] = {{"--json", .count = &is_json},
                                 {"--data", "DIR", .values = &bundle.data},
                                 {.name = NULL}};
    struct arguments arguments = {0};
    struct error err = {0};
    const char *path = NULL;
    int code = arguments_read(argc, argv, flags, &arguments, &err);
    if (!code)
        code = arguments_only_word(&arguments, "verify", "a bundle", &path, &err);
    if (code)
        command_print_error(&err);
    else
        code = verify(path, &bundle, is_json);
    arguments_finish(&arguments);
    return code;
}
