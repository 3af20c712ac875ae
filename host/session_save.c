/* SPDX-License-Identifier: MIT */
/* Saving: every block is copied, and the copy is written while training goes on. The
 * copy is memory of its own, made at the first save and kept. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "session_calls.h"

#define NOTES 6
#define EXPERIMENT 3 /* which note is the experiment */

struct snapshot {
    float *copy; /* of every block */
    int64_t size;
    struct safetensor *tensors;
    size_t count, room;
    struct text *states; /* [state_count] bytes of plugins */
    int64_t state_count;
    struct safetensors_note notes[NOTES];
    char *texts[NOTES]; /* what the notes borrow */
    int flush_fd;
};

char *session_state_name(const struct plugin *plugin) {
    return text_make(STATE_PREFIX "%s/%s", manifest_kind_name(plugin->use->kind),
                     plugin->use->id);
}

/* ---- what goes into the file ---- */

static bool add_tensor(struct snapshot *snapshot, char *name,
                       struct safetensor tensor) {
    if (!name || snapshot->count == snapshot->room) {
        free(name);
        return false;
    }
    tensor.name = name;
    snapshot->tensors[snapshot->count++] = tensor;
    return true;
}

/* One tensor for each parameter that has a place in the block. */
static bool add_block(const lathe_session *s, struct snapshot *snapshot, int64_t block,
                      const float *copy) {
    for (int64_t i = 0; i < s->parameters.count; i++) {
        const struct parameter *p = &s->parameters.items[i];
        if (!session_block_has(s, block, p)) continue;
        struct safetensor tensor = {.dtype = "F32",
                                    .rank = (int32_t)p->rank,
                                    .bytes = p->count * (int64_t)sizeof(float),
                                    .data = copy + p->offset};
        memcpy(tensor.shape, p->shape, sizeof tensor.shape);
        if (!add_tensor(snapshot, session_block_name(s, block, p->name), tensor))
            return false;
    }
    return true;
}

static bool copy_blocks(const lathe_session *s, struct snapshot *snapshot) {
    const int64_t size = s->parameters.size, count = session_count_blocks(s);
    bool is_whole = true;
    for (int64_t i = 0; i < count && is_whole; i++) {
        float *copy = snapshot->copy + i * size;
        memcpy(copy, session_block(s, i), (size_t)size * sizeof *copy);
        is_whole = add_block(s, snapshot, i, copy);
    }
    return is_whole;
}

static bool copy_states(const lathe_session *s, struct snapshot *snapshot) {
    for (int64_t i = 0; i < s->state_count; i++) {
        const struct text *from = &s->states[i].bytes;
        struct text *to = &snapshot->states[i];
        text_clear(to);
        text_add_bytes(to, from->length ? from->data : "", from->length);
        const struct safetensor tensor = {.dtype = "U8",
                                          .rank = 1,
                                          .shape = {(int64_t)to->length},
                                          .bytes = (int64_t)to->length,
                                          .data = to->data};
        if (to->is_broken ||
            !add_tensor(snapshot, session_state_name(s->states[i].plugin), tensor))
            return false;
    }
    return true;
}

/* ---- notes ---- */

/* NULL: there was no memory for it. */
static char *take(struct text *text) {
    if (text->is_broken) text_finish(text);
    return text->data;
}

static char *written(struct json *json) {
    struct text text = {0};
    if (json) json_write(json, &text, 0);
    json_close(json);
    return take(&text);
}

static struct json *add_state(struct json *map, const lathe_session *s,
                              const struct plugin *plugin) {
    char digest[DIGEST_HEX];
    int64_t i = 0;
    while (i < s->state_count && s->states[i].plugin != plugin) i++;
    if (i == s->state_count) return map;
    const struct text *bytes = &s->snapshot->states[i];
    digest_bytes(bytes->data, bytes->length, digest);
    map = json_add(map, "bytes", json_make_whole((int64_t)bytes->length));
    return json_add(map, "sha256", json_make_text(digest));
}

