/* SPDX-License-Identifier: MIT */
/* Which checkpoints there are, which of them is whole, and which are too old. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/path.h"
#include "base/text.h"
#include "checkpoints_parts.h"

#define DIGITS 8 /* of a step, at least */
#define HALF ".safetensors.tmp"

void checkpoints_name(int64_t step, char name[CHECKPOINT_NAME]) {
    snprintf(name, CHECKPOINT_NAME, "step-%0*lld.safetensors", DIGITS, (long long)step);
}

int64_t checkpoints_step(const char *name) {
    char same[CHECKPOINT_NAME];
    if (strncmp(name, "step-", 5) != 0 || strspn(name + 5, "0123456789") > 18)
        return -1;
    const int64_t step = strtoll(name + 5, NULL, 10);
    checkpoints_name(step, same); /* one spelling only */
    return strcmp(name, same) == 0 ? step : -1;
}

static int compare_steps(const void *a, const void *b) {
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return left > right ? -1 : left < right;
}

/* Goes through a directory; a missing one is empty. */
static lathe_status look_through(const char *folder,
                                 bool (*visit)(void *context, int fd, const char *name),
                                 void *context, struct error *err) {
    DIR *listing = opendir(folder);
    if (!listing && errno == ENOENT) return LATHE_OK;
    if (!listing)
        return fail(err, error_from_errno(errno), "cannot list \"%.300s\": %s", folder,
                    strerror(errno));
    struct dirent *entry;
    lathe_status status = LATHE_OK;
    while (!status && (errno = 0, entry = readdir(listing)))
        if (!visit(context, dirfd(listing), entry->d_name))
            status = fail(err, LATHE_ENOMEM, "no memory to list \"%.300s\"", folder);
    if (!status && errno)
        status =
            fail(err, LATHE_EIO, "cannot list \"%.300s\": %s", folder, strerror(errno));
    closedir(listing);
    return status;
}

static bool add_step(struct checkpoints_list *list, int64_t step) {
    int64_t *steps = grow(list->steps, list->count, sizeof *steps);
    if (!steps) return false;
    list->steps = steps;
    steps[list->count++] = step;
    return true;
}

static bool visit_step(void *context, int fd, const char *name) {
    struct stat info;
    const int64_t step = checkpoints_step(name);
    if (step < 0 || fstatat(fd, name, &info, AT_SYMLINK_NOFOLLOW) ||
        !S_ISREG(info.st_mode))
        return true;
    return add_step(context, step);
}

lathe_status checkpoints_list(const char *folder, struct checkpoints_list *list,
                              struct error *err) {
    *list = (struct checkpoints_list){0};
    lathe_status status = look_through(folder, visit_step, list, err);
    if (status) {
        free(list->steps);
        *list = (struct checkpoints_list){0};
    }
    if (list->count)
        qsort(list->steps, list->count, sizeof *list->steps, compare_steps);
    return status;
}

static bool visit_half(void *context, int fd, const char *name) {
    struct log *log = context;
    if (*name != '.' || !text_ends_with(name, HALF)) return true;
    if (unlinkat(fd, name, 0))
        log_line(log, LATHE_LOG_WARNING, "cannot remove checkpoints/%s: %s", name,
                 strerror(errno));
    return true;
}

void checkpoints_clean(const char *folder, struct log *log) {
    struct error err;
    if (look_through(folder, visit_half, log, &err))
        log_line(log, LATHE_LOG_WARNING, "%s", err.what);
}

/* ---- the newest ---- */

/* NULL: out of memory. */
static char *path_of_step(const char *folder, int64_t step) {
    char name[CHECKPOINT_NAME];
    checkpoints_name(step, name);
    return path_join(folder, name);
}

/* Could an older file be whole where this one failed so? */
static bool is_of_this_file(lathe_status status) {
    return status == LATHE_EDATA || status == LATHE_EIO || status == LATHE_ENOTFOUND;
}

struct choice {
    struct log *log;
    checkpoints_accept *accept; /* NULL: any */
    void *context;
};

