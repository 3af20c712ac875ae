/* SPDX-License-Identifier: MIT */
/* Any text as an experiment's. What does not start with '{' would be the name of a
 * file, which is none of this target's business. */
#include "fuzz_experiment.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    if (!count || bytes[0] != '{') return 0;
    char *text = fuzz_text(bytes, count);
    fuzz_experiment(text, NULL);
    free(text);
    return 0;
}
