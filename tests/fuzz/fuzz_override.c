/* SPDX-License-Identifier: MIT */
/* Lines of path=value, against an experiment that has some of everything. */
#include "fuzz_experiment.h"

#define OVERRIDES_MAX 8

static const char experiment[] =
    "{\"lathe\": 1, \"seed\": 7, \"data\": {"
    " \"train\": {\"use\": \"subset\", \"of\": {\"use\": \"blobs\", \"samples\": 90},"
    "  \"range\": [0, 60]},"
    " \"validation\": {\"use\": \"blobs\", \"samples\": 30}},"
    "\"model\": {\"use\": \"mlp\", \"hidden\": [16, 8]},"
    "\"optimizer\": {\"use\": \"sgd\", \"lr\": 0.1, \"groups\":"
    " [{\"match\": \"*.bias\", \"lr\": 0.2}]},"
    "\"schedule\": {\"use\": \"plateau\", \"watch\": \"validation/loss\"},"
    "\"train\": {\"until\": [\"5ep\", \"1min\"], \"batch\": 20},"
    "\"expect\": {\"validation/accuracy\": \">= 0.9\"},"
    "\"callbacks\": [{\"use\": \"progress\"},"
    " {\"use\": \"early-stopping\", \"id\": \"stop\", \"patience\": 2}]}";

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    char *text = fuzz_text(bytes, count), *rest = text;
    const char *overrides[OVERRIDES_MAX + 1] = {NULL};
    for (int i = 0; i < OVERRIDES_MAX && rest; i++) overrides[i] = strsep(&rest, "\n");
    fuzz_experiment(experiment, overrides);
    free(text);
    return 0;
}
