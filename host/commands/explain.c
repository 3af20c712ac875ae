/* SPDX-License-Identifier: MIT */
#include "commands/explain.h"

#include <stdio.h>
#include <string.h>

#include "commands/arguments.h"
#include "commands/bundles.h"
#include "commands/commands.h"
#include "commands/crash.h"
#include "commands/output.h"
#include "commands/trial.h"
#include "plan.h"

struct explaining {
    int is_json;
    const char *calls; /* a length; NULL: none wanted */
    lathe_session *session;
    struct json *list;   /* of calls, for the document; NULL: they are printed */
    struct json *stages; /* [{…, drawing}], all of them; NULL: out of memory */
};

static void keep_stage(struct explaining *e) {
    struct json *plan = plan_describe(e->session);
    struct json *drawing = plan ? explain_draw(plan) : NULL;
    e->stages = json_append(e->stages, json_add(plan, "drawing", drawing));
}

static void take_call(void *context, const char *line) {
    struct explaining *e = context;
    if (e->stages && !strncmp(line, PLAN_STAGE, strlen(PLAN_STAGE))) keep_stage(e);
    if (e->list) e->list = json_append(e->list, json_make_text(line));
    if (!e->calls || e->is_json || fprintf(output_file(), "%s\n", line) >= 0) return;
    lathe_stop(e->session, "interrupted"); /* main tells why */
}

static void take_log(void *context, int32_t level, const char *text) {
    (void)context;
    if (level == LATHE_LOG_WARNING)
        fprintf(stderr, "%s%s\n", command_log_prefix(level), text);
}

static int turn(struct explaining *e, struct error *err) {
    struct duration length;
    if (e->calls && duration_parse(e->calls, &length, err) != LATHE_OK) {
        error_where(err, "--calls");
        return EXIT_USAGE;
    }
    lathe_status status = plan_turn(e->session, e->calls ? &length : NULL, err);
    if (status == LATHE_EINVAL && !err->where[0]) {
        error_where(err, "--calls");
        return EXIT_USAGE;
    }
    return error_exit_code(status);
}

/* The first stage is the document; those after it are in it. */
static void write_json(struct explaining *e, struct text *text) {
    struct json *whole = json_clone(json_at(e->stages, 0)), *later = json_make_list();
    for (size_t i = 1; i < json_size(e->stages); i++)
        later = json_append(later, json_clone(json_at(e->stages, i)));
    whole = json_add(whole, "later", later);
    if (e->calls) whole = json_add(whole, "calls", json_clone(e->list));
    json_write_document(whole, text, 2);
}

static int explain(struct explaining *e, const char *experiment, struct error *err) {
    struct text text = {0};
    if (e->calls && !e->is_json) return turn(e, err);
    e->stages = json_make_list();
    if (e->calls) e->list = json_make_list();
    keep_stage(e);
    int code = 0;
    if (e->calls || json_whole(json_get(json_at(e->stages, 0), "stages")) > 1)
        code = turn(e, err);
    if (!code && e->is_json)
        write_json(e, &text);
    else if (!code && e->stages)
        explain_write(e->stages, experiment, &text);
    if (!code && (!e->stages || text.is_broken))
        code = error_exit_code(fail(err, LATHE_ENOMEM, "no memory to explain"));
    if (!code) output_print(&text, !e->is_json);
    json_close(e->list);
    json_close(e->stages);
    text_finish(&text);
    return code;
}

static int open_and_explain(struct explaining *e, lathe_session_options *options,
                            struct error *err) {
    lathe_error failure = {.size = sizeof failure};
    options->size = sizeof *options;
    options->flags = LATHE_QUIET;
    options->log = take_log;
    options->trace = take_call;
    options->context = e;
    options->try_library = trial_run;
    output_keep();
    crash_watch(&e->session, -1);
    lathe_status status = lathe_open(options, &e->session, &failure);
    if (status != LATHE_OK) command_take_error(err, &failure);
    int code = status == LATHE_OK ? explain(e, options->experiment, err)
                                  : error_exit_code(status);
    lathe_close(e->session);
    crash_forget();
    return code;
}

int command_explain(int argc, char **argv) {
    struct explaining e = {0};
    struct words plugin_paths = {0};
    struct bundle_flags from_bundle = {0};
    struct bundle_use use = {0};
    const struct flag flags[] = {{"--json", .count = &e.is_json},
                                 BUNDLE_FLAGS(from_bundle),
                                 {"--calls", "DURATION", .value = &e.calls},
                                 {"--plugin-path", "DIR", .values = &plugin_paths},
                                 {.name = NULL}};
    struct arguments arguments = {0};
    struct error err = {0};
    lathe_session_options options = {0};
    int code = arguments_read(argc, argv, flags, &arguments, &err);
    if (!code)
        code = arguments_only_word(&arguments, "explain", "an experiment file",
                                   &options.experiment, &err);
    options.overrides = arguments.overrides.items;
    options.plugin_paths = plugin_paths.items;
    if (!code) code = bundles_replace(&options, &from_bundle, e.is_json, &use, &err);
    if (!code) code = open_and_explain(&e, &options, &err);
    if (code) command_print_error(&err);
    bundles_finish(&use);
    arguments_finish(&arguments);
    return code;
}
