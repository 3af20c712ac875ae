/* SPDX-License-Identifier: MIT */
/* Is the experiment of a run that goes on still the one it was? */
#include <stdlib.h>
#include <string.h>

#include "session_state.h"

/* These change no number that the run still has to make, or are the user's to change
 * at any time. */
static bool is_free(const lathe_session *s, const char *path) {
    static const char *const free_paths[] = {
        "name",      "description", "expect", "train.threads",
        "callbacks", "$schema",     "start",  "train.prefetch"};
    for (size_t i = 0; i < sizeof free_paths / sizeof *free_paths; i++) {
        const size_t length = strlen(free_paths[i]);
        if (!strncmp(path, free_paths[i], length) &&
            (!path[length] || path[length] == '.'))
            return s->origin || strcmp(free_paths[i], "start") != 0;
    }
    if (strncmp(path, "train.until", 11) != 0 || s->now.stage > 1) return false;
    const lathe_schedule_ops *ops = s->schedule.ops;
    return !s->schedule.use || !(ops->flags & LATHE_NEEDS_HORIZON);
}

struct comparing {
    lathe_session *s;
    struct text first; /* of those that are not free: "path: old -> new" */
    const char *why;   /* the first is not, in words; NULL: it goes without saying */
    int count;
    struct text allowed; /* the first of those that are not free, and were allowed */
};

static const char *find_reason(const lathe_session *s, const char *path) {
    if (!strncmp(path, "train.until", 11) && s->now.stage > 1)
        return "it is the bound of the first stage, which is over";
    if (!strncmp(path, "train.until", 11) && s->schedule.use)
        return "the rates of the schedule depend on train.until";
    if (!strcmp(path, "train.log")) return "records would be means over other steps";
    return NULL;
}

static void note_change(struct comparing *c, const char *path,
                        const struct json *before, const struct json *now) {
    struct text line = {0};
    text_format(&line, "%s: ", path);
    if (before) json_write(before, &line, 0);
    text_add(&line, before ? " -> " : "(none) -> ");
    if (now) json_write(now, &line, 0);
    if (!now) text_add(&line, "(none)");
    const bool makes_none =
        is_free(c->s, path) || experiment_is_path(c->s->experiments, path);
    const bool is_told = makes_none || c->s->options.flags & LATHE_ALLOW_CHANGE;
    if (!strncmp(path, "callbacks", 9)) c->s->forgets_stop = true;
    if (!line.is_broken && is_told)
        log_line(&c->s->log, LATHE_LOG_INFO, "changed: %s", line.data);
    if (is_told && !makes_none && !c->allowed.length)
        text_add(&c->allowed, line.is_broken ? path : line.data);
    if (!is_told && c->count++ == 0) {
        text_add(&c->first, line.is_broken ? path : line.data);
        c->why = find_reason(c->s, path);
    }
    text_finish(&line);
}

static void compare(struct comparing *c, const char *path, const struct json *before,
                    const struct json *now);

static void compare_member(struct comparing *c, const char *path, const char *key,
                           const struct json *before, const struct json *now) {
    static const char *const ignored[] = {"origin", "plugin_path", "run", "from"};
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

/* Of a plugin, with its version as it was: it was built anew, and nobody knows whether
 * the same sums come of it. */
static void compare_library(lathe_session *s, const struct plugin *plugin,
                            const struct json *saved) {
    const char *before = json_text(json_get(saved, "library"));
    const char *now = plugin->library->digest;
    if (*before && *now && strcmp(before, now) != 0)
        log_line(&s->log, LATHE_LOG_WARNING,
                 "%s is another file than the one that was at work when the state was "
                 "saved (%.12s…, then %.12s…), and of the same version: whether the "
                 "same bits come of it nobody knows",
                 plugin->label, now, before);
}

/* A plugin of another version may understand its old state, or do other sums. Another
 * plugin under the same id is a change of the experiment, and a callback without state
 * is as free as its options. */
static void compare_version(struct comparing *c, const struct plugin *plugin) {
    const struct use *use = plugin->use;
    const struct json *saved = session_saved_plugin(c->s, use);
    const struct json *version = json_get(saved, "version");
    for (size_t i = 0; i < use->nested_count; i++)
        compare_version(c, &plugin->nested[i]);
    if (!saved || strcmp(json_text(json_get(saved, "name")), use->manifest->name) ||
        (use->kind == LATHE_KIND_CALLBACK && !json_get(saved, "sha256")))
        return;
    if (!strcmp(json_text(version), use->manifest->version)) {
        compare_library(c->s, plugin, saved);
        return;
    }
    struct json *now = json_make_text(use->manifest->version);
    char *path = text_make("version of %s %s", manifest_kind_name(use->kind),
                           use->manifest->name);
    if (path) note_change(c, path, version, now);
    free(path);
    json_close(now);
}

static void compare_versions(struct comparing *c) {
    const struct plugin *plugin;
    for (int64_t i = 0; (plugin = session_plugin_at(c->s, i)) != NULL; i++)
        compare_version(c, plugin);
}

static lathe_status refuse(lathe_session *s, const struct comparing *c) {
    fail(&s->err, LATHE_EINVAL, "this would change the numbers of the run: %s%s",
         c->first.data ? c->first.data : "?", c->count > 1 ? ", and more" : "");
    error_where(&s->err, "%s",
                s->origin_path      ? s->origin_path
                : s->own_experiment ? s->own_experiment
                                    : s->options.experiment);
    error_help(&s->err, "%s%sleave it as it was, or say --allow-change",
               c->why ? c->why : "", c->why ? "; " : "");
    return LATHE_EINVAL;
}

lathe_status session_check_changes(lathe_session *s) {
    if (!s->before) return LATHE_OK;
    struct comparing comparing = {.s = s};
    struct json *now = experiment_whole(s->experiments);
    compare(&comparing, "", s->before, now);
    compare_versions(&comparing);
    lathe_status status = comparing.count
                              ? refuse(s, &comparing)
                              : session_check_over(s, now, comparing.allowed.data);
    json_close(now);
    text_finish(&comparing.allowed);
    text_finish(&comparing.first);
    return status;
}
