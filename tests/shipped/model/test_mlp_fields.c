/* SPDX-License-Identifier: MIT */
/* What mlp declares for which data, and which data it refuses. */
#include "support/fake_host.h"
#include "support/fake_plan.h"

#include "model/mlp/mlp.c"
#include "model/supervised.c"

#define FIELD(its_name, its_code, ...)                                                 \
    {                                                                                  \
        .size = sizeof(lathe_field), .name = its_name, .code = its_code, .bits = 32,   \
        __VA_ARGS__                                                                    \
    }
static const lathe_field image =
    FIELD("input", LATHE_FLOAT, .rank = 2, .shape = {28, 28});
static const lathe_field digit = FIELD("label", LATHE_INT, .classes = 10);
static const lathe_field price = FIELD("label", LATHE_FLOAT, .rank = 0);
static const lathe_field pair = FIELD("label", LATHE_FLOAT, .rank = 1, .shape = {2});

static lathe_status describe_with(struct fake_host *host, struct fake_plan *plan,
                                  const char *options, const lathe_field *a,
                                  const lathe_field *b) {
    const lathe_field *fields[2] = {a, b};
    void *self = NULL;
    fake_host_init(host, options);
    fake_host_manifest(host, "model/mlp");
    fake_plan_init(plan, fields, b ? 2 : a ? 1 : 0);
    assert_int_equal(lathe_ops_.create(&host->table, &self), LATHE_OK);
    lathe_status status = lathe_ops_.describe(self, &plan->table);
    lathe_ops_.destroy(self);
    return status;
}

static void refuse(const char *options, const lathe_field *a, const lathe_field *b,
                   const char *text) {
    struct fake_host host;
    struct fake_plan plan;
    assert_int_equal(describe_with(&host, &plan, options, a, b), LATHE_EINVAL);
    assert_string_equal(host.failure, text);
    fake_host_finish(&host);
}

static void declares_a_classifier(void **state) {
    (void)state;
    struct fake_host host;
    struct fake_plan plan;
    assert_int_equal(describe_with(&host, &plan, "{\"hidden\": [512]}", &image, &digit),
                     LATHE_OK);
    assert_int_equal(plan.parameter_count, 4);
    const lathe_parameter *p = plan.parameters;
    const char *const names[] = {"layers.0.weight", "layers.0.bias", "layers.1.weight",
                                 "layers.1.bias"};
    const int64_t shapes[4][2] = {{512, 784}, {512, 0}, {10, 512}, {10, 0}};
    for (int i = 0; i < 4; i++) {
        assert_string_equal(p[i].name, names[i]);
        assert_int_equal(p[i].rank, i % 2 ? 1 : 2);
        assert_int_equal(p[i].shape[0], shapes[i][0]);
        assert_int_equal(p[i].shape[1], shapes[i][1]);
        assert_int_equal(p[i].flags, i % 2 ? LATHE_NO_DECAY : 0);
        assert_int_equal(p[i].init, LATHE_INIT_UNIFORM);
        assert_true(p[i].b == 1 / sqrt(i < 2 ? 784 : 512));
        assert_true(p[i].a == -p[i].b);
    }
    assert_int_equal(plan.metric_count, 1);
    assert_string_equal(plan.metric.name, "accuracy");
    assert_int_equal(plan.metric.flags, LATHE_HIGHER_IS_BETTER);
    assert_int_equal(plan.output_count, 1);
    assert_string_equal(plan.output.name, "output");
    assert_int_equal(plan.output.rank, 1);
    assert_int_equal(plan.output.shape[0], 10);
    fake_host_finish(&host);
}

