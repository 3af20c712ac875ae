/* SPDX-License-Identifier: MIT */
/* What the files of shelf share: a tree of files below an open directory. Nothing here
 * follows a link. */
#ifndef HOST_BUNDLE_SHELF_PARTS_H
#define HOST_BUNDLE_SHELF_PARTS_H

#include "bundle/shelf.h"

#define SHELF_PREFIX "sha256-"
#define SHELF_ASIDE ".unpack-" /* what is not whole yet, or not any more */

/* A sink that writes files below `folder`. */
struct tree {
    int folder;
    const char *path; /* of the folder, for messages */
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
/* How many files there are; -1: something else is there too. */
int64_t tree_count(int folder);
/* All below an open folder; what cannot be removed stays. */
void tree_clear(int folder);

#endif
