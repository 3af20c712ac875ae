/* SPDX-License-Identifier: MIT */
/* Where the run is, as one JSON object: all that is not in a block or in a plugin. */
#include <string.h>

#include "session_state.h"

/* Members of a session under the names they are saved by: counts are int64_t, amounts
 * double. */
struct member {
    const char *name;
    size_t offset;
};
#define MEMBER(name, member)                                                           \
    { name, offsetof(lathe_session, member) }

static const struct member counts[] = {
    MEMBER("stage", now.stage),       MEMBER("epoch", now.epoch),
    MEMBER("step", now.step),         MEMBER("samples", now.samples),
    MEMBER("micro", micro),           MEMBER("epochs", epochs),
    MEMBER("updates", updates),       MEMBER("recorded_window", recorded_window),
    MEMBER("skipped", skipped),       MEMBER("skipped_in_a_row", skipped_in_a_row),
    MEMBER("stage_step", stage.step), MEMBER("stage_windows", stage.windows),
};
static const struct member amounts[] = {
    MEMBER("loss", now.loss),
    MEMBER("weight", now.weight),
    MEMBER("gradient_norm", now.gradient_norm),
    MEMBER("rate", now.rate),
    MEMBER("stage_seconds", stage.seconds),
};
#define COUNTS (sizeof counts / sizeof *counts)
#define AMOUNTS (sizeof amounts / sizeof *amounts)

static int64_t count_at(const lathe_session *s, size_t i) {
    int64_t count;
    memcpy(&count, (const char *)s + counts[i].offset, sizeof count);
    return count;
}

static double amount_at(const lathe_session *s, size_t i) {
    double amount;
    memcpy(&amount, (const char *)s + amounts[i].offset, sizeof amount);
    return amount;
}

static struct json *list_intervals(const lathe_session *s) {
    struct json *map = json_make_map();
    for (int64_t i = 0; i < s->interval_count; i++)
        if (s->intervals[i].last_seconds > 0)
            map = json_add(map, s->intervals[i].name,
                           json_make_exact(s->intervals[i].last_seconds));
    return map;
}

struct json *session_write_loop(const lathe_session *s) {
    const bool is_asked = s->requests & LATHE_REQUEST_VALIDATE;
    struct json *loop = json_make_map();
    char records[DIGEST_HEX];
    session_records_digest(s, records);
    for (size_t i = 0; i < COUNTS; i++)
        loop = json_add(loop, counts[i].name, json_make_whole(count_at(s, i)));
    for (size_t i = 0; i < AMOUNTS; i++)
        loop = json_add(loop, amounts[i].name, json_make_exact(amount_at(s, i)));
    loop = json_add(loop, "seconds", json_make_exact(session_seconds(s)));
    loop = json_add(loop, "validate", json_make_truth(s->validate_due.is_due));
    loop = json_add(loop, "validate_asked", json_make_truth(is_asked));
    loop = json_add(loop, "epoch_end", json_make_truth(s->is_epoch_done));
    loop = json_add(loop, "warned", json_make_truth(s->has_warned_weight));
    loop = json_add(loop, "log", json_make_exact(s->log_due.last_seconds));
    loop = json_add(loop, "validation", json_make_exact(s->validate_due.last_seconds));
    if (s->requests & LATHE_REQUEST_STOP)
        loop = json_add(loop, "stop", json_make_text(s->stop_reason));
    loop = json_add(loop, "intervals", list_intervals(s));
    loop = json_add(loop, "files", session_list_records(s));
    loop = json_add(loop, RECORDS_DIGEST, json_make_text(records));
    loop = json_add(loop, "data", session_list_data(s));
    return json_add(loop, "metrics", metrics_save(s->metrics));
}

/* Of times some may be missing: no number is made of them, so they are not synchronised
 * when something is saved. */
