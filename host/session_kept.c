/* SPDX-License-Identifier: MIT */
/* metrics.jsonl and the checkpoints that go with it: each notes how long the records
 * were when it was saved, and their digest, and is one to go on from only while they
 * are still there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "session_state.h"

/* ---- noting ---- */

void session_count_record(lathe_session *s, const struct text *line) {
    digest_add(&s->sum, line->data, line->length);
    digest_add(&s->sum, "\n", 1);
    s->recorded += (int64_t)line->length + 1;
}

/* What was recorded after the place of rest is recorded again. */
static bool is_behind(const lathe_session *s) {
    return s->rest.kind == REST_BACK || s->rest.kind == REST_VISIT;
}

struct json *session_list_records(const lathe_session *s) {
    const int64_t recorded = is_behind(s) ? s->rest.recorded : s->recorded;
    const int64_t times = rundir_length(s->rundir, TIMES_FILE);
    return JSON_MAP_OF({METRICS_FILE, json_make_whole(recorded)},
                       {TIMES_FILE, json_make_whole(times)});
}

void session_records_digest(const lathe_session *s, char hex[DIGEST_HEX]) {
    struct digest sum = is_behind(s) ? s->rest.sum : s->sum;
    digest_end(&sum, hex);
}

/* ---- looking ---- */

/* Of the first so many bytes; false: there are not so many. */
static bool sum_up(const lathe_session *s, int64_t count, struct digest *sum) {
    char *path = path_join(rundir_path(s->rundir), METRICS_FILE), piece[16384];
    FILE *file = path ? fopen(path, "re") : NULL;
    size_t got = 1;
    digest_begin(sum);
    while (file && count > 0 && got > 0) {
        const size_t wanted =
            count < (int64_t)sizeof piece ? (size_t)count : sizeof piece;
        got = fread(piece, 1, wanted, file);
        digest_add(sum, piece, got);
        count -= (int64_t)got;
    }
    if (file) fclose(file);
    free(path);
    return count == 0;
}

struct looking {
    lathe_session *s;
    struct error first; /* why not the newest */
};

static lathe_status judge(lathe_session *s, const struct json *loop,
                          struct error *err) {
    const int64_t before = json_whole(json_get(json_get(loop, "files"), METRICS_FILE));
    const char *said = json_text(json_get(loop, RECORDS_DIGEST));
    const int64_t now = rundir_length(s->rundir, METRICS_FILE);
    struct digest sum;
    char found[DIGEST_HEX];
    if (now < before || !sum_up(s, before, &sum))
        return fail(err, LATHE_EDATA,
                    METRICS_FILE " has %lld bytes, and had %lld when "
                                 "this was saved",
                    (long long)now, (long long)before);
    s->sum = sum;
    digest_end(&sum, found);
    if (!*said || !strcmp(said, found)) return LATHE_OK;
    return fail(err, LATHE_EDATA,
                "the first %lld bytes of " METRICS_FILE " are not those that it had "
                "when this was saved",
                (long long)before);
}

/* One of another run, or of another format, is refused for that, later. An older
 * format notes no digest. */
static lathe_status accept(void *context, const struct safetensors *file,
                           struct error *err) {
    struct looking *looking = context;
    lathe_session *s = looking->s;
    const char *run = safetensors_note(file, NOTE_RUN);
    struct json *loop = NULL;
    if (!run || strcmp(run, json_text(json_get(s->before, "run"))) != 0)
        return LATHE_OK;
    if (checkpoints_note(file, NOTE_LOOP, &loop, NULL) != LATHE_OK) return LATHE_OK;
    lathe_status status = judge(s, loop, err);
    if (status != LATHE_OK && !looking->first.status) looking->first = *err;
    json_close(loop);
    return status;
}

/* Beginning again from step 0 would throw away all that was trained: that is the
 * user's to say. */
lathe_status session_find_checkpoint(lathe_session *s) {
    struct looking looking = {.s = s};
    const char *run = s->options.resume;
    lathe_status status =
        checkpoints_newest_of(rundir_path(s->rundir), &s->log, accept, &looking,
                              &s->origin, &s->origin_path, &s->err);
    if (status != LATHE_OK || s->origin || !looking.first.status) return status;
    s->err = looking.first;
    error_where(&s->err, "%s", rundir_path(s->rundir));
    error_help(&s->err,
               "put " METRICS_FILE " back as it was; or begin another run from the "
               "state that is there: lathe run --from %s; or move %s/checkpoints away, "
               "and this one begins again from step 0",
               run, run);
    return LATHE_EDATA;
}
