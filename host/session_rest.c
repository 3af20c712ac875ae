/* SPDX-License-Identifier: MIT */
/* Places of rest: between two steps everything that makes the rest of the run is known,
 * so that is what gets saved. A run that ends on its way from one to the next, because
 * data could not be read, say, falls back to the last one; nothing that it falls back
 * from has touched the weights. */
#include <stdlib.h>

#include "base/grow.h"
#include "session_calls.h"

static bool is_subscribed_in_window(const lathe_session *s,
                                    const struct plugin *plugin) {
    for (int point = POINT_STEP_BEGIN; point <= POINT_GRADIENTS_READY; point++)
        for (int i = 0; i < s->points[point].count; i++)
            if (s->points[point].plugins[i] == plugin) return true;
    return false;
}

static lathe_status list(lathe_session *s, struct plugin *plugin, bool is_in_window) {
    const lathe_any_ops *ops = plugin->ops;
    for (size_t i = 0; i < plugin->use->nested_count; i++) {
        lathe_status status = list(s, &plugin->nested[i], is_in_window);
        if (status != LATHE_OK) return status;
    }
    if (!ops->save) return LATHE_OK;
    struct plugin_state *states =
        grow(s->states, (size_t)s->state_count, sizeof *states);
    if (!states) return fail(&s->err, LATHE_ENOMEM, "no memory for saved state");
    s->states = states;
    states[s->state_count++] =
        (struct plugin_state){.plugin = plugin, .is_in_window = is_in_window};
    return LATHE_OK;
}

/* Optimizers and schedules change with updates and validations only. */
static bool may_change_in_window(const lathe_session *s, const struct plugin *plugin) {
    const uint32_t kind = plugin->use->kind;
    return kind == LATHE_KIND_CALLBACK
               ? is_subscribed_in_window(s, plugin)
               : kind == LATHE_KIND_DATASET || kind == LATHE_KIND_MODEL;
}

lathe_status session_list_states(lathe_session *s) {
    lathe_status status = LATHE_OK;
    struct plugin *plugin;
    for (int64_t i = 0;
         status == LATHE_OK && (plugin = session_plugin_at(s, i)) != NULL; i++)
        status = list(s, plugin, may_change_in_window(s, plugin));
    return status;
}

void session_free_states(lathe_session *s) {
    for (int64_t i = 0; i < s->state_count; i++) text_finish(&s->states[i].bytes);
    free(s->states);
    s->states = NULL;
    s->state_count = 0;
}

static lathe_status save(lathe_session *s, struct plugin_state *state) {
    struct plugin *plugin = state->plugin;
    text_clear(&state->bytes);
    lathe_status status = LATHE_OK;
    if (session_enter(s, 0, plugin, FUNCTION_SAVE))
        status = plugin_save(plugin, &state->bytes);
    session_leave(s, 0, plugin, FUNCTION_SAVE);
    if (status != LATHE_OK || plugin->misuse.status != LATHE_OK)
        return session_plugin_failed(s, plugin, status, "save");
    return LATHE_OK;
}

lathe_status session_mark(lathe_session *s, enum rest kind) {
    lathe_status status = LATHE_OK;
    for (int64_t i = 0; status == LATHE_OK && i < s->state_count; i++)
        if (kind == REST_VISIT || s->states[i].is_in_window)
            status = save(s, &s->states[i]);
    if (status != LATHE_OK) return status;
    metrics_mark(s->metrics);
    s->rest = (struct resting){.kind = kind,
                               .now = s->now,
                               .micro = s->micro,
                               .epochs = s->epochs,
                               .recorded = s->recorded,
                               .sum = s->sum,
                               .recorded_window = s->recorded_window,
                               .skipped = s->skipped,
                               .skipped_in_a_row = s->skipped_in_a_row};
    s->is_saved = false;
    return LATHE_OK;
}

bool session_fall_back(lathe_session *s) {
    if (s->rest.kind == REST_NONE) return false;
    if (s->rest.kind == REST_HERE) return true;
    s->now = s->rest.now;
    s->micro = s->rest.micro;
    s->epochs = s->rest.epochs;
    s->recorded_window = s->rest.recorded_window;
    s->skipped = s->rest.skipped;
    s->skipped_in_a_row = s->rest.skipped_in_a_row;
    metrics_take_back(s->metrics);
    lathe_discard(s);
    if (s->rest.kind == REST_VISIT) s->validate_due.is_due = true;
    return true;
}

lathe_status session_save_states(lathe_session *s) {
    lathe_status status = LATHE_OK;
    for (int64_t i = 0; status == LATHE_OK && i < s->state_count; i++) {
        const bool is_known = s->rest.kind == REST_VISIT ||
                              (s->rest.kind == REST_BACK && s->states[i].is_in_window);
        if (!is_known) status = save(s, &s->states[i]);
    }
    return status;
}
