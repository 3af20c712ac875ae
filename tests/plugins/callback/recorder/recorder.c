/* SPDX-License-Identifier: MIT */
/* Writes what a callback sees: "point epoch step micro lr w loss [ids…]". */
#include <stdlib.h>
#include <string.h>

#include <lathe/callback.h>

struct recorder {
    const lathe_host *host;
    FILE *file;
    int32_t every, has_every;
};

static lathe_status create(const lathe_host *host, void **self) {
    struct recorder *r = calloc(1, sizeof *r);
    if (!r) return lathe_fail(host, LATHE_ENOMEM, "no memory");
    r->host = host;
    r->has_every = lathe_has(host, "is_due");
    if (r->has_every) r->every = host->every(host, "is_due");
    r->file = fopen(lathe_string(host, "file"), "a");
    if (!r->file) {
        free(r);
        return lathe_fail(host, LATHE_ECREATE, "cannot open the record");
    }
    setvbuf(r->file, NULL, _IOLBF, 0);
    *self = r;
    return LATHE_OK;
}

static void destroy(void *self) {
    struct recorder *r = self;
    fclose(r->file);
    free(r);
}

static void write_ids(FILE *file, const lathe_batch *batch) {
    if (!batch) return;
    const lathe_tensor *ids = &batch->fields[0];
    if (ids->code != LATHE_INT || ids->bits != 64) return;
    for (int64_t i = 0; i < batch->rows; i++)
        fprintf(file, " %lld", (long long)((const int64_t *)ids->data)[i]);
}

static lathe_status record(struct recorder *r, const char *point,
                           const lathe_moment *at) {
    const float *w = r->host->weights(r->host, LATHE_READ);
    fprintf(r->file, "%s %lld %lld %lld lr=%g w=%.9g loss=%.9g norm=%g", point,
            (long long)at->epoch, (long long)at->step, (long long)at->micro, at->rate,
            (double)w[0], at->loss, at->gradient_norm);
    if (r->has_every && r->host->is_due(r->host, r->every)) fputs(" due", r->file);
    if (strcmp(at->split, "train")) fprintf(r->file, " %s", at->split);
    if (at->reason) fprintf(r->file, " %s", at->reason);
    write_ids(r->file, at->batch);
    fputc('\n', r->file);
    return LATHE_OK;
}

#define POINT(name)                                                                    \
    static lathe_status name(void *self, const lathe_moment *at) {                     \
        return record(self, #name, at);                                                \
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

LATHE_CALLBACK(.create = create, .destroy = destroy, .run_begin = run_begin,
               .epoch_begin = epoch_begin, .step_begin = step_begin,
               .batch_begin = batch_begin, .loss_ready = loss_ready,
               .batch_end = batch_end, .gradients_ready = gradients_ready,
               .step_end = step_end, .validation_begin = validation_begin,
               .validation_batch_end = validation_batch_end,
               .validation_end = validation_end, .epoch_end = epoch_end,
               .run_end = run_end);
