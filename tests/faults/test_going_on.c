/* SPDX-License-Identifier: MIT */
/* labels: no-tsan no-valgrind */
/* What others' trainers got wrong when a run went on: the order of its data, its rates,
 * its epochs, what callbacks had seen, which files are kept. */
#include "support/scratch.h"
#include "support/test.h"

#include "checkpoints.h"
#include "json.h"
#include "support/turns.h"

/* %s: the recorder's file. Ten batches an epoch. */
static const char experiment[] =
    "{ \"lathe\": 1, \"seed\": 3,"
    "  \"data\": {"
    "    \"train\": { \"use\": \"ids\", \"count\": 20, \"noise\": 0.5 },"
    "    \"validation\": { \"use\": \"ids\", \"count\": 4, \"inputs\": [1] } },"
    "  \"model\": { \"use\": \"scalar\", \"start\": 2 },"
    "  \"optimizer\": { \"use\": \"sgd\", \"lr\": 0.1, \"momentum\": 0.9 },"
    "  \"train\": { \"until\": \"4ep\", \"batch\": 2, \"accumulate\": 3 },"
    "  \"callbacks\": ["
    "    { \"use\": \"recorder\", \"file\": \"%s\" },"
    "    { \"use\": \"checkpoint\", \"every\": \"1step\" },"
    "    { \"use\": \"chaos\", \"act\": \"none\" } ] }";

struct trial {
    struct scratch scratch;
    char text[2048], run[300], record[300];
};

static void begin(struct trial *trial, const char *name) {
    const char *directory = trial->scratch.directory;
    snprintf(trial->run, sizeof trial->run, "%s/%s", directory, name);
    snprintf(trial->record, sizeof trial->record, "%s/%s.record", directory, name);
    snprintf(trial->text, sizeof trial->text, experiment, trial->record);
}

static void again(struct trial *trial, const char *const *overrides) {
    struct outcome outcome = turn(NULL, trial->run, 1, overrides);
    if (outcome.status) fail_msg("%s; %s", outcome.error.what, outcome.error.where);
    finish(&outcome);
}

/* Up to which step its lines stand, where a run goes on after step `from`: what came
 * after the checkpoint comes again. */
static bool is_made_again(const char *point, int step, int from) {
    static const char *const before[] = {"batch_end", "gradients_ready", "epoch_begin"};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        if (!strcmp(point, before[i])) return step >= from;
    return step > from;
}

static void forget_from(struct text *lines, const char *point, int from) {
    int step = 0;
    for (char *line = lines->data; *line; line = strchr(line, '\n') + 1)
        if (sscanf(line, "%*s %*d %d", &step) == 1 &&
            is_made_again(point, step, from)) {
            *line = 0;
            lines->length = (size_t)(line - lines->data);
            return;
        }
}

/* The recorder's lines of a point, without what was made again; the caller's. */
static char *lines_of(const struct trial *trial, const char *point) {
    struct text found = {0};
    char line[512];
    int step;
    FILE *file = fopen(trial->record, "r");
    text_add(&found, "");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "run_begin %*d %d", &step) == 1)
            forget_from(&found, point, step);
        else if (!strncmp(line, point, strlen(point)) && line[strlen(point)] == ' ')
            text_add(&found, line);
    if (file) fclose(file);
    return found.data;
}

static void assert_same_lines(const struct trial *whole, const struct trial *killed,
                              const char *point, const char *when) {
    char *expected = lines_of(whole, point), *found = lines_of(killed, point);
    if (strcmp(expected, found) != 0)
        fail_msg("%s: %s\n%s\nnot\n%s", when, point, found, expected);
    free(expected);
    free(found);
}

/* Killed before each step in turn: no sample comes twice, none is left out, and rates,
 * losses and weights are those of a run that was not. */
