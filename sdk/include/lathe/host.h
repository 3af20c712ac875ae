/* SPDX-License-Identifier: MIT */
/* What the host does for a plugin. Every instance gets a table of its own, which knows
 * who is calling; it stays valid until destroy has returned. */
#ifndef LATHE_HOST_H
#define LATHE_HOST_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "random.h"
#include "stream.h"
#include "tensor.h"

#define LATHE_HIGHER_IS_BETTER 1u
#define LATHE_METRIC_EXP 2u /* shown as exp(sum / weight): perplexity */

/* A number that is reported as a sum and a weight and shown as their quotient. */
typedef struct lathe_metric {
    uint32_t size, flags;
    const char *name; /* "accuracy"; in records "train/accuracy", … */
} lathe_metric;
#define LATHE_METRIC_SIZE_1_0 16u

/* One metric as it stands now. The host fills as much as `size` covers. */
typedef struct lathe_metric_view {
    uint32_t size, flags;
    const char *name; /* "validation/accuracy"; borrowed for the session */
    double value;     /* NaN: none yet */
    int64_t step;     /* at which it was produced; -1: never */
} lathe_metric_view;
#define LATHE_METRIC_VIEW_SIZE_1_0 32u

#define LATHE_NO_DECAY 1u /* weight decay leaves it alone: biases, norms */
#define LATHE_BUFFER 2u   /* a statistic, not a weight: see model.h */
#define LATHE_FROZEN 4u   /* not trained in this stage */

/* Where a parameter lies in every block. The host fills as much as `size` covers. */
typedef struct lathe_parameter_view {
    uint32_t size, flags;
    const char *name;      /* borrowed for the session */
    int64_t offset, count; /* in floats */
    uint32_t rank, group;
    int64_t shape[LATHE_RANK_MAX];
} lathe_parameter_view;
#define LATHE_PARAMETER_VIEW_SIZE_1_0 88u

#define LATHE_LOG_ERROR 0
#define LATHE_LOG_WARNING 1
#define LATHE_LOG_INFO 2
#define LATHE_LOG_DEBUG 3

#define LATHE_REQUEST_STOP 1u
#define LATHE_REQUEST_VALIDATE 2u
#define LATHE_REQUEST_SAVE 4u

#define LATHE_READ 0u
#define LATHE_WRITE 1u /* the host recomputes what depends on it: norm, finiteness */

