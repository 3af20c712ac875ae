/* SPDX-License-Identifier: MIT */
#include "commands/turn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lathe/session.h>

#include "base/text.h"
#include "commands/commands.h"
#include "commands/crash.h"
#include "commands/output.h"
#include "commands/runs.h"
#include "commands/trial.h"
#include "commands/turn_signals.h"
#include "plan.h"

#define EXIT_PREEMPTED 75
#define EXIT_INTERRUPTED 130

/* ---- what the session says ---- */

static void print_log(void *context, int32_t level, const char *text) {
    const struct turn *turn = context;
    int32_t shown =
        turn->is_quiet || turn->is_json ? LATHE_LOG_WARNING : LATHE_LOG_INFO;
    if (level > shown + turn->verbosity) return;
    fprintf(stderr, "%s%s%s\n", turn->is_terminal ? "\r\033[K" : "",
            command_log_prefix(level), text);
}

/* Nobody reads, or the disk is full: the run ends at the next boundary. */
static void print_line(struct turn *turn, const char *json) {
    if (turn->output_error) return;
    errno = 0;
    FILE *file = output_file();
    if (fprintf(file, "%s\n", json) >= 0 && !fflush(file)) return;
    turn->output_error = errno ? errno : EIO;
    lathe_session *session = turn_session_now();
    if (session) lathe_stop(session, "failed");
}

static void take_record(void *context, const char *json) {
    static const char end[] = "{\"event\":\"end\"";
    struct turn *turn = context;
    if (!strncmp(json, end, sizeof end - 1)) {
        free(turn->end);
        turn->end = text_copy(json);
    } else if (turn->is_json) {
        print_line(turn, json);
    }
}

static void take_trace(void *context, const char *line) {
    struct turn *turn = context;
    lathe_session *session = turn_session_now();
    if (!trace_add(&turn->trace, line) && session) lathe_stop(session, "failed");
}

/* ---- how it ended ---- */

static void print_failure(struct turn *turn, const struct error *error, int code) {
    command_print_error(error);
    if (!turn->is_json) return;
    struct text text = {0};
    text_format(&text, "{\"event\":\"error\",\"exit_code\":%d,\"message\":", code);
    text_json_string(&text, error->what);
    text_add(&text, ",\"where\":");
    text_json_string(&text, error->where);
    text_add(&text, ",\"help\":");
    text_json_string(&text, error->help);
    text_add(&text, "}");
    if (!text.is_broken) print_line(turn, text.data);
    text_finish(&text);
}

/* `reason`: where no run has begun, which has words of its own. */
static void print_end(struct turn *turn, const char *reason) {
    char nothing[160];
    snprintf(nothing, sizeof nothing,
             "{\"event\":\"end\",\"reason\":\"%s\",\"epochs\":0,\"steps\":0,"
             "\"samples\":0,\"run\":null,\"metrics\":{}}",
             reason);
    if (turn->is_json) print_line(turn, turn->end ? turn->end : nothing);
}

static int refuse(struct turn *turn, const struct error *error, int code) {
    print_failure(turn, error, code);
    print_end(turn, "failed");
    return code;
}

static int stop_code(const char *reason) {
    if (reason && !strcmp(reason, "interrupted")) return EXIT_INTERRUPTED;
    return reason && !strcmp(reason, "preempted") ? EXIT_PREEMPTED : 0;
}

/* What went wrong in the run is told, and its exit status found. */
static int judge(struct turn *turn, lathe_session *session, lathe_status status) {
    struct error error = {0};
    const int number = turn->output_error ? turn->output_error : turn->trace.number;
    if (status >= 0) return stop_code(lathe_reason(session));
    command_take_error(&error, lathe_last_error(session));
    const int code = error_exit_code(status);
    /* Stopped for want of a reader, a session says so in words of its own. */
    if (!number || status != LATHE_EIO) print_failure(turn, &error, code);
    return code;
}

/* … and of what came out of it. */
static int judge_output(struct turn *turn, int code) {
    struct error error = {0};
    if (trace_close(&turn->trace, &error) != LATHE_OK) {
        command_print_error(&error);
        if (!code) code = error_exit_code(LATHE_EIO);
    }
    print_end(turn, "failed");
    if (!turn->output_error) return code;
    output_give_up();
    fail(&error, LATHE_EIO, "cannot write to standard output: %s",
         strerror(turn->output_error));
    command_print_error(&error);
    return code && code != EXIT_PREEMPTED && code != EXIT_INTERRUPTED
               ? code
               : error_exit_code(LATHE_EIO);
}

/* ---- the whole ---- */

/* It was refused, or told to end before it was ready. */
static int give_up(struct turn *turn, lathe_status status, const lathe_error *failure) {
    struct error error = {0};
    trace_close(&turn->trace, NULL);
    if (status == LATHE_STOP) {
        const char *reason = turn_stop_reason();
        fprintf(stderr, "lathe: %s before the run began\n", reason);
        print_end(turn, reason);
        return stop_code(reason);
    }
    command_take_error(&error, failure);
    return refuse(turn, &error, error_exit_code(status));
}

/* No run that is read or written gets it into its directory. */
static lathe_status open_trace(struct turn *turn, const lathe_session_options *options,
                               struct error *err) {
    char *run = runs_of(options->from);
    const char *const kept[] = {options->run_directory, options->resume, options->from,
                                run};
    lathe_status status =
        trace_open(&turn->trace, kept, sizeof kept / sizeof *kept, err);
    free(run);
    return status;
}

static int turn_session(struct turn *turn, lathe_session_options *options) {
    lathe_error failure = {.size = sizeof failure};
    struct error error = {0};
    options->size = sizeof *options;
    options->flags |= turn->is_quiet || turn->is_json ? LATHE_QUIET : 0;
    options->log = print_log;
    options->record = take_record;
    options->trace = turn->trace.path ? take_trace : NULL;
    options->context = turn;
    options->try_library = trial_run;
    if (open_trace(turn, options, &error) != LATHE_OK)
        return refuse(turn, &error, error_exit_code(error.status));
    turn_catch_signals(!turn->is_temporary);
    turn_begin_time_limit(turn->time_limit);
    crash_watch(turn_session_place(), turn->is_json ? fileno(output_file()) : -1);
    lathe_status status = lathe_open(options, turn_session_place(), &failure);
    if (status != LATHE_OK) {
        crash_forget();
        return give_up(turn, status, &failure);
    }
    lathe_session *session = turn_session_now();
    if (turn->is_temporary) plan_hide_directory(session);
    turn_begin_signals();
    if (!trace_begin(&turn->trace)) lathe_stop(session, "failed");
    int code =
        judge(turn, session,
              turn->run ? turn->run(turn->run_context, session) : lathe_run(session));
    lathe_close(session);
    turn_end_signals();
    crash_forget();
    return judge_output(turn, code);
}

int turn_to_end(struct turn *turn, lathe_session_options *options, int code,
                const struct error *err) {
    turn->is_terminal = isatty(STDERR_FILENO);
    if (turn->is_json) output_keep();
    code = code ? refuse(turn, err, code) : turn_session(turn, options);
    free(turn->end);
    return code;
}
