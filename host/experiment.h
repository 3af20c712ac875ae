/* SPDX-License-Identifier: MIT */
/* An experiment manifest with its overrides: read, checked against the format and
 * against the manifests of the plugins it uses, and resolved to every value in force.
 * It runs no code of any plugin and trains nothing.
 *
 * Everything in struct experiment is borrowed until experiment_close. */
#ifndef HOST_EXPERIMENT_H
#define HOST_EXPERIMENT_H

#include "base/duration.h"
#include "registry.h"

/* One plugin in use. */
struct use {
    uint32_t kind;
    /* Its "id"; else the split's name for data, "<outer id>.<option>" for a nested one,
     * the plugin's name for all others. Unique within the kind. */
    char *id;
    char *path;   /* "optimizer", "callbacks.progress", "data.train.of" */
    char *option; /* of the outer plugin: "of", "parts/0"; NULL: it is not nested */
    const struct manifest *manifest;
    const struct json *options; /* checked and complete; borrowed from `resolved` */
    struct use *nested;         /* in the order of the options */
    size_t nested_count;
};

struct data_use {
    const char *split; /* "train", "validation", "test", or another name */
    struct use use;
};

/* Parameters whose names match get an instance of the optimizer of their own. */
struct group_use {
    const char *match;   /* as fnmatch: "*.bias" */
    struct use use;      /* the optimizer's options, with this group's over them */
    struct json *merged; /* what use.options borrows from */
};

struct expectation {
    const char *metric; /* "test/accuracy" */
    const char *text;   /* ">= 0.88" */
    char comparison[3]; /* ">=", ">", "<=", "<" */
    double bound;
};

enum prefetch { PREFETCH_AUTO = 0, PREFETCH_OFF, PREFETCH_ON };

struct train_settings {
    struct durations until;
    int64_t batch, accumulate, shards, threads; /* threads 0: min(shards, cores) */
    double clip_norm, clip_value;               /* 0: off; never both */
    struct durations validate;                  /* count 0: off */
    struct durations log; /* of train records; count 0: epoch ends */
    bool flush_denormals;
    bool skips_nonfinite; /* else the run ends */
    const char *only;     /* patterns of the parameters that are trained */
    bool keeps_slots;     /* of the optimizer of the stage before */
    enum prefetch prefetch;
};

/* What training begins from. */
struct start_settings {
    const char *weights;       /* absolute path; NULL: as the model initialises them */
    const char *only;          /* patterns of the parameters that are taken */
    const struct json *rename; /* name in the file -> name in the model; may be NULL */
};

/* Stands where a file's name would. */
#define EXPERIMENT_TEXT "(text)"

struct experiment {
    char *file;            /* as given, for messages; EXPERIMENT_TEXT: it was text */
    char *directory;       /* absolute; paths in the file are relative to it */
    char *source;          /* the bytes as given */
    struct json *given;    /* parsed, before overrides */
    struct json *written;  /* with overrides, before defaults: what somebody wrote */
    struct json *resolved; /* with defaults too, and paths absolute */
    const char *name;
    uint64_t seed;
    bool is_seed_drawn;
    struct data_use *data;
    size_t data_count;
    struct use model, optimizer, schedule; /* schedule.manifest NULL: constant rate */
    struct group_use *groups; /* of the optimizer, without the default one */
    size_t group_count;
    struct use *callbacks;
    size_t callback_count;
    struct train_settings train;
    struct start_settings start;
    struct expectation *expectations;
    size_t expectation_count;
    char **overrides;      /* as given; NULL-ended */
    char **override_paths; /* with callbacks by index; NULL for one that failed */
    size_t override_count;
    struct experiment **stages; /* after the first, which is this one */
    size_t stage_count;
    const struct experiment *whole; /* of a stage after the first: whose it is */
    size_t stage;                   /* from 0 */
    struct json *staged; /* what was written, with the stages; NULL: there are none */
};

/* `source`: a path, or JSON text that starts with '{'. Overrides are "path=value",
 * applied from left to right; NULL-ended or NULL. All faults go to `errors`; returns
 * LATHE_OK, the status that all faults share (so an unknown plugin alone is
 * LATHE_EMISSING, a missing file alone LATHE_ENOTFOUND), or LATHE_EINVAL. *experiment
 * is the caller's; NULL on failure. */
lathe_status experiment_open(const char *source, const char *const *overrides,
                             const struct registry *registry,
                             struct experiment **experiment, struct errors *errors);
/* The same for a run that has begun: what it started from need not be there any
 * more. */
lathe_status experiment_reopen(const char *source, const char *const *overrides,
                               const struct registry *registry,
                               struct experiment **experiment, struct errors *errors);
/* NULL: there is no such split. */
const struct use *experiment_data(const struct experiment *experiment,
                                  const char *split);
/* Where the value at an override path comes from: "file", "command line", "default",
 * "drawn". */
const char *experiment_origin(const struct experiment *experiment, const char *path);
/* The override path of a value's part, of a callback by its id; the caller's; NULL: out
 * of memory. The value is the one at `path` in `resolved`. */
char *experiment_path_at(const struct experiment *experiment, const char *path,
                         const struct json *value, size_t index);
/* Says so in front of an error about that value: "command line: train.only", or the
 * file. */
void experiment_where(const struct experiment *experiment, const char *path,
                      struct error *err);
/* The experiment again, complete, stages and all; the caller's; NULL: out of memory. */
struct json *experiment_whole(const struct experiment *experiment);
/* That, with "origin": { "optimizer.lr": "file", … }, the directories that
 * --plugin-path gave, as "plugin_path", what `run` it is of and which checkpoint that
 * began `from`, unless NULL. Can be opened again. */
void experiment_write_resolved(const struct experiment *experiment,
                               const char *const *plugin_paths, const char *run,
                               const struct json *from, struct text *text);
/* Is the option at an override path the path of a file of data? */
bool experiment_is_path(const struct experiment *experiment, const char *path);
/* Takes the seed of an earlier run, where this one was drawn. LATHE_ENOMEM. */
lathe_status experiment_take_seed(struct experiment *experiment, int64_t seed,
                                  struct error *err);
void experiment_close(struct experiment *experiment); /* NULL is fine */

#endif