typedef struct lathe_host {
    uint32_t size, minor;
    void *context; /* the host's */

    /* ---- for everyone ---- */

    /* Records why a call is about to fail; `text` is copied. Returns `status`, so that
     * a plugin writes `return lathe_fail(host, …)`. The host adds who and where.
     * [any] */
    lathe_status (*fail)(const struct lathe_host *, lathe_status status,
                         const char *text);
    /* Adds a line to the run's log; `text` is copied. Level: LATHE_LOG_*. [any] */
    void (*log)(const struct lathe_host *, int32_t level, const char *text);
    /* The host's table named `id`, borrowed for the session, or NULL when unknown.
     * [any] */
    const void *(*extension)(const struct lathe_host *, const char *id);

    /* ---- options: "lr", "hidden/0", "layers/2/filters" ---- [load]
     * Checked against plugin.json before create, so reading one cannot fail. A path
     * that the manifest does not declare reads as 0 or "", and the host then fails
     * create and names it. Strings are borrowed for the session. */

    /* Is an optional option given, or has it a default? */
    int32_t (*has)(const struct lathe_host *, const char *path);
    /* Items of an array, members of an object; 0 when it is not given. */
    int64_t (*count)(const struct lathe_host *, const char *path);
    double (*number)(const struct lathe_host *, const char *path);
    /* Also booleans, as 0 and 1. */
    int64_t (*integer)(const struct lathe_host *, const char *path);
    /* Also a "format": "path", made absolute, relative to the experiment's
     * directory. */
    const char *(*string)(const struct lathe_host *, const char *path);
    /* A "format": "duration" in updates of the optimizer; epochs are rounded up to
     * whole steps. A time ("30s") is refused: create is failed by the host. */
    int64_t (*steps)(const struct lathe_host *, const char *path);
    /* The instance behind a "format": "plugin:<kind>" option: its ops (a const
     * lathe_<kind>_ops *) and itself, both borrowed until destroy. */
    lathe_status (*plugin)(const struct lathe_host *, const char *path,
                           const void **ops, void **self);

    /* ---- files, for datasets ---- [load]
     * `path` is that of an option with "format": "path", not that of the file: where
     * the experiment says { "use": "idx", "images": "train.gz" }, it is "images". gzip
     * and zstd are undone. A file is opened, checked and inflated once a session,
     * whoever asks for it. */

    /* The whole content: 64-byte aligned, read-only, borrowed for the session. Fails
     * with LATHE_ENOTFOUND, LATHE_EPERM, LATHE_EIO or LATHE_EDATA and text of the
     * host's. */
    lathe_status (*map)(const struct lathe_host *, const char *path, const void **bytes,
                        int64_t *count);
    /* A stream over the content, borrowed until close_stream or destroy. Fails as
     * map. */
    lathe_status (*open)(const struct lathe_host *, const char *path,
                         const lathe_reader **stream);
    /* Moves a stream over a tar file to its next regular member and puts its name in
     * *name (borrowed until the next call). LATHE_END after the last one. */
    lathe_status (*next_member)(const struct lathe_host *, const lathe_reader *stream,
                                const char **name);
    void (*close_stream)(const struct lathe_host *, const lathe_reader *stream);

    /* ---- randomness ---- */

    /* *key for one purpose of this instance in one epoch (0: the whole run): made of
     * seed, stage, purpose, epoch and the instance's id, never of thread or rank.
     * [any] */
    void (*key)(const struct lathe_host *, uint32_t purpose, int64_t epoch,
                lathe_key *key);

    /* ---- metrics ---- */

    /* Declares a metric of a callback; returns its index for report. [load] */
    int32_t (*metric)(const struct lathe_host *, const lathe_metric *);
    /* Adds to a declared metric. In training the mean since the last record is shown,
     * in validation that of the visit. Summed over ranks. [loop] */
    void (*report)(const struct lathe_host *, int32_t metric, double sum,
                   double weight);
    /* Says that this callback follows a metric, by its full name. Returns its index for
     * `value`; -1 where nobody earlier declares it, and create is failed by the host.
     * [load] */
    int32_t (*watch)(const struct lathe_host *, const char *name);
    /* *value of a watched metric. 1 when it was produced at the present step, 0 when it
     * is older or there is none yet (*value is then the older one, or NaN). [loop] */
    int32_t (*value)(const struct lathe_host *, int32_t watched, double *value);
    /* How many metrics there are, and the i-th; LATHE_END past the last one. [loop] */
    int64_t (*metrics)(const struct lathe_host *);
    lathe_status (*metric_at)(const struct lathe_host *, int64_t i,
                              lathe_metric_view *);
    /* `count` numbers, borrowed until destroy, for the caller to add to in validation:
     * set to 0 before validation_begin, summed over ranks before validation_end.
     * [load] */
    double *(*tally)(const struct lathe_host *, const char *name, int64_t count);

    /* ---- when ---- */

    /* Reads a duration option as an interval; returns its index for is_due. [load] */
    int32_t (*every)(const struct lathe_host *, const char *path);
    /* Has the interval come round at this step? Same answer all through a step.
     * [loop] */
    int32_t (*is_due)(const struct lathe_host *, int32_t every);
    /* Asks for LATHE_REQUEST_*; the loop acts at the next boundary. `reason` is copied
     * and shown to the user. [loop] */
    void (*request)(const struct lathe_host *, uint32_t what, const char *reason);

    /* ---- the memory that training is about ---- */

    /* How many parameters the model has, and the i-th; LATHE_END past the last one.
     * [loop] */
    int64_t (*parameters)(const struct lathe_host *);
    lathe_status (*parameter)(const struct lathe_host *, int64_t i,
                              lathe_parameter_view *);
    /* The block of weights. LATHE_WRITE only in step_end, validation_* and epoch_*,
     * else NULL. [loop] */
    float *(*weights)(const struct lathe_host *, uint32_t access);
    /* The block of mean gradients of the window, not clipped. Only in gradients_ready,
     * else NULL. [loop] */
    float *(*gradients)(const struct lathe_host *, uint32_t access);
    /* A block of one's own, as long as the weights, 0 at first; saved in checkpoints
     * under this name. NULL: out of memory. Borrowed until destroy. [load] */
    float *(*block)(const struct lathe_host *, const char *name);
    /* In validation_begin: validate with this block instead of the weights. [loop] */
    void (*evaluate_with)(const struct lathe_host *, const float *block);
    /* Runs the model on a batch of the training data's fields, labels ignored; outputs
     * are the caller's, one per declared output, [rows, …]. [loop] */
    lathe_status (*predict)(const struct lathe_host *, const lathe_batch *,
                            const lathe_tensor *outputs);
    /* The run's own directory, to put files into; NULL: the run writes nothing.
     * [loop] */
    const char *(*run_directory)(const struct lathe_host *);

    /* ---- for people ---- */

    /* Says how this instance works, where that is chosen by the machine and not by an
     * option: `name` is a word ("products"), `text` a few ("panels, AVX-512"). Copied;
     * shown by lathe explain and kept in the run's environment.json. A name that is
     * said again has the new text. [load] */
    void (*note)(const struct lathe_host *, const char *name, const char *text);
} lathe_host;
#define LATHE_HOST_SIZE_1_0 280u

/* fail, with printf's formatting; at most 511 bytes are kept. [any] */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static inline lathe_status
lathe_fail(const lathe_host *host, lathe_status status, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return host->fail(host, status, text);
}

/* log, with printf's formatting; at most 511 bytes are kept. [any] */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static inline void
lathe_log(const lathe_host *host, int32_t level, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    host->log(host, level, text);
}

/* note, where the host has it. [load] */
static inline void lathe_note(const lathe_host *host, const char *name,
                              const char *text) {
    if (LATHE_COVERS(host, lathe_host, note) && host->note)
        host->note(host, name, text);
}

/* Shorthands for what every plugin reads. [load] */
static inline int32_t lathe_has(const lathe_host *host, const char *path) {
    return host->has(host, path);
}
static inline int64_t lathe_count(const lathe_host *host, const char *path) {
    return host->count(host, path);
}
static inline double lathe_number(const lathe_host *host, const char *path) {
    return host->number(host, path);
}
static inline int64_t lathe_integer(const lathe_host *host, const char *path) {
    return host->integer(host, path);
}
static inline const char *lathe_string(const lathe_host *host, const char *path) {
    return host->string(host, path);
}
static inline int64_t lathe_steps(const lathe_host *host, const char *path) {
    return host->steps(host, path);
}

/* Is a metric better the higher it is, as whoever reports it declared? 0 where nobody
 * does. [loop] */
static inline int32_t lathe_is_higher_better(const lathe_host *host,
                                             const char *metric) {
    lathe_metric_view view;
    view.size = sizeof view;
    for (int64_t i = 0; host->metric_at(host, i, &view) == LATHE_OK; i++)
        if (!strcmp(view.name, metric))
            return (view.flags & LATHE_HIGHER_IS_BETTER) != 0;
    return 0;
}

#endif
