/* SPDX-License-Identifier: MIT */
/* linear against itself written out in double, with gradients by finite differences,
 * and against mlp without hidden layers, whose bits it must have. */
#include "support/arrays.h"
#include "support/fake_host.h"
#include "support/fake_plan.h"
#include "support/runs.h"

#include "model/linear/linear.c"
#include "model/supervised.c"

#define OVERRIDES(...) ((const char *const[]){__VA_ARGS__, NULL})

enum { ROWS = 6, IN = 6, OUT_MAX = 4, FLOATS_MAX = 64 };

struct fixture {
    struct fake_host host;
    struct fake_plan plan;
    void *self;
    lathe_field input, label;
    const lathe_field *fields[2];
    lathe_tensor tensors[2];
    lathe_batch batch;
    float x[ROWS * IN], targets[ROWS * OUT_MAX], weights[FLOATS_MAX],
        gradients[FLOATS_MAX], output[ROWS * OUT_MAX];
    int32_t labels[ROWS];
    double metrics[2], w[FLOATS_MAX]; /* the weights in double */
    void *outputs[1];
    int64_t out;
    lathe_pass pass;
};

/* Inputs of shape [2,3]; `classes` of labels, or targets of `width` numbers. */
static lathe_status describe_model(struct fixture *f, const char *options,
                                   int64_t classes, int64_t width) {
    memset(f, 0, sizeof *f);
    fake_host_init(&f->host, options);
    fake_host_manifest(&f->host, "model/linear");
    f->input = fake_input(2, 3);
    f->label = fake_label(classes, width);
    f->fields[0] = &f->label;
    f->fields[1] = &f->input;
    f->out = classes ? classes : width;
    fake_plan_init(&f->plan, f->fields, 2);
    assert_int_equal(lathe_ops_.create(&f->host.table, &f->self), LATHE_OK);
    return lathe_ops_.describe(f->self, &f->plan.table);
}

static void open_model(struct fixture *f, int64_t classes, int64_t width) {
    assert_int_equal(describe_model(f, "{}", classes, width), LATHE_OK);
    assert_int_equal(fake_plan_bind(&f->plan, &lathe_ops_, f->self, ROWS), LATHE_OK);
    array_fill(f->x, ROWS * IN, 1, 1);
    array_fill(f->targets, ROWS * OUT_MAX, 1, 2);
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

static double output_in_double(const struct fixture *f, int64_t row, int64_t o) {
    double y = f->w[f->plan.offset[1] + o];
    for (int64_t i = 0; i < IN; i++)
        y += f->w[f->plan.offset[0] + o * IN + i] * (double)f->x[row * IN + i];
    return y;
}

static double loss_in_double(const void *context) {
    const struct fixture *f = context;
    double loss = 0;
    for (int64_t row = 0; row < f->batch.rows; row++) {
        double sum = 0;
        for (int64_t o = 0; o < f->out; o++) {
            double y = output_in_double(f, row, o);
            double error = y - (double)f->targets[row * f->out + o];
            sum += f->label.classes ? exp(y) : error * error / (double)f->out;
        }
        loss += f->label.classes ? log(sum) - output_in_double(f, row, f->labels[row])
                                 : sum;
    }
    return loss;
}

static void check(struct fixture *f, int64_t rows) {
    const int64_t counts[] = {f->out * IN, f->out};
    f->batch.rows = rows;
    for (int i = 0; i < FLOATS_MAX; i++) f->gradients[i] = NAN;
    assert_int_equal(lathe_ops_.forward(f->self, &f->pass), LATHE_OK);
    assert_close(f->pass.loss_sum, loss_in_double(f), 2e-6);
    assert_true(f->pass.weight_sum == (double)rows);
    for (int64_t i = 0; i < rows * f->out; i++)
        assert_close(f->output[i], output_in_double(f, i / f->out, i % f->out), 2e-6);
    for (f->pass.add = 0; f->pass.add < 2; f->pass.add++) {
        assert_int_equal(lathe_ops_.backward(f->self, &f->pass), LATHE_OK);
        for (int p = 0; p < 2; p++)
            for (int64_t i = 0; i < counts[p]; i++) {
                int64_t at = f->plan.offset[p] + i;
                double slope = array_slope(loss_in_double, f, &f->w[at]);
                assert_close(f->gradients[at], (1 + f->pass.add) * slope, 5e-6);
            }
    }
    f->pass.add = 0;
}

static void classification_and_its_gradient(void **state) {
    (void)state;
    struct fixture f;
    open_model(&f, 4, 0);
    for (int64_t rows = 0; rows <= ROWS; rows++) check(&f, rows);
    assert_true(f.metrics[1] == ROWS && f.metrics[0] <= ROWS);
    close_model(&f);
}

static void regression_and_its_gradient(void **state) {
    (void)state;
    struct fixture f;
    for (int64_t width = 1; width <= 3; width++) {
        open_model(&f, 0, width);
        for (int64_t rows = 0; rows <= ROWS; rows++) check(&f, rows);
        close_model(&f);
    }
}

static void declares_weight_and_bias(void **state) {
    (void)state;
    struct fixture f;
    open_model(&f, 4, 0);
    const lathe_parameter *p = f.plan.parameters;
    assert_int_equal(f.plan.parameter_count, 2);
    assert_string_equal(p[0].name, "weight");
    assert_true(p[0].rank == 2 && p[0].shape[0] == 4 && p[0].shape[1] == IN);
    assert_string_equal(p[1].name, "bias");
    assert_true(p[1].rank == 1 && p[1].shape[0] == 4);
    assert_true(p[0].flags == 0 && p[1].flags == LATHE_NO_DECAY);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(p[i].init, LATHE_INIT_UNIFORM);
        assert_true(p[i].b == 1 / sqrt(IN) && p[i].a == -p[i].b);
    }
    assert_string_equal(f.plan.metric.name, "accuracy");
    assert_int_equal(f.plan.output.shape[0], 4);
    close_model(&f);
}

