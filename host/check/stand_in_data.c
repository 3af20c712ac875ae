/* SPDX-License-Identifier: MIT */
/* Samples of several shapes, each a function of its index: a category is what the
 * numbers say, so that there is something to learn. */
#define LATHE_ENTRY check_data_plugin
#include <lathe/dataset.h>

#include <stdlib.h>

#define CLASSES 3
#define TOKENS 11
#define TOKENS_A_ROW 8

struct data {
    int64_t rows;
    const lathe_field *fields; /* [2] */
    int64_t width, label_width;
};

#define FIELD(called, type)                                                            \
    .size = sizeof(lathe_field), .name = (called), .code = (type), .bits = 32

static const struct {
    const char *name;
    lathe_field fields[2];
} shapes[] = {
    {"classes",
     {{FIELD("input", LATHE_FLOAT), .rank = 1, .shape = {6}},
      {FIELD("label", LATHE_INT), .classes = CLASSES}}},
    {"numbers",
     {{FIELD("input", LATHE_FLOAT), .rank = 1, .shape = {6}},
      {FIELD("label", LATHE_FLOAT), .rank = 1, .shape = {2}}}},
    {"image",
     {{FIELD("input", LATHE_FLOAT), .rank = 3, .shape = {2, 5, 5}},
      {FIELD("label", LATHE_INT), .classes = CLASSES}}},
    {"tokens",
     {{FIELD("tokens", LATHE_INT), .rank = 1, .shape = {TOKENS_A_ROW},
       .classes = TOKENS},
      {FIELD("label", LATHE_INT), .classes = CLASSES}}},
    {"scalar", {{FIELD("input", LATHE_FLOAT)}, {FIELD("label", LATHE_FLOAT)}}},
};

static int64_t width_of(const lathe_field *field) {
    int64_t width = 1;
    for (uint32_t i = 0; i < field->rank; i++) width *= field->shape[i];
    return width;
}

static lathe_status create(const lathe_host *host, void **self) {
    struct data *data = calloc(1, sizeof *data);
    if (!data) return lathe_fail(host, LATHE_ENOMEM, "no memory");
    data->rows = lathe_integer(host, "rows");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (!strcmp(shapes[i].name, lathe_string(host, "shape")))
            data->fields = shapes[i].fields;
    data->width = width_of(&data->fields[0]);
    data->label_width = width_of(&data->fields[1]);
    *self = data;
    return LATHE_OK;
}

static lathe_status describe(void *self, const lathe_data_plan *plan) {
    const struct data *data = self;
    lathe_status status = plan->field(plan, &data->fields[0]);
    if (status == LATHE_OK) status = plan->field(plan, &data->fields[1]);
    plan->samples(plan, data->rows);
    return status;
}

static float draw(int64_t index, int64_t element) {
    uint32_t draws[4];
    lathe_random4((lathe_key){17, 4}, (uint64_t)index, (uint64_t)element / 4, draws);
    return 3 * lathe_unit(draws[element % 4]) - 1.5f;
}

static void fill(const lathe_field *field, int64_t width, int64_t index, int64_t salt,
                 void *row) {
    for (int64_t i = 0; i < width; i++) {
        const float value = draw(index, i + salt);
        if (field->code == LATHE_FLOAT)
            ((float *)row)[i] = value;
        else
            ((int32_t *)row)[i] =
                (int32_t)((value / 3 + 0.5f) * 0.9999f * (float)field->classes);
    }
}

static lathe_status read(void *self, const int64_t *indices, const lathe_batch *into) {
    const struct data *data = self;
    for (int64_t row = 0; row < into->rows; row++) {
        char *input = into->fields[0].data, *label = into->fields[1].data;
        fill(&data->fields[0], data->width, indices[row], 0,
             input + row * data->width * 4);
        fill(&data->fields[1], data->label_width, indices[row], 0,
             label + row * data->label_width * 4);
    }
    return LATHE_OK;
}

LATHE_DATASET(.create = create, .destroy = free, .describe = describe, .read = read);
