/* SPDX-License-Identifier: MIT */
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "parameters.h"

static int32_t declare(struct parameters *all, const char *name, uint32_t flags,
                       int64_t a, int64_t b) {
    const lathe_parameter p = {.size = sizeof p,
                               .flags = flags,
                               .name = name,
                               .shape = {a, b},
                               .rank = b ? 2 : 1,
                               .init = LATHE_INIT_UNIFORM,
                               .a = -2,
                               .b = 2};
    int32_t index = -1;
    struct error err;
    if (parameters_declare(all, &p, &index, &err) != LATHE_OK) fail_msg("%s", err.what);
    return index;
}

static void blocks_are_in_the_documented_order(void **state) {
    (void)state;
    struct parameters all = {0};
    declare(&all, "statistic", LATHE_BUFFER, 5, 0);
    declare(&all, "bias", LATHE_NO_DECAY, 3, 0);
    declare(&all, "weight", 0, 7, 3);
    assert_int_equal(parameters_lay_out(&all, NULL), LATHE_OK);
    assert_int_equal(all.items[2].offset, 0);
    assert_int_equal(all.items[1].offset, 32);
    assert_int_equal(all.items[0].offset, 48);
    assert_int_equal(all.groups[0].decaying_end, 32);
    assert_int_equal(all.trained_end, 48);
    assert_int_equal(all.size, 64);
    assert_int_equal(all.trainable, 24);
    parameters_finish(&all);
}

static void groups_lie_one_after_the_other(void **state) {
    (void)state;
    struct parameters all = {0};
    const char *const patterns[] = {"head.*"}, *const both[] = {"head.*", "*.bias"};
    const char *const none[] = {"tail.*"};
    int32_t bad = -1;
    struct error err;
    declare(&all, "head.weight", 0, 16, 0);
    declare(&all, "head.bias", LATHE_NO_DECAY, 16, 0);
    declare(&all, "trunk.weight", 0, 16, 2);
    declare(&all, "trunk.bias", LATHE_NO_DECAY, 16, 0);
    assert_int_equal(parameters_group(&all, none, 1, &bad, &err), LATHE_EINVAL);
    assert_string_equal(err.what, "\"tail.*\" matches no parameter of the model");
    assert_string_equal(err.help, "parameters are named like \"head.weight\"");
    bool is_chosen[4];
    assert_int_equal(parameters_choose(&all, "trunk.bais", is_chosen, &err),
                     LATHE_EINVAL);
    assert_string_equal(err.help, "did you mean \"trunk.bias\"?");
    assert_int_equal(parameters_choose(&all, "'trunk.*'", is_chosen, &err),
                     LATHE_EINVAL);
    assert_string_equal(err.help, "the quotes are part of the pattern; leave them out");
    assert_int_equal(parameters_group(&all, patterns, 1, &bad, &err), LATHE_OK);
    assert_int_equal(parameters_lay_out(&all, NULL), LATHE_OK);
    assert_int_equal(all.items[2].offset, 0);
    assert_int_equal(all.items[3].offset, 32);
    assert_int_equal(all.items[0].offset, 48);
    assert_int_equal(all.items[1].offset, 64);
    assert_int_equal(all.groups[0].decaying_end, 32);
    assert_int_equal(all.groups[1].first, 48);
    assert_int_equal(all.groups[1].end, 80);
    for (int i = 0; i < 4; i++) all.items[i].group = 0;
    assert_int_equal(parameters_group(&all, both, 2, &bad, &err), LATHE_EINVAL);
    assert_int_equal(bad, 1);
    assert_string_equal(err.what, "\"head.*\" and \"*.bias\" both match the parameter "
                                  "\"head.bias\"");
    parameters_finish(&all);
}

static void wrong_declarations_are_refused(void **state) {
    (void)state;
    struct parameters all = {0};
    declare(&all, "w", 0, 2, 2);
    lathe_parameter p = {.size = sizeof p, .name = "w", .shape = {1}, .rank = 1};
    int32_t index;
    struct error err;
    assert_int_equal(parameters_declare(&all, &p, &index, &err), LATHE_EPLUGIN);
    assert_string_equal(err.what, "parameter \"w\" is declared twice");
    p.name = "";
    assert_int_equal(parameters_declare(&all, &p, &index, &err), LATHE_EPLUGIN);
    p.name = "v";
    p.shape[0] = 0;
    assert_int_equal(parameters_declare(&all, &p, &index, &err), LATHE_EPLUGIN);
    p.rank = 2;
    p.shape[0] = p.shape[1] = (int64_t)1 << 40;
    assert_int_equal(parameters_declare(&all, &p, &index, &err), LATHE_EPLUGIN);
    p.rank = 7;
    assert_int_equal(parameters_declare(&all, &p, &index, &err), LATHE_EPLUGIN);
    p.size = 40;
    assert_int_equal(parameters_declare(&all, &p, &index, &err), LATHE_EPLUGIN);
    assert_int_equal(all.count, 1);
    parameters_finish(&all);
}

static void starts_are_drawn_by_declaration(void **state) {
    (void)state;
    struct parameters all = {0}, more = {0};
    declare(&all, "w", 0, 100, 100);
    declare(&more, "w", 0, 100, 100);
    declare(&more, "v", 0, 50, 0);
    parameters_lay_out(&all, NULL);
    parameters_lay_out(&more, NULL);
    float *a = block_create(all.size), *b = block_create(more.size);
    parameters_initialise(&all, (lathe_key){3, 4}, a);
    parameters_initialise(&more, (lathe_key){3, 4}, b);
    assert_memory_equal(a, b, 10000 * sizeof *a);
    double sum = 0, squares = 0;
    for (int i = 0; i < 10000; i++) {
        assert_true(a[i] >= -2 && a[i] < 2);
        sum += (double)a[i];
        squares += (double)a[i] * (double)a[i];
    }
    assert_true(fabs(sum / 10000) < 0.05); /* deviation of the mean: 0.0115 */
    assert_true(fabs(squares / 10000 - 4.0 / 3) < 0.06); /* variance of U(-2, 2): 4/3 */
    block_destroy(a, all.size);
    block_destroy(b, more.size);
    parameters_finish(&all);
    parameters_finish(&more);
}

static void normal_starts_have_their_moments(void **state) {
    (void)state;
    struct parameters all = {0};
    const lathe_parameter p = {.size = sizeof p,
                               .name = "w",
                               .shape = {40001},
                               .rank = 1,
                               .init = LATHE_INIT_NORMAL,
                               .a = 1,
                               .b = 3};
    int32_t index;
    parameters_declare(&all, &p, &index, NULL);
    parameters_lay_out(&all, NULL);
    float *w = block_create(all.size);
    parameters_initialise(&all, (lathe_key){5, 6}, w);
    double sum = 0, squares = 0;
    for (int i = 0; i < 40001; i++) {
        sum += (double)w[i];
        squares += ((double)w[i] - 1) * ((double)w[i] - 1);
    }
    assert_true(fabs(sum / 40001 - 1) < 0.06);
    assert_true(fabs(squares / 40001 - 9) < 0.3);
    for (int64_t i = 40001; i < all.size; i++) assert_true(w[i] == 0); /* padding */
    block_destroy(w, all.size);
    parameters_finish(&all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_in_the_documented_order),
        cmocka_unit_test(groups_lie_one_after_the_other),
        cmocka_unit_test(wrong_declarations_are_refused),
        cmocka_unit_test(starts_are_drawn_by_declaration),
        cmocka_unit_test(normal_starts_have_their_moments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
