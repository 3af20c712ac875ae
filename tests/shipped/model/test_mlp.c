/* SPDX-License-Identifier: MIT */
/* mlp against itself written out in double: losses, outputs and metrics by definition,
 * gradients by finite differences. What it declares and refuses is in
 * test_mlp_fields.c. */
#include "support/arrays.h"
#include "support/fake_host.h"
#include "support/fake_plan.h"

#include "model/mlp/mlp.c"
#include "model/supervised.c"

enum { ROWS = 6, WIDTH_MAX = 12, FLOATS_MAX = 1024 };

struct fixture {
    struct fake_host host;
    struct fake_plan plan;
    void *self;
    lathe_field input, label;
    const lathe_field *fields[2];
    lathe_tensor tensors[2];
    lathe_batch batch;
    float x[ROWS * WIDTH_MAX], targets[ROWS * WIDTH_MAX], weights[FLOATS_MAX],
        gradients[FLOATS_MAX], output[ROWS * WIDTH_MAX];
    int32_t labels[ROWS];
    double metrics[2], w[FLOATS_MAX]; /* the weights in double */
    void *outputs[1];
    lathe_pass pass;
};

/* Inputs of shape [2,3]; `classes` of labels, or targets of `width` numbers. */
static void open_model(struct fixture *f, const char *options, int64_t classes,
                       int64_t width) {
    memset(f, 0, sizeof *f);
    fake_host_init(&f->host, options);
    fake_host_manifest(&f->host, "model/mlp");
    f->input = fake_input(2, 3);
    f->label = fake_label(classes, width);
    f->fields[0] = &f->label;
    f->fields[1] = &f->input;
    fake_plan_init(&f->plan, f->fields, 2);
    assert_int_equal(lathe_ops_.create(&f->host.table, &f->self), LATHE_OK);
    assert_int_equal(lathe_ops_.describe(f->self, &f->plan.table), LATHE_OK);
    assert_true(f->plan.total <= FLOATS_MAX);
    assert_int_equal(fake_plan_bind(&f->plan, &lathe_ops_, f->self, ROWS), LATHE_OK);
    array_fill(f->x, ROWS * 6, 1, 1);
    array_fill(f->targets, ROWS * WIDTH_MAX, 1, 2);
    array_fill(f->weights, FLOATS_MAX, 1, 3);
    for (int i = 0; i < FLOATS_MAX; i++) f->w[i] = (double)f->weights[i];
    for (int i = 0; i < ROWS && classes; i++) f->labels[i] = (int32_t)(2 * i % classes);
    f->tensors[0].data = classes ? (void *)f->labels : (void *)f->targets;
    f->tensors[1].data = f->x;
    f->outputs[0] = f->output;
    f->batch = (lathe_batch){sizeof f->batch, 2, ROWS, 1, 100, f->tensors};
    f->pass = (lathe_pass){.size = sizeof f->pass,
                           .mode = LATHE_TRAIN,
                           .batch = &f->batch,
                           .weights = f->weights,
                           .gradients = f->gradients,
                           .metrics = f->metrics,
                           .outputs = f->outputs};
}

static void close_model(struct fixture *f) {
    lathe_ops_.destroy(f->self);
    fake_host_finish(&f->host);
}

/* ---- the same in double ---- */

static double activate(const char *name, double x) {
    if (!strcmp(name, "relu")) return fmax(x, 0);
    if (!strcmp(name, "tanh")) return tanh(x);
    return x * 0.5 * erfc(-x * sqrt(0.5));
}

/* z[…] = the output for row `row` */
static int64_t output_in_double(const struct fixture *f, int64_t row, double *z) {
    double x[WIDTH_MAX];
    int64_t width = 6;
    for (int64_t i = 0; i < width; i++) z[i] = (double)f->x[row * 6 + i];
    for (int p = 0; p < f->plan.parameter_count; p += 2) {
        const double *w = f->w + f->plan.offset[p], *b = f->w + f->plan.offset[p + 1];
        int64_t out = f->plan.parameters[p].shape[0];
        memcpy(x, z, sizeof x);
        for (int64_t o = 0; o < out; o++) {
            z[o] = b[o];
            for (int64_t i = 0; i < width; i++) z[o] += w[o * width + i] * x[i];
            if (p + 2 < f->plan.parameter_count)
                z[o] = activate(fake_string(&f->host.table, "activation"), z[o]);
        }
        width = out;
    }
    return width;
}

static double loss_in_double(const void *context) {
    const struct fixture *f = context;
    double z[WIDTH_MAX], loss = 0;
    for (int64_t row = 0; row < f->batch.rows; row++) {
        double sum = 0;
        int64_t width = output_in_double(f, row, z);
        for (int64_t i = 0; i < width; i++) {
            double error = z[i] - (double)f->targets[row * width + i];
            sum += f->label.classes ? exp(z[i]) : error * error / (double)width;
        }
        loss += f->label.classes ? log(sum) - z[f->labels[row]] : sum;
    }
    return loss;
}

