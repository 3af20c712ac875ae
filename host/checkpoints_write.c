/* SPDX-License-Identifier: MIT */
/* One checkpoint, from nothing to its name, in an order that can be cut anywhere: what
 * has a name is whole, and what is deleted has a successor that was read back. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "checkpoints_parts.h"

#define TIMES_WANTED 3 /* with less room than for so many, somebody should know */

/* ---- room ---- */

/* About: what JSON makes of names and notes is not known yet. */
static int64_t size_of(const struct checkpoint *checkpoint) {
    int64_t bytes = 4096;
    for (size_t i = 0; i < checkpoint->tensor_count; i++)
        bytes += checkpoint->tensors[i].bytes + 128;
    for (size_t i = 0; i < checkpoint->note_count; i++)
        bytes += (int64_t)strlen(checkpoint->notes[i].value);
    return bytes;
}

static lathe_status check_room(const struct checkpoints_job *job, struct error *err) {
    struct statvfs info;
    const int64_t bytes = size_of(&job->checkpoint);
    if (statvfs(job->folder, &info) || info.f_blocks == 0)
        return LATHE_OK; /* unknown */
    const double free_bytes = (double)info.f_bavail * (double)info.f_frsize;
    if (free_bytes < (double)bytes)
        return fail(
            err, LATHE_EIO,
            "no room for a checkpoint: about %lld bytes are wanted, and %.0f are free",
            (long long)bytes, free_bytes);
    if (job->is_first && free_bytes < TIMES_WANTED * (double)bytes)
        log_line(
            job->log, LATHE_LOG_WARNING,
            "there is little room for checkpoints: each takes about %lld bytes, and "
            "%.0f are free",
            (long long)bytes, free_bytes);
    return LATHE_OK;
}

/* ---- steps of a write ---- */

/* EINVAL: what fd is of cannot be synchronised, and need not be. */
static lathe_status sync_to_disk(int fd, const char *what, struct error *err) {
    if (fsync(fd) == 0 || errno == EINVAL) return LATHE_OK;
    return fail(err, LATHE_EIO, "cannot write %s to the disk: %s", what,
                strerror(errno));
}

