/* SPDX-License-Identifier: MIT */
/* What a session holds. Seen by its parts only, through session_state.h. */
#ifndef HOST_SESSION_TYPES_H
#define HOST_SESSION_TYPES_H

#include <stdatomic.h>

#include <lathe/callback.h>
#include <lathe/dataset.h>
#include <lathe/model.h>
#include <lathe/optimizer.h>
#include <lathe/schedule.h>
#include <lathe/session.h>

#include "base/log.h"
#include "checkpoints.h"
#include "environment.h"
#include "files.h"
#include "metrics.h"
#include "options.h"
#include "parameters.h"
#include "plugin.h"
#include "rundir.h"
#include "sampler.h"
#include "workers.h"

/* In the order of lathe_callback_ops. */
enum point {
    POINT_RUN_BEGIN = 0,
    POINT_EPOCH_BEGIN,
    POINT_STEP_BEGIN,
    POINT_BATCH_BEGIN,
    POINT_LOSS_READY,
    POINT_BATCH_END,
    POINT_GRADIENTS_READY,
    POINT_STEP_END,
    POINT_VALIDATION_BEGIN,
    POINT_VALIDATION_BATCH_END,
    POINT_VALIDATION_END,
    POINT_EPOCH_END,
    POINT_RUN_END,
    POINT_COUNT,
    POINT_NONE = POINT_COUNT
};

struct point_list {
    struct plugin **plugins; /* subscribers, in the order of the file */
    int count;
};

/* One data set under its name, and what its samples look like. */
struct data_set {
    bool is_used;
    struct plugin plugin;
    lathe_field *fields; /* names are owned */
    int64_t field_count;
    int64_t samples; /* -1: described as a stream */
};

/* One slice of a micro-batch and all that works on it. */
struct shard {
    struct plugin model;
    float *gradients;
    bool has_gradients; /* wrote some in this window */
    lathe_batch batch;
    lathe_tensor *tensors; /* [fields] views of the micro-batch */
    int64_t first;         /* row of the micro-batch */
    lathe_pass pass;
    double *metrics;
    void **outputs; /* [outputs] where this slice's rows go */
    lathe_status status;
    int read_by; /* worker */
};

/* An interval that comes round again and again. */
struct interval {
    char *name; /* "<id>/<option>" of the plugin that asked; NULL: the host's own */
    struct durations every;
    double last_seconds;
    bool is_due;
};

/* The optimizer's instance for one group of parameters. */
struct optimizer_group {
    struct plugin plugin;
    int32_t slot_count, reserved;
    double base_rate, rate;
};

struct tally {
    double *numbers;
    int64_t count;
};

struct own_block {
    char *name; /* "<id>/<name>" */
    float *block;
};

/* Sums over a window, or over a visit of a data set. */
struct sums {
    double loss, weight;
};

/* Where the run can be taken up again, should it end before the next such place. */
enum rest {
    REST_NONE = 0, /* weights or the state of plugins are being changed */
    REST_HERE,     /* between two pieces: as it is */
    REST_BACK,     /* in a window: as it was before */
    REST_VISIT     /* in a validation: as it was before, the visit still to come */
};

/* A plugin that saves state, and what it saved last. */
struct plugin_state {
    struct plugin *plugin;
    bool is_in_window; /* may change between two places of rest */
    struct text bytes;
};

struct resting {
    enum rest kind;
    lathe_moment now;
    int64_t micro, epochs, recorded, recorded_window, skipped, skipped_in_a_row;
    struct digest sum;
};

enum phase { PHASE_LOAD = 0, PHASE_LOOP, PHASE_PASS };

/* Which piece of the loop was last; bits, since a piece may follow several. */
enum place {
    PLACE_OPEN = 1,
    PLACE_RUN = 2,      /* between epochs */
    PLACE_EPOCH = 4,    /* between steps */
    PLACE_WINDOW = 8,   /* between micro-batches */
    PLACE_READ = 16,    /* a micro-batch is there */
    PLACE_FORWARD = 32, /* … and went forward: the instances keep what backward needs */
    PLACE_REDUCED = 64,
    PLACE_UPDATED = 128, /* resumed there: validation or epoch's end to come */
    PLACE_ENDED = 256,
    PLACE_EVALUATED = 512 /* in place of a run */
};

struct lathe_session {
    lathe_session_options options; /* strings are the caller's only while opening */
    struct log log;
    struct error err;
    lathe_error last_error;
    enum phase phase;
    enum place place;

    struct registry *registry;
    struct experiment *experiments; /* all stages, as opened */
    struct experiment *experiment;  /* the present one */
    struct loading loading;
    struct library *libraries;
    int64_t library_count;
    struct files *files;
    struct workers *workers;
    struct rundir *rundir;
    struct environment *environment;
    struct json *opened;    /* libraries of all stages, as in environment.json */
    struct json *notes;     /* of their plugins: {path: {name: text}} */
    struct text line;       /* of the record being written */
    struct text early_log;  /* lines from before there was a directory */
    struct stream *streams; /* that plugins have open */
    lathe_host services;    /* the table every plugin gets a copy of */