static lathe_status open_one(const struct choice *choice, const char *path,
                             struct safetensors **file, const char **fault,
                             struct error *why) {
    lathe_status status = safetensors_open_whole(path, file, why);
    *fault = "is not whole";
    if (status || !choice->accept) return status;
    if (choice->accept(choice->context, *file, why) == LATHE_OK) return LATHE_OK;
    safetensors_close(*file);
    *file = NULL;
    *fault = "cannot be gone on from";
    return LATHE_EDATA;
}

static lathe_status open_newest(const char *folder, const struct checkpoints_list *list,
                                const struct choice *choice, struct safetensors **file,
                                char **path, struct error *err) {
    struct error why;
    const char *fault;
    for (size_t i = 0; i < list->count; i++) {
        char *tried = path_of_step(folder, list->steps[i]);
        if (!tried) return fail(err, LATHE_ENOMEM, "no memory to find a checkpoint");
        why = (struct error){0};
        lathe_status status = open_one(choice, tried, file, &fault, &why);
        if (!status) {
            *path = tried;
            return LATHE_OK;
        }
        if (is_of_this_file(status))
            log_line(choice->log, LATHE_LOG_WARNING, "checkpoints/%s %s (%s); %s",
                     path_name(tried), fault, why.what,
                     i + 1 < list->count ? "using the one before"
                                         : "there is none before it");
        free(tried);
        if (is_of_this_file(status)) continue;
        if (err) *err = why;
        return status;
    }
    return LATHE_OK;
}

lathe_status checkpoints_newest(const char *run, struct log *log,
                                struct safetensors **file, char **path,
                                struct error *err) {
    return checkpoints_newest_of(run, log, NULL, NULL, file, path, err);
}

lathe_status checkpoints_newest_of(const char *run, struct log *log,
                                   checkpoints_accept *accept, void *context,
                                   struct safetensors **file, char **path,
                                   struct error *err) {
    const struct choice choice = {log, accept, context};
    struct checkpoints_list list;
    char *folder = path_join(run, "checkpoints");
    *file = NULL;
    *path = NULL;
    if (!folder) return fail(err, LATHE_ENOMEM, "no memory to find a checkpoint");
    lathe_status status = checkpoints_list(folder, &list, err);
    if (!status) status = open_newest(folder, &list, &choice, file, path, err);
    free(list.steps);
    free(folder);
    return status;
}

/* ---- what is too old ---- */

/* What cannot be read is nobody's, and stays. */
static bool is_ours(const struct checkpoints_plan *plan, const char *path) {
    struct safetensors *file = NULL;
    struct error err;
    if (safetensors_open(path, &file, &err)) return false;
    const char *run = safetensors_note(file, "lathe.run");
    bool ours = run && strcmp(run, plan->id) == 0;
    safetensors_close(file);
    return ours;
}

static bool holds(const struct checkpoints_list *list, int64_t step) {
    for (size_t i = 0; i < list->count; i++)
        if (list->steps[i] == step) return true;
    return false;
}

/* Of the others, the newest before this one fill what room there is. Later ones are of
 * a past that was given up: the run went on from before them. */
static bool choose(const struct checkpoints_plan *plan,
                   const struct checkpoints_list *list,
                   struct checkpoints_list *doomed) {
    const bool has_best = plan->best != plan->step && holds(list, plan->best);
    int64_t room = plan->keep - (has_best ? 2 : 1);
    bool is_whole = true;
    for (size_t i = 0; i < list->count && is_whole; i++) {
        const int64_t step = list->steps[i];
        if (step == plan->step || step == plan->best) continue;
        char *path = path_of_step(plan->folder, step);
        is_whole = path != NULL;
        if (path && is_ours(plan, path) && (step > plan->step || room-- <= 0))
            is_whole = add_step(doomed, step);
        free(path);
    }
    return is_whole;
}

lathe_status checkpoints_doomed(const struct checkpoints_plan *plan,
                                struct checkpoints_list *doomed, struct error *err) {
    struct checkpoints_list list;
    *doomed = (struct checkpoints_list){0};
    if (plan->keep == 0) return LATHE_OK;
    lathe_status status = checkpoints_list(plan->folder, &list, err);
    if (!status && !choose(plan, &list, doomed)) {
        free(doomed->steps);
        *doomed = (struct checkpoints_list){0};
        status = fail(err, LATHE_ENOMEM, "no memory to find old checkpoints");
    }
    free(list.steps);
    return status;
}
