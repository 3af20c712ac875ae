/* SPDX-License-Identifier: MIT */
/* Callbacks: a run may begin and end in any order and for any reason, and one that goes
 * on does as if it had never ended. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "check/pace.h"
#include "check/small_run.h"
#include "check/tests.h"

static bool make_directory(struct check *check, char *path, size_t size) {
    snprintf(path, size, "%s/run-XXXXXX", check->folder);
    if (mkdtemp(path)) return true;
    return check_fail(check, "no directory for a run in %s", check->folder);
}

static bool run_in(struct pace *pace, struct script *script, bool has_directory) {
    struct check *check = pace->check;
    char path[512];
    if (!pace_next(pace)) return false;
    if (has_directory && !make_directory(check, path, sizeof path)) return false;
    script->directory = has_directory ? path : NULL;
    const bool is_well = small_run_once(check, script, NULL, NULL);
    script->directory = NULL;
    return is_well;
}

/* ---- every reason of ending ---- */

static bool fail_everywhere(struct pace *pace, bool has_directory) {
    for (int point = 0; point < POINT_COUNT; point++) {
        char options[96];
        struct script script = small_run_script(pace->check);
        snprintf(options, sizeof options, ", \"point\": \"%s\", \"at\": %d",
                 session_point_name((enum point)point), has_directory ? 2 : 0);
        script.setup.callback = options;
        script.expects_failure = true;
        if (!run_in(pace, &script, has_directory)) return false;
    }
    return true;
}

static bool end_for_reasons(struct pace *pace, bool has_directory) {
    struct script script = small_run_script(pace->check);
    bool is_well = run_in(pace, &script, has_directory);
    script.setup.callback = ", \"point\": \"step_end\", \"act\": \"stop\", \"at\": 2";
    is_well = is_well && run_in(pace, &script, has_directory);
    script.setup.callback = NULL;
    script.setup.model = ", \"nan_after\": 4";
    script.expects_failure = true;
    is_well = is_well && run_in(pace, &script, has_directory);
    script = small_run_script(pace->check);
    script.setup.until = "1step";
    is_well = is_well && run_in(pace, &script, has_directory);
    script.setup.until = "1h";
    script.stop_reason = "preempted";
    script.stop_at = 60;
    return is_well && run_in(pace, &script, has_directory);
}

void test_callback_endings(struct check *check) {
    struct pace pace = {check, "run", 2L * (5 + POINT_COUNT), 0, 0};
    for (int i = 0; i < 2; i++)
        if (!end_for_reasons(&pace, i == 1) || !fail_everywhere(&pace, i == 1)) return;
}

/* Told to stop before each call in turn. */
void test_callback_interruptions(struct check *check) {
    struct script script = small_run_script(check);
    struct pace pace = {.check = check, .what = "run"};
    int64_t calls = 0;
    script.setup.until = "2ep";
    if (!pace_next(&pace) || !small_run_once(check, &script, &calls, NULL)) return;
    pace.total = calls + 1;
    script.stop_reason = "interrupted";
    for (script.stop_at = 1; script.stop_at <= calls; script.stop_at++)
        if (!pace_next(&pace) || !small_run_once(check, &script, NULL, NULL)) return;
    check_note(check, "stopped before each of %lld calls", (long long)calls);
}

/* ---- every order ---- */

static bool go_to(struct small_run *run, int place) {
    lathe_session *s = run->session;
    lathe_status status = LATHE_OK;
    if (place > 0) status = lathe_run_begin(s);
    if (place > 1 && status == LATHE_OK) status = lathe_epoch_begin(s);
    if (place == 2 && status == LATHE_OK) status = lathe_validate(s);
    if (place > 2 && status == LATHE_OK) status = lathe_step_begin(s);
    if (place > 3 && status == LATHE_OK) status = lathe_batch_begin(s);
    if (place > 4 && status == LATHE_OK) status = lathe_forward(s);
    if (place > 5 && status == LATHE_OK) status = lathe_backward(s);
    return small_run_went_well(run, status);
}

/* Goes so far, and is closed there, or ended first. */
static bool stop_short(struct pace *pace, int place, int end) {
    struct check *check = pace->check;
    const struct script script = small_run_script(check);
    struct small_run run;
    if (!pace_next(pace)) return false;
    bool is_well = small_run_open(&run, check, &script) && go_to(&run, place);
    if (is_well && end && place)
        is_well = small_run_went_well(&run, lathe_run_end(run.session, LATHE_OK));
    small_run_close(&run);
    return is_well;
}