static struct json *append_plugin(struct json *list, const lathe_session *s,
                                  const struct plugin *plugin) {
    const struct use *use = plugin->use;
    struct json *map = JSON_MAP_OF(
        {"kind", json_make_text(manifest_kind_name(use->kind))},
        {"id", json_make_text(use->id)}, {"name", json_make_text(use->manifest->name)},
        {"version", json_make_text(use->manifest->version)},
        {"library", json_make_text(plugin->library->digest)});
    list = json_append(list, add_state(map, s, plugin));
    for (size_t i = 0; i < use->nested_count; i++)
        list = append_plugin(list, s, &plugin->nested[i]);
    return list;
}

/* Who was at work, and saved what: session_origin.c compares. */
static char *list_plugins(lathe_session *s) {
    struct json *list = json_make_list();
    const struct plugin *plugin;
    for (int64_t i = 0; (plugin = session_plugin_at(s, i)) != NULL; i++)
        list = append_plugin(list, s, plugin);
    return written(list);
}

static char *resolved(const lathe_session *s) {
    struct text text = {0};
    experiment_write_resolved(s->experiments, s->plugin_paths, NULL, NULL, &text);
    return take(&text);
}

/* The experiment does not change from one save to the next: it is written once. */
static bool write_notes(lathe_session *s, struct snapshot *snapshot) {
    static const char *const keys[NOTES] = {"format",        NOTE_FORMAT,  NOTE_RUN,
                                            NOTE_EXPERIMENT, NOTE_PLUGINS, NOTE_LOOP};
    char *texts[NOTES] = {
        text_copy("pt"), /* as PyTorch lays tensors out */
        text_make("1 %s, plugin ABI 1.%u", LATHE_VERSION, LATHE_ABI_MINOR),
        text_copy(s->run_id),
        snapshot->texts[EXPERIMENT] ? snapshot->texts[EXPERIMENT] : resolved(s),
        list_plugins(s),
        written(session_write_loop(s))};
    bool is_whole = true;
    for (int i = 0; i < NOTES; i++) {
        if (texts[i] != snapshot->texts[i]) free(snapshot->texts[i]);
        snapshot->texts[i] = texts[i];
        snapshot->notes[i] = (struct safetensors_note){keys[i], texts[i]};
        if (!texts[i]) is_whole = false;
    }
    return is_whole;
}

/* ---- the snapshot ---- */

static void forget_tensors(struct snapshot *snapshot) {
    for (size_t i = 0; i < snapshot->count; i++)
        free((void *)snapshot->tensors[i].name);
    snapshot->count = 0;
}

void session_free_snapshot(lathe_session *s) {
    struct snapshot *snapshot = s->snapshot;
    if (!snapshot) return;
    forget_tensors(snapshot);
    for (int64_t i = 0; i < snapshot->state_count; i++)
        text_finish(&snapshot->states[i]);
    for (int i = 0; i < NOTES; i++) free(snapshot->texts[i]);
    if (snapshot->flush_fd >= 0) close(snapshot->flush_fd);
    block_destroy(snapshot->copy, snapshot->size);
    free(snapshot->states);
    free(snapshot->tensors);
    free(snapshot);
    s->snapshot = NULL;
}

static lathe_status make_snapshot(lathe_session *s) {
    if (s->snapshot) return LATHE_OK;
    struct snapshot *snapshot = calloc(1, sizeof *snapshot);
    if (!snapshot) return fail(&s->err, LATHE_ENOMEM, "no memory to save");
    s->snapshot = snapshot;
    snapshot->flush_fd = -1;
    snapshot->size = s->parameters.size * session_count_blocks(s);
    snapshot->room =
        (size_t)(s->parameters.count * session_count_blocks(s) + s->state_count);
    snapshot->copy = block_create(snapshot->size);
    snapshot->tensors = calloc(snapshot->room + 1, sizeof *snapshot->tensors);
    snapshot->states = calloc((size_t)s->state_count + 1, sizeof *snapshot->states);
    snapshot->state_count = s->state_count;
    if (snapshot->copy && snapshot->tensors && snapshot->states) return LATHE_OK;
    if (!snapshot->states) snapshot->state_count = 0;
    session_free_snapshot(s);
    return fail(&s->err, LATHE_ENOMEM,
                "no memory for a copy of %lld bytes to save from",
                (long long)s->parameters.size * session_count_blocks(s) * 4);
}