static void declares_a_regression(void **state) {
    (void)state;
    struct fake_host host;
    struct fake_plan plan;
    assert_int_equal(describe_with(&host, &plan, "{\"hidden\": []}", &price, &image),
                     LATHE_OK);
    assert_int_equal(plan.parameter_count, 2);
    assert_int_equal(plan.parameters[0].shape[0], 1);
    assert_int_equal(plan.parameters[0].shape[1], 784);
    assert_int_equal(plan.metric_count, 0);
    assert_int_equal(plan.output.rank, 0);
    fake_host_finish(&host);
    assert_int_equal(describe_with(&host, &plan, "{\"hidden\": [], \"loss\": \"mse\"}",
                                   &pair, &image),
                     LATHE_OK);
    assert_int_equal(plan.parameters[0].shape[0], 2);
    assert_int_equal(plan.output.rank, 1);
    assert_int_equal(plan.output.shape[0], 2);
    fake_host_finish(&host);
}

static void refuses_missing_fields(void **state) {
    (void)state;
    lathe_field text = image;
    text.name = "tokens";
    refuse("{\"hidden\": []}", &text, &digit,
           "mlp reads a field \"input\", which the data does not have; fields: "
           "\"tokens\", "
           "\"label\"");
    refuse(
        "{\"hidden\": []}", &image, NULL,
        "mlp reads a field \"label\", which the data does not have; fields: \"input\"");
    refuse("{\"hidden\": []}", NULL, NULL,
           "mlp reads a field \"input\", which the data does not have; fields: none");
}

static void refuses_the_wrong_type(void **state) {
    (void)state;
    lathe_field bytes = image, wide = digit, vector = digit, doubles = price;
    bytes.code = LATHE_UINT;
    bytes.bits = 8;
    wide.bits = 64;
    vector.rank = 1;
    vector.shape[0] = 3;
    doubles.bits = 64;
    refuse("{\"hidden\": []}", &bytes, &digit,
           "mlp reads \"input\" as float32; the data has it as uint8");
    refuse("{\"hidden\": []}", &image, &doubles,
           "mlp reads \"label\" as float32; the data has it as float64");
    refuse("{\"hidden\": []}", &image, &wide,
           "loss \"cross-entropy\" needs one int32 a sample as \"label\"; the data has "
           "int64 of rank 0");
    refuse("{\"hidden\": []}", &image, &vector,
           "loss \"cross-entropy\" needs one int32 a sample as \"label\"; the data has "
           "int32 of rank 1");
}

static void refuses_the_wrong_loss(void **state) {
    (void)state;
    refuse("{\"hidden\": [], \"loss\": \"mse\"}", &image, &digit,
           "loss \"mse\" needs numbers, but \"label\" is one of 10 classes: use "
           "\"cross-entropy\" or \"auto\"");
    refuse("{\"hidden\": [], \"loss\": \"cross-entropy\"}", &image, &price,
           "loss \"cross-entropy\" needs classes, but \"label\" is a float32 without "
           "any: use \"mse\" or \"auto\"");
}

static void refuses_sizes_that_cannot_be(void **state) {
    (void)state;
    lathe_field empty = image, huge = image;
    lathe_field crowd = digit;
    empty.shape[1] = 0;
    huge.shape[0] = 1 << 20;
    huge.shape[1] = 1 << 20;
    crowd.classes = INT64_MAX;
    refuse("{\"hidden\": []}", &empty, &digit,
           "field \"input\" must have 1 to 2147483647 elements a sample");
    refuse("{\"hidden\": []}", &huge, &digit,
           "field \"input\" must have 1 to 2147483647 elements a sample");
    refuse("{\"hidden\": []}", &image, &crowd,
           "\"label\" has 9223372036854775807 classes; mlp can tell 2147483647 apart");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(declares_a_classifier),
        cmocka_unit_test(declares_a_regression),
        cmocka_unit_test(refuses_missing_fields),
        cmocka_unit_test(refuses_the_wrong_type),
        cmocka_unit_test(refuses_the_wrong_loss),
        cmocka_unit_test(refuses_sizes_that_cannot_be),
    };
    return cmocka_run_group_tests_name("model mlp: fields", tests, NULL, NULL);
}
