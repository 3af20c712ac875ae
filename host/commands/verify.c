/* SPDX-License-Identifier: MIT */
/* lathe verify: is a bundle whole, and can this machine run it? Runs nothing. */
#include <stdlib.h>
#include <string.h>

#include "bundle/content.h"
#include "bundle/machine.h"
#include "bundle/outside.h"
#include "bundle/weights.h"
#include "commands/bundles.h"
#include "commands/commands.h"
#include "commands/entries.h"

struct verdict {
    struct error damage;         /* it is not whole; else LATHE_OK */
    struct errors reasons;       /* why it cannot be run here */
    const struct bundle *bundle; /* NULL: not even its bundle.json is sound */
    struct signature signature;
};

static void look_for_data(const struct bundle *bundle, const struct bundle_flags *flags,
                          struct errors *reasons) {
    struct error err = {0};
    if (outside_check_folders(flags->data.items, &err)) *errors_add(reasons) = err;
    for (size_t i = 0; i < bundle->outside_count; i++) {
        char *path = NULL;
        if (outside_find(&bundle->outside[i], flags->data.items, &path, &err))
            *errors_add(reasons) = err;
        free(path);
    }
}

/* 65: nobody can run it; 69: this machine cannot; 66: only something is missing. */
static int exit_code(const struct verdict *verdict) {
    lathe_status worst = verdict->damage.status;
    for (size_t i = 0; i < verdict->reasons.count && !verdict->damage.status; i++) {
        const lathe_status status = verdict->reasons.items[i].status;
        if (!worst || status == LATHE_EDATA ||
            (status == LATHE_EMISSING && worst != LATHE_EDATA))
            worst = status;
    }
    return error_exit_code(worst);
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
    struct json *signature = signature_json(&verdict->signature);
    text_format(text, ", \"files\": %zu, \"size\": %lld, \"signature\": ",
                bundle ? bundle->file_count : 0,
                (long long)(bundle ? bundle->total : 0));
    json_write(signature, text, 0);
    json_close(signature);
    text_add(text, ", \"damage\": ");
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
    text_format(text, ", all as listed\nid %s\nsignature: ", bundle->id);
    signature_add_line(&verdict->signature, text);
    text_add(text, "\n");
    if (!verdict->reasons.count)
        text_add(
            text,
            "ok: as far as can be told without loading it, this machine can run it\n");
}

/* What the user's policy refuses cannot be run here either. */
static void look_at_policy(const struct signature *signature, struct errors *reasons) {
    if (signature->decision == KEYS_REFUSE) *errors_add(reasons) = signature->reason;
}

/* First every file, then what the files are. */
static lathe_status look_inside(struct intake *intake, struct verdict *verdict) {
    struct content *content = NULL;
    lathe_status status = content_open(verdict->bundle, &content, &verdict->damage);
    if (status) return status;
    const struct intake_sink files = content_sink(content);
    struct weights *weights = weights_open(verdict->bundle, &files, &verdict->reasons);
    if (weights) {
        const struct intake_sink sink = weights_sink(weights);
        status = intake_files(intake, &sink, &verdict->damage);
    } else {
        status = fail(&verdict->damage, LATHE_ENOMEM, "out of memory");
    }
    if (!status) content_check(content, &verdict->reasons);
    weights_close(weights);
    content_close(content);
    return status;
}

static void look(const char *path, const char *key, const struct bundle_flags *flags,
                 struct intake **intake, struct verdict *verdict) {
    if (bundles_look(path, key, &verdict->signature, intake, &verdict->bundle,
                     &verdict->damage))
        return;
    if (look_inside(*intake, verdict)) return;
    look_at_policy(&verdict->signature, &verdict->reasons);
    machine_check(verdict->bundle, &verdict->reasons);
    look_for_data(verdict->bundle, flags, &verdict->reasons);
}

static int verify(const char *path, const char *key, const struct bundle_flags *flags,
                  int is_json) {
    struct verdict verdict = {0};
    struct intake *intake = NULL;
    struct text text = {0};
    struct error err = {0};
    look(path, key, flags, &intake, &verdict);
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
    signature_finish(&verdict.signature);
    intake_close(intake);
    text_finish(&text);
    return code;
}

int command_verify(int argc, char **argv) {
    int is_json = 0;
    const char *path = NULL, *key = NULL;
    struct bundle_flags bundle = {0};
    const struct flag flags[] = {{"--json", .count = &is_json},
                                 {"--key", "PUB", .value = &key},
                                 {"--data", "DIR", .values = &bundle.data},
                                 {.name = NULL}};
    struct arguments arguments = {0};
    struct error err = {0};
    int code = arguments_read(argc, argv, flags, &arguments, &err);
    if (!code)
        code = arguments_lone_word(&arguments, "verify", "a bundle", &path, &err);
    if (code)
        command_print_error(&err);
    else
        code = verify(path, key, &bundle, is_json);
    arguments_finish(&arguments);
    return code;
}
