/* SPDX-License-Identifier: MIT */
#include "check/small_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "check/stand_ins.h"
#include "check/state.h"

#define LABEL "callbacks[0]" /* the subject comes first */

static void take_record(void *context, const char *json) {
    struct small_run *run = context;
    text_format(&run->records, "%s\n", json);
}

/* How long did the call before this one take? */
static void take_time(struct small_run *run) {
    struct slow *slowest = &run->check->slowest;
    const double now = clock_seconds(), seconds = now - run->since;
    if (run->call[0] && seconds > slowest->seconds) {
        slowest->seconds = seconds;
        memcpy(slowest->call, run->call, sizeof slowest->call);
    }
    run->since = now;
}

/* "callbacks.timer  step_end  epoch=1 step=2": said before the call is made. */
static void take_trace(void *context, const char *line) {
    struct small_run *run = context;
    char who[64] = "", what[64] = "";
    run->calls++;
    take_time(run);
    if (sscanf(line, "%63s %63s", who, what) == 2)
        check_doing(run->check, "a run, %s of %s (call %lld)", what, who,
                    (long long)run->calls);
    snprintf(run->call, sizeof run->call, "%.32s of %.56s", what, who);
    if (run->calls == run->script->stop_at) {
        snprintf(run->stopped, sizeof run->stopped, "%.32s of %.56s", what, who);
        lathe_stop(run->session, run->script->stop_reason);
    }
    if (run->fixture && run->calls % 5 == 0) {
        fixture_pause(run->fixture);
        run->since = clock_seconds();
    }
}

struct script small_run_script(const struct check *check) {
    return (struct script){.setup = {.seed = check->seed,
                                     .rows = 10,
                                     .batch = 4,
                                     .accumulate = 2,
                                     .until = "3ep",
                                     .has_visits = true}};
}

bool small_run_open(struct small_run *run, struct check *check,
                    const struct script *script) {
    *run = (struct small_run){
        .check = check, .script = script, .error.size = sizeof run->error};
    char *text =
        script->resume ? NULL : subject_experiment(check->subject, &script->setup);
    if (!text && !script->resume) return check_fail(check, "out of memory");
    const lathe_session_options options = {.size = sizeof options,
                                           .flags = LATHE_QUIET,
                                           .experiment = text,
                                           .plugin_paths = check->subject->plugin_paths,
                                           .linked = stand_ins(),
                                           .run_directory = script->directory,
                                           .resume = script->resume,
                                           .record = take_record,
                                           .trace = take_trace,
                                           .context = run};
    check_doing(check, "create, in a run");
    const lathe_status status = lathe_open(&options, &run->session, &run->error);
    free(text);
    if (status == LATHE_OK) return true;
    return check_fail(check, "a run with it cannot begin: %s (%s)", run->error.what,
                      run->error.where);
}

bool small_run_went_well(struct small_run *run, lathe_status status) {
    if (status >= 0) return true;
    const lathe_error *error = lathe_last_error(run->session);
    const bool is_its = strstr(error->where, LABEL) != NULL;
    if (!is_its && run->script->expects_failure) return true;
    return check_fail(run->check, "%s (%s)", error->what, error->where);
}

bool small_run_run(struct small_run *run) {
    return small_run_went_well(run, lathe_run(run->session));
}

void small_run_close(struct small_run *run) {
    if (run->session) check_doing(run->check, "destroy, after a run");
    lathe_close(run->session);
    run->session = NULL;
    text_finish(&run->records);
}

bool small_run_once(struct check *check, const struct script *script, int64_t *calls,
                    char stopped[96]) {
    struct small_run run;
    const bool is_well = small_run_open(&run, check, script) && small_run_run(&run);
    if (calls) *calls = run.calls;
    if (stopped) memcpy(stopped, run.stopped, sizeof run.stopped);
    small_run_close(&run);
    return is_well;
}

bool small_run_state(struct check *check, struct text *bytes) {
    const struct script script = small_run_script(check);
    struct small_run run;
    struct fixture fixture = {.check = check};
    const bool is_well = small_run_open(&run, check, &script) && small_run_run(&run) &&
                         state_save(&fixture, &run.session->callbacks[0], bytes);
    small_run_close(&run);
    return is_well;
}

bool callback_work(struct fixture *fixture, struct text *lines) {
    struct script script = small_run_script(fixture->check);
    struct small_run run;
    int64_t count = 0;
    script.setup.seed += (uint64_t)fixture->variation;
    bool is_well = small_run_open(&run, fixture->check, &script);
    run.fixture = fixture;
    is_well = is_well && small_run_run(&run);
    if (is_well) {
        const float *weights = lathe_weights(run.session, LATHE_READ, &count);
        text_add(lines, run.records.data ? run.records.data : "");
        fixture_write(lines, "weight", weights, count);
    }
    small_run_close(&run);
    return is_well;
}
