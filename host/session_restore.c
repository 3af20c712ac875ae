/* SPDX-License-Identifier: MIT */
/* A checkpoint put into what was composed: blocks, the state of plugins, where the loop
 * is. What fails on the way ends the session, so nothing is put back. */
#include <stdlib.h>
#include <string.h>

#include "session_calls.h"

/* What a tensor has to be, to fill a parameter's place in a block. */
static lathe_status check_tensor(lathe_session *s, const char *name,
                                 const struct parameter *p,
                                 const struct safetensor *tensor) {
    if (!tensor) return fail(&s->err, LATHE_EDATA, "there is no tensor \"%s\"", name);
    if (strcmp(tensor->dtype, "F32") != 0)
        return fail(&s->err, LATHE_EDATA, "tensor \"%s\" is %s; F32 was expected", name,
                    tensor->dtype);
    const size_t bytes = p->rank * sizeof *p->shape;
    if (tensor->rank != (int32_t)p->rank || memcmp(tensor->shape, p->shape, bytes) != 0)
        return fail(&s->err, LATHE_EDATA,
                    "tensor \"%s\" has another shape than the model's", name);
    return LATHE_OK;
}

/* Fills a block. may_miss: what there is no tensor for stays as it is. */
static lathe_status read_block(lathe_session *s, int64_t block, bool may_miss) {
    lathe_status status = LATHE_OK;
    for (int64_t i = 0; i < s->parameters.count && status == LATHE_OK; i++) {
        const struct parameter *p = &s->parameters.items[i];
        if (!session_block_has(s, block, p)) continue;
        char *name = session_block_name(s, block, p->name);
        if (!name) return fail(&s->err, LATHE_ENOMEM, "no memory to restore");
        const struct safetensor *tensor = safetensors_find(s->origin, name);
        if (tensor || !may_miss) {
            status = check_tensor(s, name, p, tensor);
            if (status == LATHE_OK)
                status = safetensors_read(s->origin, tensor,
                                          session_block(s, block) + p->offset, &s->err);
        }
        free(name);
    }
    return status;
}

static bool has_block(const lathe_session *s, const char *own) {
    char *prefix = text_make(BLOCK_PREFIX "%s/", own);
    bool is_there = false;
    for (size_t i = 0; prefix && i < safetensors_count(s->origin) && !is_there; i++)
        is_there = !strncmp(safetensors_at(s->origin, i)->name, prefix, strlen(prefix));
    free(prefix);
    return is_there;
}

/* The next stage keeps slots only where asked, and may train what the one before did
 * not. */
static lathe_status read_slots(lathe_session *s, bool is_next_stage) {
    lathe_status status = LATHE_OK;
    if (is_next_stage && !s->experiment->train.keeps_slots) return LATHE_OK;
    for (int64_t slot = 0; slot < s->slot_count && status == LATHE_OK; slot++)
        status = read_block(s, 1 + slot, is_next_stage);
    return status;
}

static lathe_status read_blocks(lathe_session *s, bool is_next_stage) {
    lathe_status status = read_block(s, 0, false);
    if (status == LATHE_OK) status = read_slots(s, is_next_stage);
    for (int64_t i = 0; i < s->block_count && status == LATHE_OK; i++) {
        const char *own = s->blocks[i].name;
        if (has_block(s, own))
            status = read_block(s, 1 + s->slot_count + i, false);
        else
            log_line(&s->log, LATHE_LOG_WARNING,
                     "nothing was saved of the block %s: it starts with 0", own);
    }
    return status;
}

/* ---- the state of plugins ---- */

static lathe_status load(lathe_session *s, struct plugin *plugin, const void *bytes,
                         int64_t count) {
    const lathe_any_ops *ops = plugin->ops;
    lathe_status status = LATHE_OK;
    if (session_enter(s, 0, plugin, FUNCTION_LOAD))
        status = ops->load ? plugin_load(plugin, bytes, count)
                           : fail(&s->err, LATHE_EPLUGIN,
                                  "%s saves state and cannot load it", plugin->label);
    session_leave(s, 0, plugin, FUNCTION_LOAD);
    if (status == LATHE_OK && plugin->misuse.status == LATHE_OK) return LATHE_OK;
    return session_plugin_failed(s, plugin, status, "load");
}

static bool is_model(const lathe_session *s, const struct plugin *plugin) {
    return plugin == &s->shards[0].model;
}

/* A callback may have been added since; whatever else has state must find it. */
static lathe_status miss(lathe_session *s, const struct plugin *plugin,
                         const char *name) {
    if (plugin->use->kind != LATHE_KIND_CALLBACK)
        return fail(&s->err, LATHE_EDATA, "there is no tensor \"%s\"", name);
    log_line(&s->log, LATHE_LOG_INFO, "nothing was saved of %s: it starts anew",
             plugin->label);
    return LATHE_OK;
}

static lathe_status read_state(lathe_session *s, struct plugin *plugin) {
    char *name = session_state_name(plugin);
    if (!name) return fail(&s->err, LATHE_ENOMEM, "no memory to restore");
    const struct safetensor *tensor = safetensors_find(s->origin, name);
    if (!tensor || !session_is_state_of(s, plugin)) {
        lathe_status status = miss(s, plugin, name);
        free(name);
        return status;
    }
    free(name);
    void *bytes = malloc((size_t)tensor->bytes + 1);
    if (!bytes) return fail(&s->err, LATHE_ENOMEM, "no memory to restore");
    lathe_status status = safetensors_read(s->origin, tensor, bytes, &s->err);
    if (status == LATHE_OK)
        status = session_check_state(s, plugin, bytes, tensor->bytes);
    if (status == LATHE_OK) status = load(s, plugin, bytes, tensor->bytes);
    for (int64_t i = 1; is_model(s, plugin) && status == LATHE_OK && i < s->shard_count;
         i++)
        status = load(s, &s->shards[i].model, bytes, tensor->bytes);
    free(bytes);
    return status;
}

/* ---- the whole ---- */

static lathe_status read_loop(lathe_session *s, bool is_next_stage) {
    struct json *loop = NULL;
    lathe_status status = session_read_note(s, NOTE_LOOP, &loop);
    if (status == LATHE_OK && !is_next_stage) status = session_check_data(s, loop);
    if (status == LATHE_OK) status = session_read_loop(s, loop);
    json_close(loop);
    return status;
}

static bool is_carried(const struct plugin *plugin) {
    return plugin->use->kind == LATHE_KIND_CALLBACK ||
           plugin->use->kind == LATHE_KIND_MODEL;
}

lathe_status session_restore(lathe_session *s, bool is_next_stage) {
    if (s->options.resume) s->now.resumed = 1;
    if (!s->origin) return s->options.resume ? session_cut_files(s, NULL) : LATHE_OK;
    lathe_status status = session_read_saved(s);
    if (status == LATHE_OK) status = read_blocks(s, is_next_stage);
    for (int64_t i = 0; i < s->state_count && status == LATHE_OK; i++)
        if (!is_next_stage || is_carried(s->states[i].plugin))
            status = read_state(s, s->states[i].plugin);
    if (status == LATHE_OK) status = read_loop(s, is_next_stage);
    if (status != LATHE_OK) {
        if (!s->err.where[0])
            error_where(&s->err, "%s",
                        s->origin_path ? s->origin_path : "the stage that begins");
        return status;
    }
    if (!is_next_stage && (!s->options.resume || s->is_begun_again))
        s->now.resumed = 2; /* with the state of another run, and no files of its own */
    else
        s->now.resumed = 1;
    return LATHE_OK;
}
