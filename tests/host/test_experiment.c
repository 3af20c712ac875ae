/* SPDX-License-Identifier: MIT */
/* What an experiment comes to: overrides, nested plugins, ids, paths, origins. The
 * plugins are nothing but manifests; errors have a file of their own,
 * test_experiment_errors.c. */
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/experiments.h"

static void the_least_experiment_gets_every_default(void **state) {
    struct opened opened;
    open_well(&opened, *state, LEAST, NULL);
    const struct experiment *experiment = opened.experiment;
    assert_string_equal(experiment->name, "experiment");
    assert_string_equal(experiment->model.manifest->name, "net");
    assert_string_equal(experiment->model.id, "net");
    assert_null(experiment->schedule.manifest);
    assert_int_equal(experiment->callback_count, 0);
    assert_int_equal(experiment->train.batch, 4);
    assert_int_equal(experiment->train.accumulate, 1);
    assert_int_equal(experiment->train.shards, 1);
    assert_int_equal(experiment->train.threads, 0);
    assert_int_equal(experiment->train.until.count, 1);
    assert_int_equal(experiment->train.until.items[0].unit, DURATION_EPOCHS);
    assert_int_equal(experiment->train.validate.count, 0);
    assert_int_equal(experiment->train.log.items[0].unit, DURATION_STEPS);
    assert_true(experiment->train.log.items[0].amount == 50);
    assert_false(experiment->train.flush_denormals);
    assert_true(experiment->train.clip_norm == 0 && experiment->train.clip_value == 0);
    assert_string_equal(value_at(&opened, "optimizer.momentum"), "0");
    assert_string_equal(value_at(&opened, "model.hidden"), "[4]");
    assert_string_equal(value_at(&opened, "callbacks"), "[]");
    finish(&opened);
}

static void validation_is_due_each_epoch_where_there_is_data(void **state) {
    struct opened opened;
    open_well(&opened, *state, WATCHED, NULL);
    assert_int_equal(opened.experiment->train.validate.count, 1);
    assert_string_equal(value_at(&opened, "train.validate"), "\"1ep\"");
    assert_string_equal(experiment_origin(opened.experiment, "train.validate"),
                        "default");
    finish(&opened);
    open_well(&opened, *state, WATCHED, OVERRIDES("train.validate=off"));
    assert_int_equal(opened.experiment->train.validate.count, 0);
    finish(&opened);
}

/* override, path, value as JSON */
static const char *const typed[][3] = {
    {"name=1", "name", "\"1\""},
    {"name=true", "name", "\"true\""},
    {"name=[1]", "name", "\"[1]\""},
    {"name=a=b", "name", "\"a=b\""},
    {"seed=9007199254740991", "seed", "9007199254740991"},
    {"optimizer.lr=0.25", "optimizer.lr", "0.25"},
    {"optimizer.lr=1e-3", "optimizer.lr", "0.001"},
    {"optimizer.lr=2", "optimizer.lr", "2"},
    {"optimizer.nesterov=true", "optimizer.nesterov", "true"},
    {"model.hidden=[64,32]", "model.hidden", "[64,32]"},
    {"model.hidden.0=7", "model.hidden.0", "7"},
    {"model.shape=tall", "model.shape", "\"tall\""},
    {"model.shape=1", "model.shape", "\"1\""},
    {"train.until=500step", "train.until", "\"500step\""},
    {"train.until=[\"1ep\",\"30min\"]", "train.until", "[\"1ep\",\"30min\"]"},
    {"train.log=off", "train.log", "\"off\""},
    {"train.clip_norm=0.5", "train.clip_norm", "0.5"},
    {"train.denormals=flush", "train.denormals", "\"flush\""},
    {"data.train.rows=3", "data.train.rows", "3"},
    {"data.train.label=3", "data.train.label", "\"3\""},
    {"data.other={\"use\":\"grid\"}", "data.other.rows", "8"},
    {"data.other.use=grid", "data.other.rows", "8"},
    {"schedule.use=ramp", "schedule.warmup", "\"1ep\""},
    {"schedule={\"use\":\"ramp\",\"warmup\":\"3step\"}", "schedule.warmup",
     "\"3step\""},
    {"optimizer={\"use\":\"fancy\"}", "optimizer.beta", "0.9"},
    {"callbacks.stopper.patience=9", "callbacks.1.patience", "9"},
    {"callbacks.1.patience=9", "callbacks.stopper.patience", "9"},
    {"callbacks.meter.every=2ep", "callbacks.meter.every", "\"2ep\""},
    {"callbacks.0.id=m", "callbacks.m.every", "\"100step\""},
    {"callbacks=[]", "callbacks", "[]"},
    {"callbacks=[{\"use\":\"stopper\"}]", "callbacks.0.patience", "3"},
    {"expect.train/loss=< 2", "expect.train/loss", "\"< 2\""},
};

