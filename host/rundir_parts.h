/* SPDX-License-Identifier: MIT */
/* What the files of rundir share. */
#ifndef HOST_RUNDIR_PARTS_H
#define HOST_RUNDIR_PARTS_H

#include <dirent.h>
#include <pthread.h>

#include "base/text.h"
#include "rundir.h"

#define RUN_STATUS_BYTES 512 /* of status.json, blanks at its end included */

struct rundir {
    char *path;     /* absolute; NULL: nothing is written */
    int made_count; /* of directories at the end of path, that were made for it */
    bool is_reopened;
    DIR *directory;        /* open and locked */
    pthread_mutex_t mutex; /* lines come from any thread; guards the files */
    struct text files;     /* names of those that were made, each with its NUL */
};

#endif
