/* SPDX-License-Identifier: MIT */
/* Runs that begin from given weights: which are taken, by what names, and what is told
 * of the others. */
#include "support/scratch.h"
#include "support/test.h"

#include <fcntl.h>
#include <stdbool.h>

#include "safetensors.h"
#include "support/runs.h"

#define OVERRIDES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Two features, then "layers.0" of eight, then "layers.1" of as many as classes. */
#define EXPERIMENT(start, more)                                                        \
    "{'lathe':1,'name':'start','seed':3,"                                              \
    "'data':{'train':{'use':'blobs','samples':96,'classes':3,'features':2}},"          \
    "'model':{'use':'mlp','hidden':[8]},'optimizer':{'use':'sgd','lr':0.1},"           \
    "'start':{'weights':'@'" start "},'train':{'until':'2ep'}" more "}"

#define TENSORS 8

struct fixture {
    struct scratch scratch;
    char path[512];
    float numbers[256];
    struct safetensor tensors[TENSORS];
    size_t count;
};

static int make_fixture(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    scratch_init(&f->scratch);
    snprintf(f->path, sizeof f->path, "%s",
             scratch_path(&f->scratch, "given.safetensors"));
    for (size_t i = 0; i < 256; i++) f->numbers[i] = (float)i / 64 - 1;
    *state = f;
    return 0;
}

static int free_fixture(void **state) {
    struct fixture *f = *state;
    scratch_finish(&f->scratch);
    free(f);
    return 0;
}

static void put(struct fixture *f, const char *name, const char *dtype, int64_t bytes,
                const void *data, int64_t rows, int64_t columns) {
    f->tensors[f->count++] = (struct safetensor){.name = name,
                                                 .dtype = dtype,
                                                 .rank = columns ? 2 : 1,
                                                 .shape = {rows, columns},
                                                 .bytes = bytes,
                                                 .data = data};
}

static void put_floats(struct fixture *f, const char *name, int64_t rows,
                       int64_t columns) {
    const int64_t count = rows * (columns ? columns : 1);
    put(f, name, "F32", count * 4, f->numbers + f->count, rows, columns);
}

