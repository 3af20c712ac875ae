/* SPDX-License-Identifier: MIT */
/* lathe reproduce: does a run that has ended again, in a fresh directory, and compares
 * what came of it with what came of it then. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "commands/again.h"
#include "commands/commands.h"
#include "commands/fresh_directory.h"
#include "commands/needs.h"
#include "commands/output.h"
#include "commands/turn.h"

#define EXIT_DIFFER 1
#define ENDLESS "1000000h" /* a century */

struct reproduction {
    /* as asked for */
    int is_json, is_quiet, verbosity, is_kept;
    const char *directory, *steps;
    struct words plugin_paths;
    struct bundle_flags bundle_flags;
    struct arguments arguments;
    /* what it is made of */
    struct original original;
    struct side second;
    struct scope scope;
    const char **search;    /* for plugins */
    const char **overrides; /* what keeps a time from ending it, then the original's */
    char *until;            /* the former */
    bool is_timed;
    struct fresh_directory fresh;
    struct json *changed; /* since the first time */
    struct again again;
};

/* ---- what is to be done ---- */

/* Replaces each bound that is a time by one that never comes; false: there is none. */
static bool lengthen(struct json *until) {
    struct duration duration;
    bool is_one = json_kind(until) == JSON_TEXT &&
                  duration_parse(json_text(until), &duration, NULL) == LATHE_OK &&
                  duration.unit == DURATION_SECONDS && json_set_text(until, ENDLESS);
    for (size_t i = 0; i < json_size(until); i++)
        if (lengthen(json_at(until, i))) is_one = true;
    return is_one;
}

static const struct json *until_of(const struct json *resolved) {
    return json_get(json_get(resolved, "train"), "until");
}

/* A bound that is a time would end the run elsewhere today. One that can be counted
 * stays, because a schedule depends on it. */
static lathe_status list_overrides(struct reproduction *r, struct error *err) {
    const struct words *given = &r->original.overrides;
    struct json *until = json_clone(until_of(r->original.experiment));
    struct text text = {0};
    size_t count = 0;
    r->overrides = calloc(given->count + 2, sizeof *r->overrides);
    text_add(&text, "train.until=");
    r->is_timed =
        until && !json_get(r->original.experiment, "stages") && lengthen(until);
    for (size_t i = 0; i < given->count; i++)
        if (!strncmp(given->items[i], "train.until=", text.length)) r->is_timed = false;
    if (r->is_timed && json_kind(until) == JSON_TEXT)
        text_add(&text, json_text(until));
    else if (r->is_timed)
        json_write(until, &text, 0);
    json_close(until);
    if (!r->overrides || text.is_broken) {
        text_finish(&text);
        return fail(err, LATHE_ENOMEM, "no memory for the experiment");
    }
    r->until = text.data;
    if (r->is_timed) r->overrides[count++] = r->until;
    for (size_t i = 0; i < given->count; i++) r->overrides[count++] = given->items[i];
    return LATHE_OK;
}

/* The longer time is no change of the experiment: what is compared has the old one. */
static bool forget_lengthening(const struct reproduction *r) {
    struct json *train = json_get(r->second.resolved, "train");
    const struct json *until = until_of(r->original.experiment);
    return !r->is_timed || json_put(train, "until", json_clone(until));
}

static bool is_reason(const struct reproduction *r, const char *reason) {
    return !strcmp(json_text(json_get(r->original.side.receipt, "reason")), reason);
}

/* Is something recorded of the first so many steps? */
static bool is_known(const struct reproduction *r, int64_t steps) {
    const struct json *kept = json_get(r->original.side.receipt, "checkpoints");
    for (size_t i = 0; i < json_size(kept); i++)
        if (json_whole(json_get(json_at(kept, i), "step")) <= steps) return true;
    return json_size(r->original.side.records) > 0 &&
           json_whole(json_get(json_at(r->original.side.records, 0), "step")) <= steps;
}

static int read_steps(struct reproduction *r, int64_t all, struct error *err) {
    char *end = NULL;
    if (!r->steps) return 0;
    errno = 0;
    const long long steps = strtoll(r->steps, &end, 10);
    if (errno || *end || end == r->steps || steps < 1)
        fail(err, LATHE_EINVAL, "\"%s\" is no number of steps", r->steps);
    else if (steps > all)
        fail(err, LATHE_EINVAL, "the run has %lld steps", (long long)all);
    else if (!is_known(r, steps))
        fail(err, LATHE_EINVAL, "nothing is recorded of the first %lld steps", steps);
    else
        r->scope = (struct scope){.steps = steps, .is_part = true};
    if (err->status == LATHE_OK) return 0;
    error_where(err, "--steps");
    if (steps > 0 && steps <= all && json_size(r->original.side.records))
        error_help(err, "the first record is of step %lld",
                   (long long)json_whole(
                       json_get(json_at(r->original.side.records, 0), "step")));
    return EXIT_USAGE;
}

