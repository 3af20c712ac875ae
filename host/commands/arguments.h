/* SPDX-License-Identifier: MIT */
/* The words after a command's name. A command lists its flags and where their values
 * go; what is left are overrides ("optimizer.lr=0.01") and plain words, in their order.
 * A word that must be a file is the command's to check.
 *
 *     int is_json = 0;
 *     struct words paths = {0};
 *     const struct flag flags[] = {{"--json", .count = &is_json},
 *                                  {"--plugin-path", "DIR", .values = &paths},
 *                                  {NULL}};
 *     struct arguments arguments = {0};
 *     int code = arguments_read(argc, argv, flags, &arguments, &err);
 *     if (code) … command_print_error(&err), return code;
 *     …
 *     arguments_finish(&arguments);
 */
#ifndef HOST_COMMANDS_ARGUMENTS_H
#define HOST_COMMANDS_ARGUMENTS_H

#include <stddef.h>

#include "base/error.h"

/* A wrong command line has an exit status, and no lathe_status. */
#define EXIT_USAGE 64

/* Borrowed from argv and ended by NULL; `items` is NULL while there are none. */
struct words {
    const char **items;
    size_t count;
};

/* Exactly one of count, value and values is set. */
struct flag {
    const char *name;     /* "--run-dir", "-v"; NULL ends a list of flags */
    const char *follows;  /* "DIR": what its value is; NULL: it takes none */
    int *count;           /* without a value: how often it was given (-vv counts 2) */
    const char **value;   /* given at most once */
    struct words *values; /* given any number of times */
};

struct arguments {
    struct words words;     /* in a list of its own: what is no flag and no override */
    struct words overrides; /* path=value, the path made of letters, digits and _ . - */
    void *memory;           /* of all lists */
};

/* Reads argv[1 …]; argv[0] is the command's name, for messages. Flags and words may be
 * mixed; "--" ends the flags; "--name=value" is fine. Returns 0, or the exit status
 * (EXIT_USAGE, or 71) with its reason in *err. */
int arguments_read(int argc, char **argv, const struct flag *flags,
                   struct arguments *arguments, struct error *err);
/* Wants exactly one word, `what` ("an experiment"): *word, or EXIT_USAGE as above. A
 * second one may be an override gone wrong: then the file that the first names is
 * looked into, and the help says what was meant. */
int arguments_only_word(const struct arguments *arguments, const char *command,
                        const char *what, const char **word, struct error *err);
/* The same for a command that takes no overrides. */
int arguments_lone_word(const struct arguments *arguments, const char *command,
                        const char *what, const char **word, struct error *err);
void arguments_finish(struct arguments *arguments);

#endif