static void overrides_are_typed_by_what_is_declared(void **state) {
    for (size_t i = 0; i < sizeof typed / sizeof typed[0]; i++) {
        struct opened opened;
        open_well(&opened, *state, WATCHED, OVERRIDES(typed[i][0]));
        assert_string_equal(value_at(&opened, typed[i][1]), typed[i][2]);
        finish(&opened);
    }
}

static void an_overridden_value_is_of_the_command_line_and_no_other(void **state) {
    for (size_t i = 0; i < sizeof typed / sizeof typed[0]; i++) {
        struct opened opened;
        char path[64];
        snprintf(path, sizeof path, "%.*s", (int)strcspn(typed[i][0], "="),
                 typed[i][0]);
        open_well(&opened, *state, WATCHED, OVERRIDES(typed[i][0]));
        if (strcmp(path, "callbacks.0.id") != 0) /* which renames the callback */
            assert_string_equal(experiment_origin(opened.experiment, path),
                                "command line");
        assert_string_equal(experiment_origin(opened.experiment, "lathe"), "file");
        assert_string_equal(experiment_origin(opened.experiment, "train.shards"),
                            "default");
        finish(&opened);
    }
}

static void later_overrides_win(void **state) {
    struct opened opened;
    open_well(&opened, *state, WATCHED,
              OVERRIDES("optimizer.lr=1", "optimizer.lr=2", "optimizer.lr=3"));
    assert_string_equal(value_at(&opened, "optimizer.lr"), "3");
    finish(&opened);
    open_well(&opened, *state, WATCHED,
              OVERRIDES("optimizer.momentum=1", "optimizer={\"use\":\"fancy\"}",
                        "optimizer.beta=0.5"));
    assert_string_equal(value_at(&opened, "optimizer.beta"), "0.5");
    assert_string_equal(value_at(&opened, "optimizer.lr"), "0.001");
    assert_string_equal(experiment_origin(opened.experiment, "optimizer.lr"),
                        "default");
    assert_string_equal(experiment_origin(opened.experiment, "optimizer.use"),
                        "command line");
    finish(&opened);
}

static void values_of_stages_know_where_they_were_written(void **state) {
    static const struct {
        size_t stage;
        const char *path, *origin;
    } expected[] = {
        {0, "train.until", "command line"}, {0, "train.batch", "file"},
        {0, "optimizer.lr", "file"},        {0, "stages", "command line"},
        {1, "train.until", "command line"}, {1, "train.batch", "command line"},
        {1, "optimizer.lr", "file"},        {1, "train.accumulate", "default"},
    };
    struct opened opened;
    open_well(&opened, *state, WATCHED,
              OVERRIDES("stages=[{\"train\":{\"until\":\"1ep\"}},{}]",
                        "stages.1.train.until=2ep", "stages.1.train.batch=7"));
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct experiment *stage =
            expected[i].stage ? opened.experiment->stages[0] : opened.experiment;
        assert_string_equal(experiment_origin(stage, expected[i].path),
                            expected[i].origin);
    }
    finish(&opened);
    /* A part that names its plugin takes the place of the whole. */
    open_well(&opened, *state, WATCHED,
              OVERRIDES("stages=[{},{\"optimizer\":{\"use\":\"fancy\"}}]"));
    assert_string_equal(experiment_origin(opened.experiment->stages[0], "optimizer.lr"),
                        "default");
    assert_string_equal(experiment_origin(opened.experiment, "optimizer.lr"), "file");
    finish(&opened);
}

static void an_override_leaves_the_given_text_alone(void **state) {
    struct opened opened;
    open_well(&opened, *state, WATCHED, OVERRIDES("optimizer.lr=3"));
    const struct json *given = json_get(opened.experiment->given, "optimizer");
    assert_true(json_number(json_get(given, "lr")) == 0.5);
    assert_string_equal(opened.experiment->overrides[0], "optimizer.lr=3");
    assert_null(opened.experiment->overrides[1]);
    finish(&opened);
}

