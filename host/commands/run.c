/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lathe/session.h>

#include "base/text.h"
#include "commands/arguments.h"
#include "commands/commands.h"

#define EXIT_PREEMPTED 75
#define EXIT_INTERRUPTED 130

struct run {
    int is_json, is_quiet, verbosity;
    bool is_terminal; /* stderr: a bar may stand on its last line */
    FILE *output;     /* where records go */
    char *end;        /* the end record: held back, for it comes last of all */
    int output_error; /* errno of the first write to it that failed */
};

/* ---- signals ---- */

/* A handler gets no argument. It finds no session while one is being opened: what came
 * then is kept in `pending`. */
static _Atomic(lathe_session *) running;
static volatile sig_atomic_t pending, interrupts, is_interactive;

static const char *stop_reason(int number) {
    return number == SIGINT ? "interrupted" : "preempted";
}

static void stop(int number) {
    static const char note[] =
        "\nlathe: ending after this step; Ctrl-C again ends at once\n";
    int saved = errno;
    lathe_session *session = atomic_load(&running);
    if (!pending) pending = number;
    if (session) lathe_stop(session, stop_reason(number));
    if (number == SIGINT && interrupts++ > 0) {
        signal(SIGINT, SIG_DFL);
        raise(SIGINT); /* takes effect when the handler returns */
    } else if (number == SIGINT && is_interactive) {
        (void)!write(STDERR_FILENO, note, sizeof note - 1);
    }
    errno = saved;
}

/* Also where a shell had SIGINT ignored, as for a job in the background: who sends it
 * all the same wants the run to end. */
static void catch_signals(void) {
    struct sigaction action = {.sa_handler = stop, .sa_flags = SA_RESTART};
    sigset_t both;
    sigemptyset(&action.sa_mask);
    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    is_interactive = isatty(STDERR_FILENO);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigprocmask(SIG_UNBLOCK, &both, NULL);
}

static void set_running(lathe_session *session) {
    atomic_store(&running, session);
    if (session && pending) lathe_stop(session, stop_reason(pending));
}

/* ---- what the session says ---- */

static void print_log(void *context, int32_t level, const char *text) {
    const struct run *run = context;
    int32_t shown = run->is_quiet || run->is_json ? LATHE_LOG_WARNING : LATHE_LOG_INFO;
    if (level > shown + run->verbosity) return;
    const char *prefix = level == LATHE_LOG_ERROR     ? "lathe: "
                         : level == LATHE_LOG_WARNING ? "lathe: warning: "
                                                      : "";
    fprintf(stderr, "%s%s%s\n", run->is_terminal ? "\r\033[K" : "", prefix, text);
}

/* Nobody reads, or the disk is full: the run ends at the next boundary. */
static void print_line(struct run *run, const char *json) {
    if (run->output_error) return;
    errno = 0;
    if (fprintf(run->output, "%s\n", json) >= 0 && !fflush(run->output)) return;
    run->output_error = errno ? errno : EIO;
    lathe_session *session = atomic_load(&running);
    if (session) lathe_stop(session, "failed");
}

static void take_record(void *context, const char *json) {
    static const char end[] = "{\"event\":\"end\"";
    struct run *run = context;
    if (!strncmp(json, end, sizeof end - 1)) {
        free(run->end);
        run->end = text_copy(json);
    } else if (run->is_json) {
        print_line(run, json);
    }
}

/* ---- how it ended ---- */

static void print_failure(struct run *run, const struct error *error, int code) {
    command_print_error(error);
    if (!run->is_json) return;
    struct text text = {0};
    text_format(&text, "{\"event\":\"error\",\"exit_code\":%d,\"message\":", code);
    text_json_string(&text, error->what);
    text_add(&text, ",\"where\":");
    text_json_string(&text, error->where);
    text_add(&text, ",\"help\":");
    text_json_string(&text, error->help);
    text_add(&text, "}");
    if (!text.is_broken) print_line(run, text.data);
    text_finish(&text);
}

static void print_end(struct run *run) {
    static const char nothing[] =
        "{\"event\":\"end\",\"reason\":\"failed\",\"epochs\":0,\"steps\":0,"
        "\"samples\":0,\"run\":null,\"metrics\":{}}";
    if (run->is_json) print_line(run, run->end ? run->end : nothing);
}

static int refuse(struct run *run, const struct error *error, int code) {
    print_failure(run, error, code);
    print_end(run);
    return code;
}

static void take_error(struct error *error, const lathe_error *from) {
    error->status = from->status;
    snprintf(error->what, sizeof error->what, "%s", from->what);
    snprintf(error->where, sizeof error->where, "%s", from->where);
    snprintf(error->help, sizeof error->help, "%s", from->help);
}