    struct data_set data[SPLIT_COUNT];
    struct optimizer_group *groups; /* the optimizer, and one more per group */
    int32_t group_count;            /* made so far */
    struct plugin schedule;
    struct plugin *callbacks;
    int64_t callback_count; /* made so far */
    struct point_list points[POINT_COUNT];
    enum point point; /* being called */
    struct metrics *metrics;

    /* model */
    struct shard *shards;
    int64_t shard_count;
    struct parameters parameters;
    lathe_field *outputs; /* names are owned */
    int64_t output_count;
    int32_t *model_metrics; /* indices in metrics */
    int64_t model_metric_count;
    int64_t least_rows;
    float *weights;
    const float *evaluated; /* validate with this block; NULL: weights */
    float *slots[16];
    const char *const *slot_names; /* of the optimizer's; borrowed from it */
    int32_t slot_count;
    double *squares;      /* one per chunk */
    float **shard_blocks; /* [shards] gradients of those present; NULL: absent */
    float *gradients;     /* the window's sum after reduce; NULL outside */
    bool is_mean;         /* the gradients were divided already: somebody looked */
    bool is_written;      /* … and wrote */

    /* micro-batch */
    lathe_batch batch;
    lathe_tensor *tensors; /* [fields] */
    int64_t *indices;      /* [batch] */
    lathe_tensor *output_tensors;
    bool wants_outputs;
    struct plugin *reader; /* the data set being read */
    struct ahead *ahead;   /* what reads the next one meanwhile; NULL: nobody */
    lathe_key model_key;

    /* where the run is */
    struct order order;
    struct sampler sampler;
    lathe_moment now;
    int64_t micro;       /* next micro-batch of the epoch */
    int64_t window_left; /* micro-batches still to come in this window */
    int64_t samples_before, step_before, windows_before; /* of the window just made */
    struct sums window;
    bool is_stage_begun, is_epoch_done, has_warned_weight;
    double began, seconds_before; /* clock; of the run, in other processes */
    struct stage_start {          /* where the present stage began */
        int64_t step, windows;
        double seconds;
    } stage;
    struct interval log_due, validate_due;
    struct interval *intervals;
    int64_t interval_count;
    struct tally *tallies;
    int64_t tally_count;
    struct own_block *blocks;
    int64_t block_count;
    int32_t schedule_watch; /* -1: none */
    int64_t updates;        /* made with these slots: steps without those of weight 0 */
    uint32_t requests;
    _Atomic(uint32_t) requests_asked; /* by lathe_request */
    char stop_reason[256];
    _Atomic(const char *) stop_asked; /* by lathe_stop */
    const char *reason;               /* how it ended */
    enum split visiting;     /* the data set whose metrics are being added to */
    int64_t recorded_window; /* the last that a train record has */
    int64_t recorded;        /* bytes of metrics.jsonl */
    struct digest sum;       /* of them */
    double last_record_seconds;
    int64_t last_record_samples;
    int64_t epochs;                    /* gone through to their end, in all stages */
    int64_t skipped, skipped_in_a_row; /* windows that were not finite */
    bool is_skipped;                   /* the present one */

    /* calls of plugins: session_calls.h */
    struct ring *ring;
    char *ring_path;
    uint32_t heed;
    int64_t *since;                 /* [RING_WORKERS * RING_DEPTH] when each began */
    struct guard_threads *starting; /* … and what it starts; NULL: nobody looks */
    bool has_told_threads;
    int64_t dry_end; /* of a dry run: the step after which it ends; 0: as it would */
    struct text trace;

    /* what can be saved */
    struct plugin_state *states;
    int64_t state_count;
    struct resting rest;
    int64_t kept;          /* checkpoint files there may be; 0: all */
    bool is_best;          /* what is saved next is the best so far */
    bool is_saved;         /* the place of rest is in a checkpoint already */
    bool resumes_in_epoch; /* whose beginning is not repeated */
    bool is_visit_cut;     /* the last one, because the run is to end */
    bool forgets_stop;     /* callbacks were changed: that one had stopped it is past */
    bool hides_directory;  /* from messages: it will be removed */
    bool is_begun_again;   /* resumed, from what the run began from */
    bool resumes_after_update; /* what was due after it is still to come */
    char run_id[33];
    struct checkpoints *checkpoints;
    struct snapshot *snapshot;  /* what is being written */
    struct safetensors *origin; /* while opening: the checkpoint to begin from */
    char *origin_path;
    struct json *saved;        /* … and what plugins were at work */
    struct json *before;       /* … and the experiment that made it */
    struct json *from;         /* which checkpoint this run began from; NULL: none */
    char *own_experiment;      /* of the run that goes on: a path, or text */
    const char **plugin_paths; /* given now, then those of the run before; NULL-ended */
    struct json *plugin_path_texts; /* whose they are */
};

#endif
