/* SPDX-License-Identifier: MIT */
/* What `eval` and `predict` have in common: a session opened from a run's newest
 * checkpoint, or from one that is named, and the data it is to visit. No run is begun,
 * and none is written into. */
#ifndef HOST_COMMANDS_VISIT_H
#define HOST_COMMANDS_VISIT_H

#include <lathe/session.h>

#include "commands/arguments.h"
#include "commands/bundles.h"

struct visit {
    const char *data; /* --on; NULL: test, else validation */
    int verbosity;
    struct words plugin_paths;
    /* Where lathe_evaluate's record goes. */
    void (*record)(void *context, const char *json);
    /* visit.c's own */
    struct arguments arguments;
    char *path;
    struct bundle_use bundle; /* that the run is of */
    lathe_session *session;
};
#define VISIT_FLAGS(visit)                                                             \
    {"--on", "DATA", .value = &(visit).data},                                          \
        {"--plugin-path", "DIR", .values = &(visit).plugin_paths},                     \
        {"-v", .count = &(visit).verbosity}, {                                         \
        .name = NULL                                                                   \
    }

/* Reads the words of the command, with such flags last. All three return 0, or the exit
 * status with its reason in *err. */
int visit_read(struct visit *visit, int argc, char **argv, const struct flag *flags,
               struct error *err);
/* Opens the session; its callbacks keep quiet, and stdout is for data from then on. */
int visit_open(struct visit *visit, struct error *err);
/* What lathe_evaluate or lathe_predict returned, as an exit status. */
int visit_judge(const struct visit *visit, lathe_status status, struct error *err);
void visit_close(struct visit *visit);

#endif