static int open_folder(const char *path) {
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static lathe_status make_folder(const char *folder, int *fd, struct error *err) {
    const bool is_new = mkdir(folder, 0777) == 0;
    if (!is_new && errno != EEXIST)
        return fail(err, error_from_create(errno), "cannot make its directory: %s",
                    strerror(errno));
    *fd = open_folder(folder);
    if (*fd < 0)
        return fail(err, error_from_create(errno), "cannot open its directory: %s",
                    strerror(errno));
    if (!is_new) return LATHE_OK;
    char *run = path_directory(folder);
    const int above = run ? open_folder(run) : -1;
    lathe_status status =
        above < 0 ? LATHE_OK : sync_to_disk(above, "the run's directory", err);
    if (above >= 0) close(above);
    free(run);
    return status;
}

static lathe_status write_aside(const struct checkpoints_job *job, int folder,
                                const char *aside, struct error *err) {
    const struct checkpoint *from = &job->checkpoint;
    const int fd = file_keep_clear(
        openat(folder, aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (fd < 0)
        return fail(err, error_from_create(errno), "cannot create it: %s",
                    strerror(errno));
    lathe_status status = safetensors_write(fd, from->tensors, from->tensor_count,
                                            from->notes, from->note_count, err);
    if (!status) status = sync_to_disk(fd, "it", err);
    /* Also where writes are reported late: NFS, quotas. */
    if (close(fd) && !status)
        status = fail(err, LATHE_EIO, "cannot write it: %s", strerror(errno));
    if (!status && from->flush_fd >= 0)
        status = sync_to_disk(from->flush_fd, "what belongs to it", err);
    return status;
}

static lathe_status read_back(const struct checkpoints_job *job, const char *aside,
                              struct error *err) {
    struct safetensors *file = NULL;
    char *path = path_join(job->folder, aside);
    if (!path) return fail(err, LATHE_ENOMEM, "no memory to read it back");
    lathe_status status = safetensors_open_whole(path, &file, err);
    if (status == LATHE_ENOTFOUND)
        status = fail(err, LATHE_EIO, "it was removed while it was written");
    else if (status && status != LATHE_ENOMEM)
        status = fail(err, LATHE_EIO, "it was written, and reads back otherwise: %s",
                      err->what);
    safetensors_close(file);
    free(path);
    return status;
}

/* Switches a link; where there can be none the files still are. */
static void point(const struct checkpoints_job *job, int folder, const char *link,
                  const char *name) {
    char aside[CHECKPOINT_NAME];
    snprintf(aside, sizeof aside, ".%s.tmp", link);
    unlinkat(folder, aside, 0);
    if (symlinkat(name, folder, aside) == 0 &&
        renameat(folder, aside, folder, link) == 0)
        return;
    log_line(job->log, LATHE_LOG_WARNING, "cannot make checkpoints/%s point to %s: %s",
             link, name, strerror(errno));
    unlinkat(folder, aside, 0);
}

static int64_t find_best(int folder) {
    char target[CHECKPOINT_NAME];
    ssize_t length = readlinkat(folder, CHECKPOINT_BEST, target, sizeof target - 1);
    if (length < 0) return -1;
    target[length] = '\0';
    return checkpoints_step(target);
}

/* Also when an earlier attempt failed: the next process has only the link to go by. */
static void point_to_best(const struct checkpoints_job *job, int folder, int64_t best) {
    char name[CHECKPOINT_NAME];
    if (best < 0 || find_best(folder) == best) return;
    checkpoints_name(best, name);
    point(job, folder, CHECKPOINT_BEST, name);
}

static void delete_all(const struct checkpoints_job *job, int folder,
                       const struct checkpoints_list *doomed) {
    for (size_t i = 0; i < doomed->count; i++) {
        char name[CHECKPOINT_NAME];
        checkpoints_name(doomed->steps[i], name);
        if (unlinkat(folder, name, 0))
            log_line(job->log, LATHE_LOG_WARNING, "cannot delete checkpoints/%s: %s",
                     name, strerror(errno));
    }
}

/* ---- all of it ---- */

static lathe_status write_into(const struct checkpoints_job *job, int folder,
                               const char *name, int64_t *best, struct error *err) {
    char aside[CHECKPOINT_NAME + 8];
    struct checkpoints_list doomed = {0};
    const int64_t step = job->checkpoint.step;
    if (*best < 0) *best = find_best(folder);
    const struct checkpoints_plan plan = {
        job->folder, job->id, step, job->checkpoint.is_best ? step : *best, job->keep};
    snprintf(aside, sizeof aside, ".%s.tmp", name);
    checkpoints_clean(job->folder, job->log);
    lathe_status status = check_room(job, err);
    if (!status) status = checkpoints_doomed(&plan, &doomed, err);
    if (!status) {
        status = write_aside(job, folder, aside, err);
        if (!status && doomed.count) status = read_back(job, aside, err);
        if (!status && renameat(folder, aside, folder, name))
            status = fail(err, LATHE_EIO, "cannot rename it: %s", strerror(errno));
        if (status) unlinkat(folder, aside, 0);
    }
    if (!status) {
        *best = plan.best;
        point(job, folder, CHECKPOINT_LAST, name);
        point_to_best(job, folder, plan.best);
        status = sync_to_disk(folder, "its name", err);
    }
    if (!status) delete_all(job, folder, &doomed);
    free(doomed.steps);
    return status;
}

lathe_status checkpoints_do(const struct checkpoints_job *job, int64_t *best,
                            struct error *err) {
    char name[CHECKPOINT_NAME];
    int folder = -1;
    checkpoints_name(job->checkpoint.step, name);
    lathe_status status = make_folder(job->folder, &folder, err);
    if (!status) status = write_into(job, folder, name, best, err);
    if (folder >= 0) close(folder);
    if (status && err) {
        err->where[0] = '\0'; /* the name it will have, not the one aside */
        error_where(err, "%.300s/%s", job->folder, name);
    }
    return status;
}
