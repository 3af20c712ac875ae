/* SPDX-License-Identifier: MIT */
/* The program's tools, one file each. A command gets its own arguments, argv[0] being
 * its name, and returns the exit status of the program; it prints data on stdout, and
 * what went wrong on stderr through command_print_error. None of this is in liblathe.
 */
#ifndef HOST_COMMANDS_COMMANDS_H
#define HOST_COMMANDS_COMMANDS_H

#include <lathe/session.h>

#include "base/error.h"

struct command {
    const char *name;
    const char *summary; /* one line, for help */
    int (*function)(int argc, char **argv);
};

int command_run(int argc, char **argv);
int command_resume(int argc, char **argv);
int command_reproduce(int argc, char **argv);
int command_eval(int argc, char **argv);
int command_predict(int argc, char **argv);
int command_plugins(int argc, char **argv);
int command_inspect(int argc, char **argv);
int command_diff(int argc, char **argv);
int command_explain(int argc, char **argv);
int command_validate(int argc, char **argv);
int command_check(int argc, char **argv);
int command_new(int argc, char **argv);
int command_pack(int argc, char **argv);
int command_verify(int argc, char **argv);
int command_unpack(int argc, char **argv);
int command_store(int argc, char **argv);
int command_schema(int argc, char **argv);
int command_help(int argc, char **argv);

/* Prints what, where and help on stderr, a line each. */
void command_print_error(const struct error *error);
/* What a line of a session's log begins with on stderr. */
const char *command_log_prefix(int32_t level);
/* What a session says went wrong, as an error of ours. */
void command_take_error(struct error *error, const lathe_error *from);

#endif
