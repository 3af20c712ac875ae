/* SPDX-License-Identifier: MIT */
/* What a run goes on from: its own directory, or a checkpoint of another run. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/path.h"
#include "session_state.h"

lathe_status session_read_note(lathe_session *s, const char *key, struct json **json) {
    return checkpoints_note(s->origin, key, json, &s->err);
}

static lathe_status read_before(lathe_session *s) {
    lathe_status status = session_read_note(s, NOTE_EXPERIMENT, &s->before);
    if (status != LATHE_OK) error_where(&s->err, "%s", s->origin_path);
    return status;
}

/* The numbers so far are those of the checkpoint's experiment, whatever the file says
 * by now; where plugins are, and whose run it is, is the file's to say. */
static lathe_status compare_with_origin(lathe_session *s) {
    static const char *const keys[] = {"plugin_path", "run", "from"};
    struct json *file = s->before;
    s->before = NULL;
    lathe_status status = read_before(s);
    for (size_t i = 0; status == LATHE_OK && i < sizeof keys / sizeof *keys; i++)
        if (json_get(file, keys[i]) &&
            !json_put(s->before, keys[i], json_clone(json_get(file, keys[i]))))
            status = fail(&s->err, LATHE_ENOMEM, "no memory to resume");
    json_close(file);
    return status;
}

/* A run that began from a checkpoint and has none of its own yet does that again; what
 * lies there has to be what it was. */
static lathe_status reopen_from(lathe_session *s) {
    const struct json *from = json_get(s->before, "from");
    s->origin_path = text_copy(json_text(json_get(from, "checkpoint")));
    if (!s->origin_path) return fail(&s->err, LATHE_ENOMEM, "no memory to resume");
    lathe_status status = safetensors_open_whole(s->origin_path, &s->origin, &s->err);
    const char *now =
        status == LATHE_OK ? safetensors_note(s->origin, SAFETENSORS_DIGEST) : "";
    if (status == LATHE_OK && strcmp(now, json_text(json_get(from, "sha256"))) != 0)
        status = fail(&s->err, LATHE_EDATA,
                      "it is not the checkpoint that this run began from any more");
    if (status != LATHE_OK && !s->err.where[0])
        error_where(&s->err, "%s", s->origin_path);
    if (status != LATHE_OK)
        error_help(&s->err, "the run has no checkpoint of its own yet: put that one "
                            "back, or begin another run");
    s->is_begun_again = true;
    return status == LATHE_OK ? session_check_origin(s) : status;
}

static lathe_status reopen_run(lathe_session *s) {
    lathe_status status = rundir_reopen(s->options.resume, &s->rundir, &s->err);
    if (status != LATHE_OK) return status;
    s->own_experiment = text_make("%s/resolved.json", rundir_path(s->rundir));
    if (!s->own_experiment) return fail(&s->err, LATHE_ENOMEM, "no memory to resume");
    status = json_read(s->own_experiment, &s->before, &s->err);
    if (status == LATHE_OK) status = session_find_checkpoint(s);
    if (status == LATHE_OK && s->origin) status = session_check_origin(s);
    if (status != LATHE_OK) return status;
    if (s->origin) return compare_with_origin(s);
    return json_get(s->before, "from") ? reopen_from(s) : LATHE_OK;
}

/* Another process may be at the run: the newest of a moment ago can be gone. */
static lathe_status open_newest(lathe_session *s) {
    lathe_status status = LATHE_OK;
    for (int tries = 0; tries < 3 && status == LATHE_OK && !s->origin; tries++)
        status = checkpoints_newest(s->options.from, &s->log, &s->origin,
                                    &s->origin_path, &s->err);
    if (status != LATHE_OK || s->origin) return status;
    fail(&s->err, LATHE_ENOTFOUND, "there is no whole checkpoint of this run");
    error_where(&s->err, "%s", s->options.from);
    return LATHE_ENOTFOUND;
}

static lathe_status open_file(lathe_session *s) {
    s->origin_path = text_copy(s->options.from);
    if (!s->origin_path) return fail(&s->err, LATHE_ENOMEM, "no memory to begin");
    return safetensors_open_whole(s->origin_path, &s->origin, &s->err);
}

static lathe_status open_checkpoint(lathe_session *s) {
    struct stat info;
    const bool is_run = !stat(s->options.from, &info) && S_ISDIR(info.st_mode);
    lathe_status status = is_run ? open_newest(s) : open_file(s);
    if (status == LATHE_OK) status = session_check_origin(s);
    if (status == LATHE_OK) status = read_before(s);
    if (status != LATHE_OK || s->options.experiment) return status;
    struct text text = {0};
    json_write(s->before, &text, 0);
    s->own_experiment = text.data;
    return text.is_broken ? fail(&s->err, LATHE_ENOMEM, "no memory to begin")
                          : LATHE_OK;
}

