/* SPDX-License-Identifier: MIT */
/* The dataset csv. */
#include "dataset/csv/csv.c"
#include "dataset/csv/csv_labels.c"
#include "dataset/csv/csv_parse.c"
#include "dataset/csv/csv_table.c"

#include "fuzz_data.h"

static const char *const options[] = {
    "{\"file\": \"0\"}",
    "{\"file\": \"0\", \"label\": \"y\"}",
    "{\"file\": \"0\", \"label\": \"y\", \"classes\": [\"cat\", \"dog\", \"ü\"]}",
    "{\"file\": \"0\", \"label\": \"y\", \"task\": \"classification\"}",
    "{\"file\": \"0\", \"label\": \"y\", \"features\": [\"a\", \"b\"]}",
    "{\"file\": \"0\", \"header\": \"none\"}",
    "{\"file\": \"0\", \"header\": \"none\", \"label\": 1, \"delimiter\": \"\\t\"}",
    "{\"file\": \"0\", \"header\": \"none\", \"label\": 0, \"delimiter\": \";\","
    " \"features\": [2, 1], \"task\": \"classification\"}",
    "{\"file\": \"0\", \"header\": \"sklearn\", \"label\": 2}",
    "{\"file\": \"0\", \"header\": \"sklearn\", \"label\": 2,"
    " \"task\": \"regression\"}",
    "{\"file\": \"0\", \"label\": \"y\", \"task\": \"regression\","
    " \"delimiter\": \"|\"}",
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    FUZZ_DATA("dataset/csv", options, 1, bytes, count, NULL);
    return 0;
}
