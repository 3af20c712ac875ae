/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "commands/bundles.h"
#include "commands/commands.h"
#include "commands/runs.h"
#include "commands/turn.h"
#include "ring.h"

/* What a process that was killed was at: its ring of calls is still there. */
static void say_last_call(const struct turn *turn, const char *run) {
    char line[512];
    char *path = text_make("%s/" RING_FILE, run);
    if (path && !turn->is_quiet && !runs_is_busy(run) &&
        ring_read_last(path, line, sizeof line))
        fprintf(stderr, "the process ended, killed or crashed, in %s\n", line);
    free(path);
}

int command_resume(int argc, char **argv) {
    struct turn_flags common = {0};
    lathe_session_options options = {0};
    struct arguments arguments;
    struct error err = {0};
    struct bundle_use use = {0};
    const char *word = NULL;
    char *path = NULL;
    const struct flag flags[] = {TURN_FLAGS(common)};
    int code = turn_read(argc, argv, flags, &common, &arguments, &options, &err);
    if (!code)
        code = arguments_only_word(&arguments, "resume",
                                   "a run (its directory, or its name under runs/)",
                                   &word, &err);
    if (!code) code = runs_path(word, &path, &err);
    if (!code) code = error_exit_code(bundles_check_run(path, &use, &err));
    options.resume = path;
    if (!code) say_last_call(&common.turn, path);
    code = turn_to_end(&common.turn, &options, code, &err);
    bundles_finish(&use);
    free(path);
    arguments_finish(&arguments);
    return code;
}
