/* SPDX-License-Identifier: MIT */
/* The dataset npy: inputs and labels. */
#include "dataset/npy/npy.c"
#include "dataset/npy/npy_array.c"
#include "dataset/npy/npy_header.c"
#include "dataset/npy/npy_samples.c"

#include "fuzz_data.h"

static const char *const options[] = {
    "{\"input\": \"0\"}",
    "{\"input\": \"0\", \"label\": \"1\"}",
    "{\"input\": \"0\", \"label\": \"1\", \"classes\": 0}",
    "{\"input\": \"0\", \"label\": \"1\", \"classes\": 3}",
    "{\"input\": \"0\", \"label\": \"1\", \"mean\": 1, \"std\": 0.25}",
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    FUZZ_DATA("dataset/npy", options, 2, bytes, count, NULL);
    return 0;
}