static void frozen_parameters_are_left_alone(void **state) {
    (void)state;
    for (int frozen = 0; frozen < 2; frozen++) {
        struct fixture f;
        open_model(&f, 4, 0);
        f.plan.trainable[frozen] = 0;
        assert_int_equal(fake_plan_bind(&f.plan, &lathe_ops_, f.self, ROWS), LATHE_OK);
        for (int i = 0; i < FLOATS_MAX; i++) f.gradients[i] = NAN;
        lathe_ops_.forward(f.self, &f.pass);
        lathe_ops_.backward(f.self, &f.pass);
        assert_true(isnan(f.gradients[f.plan.offset[frozen]]));
        assert_false(isnan(f.gradients[f.plan.offset[!frozen]]));
        close_model(&f);
    }
}

static void predict_reads_no_labels(void **state) {
    (void)state;
    struct fixture f;
    open_model(&f, 4, 0);
    f.pass.mode = LATHE_PREDICT;
    f.pass.metrics = NULL;
    f.tensors[0].data = NULL;
    assert_int_equal(lathe_ops_.forward(f.self, &f.pass), LATHE_OK);
    assert_close(f.output[5], output_in_double(&f, 1, 1), 2e-6);
    close_model(&f);
}

static void what_does_not_suit_is_told(void **state) {
    (void)state;
    struct fixture f;
    assert_int_equal(describe_model(&f, "{\"loss\": \"mse\"}", 4, 0), LATHE_EINVAL);
    assert_non_null(strstr(f.host.failure, "loss \"mse\" needs numbers"));
    close_model(&f);
    assert_int_equal(describe_model(&f, "{\"loss\": \"cross-entropy\"}", 0, 1),
                     LATHE_EINVAL);
    assert_non_null(strstr(f.host.failure, "loss \"cross-entropy\" needs classes"));
    close_model(&f);
    open_model(&f, 4, 0);
    f.labels[3] = 4;
    assert_int_equal(lathe_ops_.forward(f.self, &f.pass), LATHE_EDATA);
    assert_string_equal(f.host.failure,
                        "label 4 at position 103 is not one of the 4 classes, 0 to 3");
    assert_int_equal(fake_plan_bind(&f.plan, &lathe_ops_, f.self, INT64_MAX / 4),
                     LATHE_ENOMEM);
    f.input.name = "tokens";
    assert_int_equal(lathe_ops_.describe(f.self, &f.plan.table), LATHE_EINVAL);
    assert_string_equal(f.host.failure,
                        "linear reads a field \"input\", which the data does not have; "
                        "fields: \"label\", \"tokens\"");
    close_model(&f);
}

/* ---- a run ---- */

static const char experiment[] =
    "{'lathe':1,'seed':3,'data':{'train':{'use':'blobs','samples':60,'features':5}},"
    "'model':{'use':'linear'},'optimizer':{'use':'sgd','lr':0.5,'momentum':0.9},"
    "'train':{'until':'5ep','batch':20,'shards':2}}";

/* All weights after a run from given ones. */
static int64_t train(const char *const *overrides, float *weights) {
    struct run run;
    int64_t count = 0;
    run_open(&run, experiment, overrides);
    if (run.status != LATHE_OK) fail_msg("%s (%s)", run.error.what, run.error.where);
    float *all = lathe_weights(run.session, LATHE_WRITE, &count);
    array_fill(all, count, 0.5f, 9);
    assert_int_equal(lathe_run(run.session), LATHE_OK);
    memcpy(weights, lathe_weights(run.session, LATHE_READ, NULL),
           (size_t)count * sizeof(float));
    assert_true(run_value(&run, "train/accuracy") > 0.9);
    run_finish(&run);
    return count;
}

static void it_is_mlp_without_hidden_layers(void **state) {
    (void)state;
    float linear[256], mlp[256];
    int64_t count = train(NULL, linear);
    assert_int_equal(train(OVERRIDES("model={\"use\":\"mlp\",\"hidden\":[]}"), mlp),
                     count);
    assert_memory_equal(linear, mlp, (size_t)count * sizeof(float));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classification_and_its_gradient),
        cmocka_unit_test(regression_and_its_gradient),
        cmocka_unit_test(declares_weight_and_bias),
        cmocka_unit_test(frozen_parameters_are_left_alone),
        cmocka_unit_test(predict_reads_no_labels),
        cmocka_unit_test(what_does_not_suit_is_told),
        cmocka_unit_test(it_is_mlp_without_hidden_layers),
    };
    return cmocka_run_group_tests_name("model linear", tests, NULL, NULL);
}
