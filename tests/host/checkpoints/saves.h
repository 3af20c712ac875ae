/* SPDX-License-Identifier: MIT */
/* A run's directory, and small checkpoints to save into it. */
#ifndef TESTS_HOST_CHECKPOINTS_SAVES_H
#define TESTS_HOST_CHECKPOINTS_SAVES_H

#include "support/scratch.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "checkpoints.h"

#define SAVE_FLOATS 1000

struct saves {
    struct scratch scratch; /* the run's directory */
    struct log log;
    struct text lines;
    struct checkpoints *checkpoints;
    struct error err;
    float numbers[SAVE_FLOATS]; /* what the last save borrows: all are its step */
    struct safetensor tensors[2];
    struct safetensors_note notes[2];
};

static inline void saves_log(void *context, int32_t level, const char *line) {
    struct text *lines = context;
    text_format(lines, "%s%s\n", level >= LATHE_LOG_WARNING ? "warning: " : "", line);
}

/* A process that begins, or goes on: the same directory, a new object. */
static inline void saves_open(struct saves *saves, const char *id) {
    checkpoints_destroy(saves->checkpoints);
    saves->checkpoints = NULL;
    if (checkpoints_create(saves->scratch.directory, id, &saves->log,
                           &saves->checkpoints, &saves->err))
        fail_msg("%s", saves->err.what);
    saves->notes[0] = (struct safetensors_note){"lathe.run", id};
    saves->notes[1] = (struct safetensors_note){"format", "pt"};
}

static inline lathe_status saves_begin(struct saves *saves, int64_t step,
                                       bool is_best) {
    for (int i = 0; i < SAVE_FLOATS; i++) saves->numbers[i] = (float)step;
    for (int i = 0; i < 2; i++)
        saves->tensors[i] =
            (struct safetensor){.name = i ? "weight" : "bias",
                                .dtype = "F32",
                                .rank = 1,
                                .shape = {SAVE_FLOATS / 2},
                                .bytes = SAVE_FLOATS / 2 * 4,
                                .data = saves->numbers + i * SAVE_FLOATS / 2};
    const struct checkpoint checkpoint = {.step = step,
                                          .tensors = saves->tensors,
                                          .tensor_count = 2,
                                          .notes = saves->notes,
                                          .note_count = 2,
                                          .is_best = is_best,
                                          .flush_fd = -1};
    memset(&saves->err, 0, sizeof saves->err);
    return checkpoints_write(saves->checkpoints, &checkpoint, &saves->err);
}

static inline lathe_status saves_try(struct saves *saves, int64_t step, bool is_best) {
    lathe_status status = saves_begin(saves, step, is_best);
    return status ? status : checkpoints_wait(saves->checkpoints, &saves->err);
}

static inline void saves_save(struct saves *saves, int64_t step, bool is_best) {
    if (saves_try(saves, step, is_best))
        fail_msg("step %lld: %s", (long long)step, saves->err.what);
}

/* The step of the newest whole one, as its numbers say it; -1: there is none. */
static inline int64_t saves_newest(struct saves *saves) {
    struct safetensors *file = NULL;
    char *path = NULL;
    float numbers[SAVE_FLOATS / 2];
    if (checkpoints_newest(saves->scratch.directory, &saves->log, &file, &path,
                           &saves->err))
        fail_msg("%s", saves->err.what);
    if (!file) return -1;
    if (safetensors_read(file, safetensors_find(file, "weight"), numbers, &saves->err))
        fail_msg("%s", saves->err.what);
    long long step = -1;
    sscanf(strstr(path, "step-"), "step-%lld", &step);
    assert_true(numbers[0] == (float)step &&
                numbers[SAVE_FLOATS / 2 - 1] == numbers[0]);
    safetensors_close(file);
    free(path);
    return step;
}

static inline int saves_compare(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All names in checkpoints/, in order, a space after each; the caller's. */
static inline char *saves_names(struct saves *saves) {
    char *names[64];
    int count = 0;
    struct text text = {0};
    DIR *list = opendir(scratch_path(&saves->scratch, "checkpoints"));
    struct dirent *entry;
    text_add(&text, "");
    while (list && (entry = readdir(list)))
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            names[count++] = text_copy(entry->d_name);
    if (list) closedir(list);
    qsort(names, (size_t)count, sizeof *names, saves_compare);
    for (int i = 0; i < count; i++) {
        text_format(&text, "%s ", names[i]);
        free(names[i]);
    }
    return text.data;
}

/* The steps of the checkpoints and what the links point to, and nothing else is
 * there: "2 6 best=2 last=6". */
static inline void saves_expect(struct saves *saves, const char *expected) {
    struct text text = {0};
    char *names = saves_names(saves), *rest = NULL;
    const char *links[] = {"best", "last"};
    for (char *name = strtok_r(names, " ", &rest); name;
         name = strtok_r(NULL, " ", &rest)) {
        long long step;
        if (sscanf(name, "step-%lld.safetensors", &step) == 1)
            text_format(&text, "%lld ", step);
        else if (strcmp(name, "best.safetensors") && strcmp(name, "last.safetensors"))
            text_format(&text, "%s ", name);
    }
    for (int i = 0; i < 2; i++) {
        char path[64], target[64];
        snprintf(path, sizeof path, "checkpoints/%s.safetensors", links[i]);
        ssize_t length = readlink(scratch_path(&saves->scratch, path), target, 63);
        if (length < 0) continue;
        target[length] = '\0';
        long long step = -1;
        sscanf(target, "step-%lld.safetensors", &step);
        text_format(&text, "%s=%lld ", links[i], step);
    }
    if (text.length) text.data[--text.length] = '\0';
    assert_string_equal(text.data ? text.data : "", expected);
    text_finish(&text);
    free(names);
}

static inline bool saves_was_told(const struct saves *saves, const char *line) {
    return saves->lines.data && strstr(saves->lines.data, line);
}

static inline int saves_init(void **state) {
    struct saves *saves = calloc(1, sizeof *saves);
    scratch_init(&saves->scratch);
    saves->log = (struct log){.write = saves_log, .context = &saves->lines};
    saves_open(saves, "one");
    *state = saves;
    return 0;
}

static inline int saves_finish(void **state) {
    struct saves *saves = *state;
    checkpoints_destroy(saves->checkpoints);
    scratch_finish(&saves->scratch);
    text_finish(&saves->lines);
    free(saves);
    return 0;
}

#endif
