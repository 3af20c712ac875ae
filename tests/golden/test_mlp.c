/* SPDX-License-Identifier: MIT */
/* 50 steps of a small network from given weights, through lathe_open and lathe_run and
 * the plugins as built, against the same in torch: the loss of every step, and the
 * weights after the last. mlp.py says where data, weights and order come from. */
#include "golden.h"

#include <lathe/dataset.h>
#include <lathe/session.h>

#define OVERRIDES(...) ((const char *const[]){__VA_ARGS__, NULL})

enum { STEPS = 50, SAMPLES = 120, FEATURES = 16, CLASSES = 3, TARGETS = 2, MOST = 512 };

/* ---- the data, as a plugin that is linked in ---- */

struct data {
    int is_classified;
    int32_t labels[SAMPLES];
    float inputs[SAMPLES * FEATURES], numbers[SAMPLES * TARGETS];
};

static lathe_status create(const lathe_host *host, void **self) {
    struct data *data = calloc(1, sizeof *data);
    if (!data) return lathe_fail(host, LATHE_ENOMEM, "no memory for the data");
    data->is_classified = lathe_has(host, "labels");
    for (int i = 0; i < SAMPLES && data->is_classified; i++) {
        char path[32];
        snprintf(path, sizeof path, "labels/%d", i);
        data->labels[i] = (int32_t)lathe_integer(host, path);
    }
    array_fill(data->inputs, SAMPLES * FEATURES, 1, 1);
    array_fill(data->numbers, SAMPLES * TARGETS, 1, 2);
    *self = data;
    return LATHE_OK;
}

static lathe_status describe(void *self, const lathe_data_plan *plan) {
    const struct data *data = self;
    lathe_field input = {.size = sizeof input,
                         .rank = 1,
                         .name = "input",
                         .code = LATHE_FLOAT,
                         .bits = 32,
                         .shape = {FEATURES}};
    lathe_field label = {.size = sizeof label, .name = "label", .bits = 32};
    if (data->is_classified) {
        label.code = LATHE_INT;
        label.classes = CLASSES;
    } else {
        label.code = LATHE_FLOAT;
        label.rank = 1;
        label.shape[0] = TARGETS;
    }
    plan->samples(plan, SAMPLES);
    lathe_status status = plan->field(plan, &input);
    return status == LATHE_OK ? plan->field(plan, &label) : status;
}

static lathe_status read_samples(void *self, const int64_t *indices,
                                 const lathe_batch *into) {
    const struct data *data = self;
    float *inputs = into->fields[0].data, *numbers = into->fields[1].data;
    int32_t *labels = into->fields[1].data;
    for (int64_t row = 0; row < into->rows; row++) {
        memcpy(inputs + row * FEATURES, data->inputs + indices[row] * FEATURES,
               FEATURES * sizeof *inputs);
        if (data->is_classified)
            labels[row] = data->labels[indices[row]];
        else
            memcpy(numbers + row * TARGETS, data->numbers + indices[row] * TARGETS,
                   TARGETS * sizeof *numbers);
    }
    return LATHE_OK;
}

static lathe_status order(void *self, int64_t epoch, int64_t first, int64_t count,
                          int64_t *indices) {
    (void)self;
    for (int64_t i = 0; i < count; i++)
        indices[i] = (7 * (first + i) + 31 * epoch) % SAMPLES;
    return LATHE_OK;
}

static const lathe_dataset_ops data_ops = {.size = sizeof data_ops,
                                           .create = create,
                                           .destroy = free,
                                           .describe = describe,
                                           .read = read_samples,
                                           .order = order};
static const lathe_plugin data_plugin = {sizeof data_plugin, LATHE_KIND_DATASET, 0, 0,
                                         &data_ops};
static const lathe_linked_plugin linked_data = {
    sizeof linked_data, 0, &data_plugin,
    "{\"lathe\":1,\"kind\":\"dataset\",\"name\":\"golden\",\"version\":\"1.0.0\","
    "\"options\":{\"labels\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"},"
    "\"optional\":true}}}"};

/* ---- a run ---- */

struct outcome {
    lathe_session *session;
    float losses[STEPS + 1];
    int count;
};

static void take_record(void *context, const char *line) {
    struct outcome *outcome = context;
    struct json *record = NULL;
    struct error err = {0};
    if (json_parse(line, strlen(line), "record", &record, &err)) return;
    if (!strcmp(json_text(json_get(record, "split")), "train") &&
        outcome->count <= STEPS)
        outcome->losses[outcome->count++] =
            (float)json_number(json_get(json_get(record, "metrics"), "loss"));
    json_close(record);
}

