/* SPDX-License-Identifier: MIT */
/* Does at one point of the loop what a careless callback might do anywhere. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lathe/callback.h>

struct chaos {
    const lathe_host *host;
    const char *point, *act;
    int64_t at;
    int32_t metric, unused;
};

static lathe_status create(const lathe_host *host, void **self) {
    struct chaos *c = calloc(1, sizeof *c);
    if (!c) return lathe_fail(host, LATHE_ENOMEM, "no memory");
    c->host = host;
    c->point = lathe_string(host, "point");
    c->act = lathe_string(host, "act");
    c->at = lathe_integer(host, "at");
    const lathe_metric metric = {.size = sizeof metric, .name = "chaos"};
    c->metric = host->metric(host, &metric);
    if (!strcmp(c->point, "create")) {
        free(c);
        return lathe_fail(host, LATHE_EPLUGIN, "chaos in create");
    }
    *self = c;
    return LATHE_OK;
}

static int is(const struct chaos *c, const char *act) {
    return !strcmp(c->act, act);
}

static void touch_weights(const struct chaos *c, float value) {
    float *w = c->host->weights(c->host, LATHE_WRITE);
    if (w) w[0] = value;
}

static void touch_gradients(const struct chaos *c, float factor, uint32_t access) {
    float *g = c->host->gradients(c->host, access);
    if (g && access == LATHE_WRITE) g[0] *= factor;
}

static lathe_status predict(const struct chaos *c, const lathe_moment *at) {
    float y[64];
    const lathe_tensor output = {.data = y,
                                 .code = LATHE_FLOAT,
                                 .bits = 32,
                                 .lanes = 1,
                                 .rank = 1,
                                 .shape = {at->batch ? at->batch->rows : 0}};
    if (!at->batch || at->batch->rows > 64) return LATHE_OK;
    return c->host->predict(c->host, at->batch, &output);
}

static void segfault(void) {
    volatile int *volatile nowhere = NULL;
    *nowhere = 1;
}

/* Its frame is used after the call, so that it stays. */
static lathe_status overflow(volatile char *outer) {
    volatile char inner[4096];
    inner[0] = outer[0];
    if (inner[0]) return LATHE_OK;
    lathe_status status = overflow(inner);
    return status + inner[0];
}

/* Ctrl-C interrupts sleep. */
static void stall(void) {
    static const char note[] = "chaos stalls\n";
    (void)!write(STDERR_FILENO, note, sizeof note - 1);
    for (unsigned left = 30; left;) left = sleep(left);
}

static lathe_status act(const struct chaos *c, const char *point,
                        const lathe_moment *at) {
    const lathe_host *host = c->host;
    if (is(c, "predict")) return predict(c, at);
    if (is(c, "unknown-status")) return 7;
    if (is(c, "fail")) return lathe_fail(host, LATHE_EPLUGIN, "chaos in %s", point);
    if (is(c, "fail-silently")) return -77;
    if (is(c, "stop")) return LATHE_STOP;
    if (is(c, "request-stop"))
        host->request(host, LATHE_REQUEST_STOP, "chaos wants it");
    if (is(c, "validate"))
        host->request(host, LATHE_REQUEST_VALIDATE, "chaos wants it");
    if (is(c, "save")) host->request(host, LATHE_REQUEST_SAVE, "");
    if (is(c, "kill")) kill(getpid(), SIGKILL);
    if (is(c, "segfault")) segfault();
    if (is(c, "overflow")) return overflow((volatile char[4096]){0});
    if (is(c, "stall")) stall();
    if (is(c, "abort")) kill(getpid(), SIGABRT);
    if (is(c, "interrupt")) kill(getpid(), SIGINT);
    if (is(c, "terminate")) kill(getpid(), SIGTERM);
    if (is(c, "hang-up")) kill(getpid(), SIGHUP);
    if (is(c, "alarm")) kill(getpid(), SIGALRM);
    if (is(c, "write-weights")) touch_weights(c, 42);
    if (is(c, "nan-weights")) touch_weights(c, NAN);
    if (is(c, "read-gradients")) touch_gradients(c, 1, LATHE_READ);
    if (is(c, "write-gradients")) touch_gradients(c, 1, LATHE_WRITE);
    if (is(c, "double-gradients")) touch_gradients(c, 2, LATHE_WRITE);
    if (is(c, "nan-gradients")) touch_gradients(c, NAN, LATHE_WRITE);
    if (is(c, "report")) host->report(host, c->metric, 3, 2);
    if (is(c, "load-service")) host->tally(host, "late", 1);
    return LATHE_OK;
}

static lathe_status maybe(const struct chaos *c, const char *point,
                          const lathe_moment *at) {
    if (strcmp(c->point, point) || at->step < c->at) return LATHE_OK;
    return act(c, point, at);
}

#define POINT(name)                                                                    \
    static lathe_status name(void *self, const lathe_moment *at) {                     \
        return maybe(self, #name, at);                                                 \
    }
POINT(run_begin)
POINT(epoch_begin)
POINT(step_begin)
POINT(batch_begin)
POINT(loss_ready)
POINT(batch_end)
POINT(gradients_ready)
POINT(step_end)
POINT(validation_begin)
POINT(validation_batch_end)
POINT(validation_end)
POINT(epoch_end)
POINT(run_end)

LATHE_CALLBACK(.create = create, .destroy = free, .run_begin = run_begin,
               .epoch_begin = epoch_begin, .step_begin = step_begin,
               .batch_begin = batch_begin, .loss_ready = loss_ready,
               .batch_end = batch_end, .gradients_ready = gradients_ready,
               .step_end = step_end, .validation_begin = validation_begin,
               .validation_batch_end = validation_batch_end,
               .validation_end = validation_end, .epoch_end = epoch_end,
               .run_end = run_end);
