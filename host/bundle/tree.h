/* SPDX-License-Identifier: MIT */
/* A tree of files below an open folder: what a bundle is unpacked into. Nothing here
 * follows a link. */
#ifndef HOST_BUNDLE_TREE_H
#define HOST_BUNDLE_TREE_H

#include <sys/types.h>

#include "bundle/intake.h"
#include "bundle/staging.h"

/* A sink that writes files below a staging directory. */
struct tree {
    const struct staging *staging;
    const char *path; /* where it will be, for messages */
    mode_t file_mode; /* that a file has in the end */
    int fd;           /* -1: none is open */
    int64_t left;     /* of the file that is open */
};
/* What is open is the tree's; tree_end closes it after a failure. */
struct intake_sink tree_sink(struct tree *tree);
void tree_end(struct tree *tree);
/* A whole file at its top: bundle.json. */
lathe_status tree_write(struct tree *tree, const char *name, const char *bytes,
                        size_t count, struct error *err);
/* Gives every folder its mode, and has them all on the disk. */
lathe_status tree_seal(int folder, mode_t mode, struct error *err);
/* How many files there are; -1: something else is there too, or somebody else may
 * write in one of its folders. */
int64_t tree_count(int folder);
#endif