static void kill_before_each_step(const char *accumulate, const char *schedule) {
    static const char *const same[] = {"batch_end",      "step_end",  "gradients_ready",
                                       "validation_end", "epoch_end", "epoch_begin"};
    const char *plain[] = {accumulate, schedule, NULL};
    struct trial whole, killed;
    char at[64];
    scratch_init_fast(&whole.scratch);
    killed.scratch = whole.scratch;
    begin(&whole, "whole");
    struct outcome expected = turn(whole.text, whole.run, 1, plain);
    if (expected.status) fail_msg("%s; %s", expected.error.what, expected.error.where);
    for (int64_t step = 1; step < expected.step; step += IS_SANITIZED ? 7 : 3) {
        const char *ended[] = {accumulate,
                               schedule,
                               at,
                               "callbacks.chaos.act=kill",
                               "callbacks.chaos.point=step_begin",
                               NULL};
        snprintf(at, sizeof at, "callbacks.chaos.at=%d", (int)step);
        begin(&killed, "killed");
        run_killed(killed.text, killed.run, 1, ended);
        again(&killed, (const char *const[]){"callbacks.chaos.act=none", NULL});
        for (size_t i = 0; i < sizeof same / sizeof *same; i++)
            assert_same_lines(&whole, &killed, same[i], at);
        scratch_run(&whole.scratch, "rm -rf killed killed.record");
    }
    finish(&expected);
    scratch_finish(&whole.scratch);
}

static void each_sample_comes_once(void **state) {
    (void)state;
    kill_before_each_step("train.accumulate=1",
                          "schedule={\"use\": \"step\", \"every\": \"7step\"}");
    kill_before_each_step("train.accumulate=3",
                          "schedule={\"use\": \"cosine\", \"warmup\": \"1ep\"}");
}

static void rates_go_on(void **state) {
    (void)state;
    kill_before_each_step("train.accumulate=4",
                          "schedule={\"use\": \"plateau\", \"patience\": 1, "
                          "\"threshold\": 5, \"watch\": \"validation/loss\"}");
    kill_before_each_step("train.accumulate=2",
                          "schedule={\"use\": \"step\", \"every\": \"1ep\"}");
}

/* Completed, and told to go further: the next thing is the next step, or epoch. */
static void a_finished_run_goes_further(void **state) {
    static const struct {
        const char *until, *further, *begins;
    } cases[] = {
        {"train.until=2ep", "train.until=4ep", "run_begin 2 8 0 \nepoch_begin 3 8 0 "},
        {"train.until=6step", "train.until=10step",
         "run_begin 2 6 0 \nstep_begin 2 6 0 "},
    };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct trial trial;
        struct text found = {0};
        char line[512];
        int point, epoch, step;
        scratch_init_fast(&trial.scratch);
        begin(&trial, "run");
        const char *first[] = {cases[i].until, NULL},
                   *more[] = {cases[i].further, NULL};
        struct outcome outcome = turn(trial.text, trial.run, 1, first);
        assert_int_equal(outcome.status, LATHE_OK);
        finish(&outcome);
        scratch_run(&trial.scratch, "mv run.record before");
        again(&trial, more);
        FILE *file = fopen(trial.record, "r");
        for (int k = 0; k < 2 && fgets(line, sizeof line, file); k++) {
            assert_int_equal(sscanf(line, "%*s%n %d %d", &point, &epoch, &step), 2);
            text_format(&found, "%.*s %d %d 0 \n", point, line, epoch, step);
        }
        fclose(file);
        found.data[found.length - 1] = 0;
        assert_string_equal(found.data, cases[i].begins);
        text_finish(&found);
        scratch_finish(&trial.scratch);
    }
}

/* Once something has been written, which happens in the background. */
static void kill_in_step_9(void *context, const char *line) {
    const struct trial *trial = context;
    char path[400];
    if (!strstr(line, "reduce ") || !strstr(line, " step=9 ")) return;
    snprintf(path, sizeof path, "%s/checkpoints/last.safetensors", trial->run);
    for (int i = 0; i < 1000 && access(path, F_OK); i++) usleep(10000);
    kill(getpid(), SIGKILL);
}

/* Saves where chaos asks for it, and nowhere else. */
static void save_and_die(const struct trial *trial, const char *point) {
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        lathe_session *session;
        const lathe_session_options options = {
            .size = sizeof options,
            .experiment = trial->text,
            .overrides = (const char *const[]){"callbacks.checkpoint.every=off",
                                               "callbacks.chaos.act=save", point, NULL},
            .plugin_paths = plugin_places(),
            .run_directory = trial->run,
            .trace = kill_in_step_9,
            .context = (void *)(uintptr_t)trial};
        if (!lathe_open(&options, &session, NULL)) lathe_run(session);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status)) fail_msg("%s: it was not killed", point);
}

