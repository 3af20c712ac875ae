/* SPDX-License-Identifier: MIT */
#include "commands/turn.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <lathe/session.h>

#include "base/text.h"
#include "commands/commands.h"
#include "commands/crash.h"
#include "commands/output.h"
#include "commands/trial.h"

#define EXIT_PREEMPTED 75
#define EXIT_INTERRUPTED 130

/* ---- signals ---- */

/* A handler gets no argument. What comes before there is a session is kept in
 * `pending`. */
static lathe_session *running;
static volatile sig_atomic_t pending, interrupts, is_interactive, is_open;

static lathe_session *find_running(void) {
    return __atomic_load_n(&running, __ATOMIC_ACQUIRE);
}

static const char *stop_reason(int number) {
    return number == SIGINT ? "interrupted" : "preempted";
}

/* Where it hangs, perhaps. */
static void tell_progress(void) {
    static const char begin[] = "\nlathe: interrupted during ";
    char line[CRASH_LINE + 1];
    if (!crash_in_progress(line)) return;
    const size_t length = strlen(line);
    line[length] = '\n';
    (void)!write(STDERR_FILENO, begin, sizeof begin - 1);
    (void)!write(STDERR_FILENO, line, length + 1);
}

static void stop(int number) {
    static const char note[] =
        "\nlathe: ending after this step, and \"lathe resume RUN\" goes on; "
        "Ctrl-C again ends at once\n";
    int saved = errno;
    lathe_session *session = find_running();
    if (!pending) pending = number;
    /* A time that is over before the run begins still leaves one, with its state. */
    if (session && (is_open || number != SIGALRM))
        lathe_stop(session, stop_reason(number));
    if (number == SIGINT && interrupts++ > 0) {
        tell_progress();
        signal(SIGINT, SIG_DFL);
        raise(SIGINT); /* takes effect when the handler returns */
    } else if (number == SIGINT && is_interactive) {
        (void)!write(STDERR_FILENO, note, sizeof note - 1);
    }
    errno = saved;
}

/* A checkpoint at the next boundary, and on with it. */
static void save(int number) {
    lathe_session *session = find_running();
    (void)number;
    if (session) lathe_request(session, LATHE_REQUEST_SAVE);
}

/* Also where a shell had SIGINT ignored, as for a job in the background: who sends it
 * all the same wants the run to end. Only a run that can be resumed tells a terminal
 * how. */
static void catch_signals(bool can_resume) {
    struct sigaction action = {.sa_handler = stop, .sa_flags = SA_RESTART};
    sigset_t both;
    sigemptyset(&action.sa_mask);
    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    is_interactive = can_resume && isatty(STDERR_FILENO);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGALRM, &action, NULL); /* --time-limit */
    action.sa_handler = save;
    sigaction(SIGUSR1, &action, NULL);
    sigprocmask(SIG_UNBLOCK, &both, NULL);
}

static void begin_time_limit(double seconds) {
    const double most = 1e9; /* thirty years */
    struct itimerval timer = {0};
    if (seconds <= 0) return;
    if (seconds > most) seconds = most;
    timer.it_value.tv_sec = (time_t)seconds;
    timer.it_value.tv_usec = (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6);
    if (!timer.it_value.tv_sec && !timer.it_value.tv_usec) timer.it_value.tv_usec = 1;
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* ---- what the session says ---- */

/* "completed: …; in runs/.reproduce-XXXXXX/run": without the clause that names what is
 * removed. */
static size_t told_length(const struct turn *turn, const char *text) {
    const char *at = turn->removed ? strstr(text, turn->removed) : NULL;
    while (at && at > text && *at != ';') at--;
    return at && at > text ? (size_t)(at - text) : strlen(text);
}

static void print_log(void *context, int32_t level, const char *text) {
    const struct turn *turn = context;
    int32_t shown =
        turn->is_quiet || turn->is_json ? LATHE_LOG_WARNING : LATHE_LOG_INFO;
    if (level > shown + turn->verbosity) return;
    const char *prefix = level == LATHE_LOG_ERROR     ? "lathe: "
                         : level == LATHE_LOG_WARNING ? "lathe: warning: "
                                                      : "";
    fprintf(stderr, "%s%s%.*s\n", turn->is_terminal ? "\r\033[K" : "", prefix,
            (int)told_length(turn, text), text);
}

/* Nobody reads, or the disk is full: the run ends at the next boundary. */
static void print_line(struct turn *turn, const char *json) {
    if (turn->output_error) return;
    errno = 0;
    FILE *file = output_file();
    if (fprintf(file, "%s\n", json) >= 0 && !fflush(file)) return;
    turn->output_error = errno ? errno : EIO;
    lathe_session *session = find_running();
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
    lathe_session *session = find_running();
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
    if (turn->removed && strstr(error.help, turn->removed)) error.help[0] = '\0';
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
        const char *reason = stop_reason(pending);
        fprintf(stderr, "lathe: %s before the run began\n", reason);
        print_end(turn, reason);
        return stop_code(reason);
    }
    command_take_error(&error, failure);
    return refuse(turn, &error, error_exit_code(status));
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
    if (trace_open(&turn->trace, &error) != LATHE_OK)
        return refuse(turn, &error, error_exit_code(error.status));
    catch_signals(!turn->removed);
    begin_time_limit(turn->time_limit);
    crash_watch(&running, turn->is_json ? fileno(output_file()) : -1);
    lathe_status status = lathe_open(options, &running, &failure);
    if (status == LATHE_OK) {
        lathe_session *session = running;
        is_open = 1;
        if (pending) lathe_stop(session, stop_reason(pending));
        int code = judge(turn, session,
                         turn->run ? turn->run(turn->run_context, session)
                                   : lathe_run(session));
        lathe_close(session);
        __atomic_store_n(&running, NULL, __ATOMIC_RELEASE);
        crash_forget();
        return judge_output(turn, code);
    }
    crash_forget();
    return give_up(turn, status, &failure);
}

int turn_to_end(struct turn *turn, lathe_session_options *options, int code,
                const struct error *err) {
    turn->is_terminal = isatty(STDERR_FILENO);
    if (turn->is_json) output_keep();
    code = code ? refuse(turn, err, code) : turn_session(turn, options);
    free(turn->end);
    return code;
}
