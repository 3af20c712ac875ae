/* SPDX-License-Identifier: MIT */
/* The dataset idx: images and labels. */
#include "dataset/idx/idx.c"

#include "fuzz_data.h"

static const char *const options[] = {
    "{\"images\": \"0\"}",
    "{\"images\": \"0\", \"labels\": \"1\"}",
    "{\"images\": \"0\", \"labels\": \"1\", \"classes\": 3}",
    "{\"images\": \"0\", \"labels\": \"1\", \"mean\": 0.5, \"std\": 0.25}",
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    FUZZ_DATA("dataset/idx", options, 2, bytes, count, NULL);
    return 0;
}
