/* SPDX-License-Identifier: MIT */
/* Lengths of training: "10ep", "500step", "4096sample", "30min", "2h", "45s". */
#ifndef HOST_BASE_DURATION_H
#define HOST_BASE_DURATION_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

#define DURATION_SPELLINGS                                                             \
    "\"10ep\", \"500step\", \"4096sample\", \"30min\", \"2h\" or \"45s\""

enum duration_unit {
    DURATION_NONE = 0,
    DURATION_EPOCHS,
    DURATION_STEPS,
    DURATION_SAMPLES,
    DURATION_SECONDS, /* min, h, s */
};

struct duration {
    enum duration_unit unit;
    /* Epochs, steps, samples or seconds; > 0, whole for steps and samples. */
    double amount;
};

#define DURATION_LIST_MAX 8
/* Whichever comes first. */
struct durations {
    int count;
    struct duration items[DURATION_LIST_MAX];
};

/* Parses one duration. The message shows what was found and a right spelling. */
lathe_status duration_parse(const char *text, struct duration *duration,
                            struct error *err);
/* Steps it amounts to, rounded up to whole steps, at least 1; 0 for seconds, and for
 * what cannot be counted because an epoch has no length (steps_per_epoch 0). */
int64_t duration_steps(const struct duration *duration, int64_t steps_per_epoch,
                       int64_t samples_per_step);

#endif
