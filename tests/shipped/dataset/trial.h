/* SPDX-License-Identifier: MIT */
/* One instance of a dataset under test. The test includes the plugin's own .c first,
 * whose table is `lathe_ops_`. */
#ifndef TESTS_SHIPPED_DATASET_TRIAL_H
#define TESTS_SHIPPED_DATASET_TRIAL_H

#include "support/fake_host.h"
#include "support/scratch.h"

#define TRIAL_FIELDS 4
#define TRIAL_FLOATS 4096

struct trial {
    struct fake_host host;
    void *self; /* NULL: create failed */
    lathe_status status;
    /* What describe said. */
    lathe_field fields[TRIAL_FIELDS];
    char names[TRIAL_FIELDS][32];
    uint32_t field_count;
    int64_t samples;
    /* What the last read wrote. */
    float input[TRIAL_FLOATS];
    union {
        int32_t classes[TRIAL_FLOATS];
        float values[TRIAL_FLOATS];
    } label;
};

static inline lathe_status trial_field(const lathe_data_plan *plan,
                                       const lathe_field *field) {
    struct trial *trial = plan->context;
    assert_true(trial->field_count < TRIAL_FIELDS);
    assert_true(field->size >= LATHE_FIELD_SIZE_1_0);
    char *name = trial->names[trial->field_count];
    snprintf(name, 32, "%s", field->name);
    trial->fields[trial->field_count] = *field;
    trial->fields[trial->field_count++].name = name;
    return LATHE_OK;
}

static inline void trial_samples(const lathe_data_plan *plan, int64_t count) {
    ((struct trial *)plan->context)->samples = count;
}

/* The options with the scratch directory in place of every '@'; until the next call. */
static inline const char *trial_options(const struct scratch *scratch,
                                        const char *options) {
    static char text[2048];
    size_t used = 0;
    for (; *options && used + sizeof scratch->directory < sizeof text; options++) {
        if (*options == '@')
            used += (size_t)snprintf(text + used, sizeof text - used, "%s",
                                     scratch->directory);
        else
            text[used++] = *options;
    }
    text[used] = 0;
    return text;
}

/* Creates and describes; the test looks at status. `prepare` may add nested plugins. */
static inline void trial_begin(struct trial *trial, const char *plugin,
                               const char *options,
                               void (*prepare)(struct fake_host *)) {
    memset(trial, 0, sizeof *trial);
    fake_host_init(&trial->host, options);
    if (prepare) prepare(&trial->host);
    fake_host_manifest(&trial->host, plugin);
    trial->status = lathe_ops_.create(&trial->host.table, &trial->self);
    assert_true((trial->status == LATHE_OK) == (trial->self != NULL));
    if (trial->status) return;
    const lathe_data_plan plan = {.size = sizeof plan,
                                  .context = trial,
                                  .field = trial_field,
                                  .samples = trial_samples};
    trial->status = lathe_ops_.describe(trial->self, &plan);
}

static inline void trial_end(struct trial *trial) {
    if (trial->self && lathe_ops_.destroy) lathe_ops_.destroy(trial->self);
    fake_host_finish(&trial->host);
}

/* Fills input and label with `rows` samples; position and epoch are 0 and 1. */
static inline lathe_status trial_read(struct trial *trial, const int64_t *indices,
                                      int64_t rows) {
    lathe_tensor tensors[TRIAL_FIELDS] = {0};
    for (uint32_t i = 0; i < trial->field_count; i++) {
        const lathe_field *field = &trial->fields[i];
        tensors[i] = (lathe_tensor){.data = i ? (void *)&trial->label : trial->input,
                                    .code = field->code,
                                    .bits = field->bits,
                                    .lanes = 1,
                                    .rank = field->rank + 1};
        tensors[i].shape[0] = rows;
        for (uint32_t j = 0; j < field->rank; j++)
            tensors[i].shape[j + 1] = field->shape[j];
    }
    const lathe_batch batch = {.size = sizeof batch,
                               .field_count = trial->field_count,
                               .rows = rows,
                               .epoch = 1,
                               .fields = tensors};
    return lathe_ops_.read(trial->self, indices, &batch);
}

/* Create must fail with that status and a text that holds `text`. */
static inline void trial_refused(const char *plugin, const char *options,
                                 void (*prepare)(struct fake_host *),
                                 lathe_status status, const char *text) {
    struct trial trial;
    trial_begin(&trial, plugin, options, prepare);
    if (trial.status != status || !strstr(trial.host.failure, text))
        fail_msg("status %d, \"%s\"; expected %d and \"%s\"", trial.status,
                 trial.host.failure, status, text);
    trial_end(&trial);
}

#endif
