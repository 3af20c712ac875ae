/* SPDX-License-Identifier: MIT */
#include "commands/visit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/text.h"
#include "commands/bundles.h"
#include "commands/commands.h"
#include "commands/crash.h"
#include "commands/output.h"
#include "commands/runs.h"
#include "commands/trial.h"

#define EXIT_INTERRUPTED 130

static void print_log(void *context, int32_t level, const char *text) {
    const struct visit *visit = context;
    if (level > LATHE_LOG_WARNING + visit->verbosity) return;
    fprintf(stderr, "%s%s\n", command_log_prefix(level), text);
}

static void take_record(void *context, const char *json) {
    const struct visit *visit = context;
    if (visit->record) visit->record(context, json);
}

/* A file is a checkpoint; all else is a run. */
static int find_origin(struct visit *visit, const char *word, struct error *err) {
    struct stat info;
    if (!stat(word, &info) && !S_ISDIR(info.st_mode)) {
        visit->path = text_copy(word);
        return error_exit_code(visit->path
                                   ? bundles_check_run(word, &visit->bundle, err)
                                   : fail(err, LATHE_ENOMEM, "no memory"));
    }
    int code = runs_path(word, &visit->path, err);
    if (code)
        error_help(err, "name a run's directory, its name under runs/, such as latest, "
                        "or a checkpoint file");
    return code ? code
                : error_exit_code(bundles_check_run(visit->path, &visit->bundle, err));
}

int visit_open(struct visit *visit, struct error *err) {
    lathe_error failure = {.size = sizeof failure};
    const lathe_session_options options = {.size = sizeof options,
                                           .flags = LATHE_QUIET | LATHE_ALLOW_CHANGE,
                                           .from = visit->path,
                                           .overrides =
                                               visit->arguments.overrides.items,
                                           .plugin_paths = visit->plugin_paths.items,
                                           .log = print_log,
                                           .record = take_record,
                                           .context = visit,
                                           .try_library = trial_run};
    output_keep();
    crash_watch(&visit->session, -1);
    lathe_status status = lathe_open(&options, &visit->session, &failure);
    if (status == LATHE_OK) return 0;
    command_take_error(err, &failure);
    return status == LATHE_STOP ? EXIT_INTERRUPTED : error_exit_code(status);
}

int visit_read(struct visit *visit, int argc, char **argv, const struct flag *flags,
               struct error *err) {
    const char *word = NULL;
    int code = arguments_read(argc, argv, flags, &visit->arguments, err);
    if (!code)
        code = arguments_only_word(&visit->arguments, argv[0],
                                   "a run or a checkpoint file", &word, err);
    return code ? code : find_origin(visit, word, err);
}

int visit_judge(const struct visit *visit, lathe_status status, struct error *err) {
    if (status >= 0) return 0;
    command_take_error(err, lathe_last_error(visit->session));
    if (status != LATHE_EINVAL || err->where[0]) return error_exit_code(status);
    error_where(err, "--on");
    return EXIT_USAGE;
}

void visit_close(struct visit *visit) {
    lathe_close(visit->session);
    crash_forget();
    bundles_finish(&visit->bundle);
    free(visit->path);
    arguments_finish(&visit->arguments);
}
