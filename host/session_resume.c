/* SPDX-License-Identifier: MIT */
/* What a run goes on from: its own directory, or a checkpoint of another run; and
 * whether the experiment is still the same. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/path.h"
#include "session_state.h"

/* ---- the experiment before ---- */

static lathe_status parse_before(lathe_session *s) {
    const char *note = safetensors_note(s->origin, NOTE_EXPERIMENT);
    if (!note)
        fail(&s->err, LATHE_EDATA, "it is no checkpoint of a run: %s is not there",
             NOTE_EXPERIMENT);
    else if (json_parse(note, strlen(note), s->origin_path, &s->before, &s->err) ==
             LATHE_OK)
        return LATHE_OK;
    error_where(&s->err, "%s", s->origin_path);
    return s->err.status = LATHE_EDATA;
}

static lathe_status find_checkpoint(lathe_session *s) {
    lathe_status status = checkpoints_newest(rundir_path(s->rundir), &s->log,
                                             &s->origin, &s->origin_path, &s->err);
    if (status != LATHE_OK) return status;
    if (s->origin)
        log_line(&s->log, LATHE_LOG_INFO, "going on from %s", s->origin_path);
    else
        log_line(&s->log, LATHE_LOG_INFO,
                 "there is no checkpoint yet: beginning again from step 0");
    return LATHE_OK;
}

static lathe_status reopen_run(lathe_session *s) {
    lathe_status status = rundir_reopen(s->options.resume, &s->rundir, &s->err);
    if (status != LATHE_OK) return status;
    s->own_experiment = text_make("%s/resolved.json", rundir_path(s->rundir));
    if (!s->own_experiment) return fail(&s->err, LATHE_ENOMEM, "no memory to resume");
    status = json_read(s->own_experiment, &s->before, &s->err);
    return status == LATHE_OK ? find_checkpoint(s) : status;
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
    lathe_status status = safetensors_open(s->origin_path, &s->origin, &s->err);
    return status == LATHE_OK ? safetensors_verify(s->origin, &s->err) : status;
}

static lathe_status open_checkpoint(lathe_session *s) {
    struct stat info;
    const bool is_run = !stat(s->options.from, &info) && S_ISDIR(info.st_mode);
    lathe_status status = is_run ? open_newest(s) : open_file(s);
    if (status == LATHE_OK) status = parse_before(s);
    if (status != LATHE_OK || s->options.experiment) return status;
    struct text text = {0};
    json_write(s->before, &text, 0);
    s->own_experiment = text.data;
    return text.is_broken ? fail(&s->err, LATHE_ENOMEM, "no memory to begin")
                          : LATHE_OK;
}

/* Those that are given come first. */
static lathe_status collect_plugin_paths(lathe_session *s) {
    const char *const *given = s->options.plugin_paths;
    const struct json *before = json_get(s->before, "plugin_path");
    size_t count = 0, more = json_size(before);
    while (given && given[count]) count++;
    s->plugin_paths = calloc(count + more + 1, sizeof *s->plugin_paths);
    if (!s->plugin_paths) return fail(&s->err, LATHE_ENOMEM, "no memory to begin");
    for (size_t i = 0; i < count + more; i++)
        s->plugin_paths[i] =
            i < count ? given[i] : json_text(json_at(before, i - count));
    return LATHE_OK;
}

static lathe_status choose_run_id(lathe_session *s) {
    unsigned char bytes[16];
    const char *note =
        s->origin && s->options.resume ? safetensors_note(s->origin, NOTE_RUN) : NULL;
    if (note) {
        snprintf(s->run_id, sizeof s->run_id, "%s", note);
        return LATHE_OK;
    }
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return fail(&s->err, LATHE_EPLUGIN, "the system has no random numbers");
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(s->run_id + 2 * i, 3, "%02x", bytes[i]);
    return LATHE_OK;
}

lathe_status session_find_origin(lathe_session *s) {
    lathe_status status = LATHE_OK;
    if (s->options.resume && (s->options.run_directory || s->options.from))
        return fail(&s->err, LATHE_EINVAL,
                    "resume goes with neither a run directory nor from");
    if (s->options.resume) status = reopen_run(s);
    if (s->options.from) status = open_checkpoint(s);
    if (status == LATHE_OK && !s->options.experiment)
        s->options.experiment = s->own_experiment;
    if (status == LATHE_OK) status = collect_plugin_paths(s);
    return status == LATHE_OK ? choose_run_id(s) : status;
}

void session_forget_origin(lathe_session *s) {
    safetensors_close(s->origin);
    json_close(s->before);
    free(s->origin_path);
    free(s->own_experiment);
    free(s->plugin_paths);
    s->origin = NULL;
    s->before = NULL;
    s->origin_path = s->own_experiment = NULL;
    s->plugin_paths = NULL;
}

/* ---- what has changed ---- */

/* These change no number that the run still has to make, or are the user's to change
 * at any time. */