static int finish(struct run *run, lathe_session *session, lathe_status status) {
    const char *reason = lathe_reason(session);
    int code = error_exit_code(status), number = run->output_error;
    struct error error = {0};
    if (status < 0)
        take_error(&error, lathe_last_error(session));
    else if (reason && !strcmp(reason, "interrupted"))
        code = EXIT_INTERRUPTED;
    else if (reason && !strcmp(reason, "preempted"))
        code = EXIT_PREEMPTED;
    /* Stopped for want of a reader, a session says so in words of its own. */
    if (status < 0 && !(number && status == LATHE_EIO))
        print_failure(run, &error, code);
    print_end(run);
    if (!run->output_error || (status < 0 && !number)) return code;
    fail(&error, LATHE_EIO, "cannot write to standard output: %s",
         strerror(run->output_error));
    command_print_error(&error);
    return status < 0 ? code : error_exit_code(LATHE_EIO);
}

/* ---- plugins that print, plugins that exit ---- */

/* Records have stdout to themselves: what a plugin prints there comes out on stderr. */
static void take_stdout(struct run *run) {
    run->output = stdout;
    if (!run->is_json) return;
    int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    FILE *output = fd < 0 ? NULL : fdopen(fd, "w");
    if (!output && fd >= 0) close(fd);
    if (!output) return; /* it is closed, which the first record will tell */
    dup2(STDERR_FILENO, STDOUT_FILENO);
    run->output = output;
}

static void give_stdout_back(struct run *run) {
    if (run->output == stdout) return;
    fflush(stdout);
    __fpurge(stdout); /* what could not be written is not for the records' reader */
    clearerr(stdout);
    dup2(fileno(run->output), STDOUT_FILENO);
    fclose(run->output);
    run->output = stdout;
}

static struct run *watched; /* while plugins may run: atexit passes no context */

/* An exit from below would end the run with any status, 0 too, and no word. Nobody
 * knows where it stands, so nothing more is done with it: its status.json reads as
 * died. */
static void refuse_exit(void) {
    struct run *run = watched;
    struct error error = {0};
    if (!run) return;
    watched = NULL;
    fail(&error, LATHE_EPLUGIN, "a plugin called exit, which ends the whole program");
    error_help(&error, "a plugin reports a failure by its return value; leave out "
                       "plugins one by one to find it");
    fflush(stdout);
    print_failure(run, &error, error_exit_code(error.status));
    if (!atomic_load(&running)) print_end(run);
    fflush(run->output);
    _exit(error_exit_code(error.status));
}

/* ---- the command ---- */

static lathe_status check_experiment(const char *path, struct error *err) {
    struct stat status;
    if (*path == '{' || stat(path, &status) || !S_ISDIR(status.st_mode))
        return LATHE_OK;
    fail(err, LATHE_ENOTFOUND, "a directory is not an experiment");
    error_where(err, "%s", path);
    error_help(err, "name the experiment file in it: lathe run %s/NAME.json", path);
    return LATHE_ENOTFOUND;
}

static int run_session(struct run *run, lathe_session_options *options) {
    lathe_session *session = NULL;
    lathe_error failure = {.size = sizeof failure};
    struct error error = {0};
    lathe_status status = check_experiment(options->experiment, &error);
    if (status) return refuse(run, &error, error_exit_code(status));
    options->size = sizeof *options;
    options->log = print_log;
    options->record = take_record;
    options->context = run;
    catch_signals();
    status = lathe_open(options, &session, &failure);
    if (status) {
        take_error(&error, &failure);
        return refuse(run, &error, error_exit_code(status));
    }
    set_running(session);
    status = lathe_run(session);
    int code = finish(run, session, status);
    set_running(NULL);
    lathe_close(session);
    return code;
}

int command_run(int argc, char **argv) {
    struct run run = {.is_terminal = isatty(STDERR_FILENO)};
    struct words plugin_paths = {0};
    const char *directory = NULL;
    const struct flag flags[] = {{"--run-dir", "DIR", .value = &directory},
                                 {"--plugin-path", "DIR", .values = &plugin_paths},
                                 {"--json", .count = &run.is_json},
                                 {"--quiet", .count = &run.is_quiet},
                                 {"-v", .count = &run.verbosity},
                                 {.name = NULL}};
    lathe_session_options options = {0};
    struct arguments arguments;
    struct error err = {0};
    for (int i = 1; i < argc; i++) /* also where an argument before it is wrong */
        if (!strcmp(argv[i], "--json")) run.is_json = 1;
    int code = arguments_read(argc, argv, flags, &arguments, &err);
    if (!code)
        code = arguments_only_word(&arguments, "run", "an experiment file",
                                   &options.experiment, &err);
    take_stdout(&run);
    if (code) {
        refuse(&run, &err, code);
    } else if (atexit(refuse_exit)) {
        fail(&err, LATHE_ENOMEM, "no memory to watch plugins");
        code = refuse(&run, &err, error_exit_code(LATHE_ENOMEM));
    } else {
        options.flags = run.is_quiet || run.is_json ? LATHE_QUIET : 0;
        options.overrides = arguments.overrides.items;
        options.plugin_paths = plugin_paths.items;
        options.run_directory = directory ? directory : LATHE_RUN_DEFAULT;
        watched = &run;
        code = run_session(&run, &options);
        watched = NULL;
    }
    give_stdout_back(&run);
    free(run.end);
    arguments_finish(&arguments);
    return code;
}
