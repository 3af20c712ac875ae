/* SPDX-License-Identifier: MIT */
/* lathe diff: two runs that are there. */
#include <stdio.h>
#include <stdlib.h>

#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/compare.h"
#include "commands/output.h"
#include "commands/runs.h"

#define EXIT_DIFFER 1

static int open_side(const char *word, struct side *side, struct error *err) {
    char *path = NULL;
    int code = runs_path(word, &path, err);
    if (!code) {
        lathe_status status = side_open(path, false, side, err);
        if (status == LATHE_ENOTFOUND)
            error_help(err, "name the directory of a run, which \"lathe run\" makes");
        code = error_exit_code(status);
    }
    free(path);
    return code;
}

static void write_text(const struct side *a, const struct side *b,
                       const struct json *report, struct text *text) {
    const struct json *apart = json_get(report, "apart");
    const struct json *ends = json_get(report, "metrics");
    if (!compare_has_difference(report)) {
        text_add(text, "the same: ");
        compare_write_compared(report, json_whole(json_get(a->receipt, "step")), text);
        text_add(text, "\n");
        return;
    }
    text_format(text, "a: %s\nb: %s\n", a->run, b->run);
    compare_write_causes(report, text);
    if (json_size(apart)) {
        text_add(text, "first apart\n  ");
        compare_write_apart(apart, text);
    } else if (compare_check(report, NULL)) {
        text_add(text, "nothing that came of them was compared\n  " COMPARE_NOTHING);
    } else {
        text_add(text, "the same came of it\n  ");
        compare_write_compared(report, json_whole(json_get(a->receipt, "step")), text);
    }
    text_add(text, "\n");
    if (json_size(ends)) text_add(text, "metrics at the end\n");
    compare_write_list(ends, text);
}

static void write_json(const struct side *a, const struct side *b, struct json *report,
                       struct text *text) {
    struct json *root =
        JSON_MAP_OF({"a", json_make_text(a->run)}, {"b", json_make_text(b->run)},
                    {"same", json_make_truth(!compare_has_difference(report))});
    for (struct json_member at = {0}; json_next(report, &at);)
        root = json_add(root, at.key, json_clone(at.value));
    json_write_document(root, text, 0);
}

static int print(const struct side *a, const struct side *b, bool is_json,
                 struct error *err) {
    struct text text = {0};
    struct json *report = compare_sides(a, b, (struct scope){.steps = -1});
    bool is_whole = report != NULL;
    if (is_whole && !compare_has_difference(report) && compare_check(report, err)) {
        error_where(err, "%s and %s", a->run, b->run);
        json_close(report);
        return error_exit_code(err->status);
    }
    if (is_whole && is_json)
        write_json(a, b, report, &text);
    else if (is_whole)
        write_text(a, b, report, &text);
    int code = is_whole && compare_has_difference(report) ? EXIT_DIFFER : 0;
    if (!is_whole || text.is_broken)
        code = error_exit_code(fail(err, LATHE_ENOMEM, "no memory to compare"));
    else
        output_print(&text, !is_json);
    text_finish(&text);
    json_close(report);
    return code;
}

int command_diff(int argc, char **argv) {
    int is_json = 0;
    const struct flag flags[] = {{"--json", .count = &is_json}, {.name = NULL}};
    struct arguments arguments = {0};
    struct error err = {0};
    struct side a = {0}, b = {0};
    int code = arguments_read(argc, argv, flags, &arguments, &err);
    if (!code && (arguments.words.count != 2 || arguments.overrides.count)) {
        fail(&err, LATHE_EINVAL, "\"diff\" compares two runs");
        error_where(&err, "command line of \"diff\"");
        error_help(&err, "lathe diff RUN RUN: directories, or names under runs/");
        code = EXIT_USAGE;
    }
    if (!code) code = open_side(arguments.words.items[0], &a, &err);
    if (!code) code = open_side(arguments.words.items[1], &b, &err);
    if (!code) code = print(&a, &b, is_json, &err);
    if (err.status != LATHE_OK) command_print_error(&err);
    side_finish(&a);
    side_finish(&b);
    arguments_finish(&arguments);
    return code;
}