/* Those that are given come first; they may be gone once the session is open. */
static lathe_status collect_plugin_paths(lathe_session *s) {
    const char *const *given = s->options.plugin_paths;
    const struct json *before = json_get(s->before, "plugin_path");
    struct json *texts = json_make_list();
    for (size_t i = 0; given && given[i]; i++)
        texts = json_append(texts, json_make_text(given[i]));
    for (size_t i = 0; i < json_size(before); i++)
        texts = json_append(texts, json_clone(json_at(before, i)));
    const size_t count = json_size(texts);
    s->plugin_path_texts = texts;
    s->plugin_paths = calloc(count + 1, sizeof *s->plugin_paths);
    if (!texts || !s->plugin_paths)
        return fail(&s->err, LATHE_ENOMEM, "no memory to begin");
    for (size_t i = 0; i < count; i++)
        s->plugin_paths[i] = json_text(json_at(texts, i));
    return LATHE_OK;
}

static lathe_status choose_run_id(lathe_session *s) {
    unsigned char bytes[16];
    const char *own = json_text(json_get(s->before, "run"));
    if (s->origin && !*own) own = safetensors_note(s->origin, NOTE_RUN);
    if (s->options.resume && own && *own) {
        snprintf(s->run_id, sizeof s->run_id, "%s", own);
        return LATHE_OK;
    }
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return fail(&s->err, LATHE_EPLUGIN, "the system has no random numbers");
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(s->run_id + 2 * i, 3, "%02x", bytes[i]);
    return LATHE_OK;
}

/* Once nothing refuses it any more. */
void session_tell_origin(lathe_session *s) {
    const bool is_last = s->now.stage > (int64_t)s->experiments->stage_count;
    char until[UNTIL_PATH];
    if (!s->options.resume) return;
    s->began = clock_seconds();
    if (!s->origin)
        log_line(&s->log, LATHE_LOG_INFO,
                 "there is no checkpoint yet: beginning again from step 0");
    else if (s->requests & LATHE_REQUEST_STOP)
        log_line(
            &s->log, LATHE_LOG_INFO,
            "the run is over, stopped after step %lld: only its end is done again; "
            "it trains on when callbacks change",
            (long long)s->now.step);
    else if (is_last && session_is_complete(s))
        log_line(&s->log, LATHE_LOG_INFO,
                 "the run is over, completed after step %lld: only its end is done "
                 "again; it trains on when %s is later",
                 (long long)s->now.step, session_until_path(s, until));
    else
        log_line(&s->log, LATHE_LOG_INFO, "%s from %s",
                 s->is_begun_again ? "beginning again" : "going on", s->origin_path);
}

/* What the run began from, for who does it again; a run that goes on still did. */
static lathe_status note_from(lathe_session *s) {
    struct json *loop = NULL, *before = json_get(s->before, "from");
    if (s->options.resume) s->from = before ? json_clone(before) : NULL;
    if (s->options.resume) return LATHE_OK;
    lathe_status status = session_read_note(s, NOTE_LOOP, &loop);
    char *path = path_absolute(s->origin_path);
    if (status == LATHE_OK && path)
        s->from = JSON_MAP_OF({"checkpoint", json_make_text(path)},
                              {"step", json_clone(json_get(loop, "step"))},
                              {"sha256", json_make_text(safetensors_note(
                                             s->origin, SAFETENSORS_DIGEST))});
    if (status == LATHE_OK && !s->from)
        status = fail(&s->err, LATHE_ENOMEM, "no memory to begin");
    free(path);
    json_close(loop);
    return status;
}

lathe_status session_find_origin(lathe_session *s) {
    lathe_status status = LATHE_OK;
    if (s->options.resume && (s->options.run_directory || s->options.from))
        return fail(&s->err, LATHE_EINVAL,
                    "resume goes with neither a run directory nor from");
    if (s->options.resume) status = reopen_run(s);
    if (s->options.from) status = open_checkpoint(s);
    if (status == LATHE_OK && s->before) status = note_from(s);
    if (status == LATHE_OK && !s->options.experiment)
        s->options.experiment = s->own_experiment;
    if (status == LATHE_OK) status = collect_plugin_paths(s);
    return status == LATHE_OK ? choose_run_id(s) : status;
}

void session_forget_origin(lathe_session *s) {
    safetensors_close(s->origin);
    json_close(s->before);
    json_close(s->saved);
    json_close(s->from);
    free(s->origin_path);
    free(s->own_experiment);
    free(s->plugin_paths);
    json_close(s->plugin_path_texts);
    s->origin = NULL;
    s->before = s->saved = s->from = s->plugin_path_texts = NULL;
    s->origin_path = s->own_experiment = NULL;
    s->plugin_paths = NULL;
}
