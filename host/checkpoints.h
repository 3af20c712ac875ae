/* SPDX-License-Identifier: MIT */
/* The checkpoints of a run: <run>/checkpoints/step-00001407.safetensors, written in the
 * background, aside and then renamed, so that a name never stands for half a file; and
 * which of them are kept. What is in one is the session's.
 *
 *   last.safetensors   a link to the newest
 *   best.safetensors   a link to the best, where somebody said that one is
 *
 * One file is deleted only after a newer one was read back and found whole, only if the
 * note "lathe.run" says that this run wrote it, and never what `best` points to. Hidden
 * names ending in ".safetensors.tmp" are what a killed process left; the next write
 * removes them, so one process at a time writes to a run (rundir has the lock). */
#ifndef HOST_CHECKPOINTS_H
#define HOST_CHECKPOINTS_H

#include <stdbool.h>

#include "base/digest.h"
#include "base/log.h"
#include "json.h"
#include "safetensors.h"

struct checkpoints;

/* What is to be written; all of it is borrowed until the write is over. */
struct checkpoint {
    int64_t step;
    struct safetensor *tensors; /* gets sorted */
    size_t tensor_count;
    const struct safetensors_note *notes;
    size_t note_count;
    bool is_best;
    int flush_fd; /* synchronised before the rename: what must not be older; -1: none */
};

/* `run` is the run's directory, `id` what "lathe.run" is. Makes nothing until the first
 * write; the thread starts then too. */
lathe_status checkpoints_create(const char *run, const char *id, struct log *log,
                                struct checkpoints **checkpoints, struct error *err);
/* How many are kept, newest and best included, which are kept in any case; 0: all. At
 * first 1. */
void checkpoints_keep(struct checkpoints *checkpoints, int64_t newest);
/* Begins to write. Waits for the one before, and says so in the log when that takes
 * long; returns its failure, in which case nothing is begun. The same step again
 * replaces the file. LATHE_EIO, LATHE_ECREATE: what was there before is untouched. */
lathe_status checkpoints_write(struct checkpoints *checkpoints,
                               const struct checkpoint *checkpoint, struct error *err);
/* Is one being written? Its failure is told once, here or by write or wait. */
bool checkpoints_is_busy(const struct checkpoints *checkpoints);
lathe_status checkpoints_poll(struct checkpoints *checkpoints, struct error *err);
/* Waits until nothing is being written. */
lathe_status checkpoints_wait(struct checkpoints *checkpoints, struct error *err);
/* Path of the newest that this process wrote or began from; NULL: none, or it is gone.
 * Borrowed until the next write. */
const char *checkpoints_last(const struct checkpoints *checkpoints);
/* The run goes on from this file, which stays until a newer one is whole. */
void checkpoints_resumed(struct checkpoints *checkpoints, const char *path);
void checkpoints_destroy(struct checkpoints *checkpoints); /* waits; NULL is fine */

/* Opens the newest whole checkpoint of a run's directory and verifies it; each that is
 * not whole is named in the log, with why. *file NULL and LATHE_OK: there is none. Its
 * path, the caller's, goes to *path. */
lathe_status checkpoints_newest(const char *run, struct log *log,
                                struct safetensors **file, char **path,
                                struct error *err);

/* The same, of those that `accept` takes. Where it gives another status than LATHE_OK,
 * with why, the one before is tried. */
typedef lathe_status checkpoints_accept(void *context, const struct safetensors *file,
                                        struct error *err);
lathe_status checkpoints_newest_of(const char *run, struct log *log,
                                   checkpoints_accept *accept, void *context,
                                   struct safetensors **file, char **path,
                                   struct error *err);

/* ---- looking at those that are there ---- */

/* Notes that all have. Their values are JSON but for the first and NOTE_RUN. */
#define NOTE_FORMAT "lathe"
#define NOTE_LOOP "lathe.loop"
#define NOTE_EXPERIMENT "lathe.experiment"
#define NOTE_RUN "lathe.run"
#define NOTE_PLUGINS "lathe.plugins"
/* Before "<kind>/<id>": the tensor with the state of a plugin. */
#define STATE_PREFIX "lathe/state/"
/* Is it a checkpoint, of a format that is read here? LATHE_EDATA. */
lathe_status checkpoints_check_format(const struct safetensors *file,
                                      struct error *err);
/* One of them, parsed; the caller's. LATHE_EDATA: there is none, or it is none of
 * ours. */
lathe_status checkpoints_note(const struct safetensors *file, const char *key,
                              struct json **json, struct error *err);

/* A note that some checkpoints have: the digest of the weights alone, as
 * checkpoints_digest makes it. */
#define CHECKPOINT_WEIGHTS "lathe.weights"
/* SHA-256 of the weights among tensors, which get sorted: of each whose name does not
 * begin with "lathe/", in byte order of the names, the line "name F32 [2,3]\n", then
 * its bytes. */
void checkpoints_digest(struct safetensor *tensors, size_t count, char hex[DIGEST_HEX]);
/* Steps of the checkpoints that a run's directory has, newest first; free(*steps). */
lathe_status checkpoints_steps(const char *run, int64_t **steps, size_t *count,
                               struct error *err);
/* That digest of one of them, from its note, or from all that is in it. The file is not
 * verified. */
lathe_status checkpoints_weights(const char *run, int64_t step, char hex[DIGEST_HEX],
                                 struct error *err);

#endif
