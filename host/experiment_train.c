/* SPDX-License-Identifier: MIT */
/* The settings of "train" that depend on one another, and reading them all. */
#include <inttypes.h>
#include <string.h>

#include "experiment_parts.h"

static bool is_off(const struct json *value) {
    return strcmp(json_text(value), "off") == 0;
}

static void check_validate(struct opening *opening, struct json *train) {
    const struct json *data = json_get(opening->experiment->resolved, "data");
    const struct json *validate = json_get(train, "validate");
    const bool has_data = json_get(data, "validation") != NULL;
    if (!validate) {
        if (!json_put(train, "validate", json_make_text(has_data ? "1ep" : "off")))
            opening->is_broken = true;
    } else if (!has_data && json_kind(data) == JSON_MAP && !is_off(validate)) {
        experiment_fault(opening, "train.validate",
                         "add data.validation, or write \"off\"",
                         "there is no data.validation to visit");
    }
}

void experiment_check_train(struct opening *opening) {
    struct json *train = json_get(opening->experiment->resolved, "train");
    if (json_kind(train) != JSON_MAP) return;
    check_validate(opening, train);
    const int64_t batch = json_whole(json_get(train, "batch"));
    const int64_t shards = json_whole(json_get(train, "shards"));
    if (batch >= 1 && shards > batch)
        error_help(experiment_fault(opening, "train.shards", "",
                                    "%" PRId64 " shards are more than the %" PRId64
                                    " rows of a batch",
                                    shards, batch),
                   "allowed: 1 to %" PRId64 ", or a larger train.batch", batch);
    if (json_number(json_get(train, "clip_norm")) > 0 &&
        json_number(json_get(train, "clip_value")) > 0)
        experiment_fault(opening, "train.clip_value", "set one of them to 0",
                         "clip_norm and clip_value are both in force");
}

static enum prefetch read_prefetch(const struct json *value) {
    if (json_kind(value) != JSON_BOOLEAN) return PREFETCH_AUTO;
    return json_truth(value) ? PREFETCH_ON : PREFETCH_OFF;
}

void experiment_read_train(struct experiment *experiment) {
    const struct json *train = json_get(experiment->resolved, "train");
    struct train_settings *settings = &experiment->train;
    options_durations(json_get(train, "until"), &settings->until);
    options_durations(json_get(train, "validate"), &settings->validate);
    options_durations(json_get(train, "log"), &settings->log);
    settings->batch = json_whole(json_get(train, "batch"));
    settings->accumulate = json_whole(json_get(train, "accumulate"));
    settings->shards = json_whole(json_get(train, "shards"));
    settings->threads = json_whole(json_get(train, "threads"));
    settings->clip_norm = json_number(json_get(train, "clip_norm"));
    settings->clip_value = json_number(json_get(train, "clip_value"));
    settings->prefetch = read_prefetch(json_get(train, "prefetch"));
    settings->flush_denormals =
        strcmp(json_text(json_get(train, "denormals")), "flush") == 0;
    settings->only = json_text(json_get(train, "only"));
    settings->keeps_slots =
        json_truth(json_get(json_get(experiment->resolved, "optimizer"), "keep"));
    settings->skips_nonfinite =
        strcmp(json_text(json_get(train, "nonfinite")), "skip") == 0;
}
