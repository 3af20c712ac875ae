/* SPDX-License-Identifier: MIT */
/* Any text is a length of training that can be counted, or is refused with a reason. */
#include "fuzz.h"

#include <math.h>

#include "base/duration.h"

static void check_steps(const struct duration *duration) {
    static const int64_t numbers[] = {0, 1, 7, 1000, INT64_C(1) << 52};
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) {
            int64_t steps = duration_steps(duration, numbers[i], numbers[j]);
            int is_counted = duration->unit == DURATION_STEPS ||
                             (duration->unit == DURATION_SAMPLES && numbers[j]) ||
                             (duration->unit == DURATION_EPOCHS && numbers[i]);
            FUZZ_CHECK(is_counted ? steps >= 1 : steps == 0);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    char *text = fuzz_text(bytes, count);
    struct duration duration = {0};
    struct error err = {0};
    if (duration_parse(text, &duration, &err) == LATHE_OK) {
        FUZZ_CHECK(duration.unit != DURATION_NONE);
        FUZZ_CHECK(isfinite(duration.amount) && duration.amount > 0);
        check_steps(&duration);
    } else {
        FUZZ_CHECK(duration.unit == DURATION_NONE);
        fuzz_check_error(&err);
    }
    free(text);
    return 0;
}