static lathe_status take_prediction(void *context, const lathe_prediction *prediction) {
    (void)context, (void)prediction;
    return LATHE_OK;
}

/* In place of a run. */
static bool only_visit(struct check *check) {
    const struct script script = small_run_script(check);
    struct small_run run;
    bool is_well = small_run_open(&run, check, &script);
    for (int i = 0; is_well && i < 2; i++)
        is_well = small_run_went_well(
            &run, lathe_evaluate(run.session, i ? "test" : "validation"));
    is_well =
        is_well && small_run_went_well(
                       &run, lathe_predict(run.session, "test", take_prediction, NULL));
    small_run_close(&run);
    return is_well;
}

static bool other_runs(struct pace *pace) {
    struct script script = small_run_script(pace->check);
    script.setup.stages = "[{\"train\": {\"until\": \"2ep\"}}]";
    if (!run_in(pace, &script, false)) return false;
    script = small_run_script(pace->check);
    script.setup.callback = ", \"point\": \"step_end\", \"act\": \"validate\"";
    if (!run_in(pace, &script, false)) return false;
    script.setup.callback = ", \"point\": \"step_end\", \"act\": \"save\"";
    return run_in(pace, &script, true);
}

void test_callback_orders(struct check *check) {
    struct pace pace = {check, "run", 3 + 2 * 7, 0, 0};
    bool is_well = only_visit(check) && other_runs(&pace);
    for (int place = 0; is_well && place <= 6; place++)
        for (int end = 0; is_well && end < 2; end++)
            is_well = stop_short(&pace, place, end);
}

/* ---- going on ---- */

struct end {
    struct text lines;
    char *metrics;
};

static bool take_end(struct small_run *run, const char *directory, struct end *end) {
    int64_t count = 0;
    struct error err = {0};
    const float *weights = lathe_weights(run->session, LATHE_READ, &count);
    text_format(&end->lines, "reason %s\n", lathe_reason(run->session));
    char *path = path_join(directory, "metrics.jsonl");
    if (path && file_read(path, 1 << 24, &end->metrics, NULL, &err) == LATHE_OK)
        text_add(&end->lines, end->metrics);
    fixture_write(&end->lines, "weight", weights, count);
    free(path);
    free(end->metrics);
    return err.status == LATHE_OK || check_fail(run->check, "%s", err.what);
}

static bool run_to_end(struct check *check, const struct script *script,
                       const char *directory, struct end *end) {
    struct small_run run;
    const bool is_well = small_run_open(&run, check, script) && small_run_run(&run) &&
                         take_end(&run, directory, end);
    small_run_close(&run);
    return is_well;
}

static bool go_on(struct check *check, int64_t stop_at, const struct text *whole) {
    struct script script = small_run_script(check);
    struct end end = {0};
    char path[512], difference[300], stopped[96];
    if (!make_directory(check, path, sizeof path)) return false;
    script.directory = path;
    script.stop_at = stop_at;
    script.stop_reason = "preempted";
    bool is_well = small_run_once(check, &script, NULL, stopped);
    script = small_run_script(check);
    script.resume = path;
    is_well = is_well && run_to_end(check, &script, path, &end);
    if (is_well && check_differ(whole, &end.lines, difference, sizeof difference))
        is_well = check_fail(check,
                             "a run that was told to stop before %s (call %lld), and "
                             "went on, ends otherwise: %s",
                             stopped, (long long)stop_at, difference);
    text_finish(&end.lines);
    return is_well;
}

void test_callback_resume(struct check *check) {
    struct script script = small_run_script(check);
    struct end whole = {0};
    struct pace pace = {check, "run", 2 + 12, 0, 0};
    char path[512];
    int64_t calls = 0;
    if (!make_directory(check, path, sizeof path)) return;
    bool is_well = pace_next(&pace) && small_run_once(check, &script, &calls, NULL);
    script.directory = path;
    is_well = is_well && pace_next(&pace) && run_to_end(check, &script, path, &whole);
    for (int i = 1; is_well && i <= 12 && pace_next(&pace); i++)
        is_well = go_on(check, calls * i / 13, &whole.lines);
    text_finish(&whole.lines);
}