static void write_file(struct fixture *f) {
    struct error err;
    int fd = open(f->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (safetensors_write(fd, f->tensors, f->count, NULL, 0, &err))
        fail_msg("%s", err.what);
    close(fd);
}

/* The file's path takes the place of @. */
static void expand_path(const struct fixture *f, const char *text, char *to) {
    for (; *text; text++) {
        if (*text == '@')
            to = stpcpy(to, f->path);
        else
            *to++ = *text;
    }
    *to = 0;
}

static void begin(const struct fixture *f, struct run *run, const char *text,
                  const char *const *overrides, bool is_turned) {
    char full[4096];
    expand_path(f, text, full);
    (is_turned ? run_begin : run_open)(run, full, overrides);
    if (run->status != LATHE_OK) print_message("%s\n", run->error.what);
}

static const float *find(const struct run *run, const char *name) {
    lathe_parameter_view p = {.size = sizeof p};
    for (int64_t i = 0; lathe_parameter_at(run->session, i, &p) == LATHE_OK; i++)
        if (!strcmp(p.name, name))
            return lathe_weights(run->session, LATHE_READ, NULL) + p.offset;
    fail_msg("no parameter %s", name);
    return NULL;
}

static void put_model(struct fixture *f, const char *const names[4], int64_t features,
                      int64_t classes) {
    put_floats(f, names[0], 8, features);
    put_floats(f, names[1], 8, 0);
    put_floats(f, names[2], classes, 8);
    put_floats(f, names[3], classes, 0);
}

static const char *const own_names[] = {"layers.0.weight", "layers.0.bias",
                                        "layers.1.weight", "layers.1.bias"};
static const char *const old_names[] = {"old.0.weight", "old.0.bias", "old.head.w",
                                        "old.head.b"};

static void given_weights_are_taken_by_name(void **state) {
    struct fixture *f = *state;
    struct run run;
    put_model(f, own_names, 2, 3);
    write_file(f);
    begin(f, &run, EXPERIMENT("", ""), NULL, false);
    assert_int_equal(run.status, LATHE_OK);
    assert_memory_equal(find(&run, own_names[0]), f->numbers, 16 * 4);
    assert_memory_equal(find(&run, own_names[1]), f->numbers + 1, 8 * 4);
    assert_memory_equal(find(&run, own_names[2]), f->numbers + 2, 24 * 4);
    assert_memory_equal(find(&run, own_names[3]), f->numbers + 3, 3 * 4);
    assert_non_null(strstr(run.log, "start: 4 of 4 parameters are those of"));
    assert_null(strstr(run.log, "missing"));
    assert_null(strstr(run.log, "not in the model"));
    run_finish(&run);
}

/* Another task: the head is new, the trunk stays as it is to the bit. */
static void a_frozen_trunk_keeps_its_bits(void **state) {
    struct fixture *f = *state;
    struct run run, untrained;
    put_model(f, old_names, 2, 7);
    write_file(f);
    static const char tuned[] =
        EXPERIMENT(",'only':'layers.0.*','rename':{'old.*':'layers.*',"
                   "'old.head.w':'layers.1.weight'}",
                   "");
    const char *const *overrides = OVERRIDES("train.only=layers.1.*");
    begin(f, &untrained, tuned, overrides, false);
    begin(f, &run, tuned, overrides, true);
    assert_int_equal(run.status, LATHE_OK);
    assert_memory_equal(find(&run, own_names[0]), f->numbers, 16 * 4);
    assert_memory_equal(find(&run, own_names[1]), f->numbers + 1, 8 * 4);
    assert_memory_not_equal(find(&run, own_names[2]), find(&untrained, own_names[2]),
                            24 * 4);
    assert_non_null(strstr(run.log, "start: 2 of 4 parameters"));
    assert_non_null(strstr(run.log, "2: start: not in the model: old.head.b"));
    run_finish(&untrained);
    run_finish(&run);
}

static void what_is_missing_or_extra_is_told(void **state) {
    struct fixture *f = *state;
    struct run run, plain;
    put_floats(f, "layers.0.weight", 8, 2);
    put_floats(f, "other", 4, 0);
    put_floats(f, "lathe/slot/momentum/layers.0.weight", 8, 2);
    write_file(f);
    begin(f, &run, EXPERIMENT("", ""), NULL, false);
    assert_non_null(strstr(run.log, "1: start: missing in it: layers.0.bias, "
                                    "layers.1.weight, layers.1.bias\n"));
    assert_non_null(strstr(run.log, "2: start: not in the model: other\n"));
    /* The rest is as it would be without a start. */
    f->count = 0;
    put_floats(f, "layers.0.bias", 8, 0);
    write_file(f);
    begin(f, &plain, EXPERIMENT("", ""), NULL, false);
    assert_memory_equal(find(&run, own_names[2]), find(&plain, own_names[2]), 24 * 4);
    run_finish(&run);
    run_finish(&plain);
}

static void other_widths_are_converted(void **state) {
    struct fixture *f = *state;
    struct run run;
    static const uint16_t halves[8] = {0x3c00, 0xc000, 0x0001, 0x83ff,
                                       0x7bff, 0x0400, 0x3555, 0x8000};
    static const float expected[8] = {1,     -2,       0x1p-24f,    -0x3ffp-24f,
                                      65504, 0x1p-14f, 0x1.554p-2f, -0.0f};
    static const uint16_t brains[3] = {0x3f80, 0xc049, 0x0001};
    static const float brains_expected[3] = {1, -3.140625f, 0x1p-133f};
    double doubles[24];
    for (int i = 0; i < 24; i++) doubles[i] = i / 3.0;
    put(f, "layers.0.bias", "F16", sizeof halves, halves, 8, 0);
    put(f, "layers.1.bias", "BF16", sizeof brains, brains, 3, 0);
    put(f, "layers.1.weight", "F64", sizeof doubles, doubles, 3, 8);
    write_file(f);
    begin(f, &run, EXPERIMENT("", ""), NULL, false);
    assert_int_equal(run.status, LATHE_OK);
    assert_memory_equal(find(&run, own_names[1]), expected, sizeof expected);
    assert_memory_equal(find(&run, own_names[3]), brains_expected,
                        sizeof brains_expected);
    for (int i = 0; i < 24; i++)
        assert_true(find(&run, own_names[2])[i] == (float)(i / 3.0));
    run_finish(&run);
}

/* Stages carry weights over; only the first begins from the file. */
static void later_stages_do_not_start_again(void **state) {
    struct fixture *f = *state;
    struct run run;
    put_model(f, own_names, 2, 3);
    write_file(f);
    begin(f, &run,
          EXPERIMENT("", ",'stages':[{'train':{'until':'1ep'}},"
                         "{'train':{'until':'1ep','only':'layers.1.*'}}]"),
          NULL, true);
    assert_int_equal(run.status, LATHE_OK);
    assert_memory_not_equal(find(&run, own_names[0]), f->numbers, 16 * 4);
    run_finish(&run);
}

static void refused(const struct fixture *f, const char *start, lathe_status status,
                    const char *what) {
    struct run run;
    char override[512];
    char *expanded = override + snprintf(override, sizeof override, "start=");
    for (; *start; start++) {
        if (*start == '@')
            expanded = stpcpy(expanded, f->path);
        else
            *expanded++ = *start == '\'' ? '"' : *start;
    }
    *expanded = 0;
    begin(f, &run, EXPERIMENT("", ""), OVERRIDES(override), false);
    assert_int_equal(run.status, status);
    if (!strstr(run.error.what, what)) fail_msg("%s: %s", override, run.error.what);
    assert_true(run.error.where[0] != 0);
    run_finish(&run);
}

static void what_does_not_fit_is_refused_before_step_0(void **state) {
    struct fixture *f = *state;
    static const int32_t whole[8] = {0};
    put_model(f, own_names, 2, 5);
    put(f, "ids", "I32", sizeof whole, whole, 8, 0);
    write_file(f);
    refused(f, "{'weights':'@'}", LATHE_EDATA,
            "tensor \"layers.1.weight\" is [5, 8], and the parameter "
            "\"layers.1.weight\" is [3, 8]");
    refused(f, "{'weights':'@','rename':{'*':'net.*'}}", LATHE_EDATA,
            "no tensor of it has the name of a parameter");
    refused(f, "{'weights':'@','only':'head.*'}", LATHE_EINVAL,
            "\"head.*\" matches no parameter");
    refused(f,
            "{'weights':'@','only':'layers.0.*','rename':"
            "{'layers.1.bias':'layers.0.bias'}}",
            LATHE_EINVAL, "would both be the parameter \"layers.0.bias\"");
    refused(f,
            "{'weights':'@','only':'layers.0.*','rename':"
            "{'layers.0.bias':'unused','ids':'layers.0.bias'}}",
            LATHE_EDATA, "tensor \"ids\" is I32");
    refused(f, "{'weights':'@','rename':{'a.*':'b'}}", LATHE_EINVAL,
            "\"a.*\" and \"b\" must have one * each, or none");
    refused(f, "{'weights':'@','rename':{'layers.*':'*','old':'layers.0.bias'}}",
            LATHE_EINVAL, "\"old\" matches no tensor of");
    refused(f, "{'weights':'@','rename':{'a':1}}", LATHE_EINVAL,
            "a name was expected, found a number");
    refused(f, "{'weights':'@','onli':'*'}", LATHE_EINVAL, "unknown key \"onli\"");
    refused(f, "{'only':'*'}", LATHE_EINVAL, "weights");
    refused(f, "{'weights':'@.not'}", LATHE_ENOTFOUND, "there is no file");
    scratch_text(&f->scratch, "given.safetensors", "these are no weights");
    refused(f, "{'weights':'@'}", LATHE_EDATA, "no safetensors file");
}

#define TEST(function)                                                                 \
    cmocka_unit_test_setup_teardown(function, make_fixture, free_fixture)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(given_weights_are_taken_by_name),
        TEST(a_frozen_trunk_keeps_its_bits),
        TEST(what_is_missing_or_extra_is_told),
        TEST(other_widths_are_converted),
        TEST(later_stages_do_not_start_again),
        TEST(what_does_not_fit_is_refused_before_step_0),
    };
    return cmocka_run_group_tests_name("start", tests, NULL, NULL);
}
