/* SPDX-License-Identifier: MIT */
/* Reading ahead: a thread of its own fills a second set of buffers with the epoch's
 * next micro-batch while the present one is at work. The plugin gets the same slices
 * with the same words as from session_read, and what it fails with is told when the
 * micro-batch's turn has come, so no bit depends on whether, or how fast, it is read
 * ahead. When the loop comes before the thread is done, its workers help. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "session_calls.h"

/* Micro-batches, but for ENOUGH. */
#define WARM_UP 8
#define TRIED 32    /* each way … */
#define LEAST 4     /* … or so many, when they have taken … */
#define ENOUGH 0.25 /* … seconds */
#define KEPT 4096   /* is what was found */
#define PAYS 0.98   /* of the time that it takes otherwise, at most */

#define UNKNOWN (INT64_MAX / 2) /* which slice is next: the samples are not known yet */

struct slice {
    lathe_batch batch;
    lathe_tensor *tensors; /* [fields] views of the micro-batch */
    int64_t first;
    lathe_status status;
    int worker; /* that read it */
};

enum { COLD = 0, WITHOUT, WITH, DECIDED };

struct trial {
    double seconds[TRIED];
    int64_t count;
};

struct ahead {
    lathe_session *s;
    struct plugin *plugin;
    struct workers *thread;
    int worker;            /* its number */
    lathe_tensor *tensors; /* [fields] */
    int64_t *indices;      /* [batch] */
    struct slice *slices;  /* [shards] */

    /* the micro-batch that is read, or was */
    bool is_asked;
    lathe_batch batch;
    struct order order;
    struct ring_call call;
    bool is_timed; /* somebody profiles */
    _Atomic(int64_t) next;

    /* does it pay? */
    bool is_on;
    int phase;     /* COLD, WITHOUT, … */
    int64_t turns; /* of the phase */
    double began, last;
    struct trial trials[2]; /* without, with */
};

/* ---- may it? ---- */

static bool has_state(const struct plugin *plugin) {
    const lathe_any_ops *ops = plugin->ops;
    bool is_found = ops->save != NULL;
    for (size_t i = 0; !is_found && i < plugin->use->nested_count; i++)
        is_found = has_state(&plugin->nested[i]);
    return is_found;
}

const char *session_ahead_obstacle(const lathe_session *s) {
    const struct plugin *data = &s->data[SPLIT_TRAIN].plugin;
    const lathe_dataset_ops *ops = data->ops;
    const enum prefetch prefetch = s->experiment->train.prefetch;
    if (prefetch == PREFETCH_OFF) return "train.prefetch is false";
    if (LATHE_COVERS(ops, lathe_dataset_ops, order) && ops->order)
        return "data.train has an order of its own";
    if (has_state(data)) return "data.train has state";
    if (workers_count(s->workers) >= RING_WORKERS)
        return "train.threads is at its most";
    if (prefetch == PREFETCH_AUTO && workers_cores() <= workers_count(s->workers))
        return "every core is at work";
    return NULL;
}

/* ---- open and close ---- */

static lathe_status make_slices(lathe_session *s, struct ahead *a) {
    const uint32_t fields = s->batch.field_count;
    a->slices = calloc((size_t)s->shard_count, sizeof *a->slices);
    bool is_whole = a->slices != NULL;
    for (int64_t i = 0; is_whole && i < s->shard_count; i++) {
        struct slice *slice = &a->slices[i];
        slice->tensors = calloc(fields, sizeof *slice->tensors);
        slice->batch = (lathe_batch){.size = sizeof slice->batch,
                                     .field_count = fields,
                                     .fields = slice->tensors};
        is_whole = slice->tensors != NULL;
    }
    return is_whole ? LATHE_OK : fail(&s->err, LATHE_ENOMEM, "no memory to read ahead");
}