/* The i-th parameter, by its name: layers.<layer>.weight or .bias. */
static uint32_t seed_of(const char *name) {
    int layer = -1;
    char part[8] = "";
    if (sscanf(name, "layers.%d.%7s", &layer, part) != 2)
        fail_msg("a parameter %s", name);
    return 20 + 2 * (uint32_t)layer + !strcmp(part, "bias");
}

static void give_weights(lathe_session *session) {
    int64_t size = 0;
    float *weights = lathe_weights(session, LATHE_WRITE, &size);
    lathe_parameter_view view = {.size = sizeof view};
    for (int64_t i = 0; lathe_parameter_at(session, i, &view) == LATHE_OK; i++)
        array_fill(weights + view.offset, view.count, 0.5f, seed_of(view.name));
}

static void run(const struct json *experiment, const char *const *overrides,
                struct outcome *outcome) {
    const lathe_linked_plugin *const linked[] = {&linked_data, NULL};
    char *text = golden_text(experiment), folder[512];
    lathe_error error = {.size = sizeof error};
    snprintf(folder, sizeof folder, "%s/plugins", getenv("BUILD"));
    const lathe_session_options options = {.size = sizeof options,
                                           .experiment = text,
                                           .overrides = overrides,
                                           .plugin_paths = OVERRIDES(folder),
                                           .linked = linked,
                                           .record = take_record,
                                           .context = outcome};
    *outcome = (struct outcome){0};
    if (lathe_open(&options, &outcome->session, &error) != LATHE_OK)
        fail_msg("%s (%s)", error.what, error.where);
    give_weights(outcome->session);
    if (lathe_run(outcome->session) != LATHE_OK)
        fail_msg("%s", lathe_last_error(outcome->session)->what);
    free(text);
}

static void expect(struct outcome *outcome, const struct json *root, double tolerance) {
    const struct json *weights = json_get(root, "weights");
    const float *block = lathe_weights(outcome->session, LATHE_READ, NULL);
    lathe_parameter_view view = {.size = sizeof view};
    double worst_loss = 0, worst_weight = 0;
    int64_t count = 0;
    assert_int_equal(outcome->count, STEPS);
    for (int i = 0; i < STEPS; i++) {
        double value = json_number(json_at(json_get(root, "losses"), (size_t)i));
        double error = fabs((double)outcome->losses[i] - value) / value;
        if (!(error <= tolerance))
            fail_msg("loss of step %d: %.9g, not %.9g", i + 1,
                     (double)outcome->losses[i], value);
        worst_loss = fmax(worst_loss, error);
    }
    for (; lathe_parameter_at(outcome->session, count, &view) == LATHE_OK; count++)
        golden_expect(block + view.offset, view.count, json_get(weights, view.name),
                      tolerance, &worst_weight, view.name);
    assert_int_equal(count, json_size(weights));
    print_message("worst error: loss %.2g, weights %.2g\n", worst_loss, worst_weight);
}

/* The golden run, and others that are the same mathematics. */
static void check(const char *file, const char *const *const *variants) {
    struct json *root = golden_open(file);
    const char *const none[] = {NULL};
    struct outcome outcome;
    run(json_get(root, "experiment"), none, &outcome);
    expect(&outcome, root, 1e-5);
    lathe_close(outcome.session);
    for (; *variants; variants++) {
        run(json_get(root, "experiment"), *variants, &outcome);
        expect(&outcome, root, 1e-5);
        lathe_close(outcome.session);
    }
    json_close(root);
}

static void sgd_and_relu(void **state) {
    (void)state;
    const char *const *const variants[] = {
        OVERRIDES("train.shards=3", "train.threads=2"),
        OVERRIDES("train.batch=40", "train.accumulate=3"),
        OVERRIDES("train.batch=50", "train.accumulate=3", "train.shards=4"), NULL};
    check("mlp-sgd.json", variants);
}

static void adamw_and_gelu(void **state) {
    (void)state;
    const char *const *const variants[] = {OVERRIDES("train.shards=5"), NULL};
    check("mlp-adamw.json", variants);
}

static void rmsprop_and_tanh(void **state) {
    (void)state;
    const char *const *const variants[] = {
        OVERRIDES("train.batch=32", "train.accumulate=1", "train.shards=2"), NULL};
    check("mlp-rmsprop.json", variants);
}

static void lamb_and_relu(void **state) {
    (void)state;
    const char *const *const variants[] = {
        OVERRIDES("train.shards=4", "train.threads=3"), NULL};
    check("mlp-lamb.json", variants);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sgd_and_relu),
        cmocka_unit_test(adamw_and_gelu),
        cmocka_unit_test(rmsprop_and_tanh),
        cmocka_unit_test(lamb_and_relu),
    };
    return cmocka_run_group_tests_name("whole runs against torch", tests, NULL, NULL);
}
