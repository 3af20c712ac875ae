/* SPDX-License-Identifier: MIT */
/* What a session holds, for its parts: session.c opens and closes, session_compose.c
 * makes the instances, session_data.c reads batches, session_train.c and
 * session_validate.c take the steps, session_points.c calls the callbacks,
 * session_records.c writes what happened, services*.c answer the plugins. Not seen by
 * anything else. */
#ifndef HOST_SESSION_STATE_H
#define HOST_SESSION_STATE_H

#include <stdatomic.h>

#include <lathe/callback.h>
#include <lathe/dataset.h>
#include <lathe/model.h>
#include <lathe/optimizer.h>
#include <lathe/schedule.h>
#include <lathe/session.h>

#include "base/log.h"
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

/* What the clock is looked at for, where somebody profiles: the points, and these. */
enum timed {
    TIMED_READ = POINT_COUNT,
    TIMED_FORWARD,
    TIMED_BACKWARD,
    TIMED_STEP,
    TIMED_FACTOR,
    TIMED_OBSERVE,
    TIMED_COUNT
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
};

/* An interval that comes round again and again. */
struct interval {
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
    PLACE_ENDED = 128
};

struct lathe_session {
    lathe_session_options options; /* strings are the caller's only while opening */
    struct log log;
    struct error err;
    lathe_error last_error;
    enum phase phase;
    enum place place;

    struct registry *registry;
    struct experiment *experiment;
    struct library *libraries;
    int64_t library_count;
    struct files *files;
    struct workers *workers;
    struct rundir *rundir;
    struct environment *environment;
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
    lathe_key model_key;

    /* where the run is */
    struct order order;
    struct sampler sampler;
    lathe_moment now;
    int64_t micro;          /* next micro-batch of the epoch */
    int64_t window_left;    /* micro-batches still to come in this window */
    int64_t samples_before; /* of the step just made */
    struct sums window;
    bool is_profiled; /* the clock is looked at round every call of a plugin */
    bool is_epoch_done, has_warned_weight;
    int threads_before; /* of the process, when all was composed */
    double began;       /* clock */
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
    char stop_reason[256];
    _Atomic(const char *) stop_asked; /* by lathe_stop */
    const char *reason;               /* how it ended */
    enum split visiting;   /* the data set whose metrics are being added to */
    int64_t recorded_step; /* of the last train record */
    double last_record_seconds;
    int64_t last_record_samples;
};

/* session_compose.c: everything between reading the experiment and step 0 */
lathe_status session_compose(lathe_session *s);
void session_decompose(lathe_session *s);
/* session_model.c */
lathe_status session_compose_model(lathe_session *s);
void session_decompose_model(lathe_session *s);
lathe_status session_open_plugin(lathe_session *s, const struct use *use,
                                 const char *label, struct plugin *plugin);

/* session_data.c, session_read.c */
lathe_status session_compose_data(lathe_session *s);
void session_decompose_data(lathe_session *s);
/* Can this be a field, after the `count` that are there? For data and for outputs. */
lathe_status session_check_field(const lathe_field *fields, int64_t count,
                                 const lathe_field *field, struct error *err);
/* Makes room for a micro-batch and its slices, once the model is there. */
lathe_status session_make_buffers(lathe_session *s);
void session_free_buffers(lathe_session *s);
/* Reads rows first … first+rows-1 of an order into the micro-batch and cuts the slices.
 * order NULL: as they come. */
lathe_status session_read(lathe_session *s, struct data_set *set,
                          const struct order *order, int64_t epoch, int64_t first,
                          int64_t rows);

/* session_points.c */
lathe_status session_list_points(lathe_session *s);
/* Calls the subscribers of a point in order; a failure goes to s->err. */
lathe_status session_fire(lathe_session *s, enum point point);
lathe_status session_fire_end(lathe_session *s); /* run_end */
const char *session_point_name(enum point point);
/* Adds when to an error of a plugin, and returns its status. */
lathe_status session_plugin_failed(lathe_session *s, struct plugin *plugin,
                                   lathe_status status, const char *function);

/* session_profile.c */
/* Before a call of a plugin; 0 where nobody profiles. */
int64_t session_clock(const lathe_session *s);
/* After it: `function` is a point or one of enum timed. [any] */
void session_clocked(const lathe_session *s, struct plugin *plugin, int function,
                     int64_t since);
/* The table of LATHE_PROFILE; from now on the session is profiled. */
const void *session_profile(lathe_session *s);

/* session_when.c */
lathe_progress session_progress(const lathe_session *s); /* for the schedule */
int64_t session_steps(const lathe_session *s, const struct duration *duration);
void session_set_horizon(lathe_session *s);
bool session_is_complete(const lathe_session *s); /* `until` is met */
bool session_is_over(lathe_session *s);           /* … or a stop was asked for */
void session_round_intervals(lathe_session *s);
double session_seconds(const lathe_session *s);

/* session_records.c */
lathe_status session_begin_records(lathe_session *s);
lathe_status session_record(lathe_session *s, enum split split);
lathe_status session_end_records(lathe_session *s, lathe_status status);
lathe_status session_judge(lathe_session *s); /* expect */

/* session_validate.c */
lathe_status session_visit(lathe_session *s, enum split split);

/* session_train.c */
/* LATHE_EINVAL where a piece of the loop is called out of its order. */
lathe_status session_allow(lathe_session *s, unsigned places, const char *function);

/* Rows first … first+rows-1 of a tensor. */
lathe_tensor session_rows(const lathe_tensor *whole, int64_t first, int64_t rows);

/* session_pass.c */
/* Runs every slice that has rows forward; sums over the tree go to *sums and
 * metrics. */
lathe_status session_forward(lathe_session *s, uint32_t mode, const float *weights,
                             enum split split, struct sums *sums);
lathe_status session_backward(lathe_session *s);
/* The whole batch through the first instance, in LATHE_PREDICT. */
lathe_status session_predict(lathe_session *s, const lathe_batch *batch,
                             const lathe_tensor *outputs);

/* session_update.c */
/* The mean gradient of the window, in place of its sum; NULL outside
 * gradients_ready. */
float *session_take_gradients(lathe_session *s, uint32_t access);

/* services.c */
#define LATHE_QUIET_EXTENSION "lathe.quiet/1"
void services_fill(lathe_host *host);
void services_close_streams(lathe_session *s);
/* The key of (seed, stage, purpose, epoch, kind and id). */
lathe_key session_key(const lathe_session *s, const struct use *use, uint32_t purpose,
                      int64_t epoch);
#define PURPOSE_MODEL 0u
#define PURPOSE_ORDER 1u
#define PURPOSE_INIT 2u

#endif
