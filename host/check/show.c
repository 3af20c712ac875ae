/* SPDX-License-Identifier: MIT */
#include "check/show.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "check/stand_ins.h"
#include "check/state.h"

#define LABEL "callbacks[0]" /* the subject comes first */

static void take_record(void *context, const char *json) {
    struct show *show = context;
    text_format(&show->records, "%s\n", json);
}

/* How long did the call before this one take? */
static void take_time(struct show *show) {
    struct slow *slowest = &show->check->slowest;
    const double now = clock_seconds(), seconds = now - show->since;
    if (show->call[0] && seconds > slowest->seconds) {
        slowest->seconds = seconds;
        memcpy(slowest->call, show->call, sizeof slowest->call);
    }
    show->since = now;
}

/* "callbacks.timer  step_end  epoch=1 step=2": said before the call is made. */
static void take_trace(void *context, const char *line) {
    struct show *show = context;
    char who[64] = "", what[64] = "";
    show->calls++;
    take_time(show);
    if (sscanf(line, "%63s %63s", who, what) == 2)
        check_doing(show->check, "a run, %s of %s (call %lld)", what, who,
                    (long long)show->calls);
    snprintf(show->call, sizeof show->call, "%.32s of %.56s", what, who);
    if (show->calls == show->script->stop_at) {
        snprintf(show->stopped, sizeof show->stopped, "%.32s of %.56s", what, who);
        lathe_stop(show->session, show->script->stop_reason);
    }
    if (show->bench && show->calls % 5 == 0) {
        bench_pause(show->bench);
        show->since = clock_seconds();
    }
}

struct script show_script(const struct check *check) {
    return (struct script){.setup = {.seed = check->seed,
                                     .rows = 10,
                                     .batch = 4,
                                     .accumulate = 2,
                                     .until = "3ep",
                                     .has_visits = true}};
}

bool show_open(struct show *show, struct check *check, const struct script *script) {
    *show = (struct show){
        .check = check, .script = script, .error.size = sizeof show->error};
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
                                           .context = show};
    check_doing(check, "create, in a run");
    const lathe_status status = lathe_open(&options, &show->session, &show->error);
    free(text);
    if (status == LATHE_OK) return true;
    return check_fail(check, "a run with it cannot begin: %s (%s)", show->error.what,
                      show->error.where);
}

bool show_went_well(struct show *show, lathe_status status) {
    if (status >= 0) return true;
    const lathe_error *error = lathe_last_error(show->session);
    const bool is_its = strstr(error->where, LABEL) != NULL;
    if (!is_its && show->script->expects_failure) return true;
    return check_fail(show->check, "%s (%s)", error->what, error->where);
}

bool show_run(struct show *show) {
    return show_went_well(show, lathe_run(show->session));
}

void show_close(struct show *show) {
    if (show->session) check_doing(show->check, "destroy, after a run");
    lathe_close(show->session);
    show->session = NULL;
    text_finish(&show->records);
}

bool show_once(struct check *check, const struct script *script, int64_t *calls,
               char stopped[96]) {
    struct show show;
    const bool is_well = show_open(&show, check, script) && show_run(&show);
    if (calls) *calls = show.calls;
    if (stopped) memcpy(stopped, show.stopped, sizeof show.stopped);
    show_close(&show);
    return is_well;
}

bool show_state(struct check *check, struct text *bytes) {
    const struct script script = show_script(check);
    struct show show;
    struct bench bench = {.check = check};
    const bool is_well = show_open(&show, check, &script) && show_run(&show) &&
                         state_save(&bench, &show.session->callbacks[0], bytes);
    show_close(&show);
    return is_well;
}

bool callback_work(struct bench *bench, struct text *lines) {
    struct script script = show_script(bench->check);
    struct show show;
    int64_t count = 0;
    script.setup.seed += (uint64_t)bench->variation;
    bool is_well = show_open(&show, bench->check, &script);
    show.bench = bench;
    is_well = is_well && show_run(&show);
    if (is_well) {
        const float *weights = lathe_weights(show.session, LATHE_READ, &count);
        text_add(lines, show.records.data ? show.records.data : "");
        bench_write(lines, "weight", weights, count);
    }
    show_close(&show);
    return is_well;
}
