/* SPDX-License-Identifier: MIT */
/* The small experiments in which a plugin is checked. */
#include "check/subject.h"
#include "metrics.h"

static const struct {
    const char *shape, *name;
} made_data[CHECK_DATA] = {{"classes", "6 numbers and 3 classes"},
                           {"numbers", "6 numbers and 2 to predict"},
                           {"image", "images of 2x5x5 and 3 classes"},
                           {"tokens", "8 tokens"},
                           {"scalar", "one number and one to predict"}};

const char *subject_data_name(int data) {
    return data < CHECK_DATA ? made_data[data].name : "the experiment's data";
}

bool subject_is_suitable(const struct subject *subject, int data) {
    return (subject->suitable >> data & 1) != 0;
}

int subject_first_data(const struct subject *subject) {
    int data = 0;
    while (data < CHECK_DATA && !subject_is_suitable(subject, data)) data++;
    return subject->suitable ? data : 0;
}

static void add_subject(const struct subject *subject, const struct setup *setup,
                        struct text *text) {
    const struct json *options = setup->options ? setup->options : subject->options;
    text_add(text, "{\"use\": ");
    text_json_string(text, subject->manifest->name);
    for (struct json_member at = {0}; json_next(options, &at);) {
        text_add(text, ", ");
        text_json_string(text, at.key);
        text_add(text, ": ");
        json_write(at.value, text, 0);
    }
    text_add(text, "}");
}

static void add_data(const struct subject *subject, const struct setup *setup,
                     struct text *text) {
    if (subject->manifest->kind == LATHE_KIND_DATASET) {
        add_subject(subject, setup, text);
    } else if (setup->data == CHECK_DATA) {
        json_write(subject->data, text, 0);
    } else {
        text_format(
            text, "{\"use\": \"check-data\", \"shape\": \"%s\", \"rows\": %lld}",
            made_data[setup->data].shape, (long long)(setup->rows ? setup->rows : 23));
    }
}

static void add_callbacks(const struct subject *subject, const struct setup *setup,
                          struct text *text) {
    const bool is_first = subject->manifest->kind == LATHE_KIND_CALLBACK;
    text_add(text, ",\n\"callbacks\": [");
    if (is_first) add_subject(subject, setup, text);
    if (setup->callback)
        text_format(text, "%s{\"use\": \"check-callback\"%s}", is_first ? ", " : "",
                    setup->callback);
    text_add(text, "]");
}

char *subject_experiment(const struct subject *subject, const struct setup *setup) {
    struct text text = {0};
    const uint32_t kind = subject->manifest->kind;
    const int splits = setup->has_visits ? SPLIT_COUNT : 1;
    text_format(&text,
                "{\"lathe\": 1, \"name\": \"check\", \"seed\": %llu,\n\"data\": {",
                (unsigned long long)(setup->seed & INT32_MAX));
    for (int i = 0; i < splits; i++) {
        text_format(&text, "%s\"%s\": ", i ? ",\n" : "", split_names[i]);
        add_data(subject, setup, &text);
    }
    text_add(&text, "},\n\"model\": ");
    if (kind == LATHE_KIND_MODEL)
        add_subject(subject, setup, &text);
    else
        text_format(&text, "{\"use\": \"check-model\"%s}",
                    setup->model ? setup->model : "");
    text_add(&text, ",\n\"optimizer\": ");
    if (kind == LATHE_KIND_OPTIMIZER)
        add_subject(subject, setup, &text);
    else
        text_add(&text, "{\"use\": \"check-optimizer\", \"lr\": 0.05}");
    if (kind == LATHE_KIND_SCHEDULE) {
        text_add(&text, ",\n\"schedule\": ");
        add_subject(subject, setup, &text);
    }
    text_format(
        &text,
        ",\n\"train\": {\"until\": \"%s\", \"batch\": %lld, \"accumulate\": %lld, "
        "\"threads\": 1}",
        setup->until ? setup->until : "4ep",
        (long long)(setup->batch ? setup->batch : 16),
        (long long)(setup->accumulate ? setup->accumulate : 1));
    add_callbacks(subject, setup, &text);
    if (setup->stages) text_format(&text, ",\n\"stages\": %s", setup->stages);
    text_add(&text, "}");
    if (!text.is_broken) return text.data;
    text_finish(&text);
    return NULL;
}