/* A save that is asked for anywhere is of a whole step. */
static void saved_from_every_point(void **state) {
    static const char *const points[] = {
        "run_begin",      "epoch_begin",      "step_begin",           "batch_begin",
        "loss_ready",     "batch_end",        "gradients_ready",      "step_end",
        "validation_end", "validation_begin", "validation_batch_end", "epoch_end"};
    static const char *const calm[] = {"callbacks.chaos.act=none",
                                       "callbacks.checkpoint.every=1step", NULL};
    struct trial trial;
    char point[64];
    (void)state;
    scratch_init_fast(&trial.scratch);
    begin(&trial, "whole");
    struct outcome expected = turn(trial.text, trial.run, 1, NULL);
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        snprintf(point, sizeof point, "callbacks.chaos.point=%s", points[i]);
        begin(&trial, "killed");
        save_and_die(&trial, point);
        scratch_run(&trial.scratch, "test -e killed/checkpoints/last.safetensors");
        struct outcome found = turn(NULL, trial.run, 1, calm);
        assert_same(&expected, &found, point);
        finish(&found);
        scratch_run(&trial.scratch, "rm -rf killed killed.record");
    }
    finish(&expected);
    scratch_finish(&trial.scratch);
}

/* Four visits without improvement stop it, two before the kill and two after. */
static void patience_is_not_given_back(void **state) {
    static const char *const common[] = {"optimizer.lr=0", "train.until=20ep",
                                         "callbacks=[{\"use\": \"early-stopping\", "
                                         "\"patience\": 4}, {\"use\": \"chaos\", "
                                         "\"act\": \"kill\", \"at\": 13}]",
                                         NULL};
    static const char *const calm[] = {"callbacks.chaos.act=none", NULL};
    struct trial trial;
    (void)state;
    scratch_init_fast(&trial.scratch);
    begin(&trial, "killed");
    run_killed(trial.text, trial.run, 1,
               (const char *const[]){common[0], common[1], common[2],
                                     "callbacks.chaos.point=step_end", NULL});
    struct outcome found = turn(NULL, trial.run, 1, calm);
    assert_string_equal(found.reason, "stopped");
    assert_int_equal(found.step, 4 * 5);
    finish(&found);
    scratch_finish(&trial.scratch);
}

/* Losses rise: the first is the best, whoever comes later; and no more files are kept
 * than were asked for, over three kills. */
static void the_best_stays_and_no_more_are_kept(void **state) {
    static const char rising[] = "{\"use\": \"ids\", \"count\": 6, \"inputs\": [-1]}";
    struct trial trial;
    char data[128], at[64];
    (void)state;
    scratch_init_fast(&trial.scratch);
    begin(&trial, "killed");
    snprintf(data, sizeof data, "data.train=%s", rising);
    for (int step = 3; step < 12; step += 3) {
        const char *killed[] = {data,
                                at,
                                "callbacks.chaos.act=kill",
                                "train.validate=1step",
                                "callbacks.checkpoint.keep=2",
                                "callbacks.checkpoint.best=validation/loss",
                                "train.until=20step",
                                NULL};
        snprintf(at, sizeof at, "callbacks.chaos.at=%d", step);
        run_killed(step > 3 ? NULL : trial.text, trial.run, 1,
                   step > 3 ? (const char *const[]){at, NULL} : killed);
        scratch_run(&trial.scratch,
                    step > 3 ? "cmp best killed/checkpoints/best.safetensors"
                             : "cp killed/checkpoints/best.safetensors best");
    }
    again(&trial, (const char *const[]){"callbacks.chaos.act=none", NULL});
    scratch_run(&trial.scratch,
                "cmp best killed/checkpoints/best.safetensors && "
                "test $(readlink killed/checkpoints/best.safetensors) = "
                "step-00000001.safetensors && "
                "test $(ls killed/checkpoints/step-* | wc -l) = 2");
    scratch_finish(&trial.scratch);
}

