/* SPDX-License-Identifier: MIT */
/* Reports the learning rate of every step as the metric lr; a record shows the mean of
 * the steps it covers. With groups of parameters it is the rate of those in none. */
#include <lathe/callback.h>

#include <stdlib.h>

struct lr_monitor {
    const lathe_host *host;
    int32_t metric;
};

static lathe_status create(const lathe_host *host, void **self) {
    const lathe_metric metric = {.size = sizeof metric, .name = "lr"};
    struct lr_monitor *monitor = malloc(sizeof *monitor);
    if (!monitor) return lathe_fail(host, LATHE_ENOMEM, "out of memory");
    monitor->host = host;
    monitor->metric = host->metric(host, &metric);
    *self = monitor;
    return LATHE_OK;
}

static lathe_status step_end(void *self, const lathe_moment *at) {
    const struct lr_monitor *monitor = self;
    monitor->host->report(monitor->host, monitor->metric, at->rate, 1);
    return LATHE_OK;
}

LATHE_CALLBACK(.create = create, .destroy = free, .step_end = step_end);
