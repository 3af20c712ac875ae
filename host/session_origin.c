/* SPDX-License-Identifier: MIT */
/* Is a checkpoint one to go on from? What it says of itself is compared before anything
 * is taken from it: its format, whose run it is of, who saved which state, on how much
 * data. The experiment is compared in session_changes.c. */
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "session_state.h"

static lathe_status check_run(lathe_session *s) {
    const char *own = json_text(json_get(s->before, "run"));
    const char *run = safetensors_note(s->origin, NOTE_RUN);
    if (!s->options.resume || s->is_begun_again || !*own || (run && !strcmp(own, run)))
        return LATHE_OK;
    fail(&s->err, LATHE_EDATA, "this checkpoint is of another run");
    error_help(&s->err, "move it away, and the newest of this run is used; or begin a "
                        "run from it: lathe run --from CHECKPOINT");
    return LATHE_EDATA;
}

lathe_status session_read_saved(lathe_session *s) {
    json_close(s->saved);
    s->saved = NULL;
    return session_read_note(s, NOTE_PLUGINS, &s->saved);
}

lathe_status session_check_origin(lathe_session *s) {
    lathe_status status = checkpoints_check_format(s->origin, &s->err);
    if (status == LATHE_OK) status = check_run(s);
    if (status == LATHE_OK) status = session_read_saved(s);
    if (status != LATHE_OK) error_where(&s->err, "%s", s->origin_path);
    return status;
}

/* ---- plugins ---- */

const struct json *session_saved_plugin(const lathe_session *s, const struct use *use) {
    for (size_t i = 0; i < json_size(s->saved); i++) {
        const struct json *saved = json_at(s->saved, i);
        if (!strcmp(json_text(json_get(saved, "id")), use->id) &&
            !strcmp(json_text(json_get(saved, "kind")), manifest_kind_name(use->kind)))
            return saved;
    }
    return NULL;
}

bool session_is_state_of(const lathe_session *s, const struct plugin *plugin) {
    const struct json *saved = session_saved_plugin(s, plugin->use);
    return !strcmp(json_text(json_get(saved, "name")), plugin->use->manifest->name);
}

lathe_status session_check_state(lathe_session *s, const struct plugin *plugin,
                                 const void *bytes, int64_t count) {
    const struct json *saved = session_saved_plugin(s, plugin->use);
    char digest[DIGEST_HEX];
    digest_bytes(bytes, (size_t)count, digest);
    if (!strcmp(json_text(json_get(saved, "sha256")), digest)) return LATHE_OK;
    return fail(&s->err, LATHE_EDATA,
                "the state of %s has %lld bytes, which are not the %lld that it saved",
                plugin->label, (long long)count,
                (long long)json_whole(json_get(saved, "bytes")));
}

/* ---- data ---- */

struct json *session_list_data(const lathe_session *s) {
    struct json *map = json_make_map();
    for (int i = 0; i < SPLIT_COUNT; i++)
        if (s->data[i].is_used)
            map = json_add(map, split_names[i], json_make_whole(s->data[i].samples));
    return map;
}

/* The order of the data follows from how much there is. */
lathe_status session_check_data(lathe_session *s, const struct json *loop) {
    const struct json *map = json_get(loop, "data");
    for (int i = 0; i < SPLIT_COUNT; i++) {
        const struct json *saved = json_get(map, split_names[i]);
        const int64_t before = json_whole(saved), now = s->data[i].samples;
        if (!saved || !s->data[i].is_used || before == now ||
            s->options.flags & LATHE_ALLOW_CHANGE)
            continue;
        fail(&s->err, LATHE_EDATA,
             "data.%s had %lld samples when this was saved, and has %lld",
             split_names[i], (long long)before, (long long)now);
        error_help(&s->err, "put the data back as it was, or say --allow-change");
        return LATHE_EDATA;
    }
    return LATHE_OK;
}
