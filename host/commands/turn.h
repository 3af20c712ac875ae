/* SPDX-License-Identifier: MIT */
/* Turning a session to its end for somebody at a terminal: signals, the time limit,
 * what it says on stderr, its records on stdout, and the exit status. What is run is
 * the command's to say. */
#ifndef HOST_COMMANDS_TURN_H
#define HOST_COMMANDS_TURN_H

#include <stdbool.h>

#include <lathe/session.h>

#include "commands/arguments.h"
#include "commands/trace.h"

struct turn {
    int is_json, is_quiet, verbosity;
    double time_limit; /* seconds; 0: none */
    bool is_temporary; /* the run's directory is: no message tells of it */
    struct trace trace;
    /* Takes the place of lathe_run; NULL: that. */
    lathe_status (*run)(void *context, lathe_session *session);
    void *run_context;
    /* turn.c's own */
    bool is_terminal; /* stderr: a bar may stand on its last line */
    char *end;        /* the end record: held back, for it comes last of all */
    int output_error; /* errno of the first record that could not be written */
};

/* What `run` and `resume` have in common. */
struct turn_flags {
    struct turn turn;
    struct words plugin_paths;
    const char *time_limit;
    int allows_change;
};
#define TURN_FLAGS(common)                                                             \
    {"--plugin-path", "DIR", .values = &(common).plugin_paths},                        \
        {"--time-limit", "DURATION", .value = &(common).time_limit},                   \
        {"--trace", "FILE", .value = &(common).turn.trace.path},                       \
        {"--allow-change", .count = &(common).allows_change},                          \
        {"--json", .count = &(common).turn.is_json},                                   \
        {"--quiet", .count = &(common).turn.is_quiet},                                 \
        {"-v", .count = &(common).turn.verbosity}, {                                   \
        .name = NULL                                                                   \
    }

/* Reads the words of a command with such flags. Returns 0, or the exit status with its
 * reason in *err. */
int turn_read(int argc, char **argv, const struct flag *flags,
              struct turn_flags *common, struct arguments *arguments,
              lathe_session_options *options, struct error *err);
/* Opens a session, turns it to its end and says how it ended. `code` not 0: the command
 * line was wrong, with *err; then only that is said. Returns the exit status. */
int turn_to_end(struct turn *turn, lathe_session_options *options, int code,
                const struct error *err);

#endif