/* Forward and backward of `rows` rows, every number of them. */
static void check(struct fixture *f, int64_t rows) {
    double z[WIDTH_MAX];
    f->batch.rows = rows;
    for (int i = 0; i < FLOATS_MAX; i++) f->gradients[i] = NAN;
    assert_int_equal(lathe_ops_.forward(f->self, &f->pass), LATHE_OK);
    assert_close(f->pass.loss_sum, loss_in_double(f), 2e-6);
    assert_true(f->pass.weight_sum == (double)rows);
    for (int64_t row = 0; row < rows; row++) {
        int64_t width = output_in_double(f, row, z);
        for (int64_t i = 0; i < width; i++)
            assert_close(f->output[row * width + i], z[i], 2e-6);
    }
    assert_int_equal(lathe_ops_.backward(f->self, &f->pass), LATHE_OK);
    for (int p = 0; p < f->plan.parameter_count; p++) {
        const lathe_parameter *parameter = &f->plan.parameters[p];
        int64_t count = parameter->shape[0];
        if (parameter->rank == 2) count *= parameter->shape[1];
        for (int64_t i = f->plan.offset[p]; i < f->plan.offset[p] + count; i++)
            assert_close(f->gradients[i], array_slope(loss_in_double, f, &f->w[i]),
                         5e-6);
        /* the padding is the host's */
        if (count % 16) assert_true(isnan(f->gradients[f->plan.offset[p] + count]));
    }
}

static void check_all(const char *hidden, int64_t classes, int64_t width) {
    const char *const activations[] = {"relu", "gelu", "tanh"};
    for (int i = 0; i < 3; i++) {
        struct fixture f;
        char options[128];
        snprintf(options, sizeof options, "{\"hidden\": %s, \"activation\": \"%s\"}",
                 hidden, activations[i]);
        open_model(&f, options, classes, width);
        check(&f, ROWS);
        check(&f, 1);
        check(&f, 0);
        check(&f, ROWS - 1);
        close_model(&f);
    }
}

static void classification_and_its_gradient(void **state) {
    (void)state;
    check_all("[7, 12, 5]", 4, 0);
    check_all("[9]", 2, 0);
}

static void regression_and_its_gradient(void **state) {
    (void)state;
    check_all("[7, 12]", 0, 3);
    check_all("[9]", 0, 1);
}

static void no_hidden_layers(void **state) {
    (void)state;
    check_all("[]", 10, 0);
    check_all("[]", 0, 2);
}

static void gradients_add_when_told(void **state) {
    (void)state;
    struct fixture f;
    float once[FLOATS_MAX];
    open_model(&f, "{\"hidden\": [7]}", 4, 0);
    lathe_ops_.forward(f.self, &f.pass);
    lathe_ops_.backward(f.self, &f.pass);
    memcpy(once, f.gradients, sizeof once);
    f.pass.add = 1;
    lathe_ops_.forward(f.self, &f.pass);
    lathe_ops_.backward(f.self, &f.pass);
    for (int i = 0; i < FLOATS_MAX; i++)
        assert_close(f.gradients[i], 2 * once[i], 1e-6);
    close_model(&f);
}

static void accuracy_counts_rows(void **state) {
    (void)state;
    struct fixture f;
    double z[WIDTH_MAX], correct = 0;
    open_model(&f, "{\"hidden\": [7]}", 4, 0);
    for (int row = 0; row < ROWS; row++) {
        int64_t best = 0, width = output_in_double(&f, row, z);
        for (int64_t i = 1; i < width; i++)
            if (z[i] > z[best]) best = i;
        if (row < 2) f.labels[row] = (int32_t)best;
        correct += f.labels[row] == best;
    }
    lathe_ops_.forward(f.self, &f.pass);
    assert_true(f.metrics[0] == correct && correct >= 2 && correct < ROWS);
    assert_true(f.metrics[1] == ROWS);
    close_model(&f);
}

/* Frozen parameters have no place in the gradient block: nothing is written for
 * them. */
static void frozen_parameters_are_left_alone(void **state) {
    (void)state;
    const uint8_t trainable[][6] = {
        {0, 0, 1, 1, 1, 1}, {0, 0, 0, 1, 1, 0}, {1, 0, 0, 0, 0, 1}, {0, 0, 0, 0, 0, 0}};
    for (int c = 0; c < 4; c++) {
        struct fixture f;
        float all[FLOATS_MAX];
        open_model(&f, "{\"hidden\": [7, 5]}", 4, 0);
        lathe_ops_.forward(f.self, &f.pass);
        lathe_ops_.backward(f.self, &f.pass);
        memcpy(all, f.gradients, sizeof all);
        memcpy(f.plan.trainable, trainable[c], 6);
        assert_int_equal(fake_plan_bind(&f.plan, &lathe_ops_, f.self, ROWS), LATHE_OK);
        for (int i = 0; i < FLOATS_MAX; i++) f.gradients[i] = NAN;
        lathe_ops_.forward(f.self, &f.pass);
        lathe_ops_.backward(f.self, &f.pass);
        for (int p = 0; p < 6; p++) {
            float first = f.gradients[f.plan.offset[p]];
            assert_true(trainable[c][p] ? first == all[f.plan.offset[p]]
                                        : isnan(first));
        }
        close_model(&f);
    }
}

