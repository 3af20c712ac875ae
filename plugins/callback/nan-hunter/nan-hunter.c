/* SPDX-License-Identifier: MIT */
/* Looks where a loss that is not finite comes from, at the moment it appears: in the
 * samples, in the weights, or in neither, which leaves the model. Finite losses cost it
 * one comparison. (Of a gradient that is not finite the host names the parameters.) */
#include <lathe/callback.h>
#include <math.h>
#include <stdlib.h>

struct nan_hunter {
    const lathe_host *host;
    int64_t left;    /* times to tell */
    int64_t is_told; /* in this window */
};

static lathe_status create(const lathe_host *host, void **self) {
    struct nan_hunter *h = calloc(1, sizeof *h);
    if (!h) return lathe_fail(host, LATHE_ENOMEM, "out of memory");
    h->host = host;
    h->left = lathe_integer(host, "times");
    *self = h;
    return LATHE_OK;
}

/* How many of them are not finite; *first is one, *largest the largest that is. */
static int64_t count_bad(const float *x, int64_t count, int64_t *first,
                         float *largest) {
    int64_t bad = 0;
    for (int64_t i = 0; i < count; i++) {
        if (isfinite(x[i])) {
            *largest = fmaxf(*largest, fabsf(x[i]));
        } else if (bad++ == 0) {
            *first = i;
        }
    }
    return bad;
}

static int64_t look_at_samples(const struct nan_hunter *h, const lathe_batch *batch) {
    int64_t found = 0;
    for (uint32_t f = 0; f < batch->field_count; f++) {
        const lathe_tensor *field = &batch->fields[f];
        int64_t width = 1, first = 0;
        float largest = 0;
        if (field->code != LATHE_FLOAT || field->bits != 32) continue;
        for (uint32_t i = 1; i < field->rank; i++) width *= field->shape[i];
        int64_t bad = count_bad(field->data, batch->rows * width, &first, &largest);
        found += bad;
        const long long position = batch->position + first / width;
        if (bad)
            lathe_log(h->host, LATHE_LOG_WARNING,
                      "%lld numbers of field %u are not finite: the first is of the "
                      "sample at position %lld of epoch %lld",
                      (long long)bad, f, position, (long long)batch->epoch);
    }
    return found;
}

static int64_t look_at_weights(const struct nan_hunter *h) {
    const float *weights = h->host->weights(h->host, LATHE_READ);
    lathe_parameter_view view = {.size = sizeof view};
    char largest_name[128] = "";
    float largest = 0;
    int64_t found = 0;
    for (int64_t i = 0; h->host->parameter(h->host, i, &view) == LATHE_OK; i++) {
        int64_t first = 0;
        float here = 0;
        int64_t bad = count_bad(weights + view.offset, view.count, &first, &here);
        if (bad && found == 0)
            lathe_log(h->host, LATHE_LOG_WARNING,
                      "%lld of %lld weights of %s are not finite", (long long)bad,
                      (long long)view.count, view.name);
        found += bad;
        if (here <= largest) continue;
        largest = here;
        snprintf(largest_name, sizeof largest_name, "%s", view.name);
    }
    if (!found && largest_name[0])
        lathe_log(h->host, LATHE_LOG_WARNING,
                  "all weights are finite; the largest is %.3g, in %s", (double)largest,
                  largest_name);
    return found;
}

static lathe_status loss_ready(void *self, const lathe_moment *at) {
    struct nan_hunter *h = self;
    if (at->micro == 0) h->is_told = 0;
    if (isfinite(at->loss) || h->is_told || h->left == 0) return LATHE_OK;
    h->is_told = 1;
    h->left--;
    lathe_log(h->host, LATHE_LOG_WARNING,
              "the loss is %g in micro-batch %lld of the step after %lld", at->loss,
              (long long)at->micro + 1, (long long)at->step);
    const int64_t samples = look_at_samples(h, at->batch), weights = look_at_weights(h);
    if (!samples && !weights)
        lathe_log(h->host, LATHE_LOG_WARNING,
                  "the samples are finite too: it comes about in the model");
    return LATHE_OK;
}

LATHE_CALLBACK(.create = create, .destroy = free, .loss_ready = loss_ready);
