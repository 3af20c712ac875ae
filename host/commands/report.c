/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdio.h>

#include "commands/commands.h"

/* One call, so that the lines stay together whoever else writes to the terminal. */
void command_print_error(const struct error *error) {
    bool has_where = error->where[0] != '\0', has_help = error->help[0] != '\0';
    fprintf(stderr, "lathe: %s\n%s%s%s%s%s%s", error->what,
            has_where ? "  where: " : "", error->where, has_where ? "\n" : "",
            has_help ? "  help: " : "", error->help, has_help ? "\n" : "");
}

const char *command_log_prefix(int32_t level) {
    return level == LATHE_LOG_ERROR     ? "lathe: "
           : level == LATHE_LOG_WARNING ? "lathe: warning: "
                                        : "";
}

void command_take_error(struct error *error, const lathe_error *from) {
    error->status = from->status;
    snprintf(error->what, sizeof error->what, "%s", from->what);
    snprintf(error->where, sizeof error->where, "%s", from->where);
    snprintf(error->help, sizeof error->help, "%s", from->help);
}