lathe_status session_open_ahead(lathe_session *s) {
    const struct train_settings *train = &s->experiment->train;
    if (session_ahead_obstacle(s)) return LATHE_OK;
    struct ahead *a = calloc(1, sizeof *a);
    if (!a) return fail(&s->err, LATHE_ENOMEM, "no memory to read ahead");
    s->ahead = a;
    a->s = s;
    a->plugin = &s->data[SPLIT_TRAIN].plugin;
    a->worker = workers_count(s->workers);
    a->is_on = train->prefetch == PREFETCH_ON;
    a->phase = a->is_on ? DECIDED : COLD;
    a->turns = a->is_on ? INT64_MIN : 0;
    lathe_status status = session_make_batch(s, &a->tensors, &a->indices);
    if (status == LATHE_OK) status = make_slices(s, a);
    if (status == LATHE_OK)
        status = workers_create_beside(a->worker, train->flush_denormals, &a->thread,
                                       &s->err);
    if (status != LATHE_OK) return status;
    a->batch = (lathe_batch){.size = sizeof a->batch,
                             .field_count = s->batch.field_count,
                             .fields = a->tensors};
    workers_start(a->thread, session_quiet_blas, s);
    workers_wait(a->thread);
    return LATHE_OK;
}

void session_drop_ahead(lathe_session *s) {
    struct ahead *a = s->ahead;
    if (!a || !a->is_asked) return;
    a->is_asked = false;
    workers_wait(a->thread);
    plugin_forget(a->plugin); /* what comes to nobody's turn is not told */
}

void session_close_ahead(lathe_session *s) {
    struct ahead *a = s->ahead;
    if (!a) return;
    session_drop_ahead(s);
    workers_destroy(a->thread);
    for (int64_t i = 0; a->slices && i < s->shard_count; i++)
        free(a->slices[i].tensors);
    free(a->slices);
    session_free_batch(s, a->tensors, a->indices);
    free(a);
    s->ahead = NULL;
}

/* ---- reading ---- */

static void read_slice(struct ahead *a, struct slice *slice, int worker) {
    const lathe_dataset_ops *ops = a->plugin->ops;
    struct ring *ring = a->s->ring;
    struct ring_call call = a->call;
    call.what |= (uint64_t)worker;
    const int64_t since = a->is_timed ? clock_nanoseconds() : 0;
    slice->worker = worker;
    ring_enter(ring, call, false);
    slice->status =
        ops->read(a->plugin->self, a->indices + slice->first, &slice->batch);
    ring_leave(ring, worker);
    if (a->is_timed)
        plugin_add_time(a->plugin, FUNCTION_READ, clock_nanoseconds() - since);
}

/* Slices that nobody has taken yet, up to the first that fails: the lowest one that
 * does is among those taken. */
static void read_slices(void *context, int worker) {
    struct ahead *a = context;
    for (int64_t i; (i = atomic_fetch_add(&a->next, 1)) < a->s->shard_count;) {
        if (a->slices[i].batch.rows) read_slice(a, &a->slices[i], worker);
        if (a->slices[i].status != LATHE_OK) return;
    }
}

static void read_all(void *context, int worker) {
    struct ahead *a = context;
    for (int64_t i = 0; i < a->batch.rows; i++)
        a->indices[i] = order_at(&a->order, a->batch.position + i);
    atomic_store(&a->next, 0);
    read_slices(a, worker);
}

/* The micro-batch after the present one, if the epoch has it and the run gets there */
static void ask(lathe_session *s) {
    struct ahead *a = s->ahead;
    const int64_t micro = s->micro + 1;
    const int64_t step = s->now.step + (s->window_left == 1);
    if (micro >= s->sampler.micros_per_epoch ||
        (s->window_left == 1 &&
         (session_is_stopped(s) || (s->now.steps_total && step >= s->now.steps_total))))
        return;
    a->batch.rows = sampler_rows(&s->sampler, micro);
    a->batch.epoch = s->now.epoch;
    a->batch.position = micro * s->sampler.batch;
    a->order = s->order;
    a->call = ring_call(s->now.epoch, step, a->plugin->number, FUNCTION_READ, 0);
    a->is_timed = s->heed & HEED_CLOCK;
    for (int64_t i = 0; i < s->shard_count; i++) {
        struct slice *slice = &a->slices[i];
        slice->first = session_cut(s, &a->batch, i, &slice->batch, slice->tensors);
        slice->status = LATHE_OK;
    }
    atomic_store(&a->next, UNKNOWN);
    a->is_asked = true;
    workers_start(a->thread, read_all, a);
}