lathe_status session_cut_files(lathe_session *s, const struct json *loop) {
    const struct json *lengths = s->is_begun_again ? NULL : json_get(loop, "files");
    int64_t times = json_whole(json_get(lengths, TIMES_FILE));
    if (!s->options.resume) return LATHE_OK;
    s->recorded = json_whole(json_get(lengths, METRICS_FILE));
    if (rundir_length(s->rundir, TIMES_FILE) < times)
        times = rundir_length(s->rundir, TIMES_FILE);
    lathe_status status = rundir_cut(s->rundir, METRICS_FILE, s->recorded, &s->err);
    return status == LATHE_OK ? rundir_cut(s->rundir, TIMES_FILE, times, &s->err)
                              : status;
}

static void read_intervals(lathe_session *s, const struct json *loop) {
    const struct json *list = json_get(loop, "intervals");
    for (int64_t i = 0; i < s->interval_count; i++)
        s->intervals[i].last_seconds = json_exact(json_get(list, s->intervals[i].name));
    s->log_due.last_seconds = json_exact(json_get(loop, "log"));
    s->validate_due.last_seconds = json_exact(json_get(loop, "validation"));
}

/* A stage that begins takes up what the stage before left, whose epochs may be
 * longer. */
static bool is_of_stage(const lathe_session *s, const struct json *loop) {
    return json_whole(json_get(loop, "stage")) == s->now.stage;
}

static bool is_possible(const lathe_session *s, const struct json *loop) {
    for (size_t i = 0; i < COUNTS; i++)
        if (!json_is_whole(json_get(loop, counts[i].name)) ||
            json_whole(json_get(loop, counts[i].name)) < 0)
            return false;
    return s->options.flags & LATHE_ALLOW_CHANGE || /* also of what epochs are */
           !is_of_stage(s, loop) ||
           json_whole(json_get(loop, "micro")) <= s->sampler.micros_per_epoch;
}

lathe_status session_read_loop(lathe_session *s, const struct json *loop) {
    if (!is_possible(s, loop))
        return fail(&s->err, LATHE_EDATA, "its " NOTE_LOOP " is not one of this run");
    lathe_status status = metrics_load(s->metrics, json_get(loop, "metrics"), &s->err);
    if (status == LATHE_OK) status = session_cut_files(s, loop);
    if (status != LATHE_OK) return status;
    for (size_t i = 0; i < COUNTS; i++) {
        const int64_t count = json_whole(json_get(loop, counts[i].name));
        memcpy((char *)s + counts[i].offset, &count, sizeof count);
    }
    for (size_t i = 0; i < AMOUNTS; i++) {
        const double amount = json_exact(json_get(loop, amounts[i].name));
        memcpy((char *)s + amounts[i].offset, &amount, sizeof amount);
    }
    if (s->micro > s->sampler.micros_per_epoch) s->micro = s->sampler.micros_per_epoch;
    s->now.micro = s->micro ? (s->micro - 1) % s->sampler.accumulate : 0;
    read_intervals(s, loop);
    s->seconds_before = json_exact(json_get(loop, "seconds"));
    s->last_record_seconds = s->seconds_before;
    s->last_record_samples = s->now.samples;
    s->validate_due.is_due = json_truth(json_get(loop, "validate"));
    s->is_epoch_done = json_truth(json_get(loop, "epoch_end"));
    s->has_warned_weight = json_truth(json_get(loop, "warned"));
    if (json_truth(json_get(loop, "validate_asked")))
        s->requests |= LATHE_REQUEST_VALIDATE;
    if (json_kind(json_get(loop, "stop")) == JSON_TEXT && !s->forgets_stop) {
        s->requests |= LATHE_REQUEST_STOP;
        snprintf(s->stop_reason, sizeof s->stop_reason, "%s",
                 json_text(json_get(loop, "stop")));
    }
    s->resumes_after_update =
        s->micro > 0 && (s->is_epoch_done || s->validate_due.is_due);
    s->resumes_in_epoch = s->now.epoch > 0 && (s->resumes_after_update ||
                                               s->micro < s->sampler.micros_per_epoch);
    return LATHE_OK;
}