static bool is_free(const lathe_session *s, const char *path) {
    static const char *const free_paths[] = {"name",          "description", "expect",
                                             "train.threads", "callbacks",   "$schema",
                                             "start"};
    for (size_t i = 0; i < sizeof free_paths / sizeof *free_paths; i++) {
        const size_t length = strlen(free_paths[i]);
        if (!strncmp(path, free_paths[i], length) &&
            (!path[length] || path[length] == '.'))
            return s->origin || strcmp(free_paths[i], "start") != 0;
    }
    if (strncmp(path, "train.until", 11) != 0) return false;
    const lathe_schedule_ops *ops = s->schedule.ops;
    return !s->schedule.use || !(ops->flags & LATHE_NEEDS_HORIZON);
}

struct comparing {
    lathe_session *s;
    struct text first; /* of those that are not free: "path: old -> new" */
    int count;
};

static void note_change(struct comparing *c, const char *path,
                        const struct json *before, const struct json *now) {
    struct text line = {0};
    text_format(&line, "%s: ", path);
    if (before) json_write(before, &line, 0);
    text_add(&line, before ? " -> " : "(none) -> ");
    if (now) json_write(now, &line, 0);
    if (!now) text_add(&line, "(none)");
    const bool is_told = is_free(c->s, path) ||
                         c->s->options.flags & LATHE_ALLOW_CHANGE ||
                         experiment_is_path(c->s->experiments, path);
    if (!strncmp(path, "callbacks", 9)) c->s->forgets_stop = true;
    if (!line.is_broken && is_told)
        log_line(&c->s->log, LATHE_LOG_INFO, "changed: %s", line.data);
    if (!is_told && c->count++ == 0)
        text_add(&c->first, line.is_broken ? path : line.data);
    text_finish(&line);
}

static void compare(struct comparing *c, const char *path, const struct json *before,
                    const struct json *now);

static void compare_member(struct comparing *c, const char *path, const char *key,
                           const struct json *before, const struct json *now) {
    static const char *const ignored[] = {"origin", "plugin_path"};
    for (size_t i = 0; !path[0] && i < sizeof ignored / sizeof *ignored; i++)
        if (!strcmp(key, ignored[i])) return;
    char *inner = text_make("%s%s%s", path, path[0] ? "." : "", key);
    if (inner) compare(c, inner, json_get(before, key), json_get(now, key));
    free(inner);
}

static void compare(struct comparing *c, const char *path, const struct json *before,
                    const struct json *now) {
    if (before && now && json_same(before, now)) return;
    if (json_kind(before) != JSON_MAP || json_kind(now) != JSON_MAP) {
        note_change(c, path, before, now);
        return;
    }
    for (size_t i = 0; i < json_size(before); i++)
        compare_member(c, path, json_key_at(before, i), before, now);
    for (size_t i = 0; i < json_size(now); i++)
        if (!json_get(before, json_key_at(now, i)))
            compare_member(c, path, json_key_at(now, i), before, now);
}

/* A plugin of another version may understand its old state, or do other sums. */
static void compare_versions(struct comparing *c) {
    lathe_session *s = c->s;
    const char *note = s->origin ? safetensors_note(s->origin, NOTE_PLUGINS) : NULL;
    struct json *list = NULL;
    if (!note || json_parse(note, strlen(note), NOTE_PLUGINS, &list, NULL) != LATHE_OK)
        return;
    for (int64_t i = 0; i < s->state_count; i++) {
        const struct use *use = s->states[i].plugin->use;
        for (size_t k = 0; k < json_size(list); k++) {
            const struct json *entry = json_at(list, k);
            const struct json *version = json_get(entry, "version");
            if (strcmp(json_text(json_get(entry, "id")), use->id) != 0 ||
                strcmp(json_text(json_get(entry, "kind")),
                       manifest_kind_name(use->kind)) != 0 ||
                !strcmp(json_text(version), use->manifest->version))
                continue;
            struct json *now = json_make_text(use->manifest->version);
            char *path = text_make("version of %s %s", manifest_kind_name(use->kind),
                                   use->manifest->name);
            if (path) note_change(c, path, version, now);
            free(path);
            json_close(now);
        }
    }
    json_close(list);
}

lathe_status session_check_changes(lathe_session *s) {
    if (!s->before) return LATHE_OK;
    struct comparing comparing = {.s = s};
    struct json *now = experiment_whole(s->experiments);
    compare(&comparing, "", s->before, now);
    json_close(now);
    compare_versions(&comparing);
    if (comparing.count) {
        fail(&s->err, LATHE_EINVAL, "this would change the numbers of the run: %s%s",
             comparing.first.data ? comparing.first.data : "?",
             comparing.count > 1 ? ", and more" : "");
        error_where(&s->err, "%s",
                    s->origin_path      ? s->origin_path
                    : s->own_experiment ? s->own_experiment
                                        : s->options.experiment);
        error_help(&s->err, "leave it as it was, or say --allow-change");
    }
    text_finish(&comparing.first);
    return comparing.count ? LATHE_EINVAL : LATHE_OK;
}