bool session_take_ahead(lathe_session *s, int64_t epoch, int64_t first) {
    struct ahead *a = s->ahead;
    if (!a || !a->is_asked) return false;
    if (a->batch.epoch != epoch || a->batch.position != first) {
        session_drop_ahead(s);
        return false;
    }
    if (atomic_load(&a->next) < s->shard_count) {
        s->phase = PHASE_PASS;
        workers_run(s->workers, read_slices, a);
        s->phase = PHASE_LOOP;
    }
    workers_wait(a->thread);
    a->is_asked = false;
    for (uint32_t i = 0; i < s->batch.field_count; i++) {
        void *data = a->tensors[i].data;
        a->tensors[i].data = s->tensors[i].data;
        s->tensors[i].data = data;
    }
    int64_t *indices = a->indices;
    a->indices = s->indices;
    s->indices = indices;
    for (int64_t i = 0; i < s->shard_count; i++) {
        s->shards[i].status = a->slices[i].status;
        s->shards[i].read_by = a->slices[i].worker;
    }
    return true;
}

/* ---- does it pay? ---- */

static int compare(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* What a micro-batch takes. Those that end a window take longer, and some are
 * disturbed: both lie above. */
static double lower_quartile(struct trial *trial) {
    qsort(trial->seconds, (size_t)trial->count, sizeof *trial->seconds, compare);
    return trial->seconds[trial->count / 4];
}

static void begin_phase(struct ahead *a, double now) {
    a->phase = a->phase == DECIDED ? WITHOUT : a->phase + 1;
    a->turns = 0;
    a->began = now;
    a->is_on = a->phase == WITH;
    if (a->phase == DECIDED)
        a->is_on = lower_quartile(&a->trials[1]) < PAYS * lower_quartile(&a->trials[0]);
    else
        a->trials[a->phase == WITH].count = 0;
}

/* A phase's first turn is not noted: it has what the phase before asked for, or not. */
static void note_turn(struct ahead *a, double now) {
    struct trial *trial = &a->trials[a->phase == WITH];
    if (a->phase == COLD || a->phase == DECIDED || a->turns < 2) return;
    trial->seconds[trial->count++] = now - a->last;
}

static bool is_phase_over(const struct ahead *a, double now) {
    const int64_t noted = a->turns - 1;
    const bool is_long = noted >= LEAST && now - a->began > ENOUGH;
    return a->phase == DECIDED || noted >= (a->phase == COLD ? WARM_UP : TRIED) ||
           is_long;
}

/* Before each read. Both ways are tried for some micro-batches in a row, and the faster
 * is kept for many. */
static void begin_turn(struct ahead *a) {
    a->turns++;
    if (a->phase == DECIDED && a->turns < KEPT) return;
    const double now = clock_seconds();
    if (a->phase == COLD && a->turns == 1) a->began = now;
    note_turn(a, now);
    a->last = now;
    if (is_phase_over(a, now)) begin_phase(a, now);
}

lathe_status session_read_next(lathe_session *s) {
    struct ahead *a = s->ahead;
    if (a) begin_turn(a);
    lathe_status status =
        session_read(s, &s->data[SPLIT_TRAIN], &s->order, s->now.epoch,
                     s->micro * s->sampler.batch, sampler_rows(&s->sampler, s->micro));
    if (status == LATHE_OK && a && a->is_on && !session_is_dry(s)) ask(s);
    return status;
}
