/* SPDX-License-Identifier: MIT */
/* Writes to a file, for whoever started the program: the monotonic clock at the end of
 * the first step, and the peak of resident memory at the end of the run. */
#include <lathe/callback.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct stamp {
    const lathe_host *host;
    const char *file;
    double first_step; /* seconds of CLOCK_MONOTONIC; 0: not yet */
    int64_t stop;
};

static lathe_status create(const lathe_host *host, void **self) {
    struct stamp *stamp = calloc(1, sizeof *stamp);
    if (stamp == NULL) return lathe_fail(host, LATHE_ENOMEM, "out of memory");
    stamp->host = host;
    stamp->file = lathe_string(host, "file");
    stamp->stop = lathe_integer(host, "stop");
    *self = stamp;
    return LATHE_OK;
}

static lathe_status step_end(void *self, const lathe_moment *at) {
    struct stamp *stamp = self;
    (void)at;
    if (stamp->first_step > 0) return LATHE_OK;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    stamp->first_step = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    return stamp->stop ? LATHE_STOP : LATHE_OK;
}

static long peak_kib(void) {
    char line[256];
    long kib = 0;
    FILE *file = fopen("/proc/self/status", "re");
    if (file == NULL) return 0;
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0) kib = strtol(line + 6, NULL, 10);
    fclose(file);
    return kib;
}

static lathe_status run_end(void *self, const lathe_moment *at) {
    const struct stamp *stamp = self;
    (void)at;
    FILE *file = fopen(stamp->file, "we");
    if (file == NULL)
        return lathe_fail(stamp->host, LATHE_ECREATE, "%s cannot be written",
                          stamp->file);
    fprintf(file, "%.9f %ld\n", stamp->first_step, peak_kib());
    return fclose(file) == 0 ? LATHE_OK : LATHE_EIO;
}

LATHE_CALLBACK(.create = create, .destroy = free, .step_end = step_end,
               .run_end = run_end);