/* The run ends this time as it ended then. */
static int plan_end(struct reproduction *r, struct error *err) {
    const int64_t all = json_whole(json_get(r->original.side.receipt, "step"));
    r->scope = (struct scope){.steps = -1};
    if (is_reason(r, "interrupted") || is_reason(r, "preempted") ||
        is_reason(r, "failed"))
        r->scope = (struct scope){.steps = all, .is_part = true};
    int code = read_steps(r, all, err);
    if (!code && r->scope.is_part && !is_known(r, r->scope.steps)) {
        fail(err, LATHE_ENOTFOUND,
             "there is nothing to compare: the run was "
             "stopped before a record or a checkpoint");
        error_where(err, "%s", r->original.name);
        code = error_exit_code(LATHE_ENOTFOUND);
    }
    r->again.last = r->scope.is_part ? r->scope.steps : all;
    if (r->scope.is_part)
        r->again.end = AGAIN_CUT;
    else if (is_reason(r, "completed") && r->is_timed)
        r->again.end = AGAIN_FINISH;
    return code;
}

/* ---- with which plugins, and where ---- */

static bool has_other_data(const struct words *overrides) {
    for (size_t i = 0; i < overrides->count; i++)
        if (!strncmp(overrides->items[i], "data.", 5)) return true;
    return false;
}

static int prepare(struct reproduction *r, struct error *err) {
    const char *word = NULL;
    int code = arguments_only_word(
        &r->arguments, "reproduce",
        "a run: a directory, or a name under runs/; or a bundle of one", &word, err);
    if (!code)
        code = original_open(word, &r->bundle_flags, &r->plugin_paths,
                             &r->arguments.overrides, r->is_quiet || r->is_json,
                             &r->original, err);
    if (!code) code = error_exit_code(list_overrides(r, err));
    if (!code) code = plan_end(r, err);
    if (code) return code;
    r->search = original_search(&r->original, &r->plugin_paths);
    lathe_status status =
        r->search ? LATHE_OK : fail(err, LATHE_ENOMEM, "no memory for paths");
    if (!status)
        status = needs_find(&r->original.side, r->search,
                            r->original.bundle.folder ||
                                has_other_data(&r->original.overrides),
                            &r->changed, err);
    if (!status)
        status = fresh_directory_open(r->directory, &r->original, r->is_kept, &r->fresh,
                                      err);
    r->again.staging = &r->fresh.staging;
    r->again.kept = json_get(r->original.side.receipt, "checkpoints");
    r->again.weights = json_make_list();
    return error_exit_code(status);
}

/* ---- what is said on the way ---- */

/* Before the first step: nobody has to wait for a run that cannot be identical. */
static void tell_list(const struct reproduction *r, const char *what,
                      const struct json *list) {
    struct text text = {0};
    compare_write_list(list, &text);
    if (text.data) text_clean_lines(text.data);
    if (!r->is_quiet && json_size(list) && !text.is_broken)
        fprintf(stderr, "%s: then, and now\n%s", what, text.data);
    text_finish(&text);
}

static void tell_environment(void *context) {
    const struct reproduction *r = context;
    struct side now = {0};
    struct json *causes = json_make_map();
    if (causes && side_open(r->fresh.path, false, &now, NULL) == LATHE_OK &&
        compare_causes(causes, &r->original.side, &now))
        tell_list(r, "other than it was", json_get(causes, "environment"));
    side_finish(&now);
    json_close(causes);
}

/* ---- the verdict ---- */

static void write_verdict(const struct reproduction *r, const struct json *report,
                          bool is_identical, struct text *text) {
    const struct json *apart = json_get(report, "apart");
    struct text causes = {0};
    compare_write_causes(report, &causes);
    if (is_identical) {
        text_add(text, "identical: ");
        compare_write_compared(report, r->again.last, text);
        text_add(text, causes.length ? "\nthough these differ, then and now\n" : "\n");
    } else {
        text_add(text, "not identical: ");
        if (json_size(apart))
            compare_write_apart(apart, text);
        else
            text_format(text, "it ended after step %lld, and now goes on",
                        (long long)r->again.last);
        text_add(text, causes.length ? "\nwhat differs, then and now\n"
                                     : "\nnothing else is known to differ: something "
                                       "in it depends on time or chance\n");
    }
    if (causes.length) text_add(text, causes.data);
    text_finish(&causes);
}

