/* SPDX-License-Identifier: MIT */
/* Asks the host for as much as one callback can: metrics, intervals, parameters,
 * blocks, draws, requests, state; and is there at every point. */
#include <lathe/callback.h>
#include <stdlib.h>
#include <string.h>

struct watcher {
    const lathe_host *host;
    int32_t metric, every, watched;
    float *average;
    lathe_key key;
    int64_t points; /* passed so far: the state */
};

static lathe_status make(const lathe_host *host, void **self) {
    const lathe_metric metric = {.size = sizeof metric, .name = "watched"};
    struct watcher *my = calloc(1, sizeof *my);
    if (!my) return lathe_fail(host, LATHE_ENOMEM, "out of memory");
    my->host = host;
    my->metric = host->metric(host, &metric);
    my->every = host->every(host, "every");
    my->watched = host->watch(host, "train/loss");
    my->average = host->block(host, "average");
    host->key(host, 7, 0, &my->key);
    if (!my->average || strcmp(lathe_string(host, "word"), "kept") != 0 ||
        lathe_count(host, "numbers") != 2 || lathe_number(host, "numbers/1") != 0.5 ||
        lathe_has(host, "absent") || host->extension(host, "com.example.none/1")) {
        free(my);
        return lathe_fail(host, LATHE_EINVAL, "the host says other things than before");
    }
    *self = my;
    return LATHE_OK;
}

static lathe_status pass(void *self, const lathe_moment *at) {
    struct watcher *my = self;
    (void)at;
    my->points++;
    return LATHE_OK;
}

static lathe_status gradients_ready(void *self, const lathe_moment *at) {
    struct watcher *my = self;
    float *gradients = my->host->gradients(my->host, LATHE_WRITE);
    lathe_parameter_view view = {.size = sizeof view};
    for (int64_t i = 0; my->host->parameter(my->host, i, &view) == LATHE_OK; i++)
        for (int64_t j = 0; j < view.count; j++)
            gradients[view.offset + j] *= 1.0f / (1.0f + (float)at->gradient_norm);
    return pass(self, at);
}

static lathe_status step_end(void *self, const lathe_moment *at) {
    struct watcher *my = self;
    const float *weights = my->host->weights(my->host, LATHE_READ);
    lathe_parameter_view view = {.size = sizeof view};
    uint32_t draws[4];
    double sum = 0;
    lathe_random4(my->key, (uint64_t)at->step, 0, draws);
    for (int64_t i = 0; i < my->host->parameters(my->host); i++) {
        my->host->parameter(my->host, i, &view);
        for (int64_t j = view.offset; j < view.offset + view.count; j++) {
            my->average[j] += 0.1f * (weights[j] - my->average[j]);
            sum += (double)my->average[j];
        }
    }
    my->host->report(my->host, my->metric, sum + lathe_unit(draws[0]), 1);
    if (my->host->is_due(my->host, my->every))
        lathe_log(my->host, LATHE_LOG_INFO, "%lld points", (long long)my->points);
    return pass(self, at);
}

static lathe_status validation_begin(void *self, const lathe_moment *at) {
    struct watcher *my = self;
    my->host->evaluate_with(my->host, my->average);
    return pass(self, at);
}

static lathe_status epoch_end(void *self, const lathe_moment *at) {
    struct watcher *my = self;
    double loss;
    my->host->value(my->host, my->watched, &loss);
    if (at->epoch == 3)
        my->host->request(my->host, LATHE_REQUEST_STOP, "epoch 3 is over");
    return loss >= 0 ? pass(self, at)
                     : lathe_fail(my->host, LATHE_EDATA, "the loss is %g", loss);
}

static lathe_status save(void *self, const lathe_writer *to) {
    const struct watcher *my = self;
    return to->write(to, &my->points, sizeof my->points);
}

static lathe_status load(void *self, const lathe_reader *from) {
    struct watcher *my = self;
    int64_t points;
    lathe_status status = lathe_read_all(from, &points, sizeof points);
    if (status == LATHE_OK) my->points = points;
    return status;
}

LATHE_CALLBACK(.create = make, .destroy = free, .save = save, .load = load,
               .run_begin = pass, .epoch_begin = pass, .step_begin = pass,
               .batch_begin = pass, .loss_ready = pass, .batch_end = pass,
               .gradients_ready = gradients_ready, .step_end = step_end,
               .validation_begin = validation_begin, .validation_batch_end = pass,
               .validation_end = pass, .epoch_end = epoch_end, .run_end = pass);
