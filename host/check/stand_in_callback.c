/* SPDX-License-Identifier: MIT */
/* Ends a run, or asks for something, at one point of it. */
#define LATHE_ENTRY check_callback_plugin
#include <lathe/callback.h>

#include <stdlib.h>

struct callback {
    const lathe_host *host;
    const char *point, *act;
    int64_t at;
};

static lathe_status create(const lathe_host *host, void **self) {
    struct callback *c = calloc(1, sizeof *c);
    if (!c) return lathe_fail(host, LATHE_ENOMEM, "no memory");
    c->host = host;
    c->point = lathe_string(host, "point");
    c->act = lathe_string(host, "act");
    c->at = lathe_integer(host, "at");
    *self = c;
    return LATHE_OK;
}

static lathe_status act(const struct callback *c, const char *point,
                        const lathe_moment *at) {
    if (strcmp(c->point, point) != 0 || at->step < c->at) return LATHE_OK;
    if (!strcmp(c->act, "stop")) return LATHE_STOP;
    if (!strcmp(c->act, "fail"))
        return lathe_fail(c->host, LATHE_EPLUGIN, "told to fail in %s", point);
    c->host->request(
        c->host, !strcmp(c->act, "save") ? LATHE_REQUEST_SAVE : LATHE_REQUEST_VALIDATE,
        "told to");
    return LATHE_OK;
}

#define POINT(name)                                                                    \
    static lathe_status name(void *self, const lathe_moment *at) {                     \
        return act(self, #name, at);                                                   \
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
