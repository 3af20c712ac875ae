/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <sys/stat.h>

#include "bundle/magic.h"
#include "commands/bundles.h"
#include "commands/commands.h"
#include "commands/runs.h"
#include "commands/turn.h"

static int check_experiment(const char *path, struct error *err) {
    struct stat status;
    if (!path || *path == '{' || stat(path, &status) || !S_ISDIR(status.st_mode))
        return 0;
    fail(err, LATHE_ENOTFOUND, "a directory is not an experiment");
    error_where(err, "%s", path);
    if (runs_is_run(path))
        error_help(err, "it is a run, which goes on with: lathe resume %s", path);
    else
        error_help(err, "name the experiment file in it: lathe run %s/NAME.json", path);
    return error_exit_code(LATHE_ENOTFOUND);
}

/* --from needs no experiment: the checkpoint has its own. */
static int read_words(const struct arguments *arguments, lathe_session_options *options,
                      struct error *err) {
    if (options->from && !arguments->words.count) return 0;
    int code = arguments_only_word(arguments, "run", "an experiment file",
                                   &options->experiment, err);
    return code ? code : check_experiment(options->experiment, err);
}

static int contradict(const char *one, const char *other, struct error *err) {
    fail(err, LATHE_EINVAL, "%s and %s cannot both be obeyed", one, other);
    return EXIT_USAGE;
}

int command_run(int argc, char **argv) {
    struct turn_flags common = {0};
    struct bundle_flags from_bundle = {0};
    struct bundle_use use = {0}, state = {0};
    lathe_session_options options = {0};
    struct arguments arguments;
    struct error err = {0};
    const char *directory = NULL, *from = NULL;
    int is_resume = 0;
    char *unfinished = NULL;
    const struct flag flags[] = {{"--run-dir", "DIR", .value = &directory},
                                 {"--resume", .count = &is_resume},
                                 {"--from", "CHECKPOINT", .value = &from},
                                 BUNDLE_FLAGS(from_bundle),
                                 TURN_FLAGS(common)};
    int code = turn_read(argc, argv, flags, &common, &arguments, &options, &err);
    options.from = from;
    options.run_directory = directory ? directory : LATHE_RUN_DEFAULT;
    if (!code && is_resume && from) code = contradict("--resume", "--from", &err);
    if (!code && is_resume && directory)
        code = contradict("--resume", "--run-dir", &err);
    if (!code) code = read_words(&arguments, &options, &err);
    if (!code && from && magic_is_bundle(from)) {
        if (!options.experiment) options.experiment = from;
        code = bundles_checkpoint(from, &from_bundle, &state, &err);
        options.from = state.checkpoint;
    }
    if (!code && options.from && !state.checkpoint)
        code = error_exit_code(bundles_check_run(options.from, &state, &err));
    if (!code)
        code =
            bundles_replace(&options, &from_bundle, common.turn.is_quiet, &use, &err);
    if (!code && is_resume) unfinished = runs_find_unfinished(options.experiment);
    if (unfinished) {
        options.resume = unfinished;
        options.run_directory = NULL;
    }
    code = turn_to_end(&common.turn, &options, code, &err);
    free(unfinished);
    bundles_finish(&use);
    bundles_finish(&state);
    arguments_finish(&arguments);
    return code;
}