static void nested_plugins_have_ids_and_paths_of_their_outer_ones(void **state) {
    struct opened opened;
    open_well(&opened, *state,
              "{'lathe':1,'data':{'train':{'use':'part','of':{'use':'joined','parts':["
              "{'use':'grid'},{'use':'part','id':'mine','of':{'use':'grid'}}]}}},"
              "'model':{'use':'net'},'optimizer':{'use':'plain'},"
              "'train':{'until':'1ep'}}",
              OVERRIDES("data.train.of.parts.1.of.rows=3"));
    const struct use *outer = experiment_data(opened.experiment, "train");
    assert_string_equal(outer->id, "train");
    assert_string_equal(outer->path, "data.train");
    assert_null(outer->option);
    assert_int_equal(outer->nested_count, 1);
    const struct use *joined = &outer->nested[0];
    assert_string_equal(joined->id, "train.of");
    assert_string_equal(joined->option, "of");
    assert_string_equal(joined->path, "data.train.of");
    assert_int_equal(joined->nested_count, 2);
    assert_string_equal(joined->nested[0].id, "train.of.parts.0");
    assert_string_equal(joined->nested[0].option, "parts/0");
    assert_string_equal(joined->nested[0].manifest->name, "grid");
    assert_string_equal(joined->nested[1].id, "mine");
    assert_string_equal(joined->nested[1].nested[0].id, "mine.of");
    assert_string_equal(joined->nested[1].nested[0].path, "data.train.of.parts.1.of");
    assert_int_equal(json_whole(json_get(joined->nested[1].nested[0].options, "rows")),
                     3);
    assert_null(experiment_data(opened.experiment, "validation"));
    finish(&opened);
}

static void callbacks_are_addressed_by_id_and_else_by_index(void **state) {
    struct opened opened;
    open_well(&opened, *state,
              LEAST_AND ",'callbacks':[{'use':'meter','id':'a'},{'use':'meter'}]}",
              OVERRIDES("callbacks.a.every=1ep", "callbacks.meter.every=2ep"));
    assert_string_equal(opened.experiment->callbacks[0].path, "callbacks.a");
    assert_string_equal(opened.experiment->callbacks[1].path, "callbacks.meter");
    assert_string_equal(value_at(&opened, "callbacks.0.every"), "\"1ep\"");
    assert_string_equal(value_at(&opened, "callbacks.1.every"), "\"2ep\"");
    finish(&opened);
}

static void callbacks_may_watch_those_before_them(void **state) {
    struct opened opened;
    open_well(&opened, *state, WATCHED,
              OVERRIDES("callbacks.stopper.watch=train/speed",
                        "expect.validation/accuracy=>= 0.5",
                        "expect.train/speed=>-1e3"));
    assert_int_equal(opened.experiment->expectation_count, 2);
    const struct expectation *expectation = opened.experiment->expectations;
    assert_string_equal(expectation[0].metric, "validation/accuracy");
    assert_string_equal(expectation[0].comparison, ">=");
    assert_true(expectation[0].bound == 0.5);
    assert_string_equal(expectation[1].comparison, ">");
    assert_true(expectation[1].bound == -1000);
    finish(&opened);
}

static void a_missing_seed_is_drawn_and_recorded(void **state) {
    struct opened first, second;
    open_well(&first, *state, SEEDLESS, NULL);
    open_well(&second, *state, SEEDLESS, NULL);
    assert_true(first.experiment->is_seed_drawn);
    assert_true(first.experiment->seed < (uint64_t)1 << 53);
    assert_true(first.experiment->seed != second.experiment->seed);
    assert_string_equal(experiment_origin(first.experiment, "seed"), "drawn");
    assert_int_equal(json_whole(json_get(first.experiment->resolved, "seed")),
                     first.experiment->seed);
    finish(&first);
    finish(&second);
    open_well(&first, *state, LEAST, NULL);
    assert_false(first.experiment->is_seed_drawn);
    assert_int_equal(first.experiment->seed, 1);
    assert_string_equal(experiment_origin(first.experiment, "seed"), "file");
    finish(&first);
}

static void paths_are_relative_to_the_experiment(void **state) {
    char folder[] = "/tmp/lathe-experiment-XXXXXX", file[64], data[64], wanted[96];
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/first-run.json", folder);
    snprintf(data, sizeof data, "%s/rows.csv", folder);
    write_file(file, LEAST);
    write_file(data, "1,2\n");
    struct opened opened;
    open_well(&opened, *state, file, OVERRIDES("data.train.file=./rows.csv"));
    snprintf(wanted, sizeof wanted, "\"%s\"", data);
    assert_string_equal(opened.experiment->name, "first-run");
    assert_string_equal(opened.experiment->directory, folder);
    assert_string_equal(value_at(&opened, "data.train.file"), wanted);
    assert_string_equal(experiment_origin(opened.experiment, "data.train.file"),
                        "command line");
    finish(&opened);
    unlink(data);
    unlink(file);
    rmdir(folder);
}