static void weights_that_are_not_finite_are_never_saved(void **state) {
    static const char *const overrides[] = {"callbacks.chaos.act=nan-weights",
                                            "callbacks.chaos.at=5", NULL};
    static const char *const calm[] = {"callbacks.chaos.act=none", NULL};
    struct trial trial;
    (void)state;
    scratch_init_fast(&trial.scratch);
    begin(&trial, "whole");
    struct outcome expected = turn(trial.text, trial.run, 1, NULL);
    begin(&trial, "run");
    struct outcome found = turn(trial.text, trial.run, 1, overrides);
    assert_int_equal(found.status, LATHE_EGATE);
    assert_string_equal(found.reason, "nonfinite");
    finish(&found);
    scratch_run(&trial.scratch,
                "test $(readlink run/checkpoints/last.safetensors) = "
                "step-00000004.safetensors && grep -q 'not finite, so they are not "
                "saved; the last that are: .*/step-00000004.safetensors' run/log.txt");
    found = turn(NULL, trial.run, 1, calm);
    assert_same(&expected, &found, "nan-weights");
    finish(&found);
    finish(&expected);
    scratch_finish(&trial.scratch);
}

/* What is saved at a step that is validated has that step's value. */
static void a_checkpoint_has_the_metric_of_its_step(void **state) {
    static const char *const overrides[] = {"train.validate=2step",
                                            "callbacks.checkpoint.every=2step",
                                            "train.until=6step", NULL};
    struct trial trial;
    struct safetensors *file;
    struct json *loop;
    struct error err;
    char *path;
    (void)state;
    scratch_init_fast(&trial.scratch);
    begin(&trial, "run");
    struct outcome outcome = turn(trial.text, trial.run, 1, overrides);
    assert_int_equal(outcome.status, LATHE_OK);
    finish(&outcome);
    assert_int_equal(
        checkpoints_newest(trial.run, &(struct log){0}, &file, &path, &err), LATHE_OK);
    const char *note = safetensors_note(file, "lathe.loop");
    assert_int_equal(json_parse(note, strlen(note), "", &loop, &err), LATHE_OK);
    const struct json *metric = json_get(json_get(loop, "metrics"), "validation/loss");
    assert_true(json_exact(json_at(metric, 5)) == 6); /* the step it is of */
    json_close(loop);
    safetensors_close(file);
    free(path);
    scratch_finish(&trial.scratch);
}

/* Time that was used up stays so; how much a turn used is the machine's affair, so
 * "further" is tried with ever more of it. */
static void time_is_counted_on(void **state) {
    static const char *const little[] = {"train.until=0.1s", NULL};
    char until[32];
    const char *const more[] = {until, NULL};
    struct trial trial;
    (void)state;
    scratch_init_fast(&trial.scratch);
    begin(&trial, "run");
    struct outcome first = turn(trial.text, trial.run, 1, little);
    assert_string_equal(first.reason, "completed");
    struct outcome same = turn(NULL, trial.run, 1, NULL);
    assert_string_equal(same.reason, "completed");
    assert_int_equal(same.step, first.step);
    int64_t reached = first.step;
    for (int tenths = 2; reached == first.step && tenths < 1000; tenths *= 2) {
        snprintf(until, sizeof until, "train.until=%d.%ds", tenths / 10, tenths % 10);
        struct outcome further = turn(NULL, trial.run, 1, more);
        assert_string_equal(further.reason, "completed");
        reached = further.step;
        finish(&further);
    }
    assert_true(reached > first.step);
    finish(&first);
    finish(&same);
    scratch_finish(&trial.scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sample_comes_once),
        cmocka_unit_test(rates_go_on),
        cmocka_unit_test(a_finished_run_goes_further),
        cmocka_unit_test(saved_from_every_point),
        cmocka_unit_test(patience_is_not_given_back),
        cmocka_unit_test(the_best_stays_and_no_more_are_kept),
        cmocka_unit_test(weights_that_are_not_finite_are_never_saved),
        cmocka_unit_test(a_checkpoint_has_the_metric_of_its_step),
        cmocka_unit_test(time_is_counted_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