static void write_json(const struct reproduction *r, const struct json *report,
                       bool is_identical, struct text *text) {
    const char *again = fresh_directory_is_temporary(&r->fresh) ? NULL : r->fresh.path;
    struct json *root = JSON_MAP_OF({"identical", json_make_truth(is_identical)},
                                    {"run", json_make_text(r->original.name)},
                                    {"again", json_make_text(again)},
                                    {"steps", json_make_whole(r->again.last)},
                                    {"goes_on", json_make_truth(r->again.goes_on)},
                                    {"changed", json_clone(r->changed)});
    for (struct json_member at = {0}; json_next(report, &at);)
        root = json_add(root, at.key, json_clone(at.value));
    json_write_document(root, text, 0);
}

static int judge(struct reproduction *r, struct error *err) {
    struct text text = {0};
    lathe_status status = side_open(r->fresh.path, false, &r->second, err);
    if (status) return error_exit_code(status);
    struct json *weights = json_clone(r->again.weights);
    bool is_whole =
        json_put(r->second.receipt, "checkpoints", weights) && forget_lengthening(r);
    struct json *report =
        is_whole ? compare_sides(&r->original.side, &r->second, r->scope) : NULL;
    const bool is_identical =
        report && !r->again.goes_on && json_kind(json_get(report, "apart")) != JSON_MAP;
    is_whole = report != NULL;
    if (is_whole && !r->again.goes_on && compare_check(report, err)) {
        error_where(err, "%s", r->original.name);
        json_close(report);
        return error_exit_code(err->status);
    }
    if (is_whole && r->is_json)
        write_json(r, report, is_identical, &text);
    else if (is_whole)
        write_verdict(r, report, is_identical, &text);
    json_close(report);
    int code = is_identical ? 0 : EXIT_DIFFER;
    if (!is_whole || text.is_broken)
        code = error_exit_code(fail(err, LATHE_ENOMEM, "no memory to compare"));
    else
        output_print(&text, !r->is_json);
    text_finish(&text);
    if (r->is_kept && !r->directory) fprintf(stderr, "kept: %s\n", r->fresh.path);
    return code;
}

static int run_again(struct reproduction *r, struct error *err) {
    const struct json *from = json_get(r->original.side.resolved, "from");
    struct turn turn = {.is_quiet = r->is_quiet || r->is_json,
                        .is_temporary = fresh_directory_is_temporary(&r->fresh),
                        .verbosity = r->verbosity,
                        .run = again_run,
                        .run_context = &r->again};
    lathe_session_options options = {
        .experiment = r->original.source,
        .overrides = r->overrides,
        .plugin_paths = r->search,
        .run_directory = r->fresh.path,
        .from = from ? json_text(json_get(from, "checkpoint")) : NULL,
        /* what was different then was allowed */
        .flags = from ? LATHE_ALLOW_CHANGE : 0};
    r->again.begun = tell_environment;
    r->again.context = r;
    int code = turn_to_end(&turn, &options, 0, err);
    return r->again.is_done && (r->again.status >= 0 || r->again.status == LATHE_EGATE)
               ? judge(r, err)
               : code;
}

static void finish(struct reproduction *r) {
    fresh_directory_close(&r->fresh);
    original_close(&r->original);
    side_finish(&r->second);
    json_close(r->changed);
    json_close(r->again.weights);
    arguments_finish(&r->arguments);
    free(r->search);
    free(r->overrides);
    free(r->until);
}

int command_reproduce(int argc, char **argv) {
    struct reproduction r = {.fresh = FRESH_DIRECTORY_NONE};
    struct error err = {0};
    const struct flag flags[] = {{"--steps", "N", .value = &r.steps},
                                 {"-o", "DIR", .value = &r.directory},
                                 {"--keep", .count = &r.is_kept},
                                 {"--plugin-path", "DIR", .values = &r.plugin_paths},
                                 BUNDLE_FLAGS(r.bundle_flags),
                                 {"--json", .count = &r.is_json},
                                 {"--quiet", .count = &r.is_quiet},
                                 {"-v", .count = &r.verbosity},
                                 {.name = NULL}};
    output_keep();
    int code = arguments_read(argc, argv, flags, &r.arguments, &err);
    if (!code) code = prepare(&r, &err);
    if (!code) {
        tell_list(&r, "changed since", r.changed);
        code = run_again(&r, &err);
    }
    if (err.status != LATHE_OK) command_print_error(&err);
    finish(&r);
    return code;
}
