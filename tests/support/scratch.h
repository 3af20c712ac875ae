/* SPDX-License-Identifier: MIT */
/* A directory of a test's own, with small files in it. */
#ifndef TESTS_SUPPORT_SCRATCH_H
#define TESTS_SUPPORT_SCRATCH_H

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct scratch {
    char directory[256];
    char path[512]; /* of the last file asked for */
};

static inline void scratch_make(struct scratch *scratch, const char *base) {
    snprintf(scratch->directory, sizeof scratch->directory, "%s/lathe-test-XXXXXX",
             base);
    if (!mkdtemp(scratch->directory)) fail_msg("mkdtemp %s", scratch->directory);
}

static inline void scratch_init(struct scratch *scratch) {
    const char *base = getenv("TMPDIR");
    scratch_make(scratch, base && *base ? base : P_tmpdir);
}

/* In memory where that is possible: for hundreds of files that are synchronised. */
static inline void scratch_init_fast(struct scratch *scratch) {
    if (access("/dev/shm", W_OK | X_OK))
        scratch_init(scratch);
    else
        scratch_make(scratch, "/dev/shm");
}

/* Borrowed until the next call. */
static inline const char *scratch_path(struct scratch *scratch, const char *name) {
    snprintf(scratch->path, sizeof scratch->path, "%s/%s", scratch->directory, name);
    return scratch->path;
}

static inline const char *scratch_write(struct scratch *scratch, const char *name,
                                        const void *bytes, size_t count) {
    FILE *file = fopen(scratch_path(scratch, name), "wb");
    if (!file || fwrite(bytes, 1, count, file) != count || fclose(file))
        fail_msg("cannot write %s", scratch->path);
    return scratch->path;
}

static inline const char *scratch_text(struct scratch *scratch, const char *name,
                                       const char *text) {
    return scratch_write(scratch, name, text, strlen(text));
}

/* Runs a command in the directory; the test fails when the command does. */
static inline void scratch_run(struct scratch *scratch, const char *command) {
    char line[1024];
    snprintf(line, sizeof line, "cd '%s' && %s", scratch->directory, command);
    if (system(line)) fail_msg("%s", line);
}

static inline void scratch_finish(struct scratch *scratch) {
    char line[300];
    snprintf(line, sizeof line, "rm -rf '%s'", scratch->directory);
    if (system(line)) fail_msg("%s", line);
}

#endif