static void resolved_holds_every_value_with_its_origin(void **state) {
    struct opened opened;
    struct text text = {0};
    struct json *root = NULL;
    struct error err = {0};
    open_well(&opened, *state, WATCHED, OVERRIDES("model.hidden=[64,32]", "name=x"));
    experiment_write_resolved(opened.experiment, NULL, NULL, NULL, &text);
    assert_int_equal(json_parse(text.data, text.length, "resolved", &root, &err),
                     LATHE_OK);
    const struct json *resolved = opened.experiment->resolved;
    /* origin and plugin_path */
    assert_int_equal(json_size(root), json_size(resolved) + 2);
    for (size_t i = 0; i < json_size(resolved); i++)
        assert_true(
            json_same(json_get(root, json_key_at(resolved, i)), json_at(resolved, i)));
    static const char *const origins[][2] = {
        {"lathe", "file"},
        {"name", "command line"},
        {"seed", "file"},
        {"data.train.use", "file"},
        {"data.train.rows", "default"},
        {"data.validation.use", "file"},
        {"data.validation.rows", "default"},
        {"model.use", "file"},
        {"model.hidden.0", "command line"},
        {"model.hidden.1", "command line"},
        {"model.shape", "default"},
        {"optimizer.use", "file"},
        {"optimizer.lr", "file"},
        {"optimizer.momentum", "default"},
        {"optimizer.nesterov", "default"},
        {"train.until", "file"},
        {"train.batch", "file"},
        {"train.accumulate", "default"},
        {"train.clip_norm", "default"},
        {"train.clip_value", "default"},
        {"train.validate", "default"},
        {"train.log", "default"},
        {"train.shards", "default"},
        {"train.threads", "default"},
        {"train.prefetch", "default"},
        {"train.denormals", "default"},
        {"train.only", "default"},
        {"train.nonfinite", "default"},
        {"callbacks.meter.use", "file"},
        {"callbacks.meter.every", "default"},
        {"callbacks.stopper.use", "file"},
        {"callbacks.stopper.watch", "default"},
        {"callbacks.stopper.patience", "default"},
    };
    const struct json *found = json_get(root, "origin");
    for (size_t i = 0; i < sizeof origins / sizeof origins[0]; i++)
        assert_string_equal(json_text(json_get(found, origins[i][0])), origins[i][1]);
    assert_int_equal(json_size(found), sizeof origins / sizeof origins[0]);
    json_close(root);
    text_finish(&text);
    finish(&opened);
}

/* Every value in force, given again as an override, comes to the same experiment. */
static void every_value_can_be_pasted_back(void **state) {
    struct opened first, again;
    struct text text = {0}, override = {0};
    struct json *root = NULL;
    open_well(&first, *state, WATCHED,
              OVERRIDES("schedule.use=ramp", "expect.train/loss=<9"));
    experiment_write_resolved(first.experiment, NULL, NULL, NULL, &text);
    assert_int_equal(json_parse(text.data, text.length, "resolved", &root, NULL),
                     LATHE_OK);
    const struct json *origins = json_get(root, "origin");
    for (size_t i = 0; i < json_size(origins); i++) {
        const char *path = json_key_at(origins, i), *value = value_at(&first, path);
        struct json *parsed = NULL;
        json_parse(value, strlen(value), path, &parsed, NULL);
        text_clear(&override);
        text_format(&override, "%s=%s", path,
                    json_kind(parsed) == JSON_TEXT ? json_text(parsed) : value);
        open_well(
            &again, *state, WATCHED,
            OVERRIDES("schedule.use=ramp", "expect.train/loss=<9", override.data));
        assert_true(json_same(first.experiment->resolved, again.experiment->resolved));
        assert_string_equal(experiment_origin(again.experiment, path), "command line");
        json_close(parsed);
        finish(&again);
    }
    assert_true(json_size(origins) > 30);
    json_close(root);
    text_finish(&override);
    text_finish(&text);
    finish(&first);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_experiment_gets_every_default),
        cmocka_unit_test(validation_is_due_each_epoch_where_there_is_data),
        cmocka_unit_test(overrides_are_typed_by_what_is_declared),
        cmocka_unit_test(an_overridden_value_is_of_the_command_line_and_no_other),
        cmocka_unit_test(later_overrides_win),
        cmocka_unit_test(values_of_stages_know_where_they_were_written),
        cmocka_unit_test(an_override_leaves_the_given_text_alone),
        cmocka_unit_test(nested_plugins_have_ids_and_paths_of_their_outer_ones),
        cmocka_unit_test(callbacks_are_addressed_by_id_and_else_by_index),
        cmocka_unit_test(callbacks_may_watch_those_before_them),
        cmocka_unit_test(a_missing_seed_is_drawn_and_recorded),
        cmocka_unit_test(paths_are_relative_to_the_experiment),
        cmocka_unit_test(resolved_holds_every_value_with_its_origin),
        cmocka_unit_test(every_value_can_be_pasted_back),
    };
    return cmocka_run_group_tests_name("experiment", tests, open_plugins,
                                       close_plugins);
}
