/* SPDX-License-Identifier: MIT */
/* Which commands there are. A new one is a file, a prototype in commands.h, a row of
 * the table and a page, help/<name>.txt. */
#ifndef HOST_COMMANDS_TABLE_H
#define HOST_COMMANDS_TABLE_H

#include <stddef.h>

#include "commands/commands.h"

/* In the order they are shown; NULL past the last. Static. */
const struct command *command_at(size_t index);
/* NULL: there is no such command; *err then tells the nearest. */
const struct command *command_find(const char *name, struct error *err);

#endif