static lathe_status fill(lathe_session *s) {
    struct snapshot *snapshot = s->snapshot;
    lathe_status status = session_save_states(s);
    if (status != LATHE_OK) return status;
    forget_tensors(snapshot);
    if (snapshot->flush_fd >= 0) close(snapshot->flush_fd);
    snapshot->flush_fd = rundir_descriptor(s->rundir, METRICS_FILE);
    if (copy_blocks(s, snapshot) && copy_states(s, snapshot) &&
        write_notes(s, snapshot))
        return LATHE_OK;
    return fail(&s->err, LATHE_ENOMEM, "no memory to save");
}

lathe_status session_write_all(lathe_session *s, int fd) {
    lathe_status status = make_snapshot(s);
    if (status == LATHE_OK) status = fill(s);
    if (status != LATHE_OK) return status;
    struct snapshot *all = s->snapshot;
    return safetensors_write(fd, all->tensors, all->count, all->notes, NOTES, &s->err);
}

/* ---- saving ---- */

#define AT_ONCE 16 /* a block is a whole number of these: one vector */

static bool is_finite_block(const lathe_session *s) {
    const uint32_t exponent = 0x7f800000;
    uint32_t bad = 0;
    for (int64_t i = 0; i < s->parameters.size; i += AT_ONCE) {
        uint32_t bits[AT_ONCE];
        memcpy(bits, s->weights + i, sizeof bits);
        for (int k = 0; k < AT_ONCE; k++) bad |= (bits[k] & exponent) == exponent;
    }
    return !bad;
}

/* Never in place of something better. */
static bool is_worth_saving(lathe_session *s) {
    if (is_finite_block(s)) return true;
    const char *last = checkpoints_last(s->checkpoints);
    log_line(&s->log, LATHE_LOG_WARNING,
             "the weights of step %lld are not finite, so they are not saved; %s%s",
             (long long)s->now.step, last ? "the last that are: " : "none were before",
             last ? last : "");
    return false;
}

static lathe_status begin_write(lathe_session *s) {
    const struct snapshot *snapshot = s->snapshot;
    const struct checkpoint checkpoint = {.step = s->now.step,
                                          .tensors = snapshot->tensors,
                                          .tensor_count = snapshot->count,
                                          .notes = snapshot->notes,
                                          .note_count = NOTES,
                                          .is_best = s->is_best,
                                          .flush_fd = snapshot->flush_fd};
    s->is_saved = true;
    s->is_best = false;
    return checkpoints_write(s->checkpoints, &checkpoint, &s->err);
}

static lathe_status save(lathe_session *s) {
    const bool is_dry = session_is_dry(s);
    lathe_status status = LATHE_OK;
    if (!(s->checkpoints || is_dry) || s->is_saved) return LATHE_OK;
    if (!is_dry) status = checkpoints_wait(s->checkpoints, &s->err);
    if (status != LATHE_OK || !is_worth_saving(s)) return status;
    session_trace_act(s, "save", NULL, 0);
    if (is_dry) {
        s->is_saved = true;
        return session_save_states(s);
    }
    status = make_snapshot(s);
    if (status == LATHE_OK) status = fill(s);
    return status == LATHE_OK ? begin_write(s) : status;
}

lathe_status lathe_save(lathe_session *s) {
    lathe_status status = session_allow(s, PLACE_RUN | PLACE_EPOCH, "lathe_save");
    if (status != LATHE_OK) return status;
    s->requests &= ~LATHE_REQUEST_SAVE;
    atomic_fetch_and(&s->requests_asked, ~LATHE_REQUEST_SAVE);
    if (s->rest.kind != REST_HERE)
        return fail(&s->err, LATHE_EINVAL, "lathe_save is called between steps only");
    return save(s);
}

lathe_status session_save_last(lathe_session *s) {
    const bool is_dry = session_is_dry(s);
    if (!(s->checkpoints || is_dry) || !session_fall_back(s)) return LATHE_OK;
    lathe_status status = save(s);
    if (is_dry) return status;
    lathe_status last = checkpoints_wait(s->checkpoints, &s->err);
    return status == LATHE_OK ? last : status;
}
