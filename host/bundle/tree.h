/* SPDX-License-Identifier: MIT */
/* A tree of files below an open folder, into which a bundle is unpacked. Nothing here
 * follows a link. What the files are is the bundle's. */
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
/* After a failure, tree_end closes the file that is open. */
struct intake_sink tree_sink(struct tree *tree);
void tree_end(struct tree *tree);
/* A whole file at the top of the tree, such as bundle.json. */
lathe_status tree_write(struct tree *tree, const char *name, const char *bytes,
                        size_t count, struct error *err);
/* Gives every folder its mode, and waits until all is on the disk. */
lathe_status tree_seal(int folder, mode_t mode, struct error *err);
/* How many files there are; -1: something else is there too, or others may write in one
 * of the folders. */
int64_t tree_count(int folder);
#endif
