/* SPDX-License-Identifier: MIT */
/* The thread that writes: one job at a time, handed over under a lock. */
#include "checkpoints.h"

#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/path.h"
#include "base/text.h"
#include "checkpoints_parts.h"

#define STACK_BYTES ((size_t)256 << 10)
#define PATIENCE_S 1 /* before a wait is worth a line */

enum phase { IDLE = 0, BUSY, ENDING };

struct checkpoints {
    char *folder, *id;
    struct log *log;
    int64_t keep;
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t change;
    enum phase phase;
    struct checkpoints_job job;
    int64_t best;
    struct error failure; /* of the last job, until somebody is told */
    char *last, *retired; /* retired: the one before, until the next write */
};

/* ---- the thread ---- */

/* Takes the path over; NULL is fine. */
static void set_last(struct checkpoints *c, char *path) {
    if (!path) return;
    free(c->retired);
    c->retired = c->last;
    c->last = path;
}

/* Somebody may have moved the run's directory. */
static bool is_there(const char *path) {
    return path && !access(path, F_OK);
}

static char *path_of_job(const struct checkpoints *c) {
    char name[CHECKPOINT_NAME];
    checkpoints_name(c->job.checkpoint.step, name);
    return path_join(c->folder, name);
}

static void *work(void *context) {
    struct checkpoints *c = context;
    const struct sched_param none = {0};
    fesetenv(FE_DFL_ENV); /* a thread begins with its maker's */
    /* Woken where the loop runs, it waits for the loop instead of stopping it. */
    pthread_setschedparam(pthread_self(), SCHED_BATCH, &none);
    pthread_mutex_lock(&c->lock);
    for (;;) {
        while (c->phase == IDLE) pthread_cond_wait(&c->change, &c->lock);
        if (c->phase == ENDING) break;
        struct error err = {0};
        pthread_mutex_unlock(&c->lock);
        lathe_status status = checkpoints_do(&c->job, &c->best, &err);
        pthread_mutex_lock(&c->lock);
        c->failure = err;
        c->failure.status = status;
        if (!status) set_last(c, path_of_job(c));
        c->phase = IDLE;
        pthread_cond_broadcast(&c->change);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static lathe_status start_thread(struct checkpoints *c, struct error *err) {
    if (c->has_thread) return LATHE_OK;
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int number = pthread_create(&c->thread, &attributes, work, c);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (number)
        return fail(err, LATHE_ENOMEM, "cannot start the thread that saves: %s",
                    strerror(number));
    c->has_thread = true;
    return LATHE_OK;
}

/* ---- what others call ---- */

lathe_status checkpoints_create(const char *run, const char *id, struct log *log,
                                struct checkpoints **checkpoints, struct error *err) {
    struct checkpoints *c = calloc(1, sizeof *c);
    if (!c) return fail(err, LATHE_ENOMEM, "no memory for checkpoints");
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->change, &attributes);
    pthread_condattr_destroy(&attributes);
    c->log = log;
    c->keep = 1;
    c->best = -1;
    c->folder = path_join(run, "checkpoints");
    c->id = text_copy(id);
    if (!c->folder || !c->id) {
        checkpoints_destroy(c);
        return fail(err, LATHE_ENOMEM, "no memory for checkpoints");
    }
    *checkpoints = c;
    return LATHE_OK;
}

void checkpoints_destroy(struct checkpoints *c) {
    if (!c) return;
    if (c->has_thread) {
        pthread_mutex_lock(&c->lock);
        while (c->phase == BUSY) pthread_cond_wait(&c->change, &c->lock);
        c->phase = ENDING;
        pthread_cond_broadcast(&c->change);
        pthread_mutex_unlock(&c->lock);
        pthread_join(c->thread, NULL);
    }
    pthread_cond_destroy(&c->change);
    pthread_mutex_destroy(&c->lock);
    free(c->folder);
    free(c->id);
    free(c->last);
    free(c->retired);
    free(c);
}

void checkpoints_keep(struct checkpoints *c, int64_t newest) {
    c->keep = newest < 0 ? 1 : newest;
}

/* Under the lock. */
static lathe_status tell(struct checkpoints *c, struct error *err) {
    const lathe_status status = c->failure.status;
    if (status && err) {
        *err = c->failure;
        if (is_there(c->last) && !err->help[0])
            error_help(err, "the checkpoint before is untouched: %.300s", c->last);
    }
    c->failure.status = LATHE_OK;
    return status;
}

/* Under the lock. */
static void wait_idle(struct checkpoints *c) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += PATIENCE_S;
    while (c->phase == BUSY &&
           pthread_cond_timedwait(&c->change, &c->lock, &until) != ETIMEDOUT)
        ;
    if (c->phase != BUSY) return;
    log_line(c->log, LATHE_LOG_INFO,
             "waiting: the checkpoint of step %lld is still being written",
             (long long)c->job.checkpoint.step);
    while (c->phase == BUSY) pthread_cond_wait(&c->change, &c->lock);
}

lathe_status checkpoints_wait(struct checkpoints *c, struct error *err) {
    pthread_mutex_lock(&c->lock);
    wait_idle(c);
    lathe_status status = tell(c, err);
    pthread_mutex_unlock(&c->lock);
    return status;
}

lathe_status checkpoints_poll(struct checkpoints *c, struct error *err) {
    pthread_mutex_lock(&c->lock);
    lathe_status status = c->phase == BUSY ? LATHE_OK : tell(c, err);
    pthread_mutex_unlock(&c->lock);
    return status;
}

bool checkpoints_is_busy(const struct checkpoints *checkpoints) {
    struct checkpoints *c = (struct checkpoints *)checkpoints;
    pthread_mutex_lock(&c->lock);
    bool is_busy = c->phase == BUSY;
    pthread_mutex_unlock(&c->lock);
    return is_busy;
}

lathe_status checkpoints_write(struct checkpoints *c,
                               const struct checkpoint *checkpoint, struct error *err) {
    lathe_status status = checkpoints_wait(c, err);
    if (!status) status = start_thread(c, err);
    if (status) return status;
    pthread_mutex_lock(&c->lock);
    c->job = (struct checkpoints_job){.folder = c->folder,
                                      .id = c->id,
                                      .keep = c->keep,
                                      .is_first = c->job.folder == NULL,
                                      .checkpoint = *checkpoint,
                                      .log = c->log};
    c->phase = BUSY;
    pthread_cond_broadcast(&c->change);
    pthread_mutex_unlock(&c->lock);
    return LATHE_OK;
}

const char *checkpoints_last(const struct checkpoints *checkpoints) {
    struct checkpoints *c = (struct checkpoints *)checkpoints;
    pthread_mutex_lock(&c->lock);
    const char *last = is_there(c->last) ? c->last : NULL;
    pthread_mutex_unlock(&c->lock);
    return last;
}

void checkpoints_resumed(struct checkpoints *c, const char *path) {
    pthread_mutex_lock(&c->lock);
    set_last(c, text_copy(path));
    pthread_mutex_unlock(&c->lock);
}
