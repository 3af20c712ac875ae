/* SPDX-License-Identifier: MIT */
/* What the parts of checkpoints share: the directory and the names in it. Nobody else
 * includes it. */
#ifndef HOST_CHECKPOINTS_PARTS_H
#define HOST_CHECKPOINTS_PARTS_H

#include "checkpoints.h"

#define CHECKPOINT_NAME 48 /* bytes of a name, with its NUL */
#define CHECKPOINT_LAST "last.safetensors"
#define CHECKPOINT_BEST "best.safetensors"

struct checkpoints_list {
    int64_t *steps; /* newest first */
    size_t count;
};

void checkpoints_name(int64_t step, char name[CHECKPOINT_NAME]);
int64_t checkpoints_step(const char *name); /* -1: no name of a checkpoint */
/* The regular files of that kind in a directory. Finish with free(list->steps). */
lathe_status checkpoints_list(const char *folder, struct checkpoints_list *list,
                              struct error *err);
/* Removes what a killed process left half written. */
void checkpoints_clean(const char *folder, struct log *log);

/* What is to be deleted once the file of `step`, which is not there yet, is. */
struct checkpoints_plan {
    const char *folder, *id;
    int64_t step, best; /* best: -1: none */
    int64_t keep;       /* 0: all */
};
lathe_status checkpoints_doomed(const struct checkpoints_plan *plan,
                                struct checkpoints_list *doomed, struct error *err);

/* The whole of one write: aside, checked, renamed, links, what is too old deleted.
 * *best: comes and goes as the step of the best, -1: look at the link. */
struct checkpoints_job {
    const char *folder, *id;
    int64_t keep;
    bool is_first; /* of this process: says when there is little room */
    struct checkpoint checkpoint;
    struct log *log;
};
lathe_status checkpoints_do(const struct checkpoints_job *job, int64_t *best,
                            struct error *err);

#endif