static void evaluate_is_the_loss_of_training(void **state) {
    (void)state;
    struct fixture f;
    open_model(&f, "{\"hidden\": [7], \"activation\": \"gelu\"}", 4, 0);
    lathe_ops_.forward(f.self, &f.pass);
    double loss = f.pass.loss_sum, correct = f.metrics[0];
    f.pass.mode = LATHE_EVALUATE;
    f.pass.gradients = NULL;
    f.pass.outputs = NULL;
    f.pass.loss_sum = f.metrics[0] = 0;
    lathe_ops_.forward(f.self, &f.pass);
    assert_true(f.pass.loss_sum == loss && f.metrics[0] == correct);
    close_model(&f);
}

static void predict_reads_no_labels(void **state) {
    (void)state;
    struct fixture f;
    float trained[ROWS * 4];
    open_model(&f, "{\"hidden\": [7]}", 4, 0);
    lathe_ops_.forward(f.self, &f.pass);
    memcpy(trained, f.output, sizeof trained);
    memset(f.output, 0, sizeof f.output);
    f.pass.mode = LATHE_PREDICT;
    f.pass.gradients = NULL;
    f.pass.metrics = NULL;
    f.tensors[0].data = NULL;
    assert_int_equal(lathe_ops_.forward(f.self, &f.pass), LATHE_OK);
    assert_memory_equal(f.output, trained, sizeof trained);
    f.outputs[0] = NULL;
    assert_int_equal(lathe_ops_.forward(f.self, &f.pass), LATHE_OK);
    close_model(&f);
}

static void labels_out_of_range_are_named(void **state) {
    (void)state;
    const int32_t wrong[] = {4, -1, INT32_MAX, INT32_MIN};
    struct fixture f;
    open_model(&f, "{\"hidden\": [7]}", 4, 0);
    for (int i = 0; i < 4; i++) {
        char text[128];
        f.labels[3] = wrong[i];
        assert_int_equal(lathe_ops_.forward(f.self, &f.pass), LATHE_EDATA);
        snprintf(text, sizeof text,
                 "label %d at position 103 is not one of the 4 classes, 0 to 3",
                 wrong[i]);
        assert_string_equal(f.host.failure, text);
    }
    close_model(&f);
}

static void nan_is_not_hidden(void **state) {
    (void)state;
    const char *const activations[] = {"relu", "gelu", "tanh"};
    for (int i = 0; i < 3; i++) {
        struct fixture f;
        char options[128];
        snprintf(options, sizeof options, "{\"hidden\": [7], \"activation\": \"%s\"}",
                 activations[i]);
        open_model(&f, options, 4, 0);
        f.weights[f.plan.offset[0]] = NAN;
        lathe_ops_.forward(f.self, &f.pass);
        assert_true(isnan(f.pass.loss_sum));
        f.weights[f.plan.offset[0]] = 0;
        f.x[17] = NAN;
        lathe_ops_.forward(f.self, &f.pass);
        assert_true(isnan(f.pass.loss_sum));
        close_model(&f);
    }
}

static void bind_may_come_again(void **state) {
    (void)state;
    struct fixture f;
    open_model(&f, "{\"hidden\": [7], \"activation\": \"gelu\"}", 4, 0);
    assert_int_equal(fake_plan_bind(&f.plan, &lathe_ops_, f.self, 2), LATHE_OK);
    check(&f, 2);
    assert_int_equal(fake_plan_bind(&f.plan, &lathe_ops_, f.self, ROWS), LATHE_OK);
    check(&f, ROWS);
    close_model(&f);
}

static void too_many_rows_are_no_memory(void **state) {
    (void)state;
    struct fixture f;
    open_model(&f, "{\"hidden\": [7]}", 4, 0);
    assert_int_equal(fake_plan_bind(&f.plan, &lathe_ops_, f.self, INT64_MAX / 4),
                     LATHE_ENOMEM);
    assert_string_equal(f.host.failure,
                        "no memory for slices of 2305843009213693951 rows "
                        "through 2 layers");
    close_model(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classification_and_its_gradient),
        cmocka_unit_test(regression_and_its_gradient),
        cmocka_unit_test(no_hidden_layers),
        cmocka_unit_test(gradients_add_when_told),
        cmocka_unit_test(accuracy_counts_rows),
        cmocka_unit_test(frozen_parameters_are_left_alone),
        cmocka_unit_test(evaluate_is_the_loss_of_training),
        cmocka_unit_test(predict_reads_no_labels),
        cmocka_unit_test(labels_out_of_range_are_named),
        cmocka_unit_test(nan_is_not_hidden),
        cmocka_unit_test(bind_may_come_again),
        cmocka_unit_test(too_many_rows_are_no_memory),
    };
    return cmocka_run_group_tests_name("model mlp: passes", tests, NULL, NULL);
}
