/* SPDX-License-Identifier: MIT */
/* Calling the callbacks: lists of subscribers are made once, so a point that nobody
 * subscribed to costs one comparison. */
#include <stdlib.h>
#include <string.h>

#include "session_calls.h"

typedef lathe_status (*point_function)(void *self, const lathe_moment *at);

static const struct {
    const char *name;
    size_t offset;
} points[POINT_COUNT] = {
#define POINT(name)                                                                    \
    { #name, offsetof(lathe_callback_ops, name) }
    POINT(run_begin),        POINT(epoch_begin),
    POINT(step_begin),       POINT(batch_begin),
    POINT(loss_ready),       POINT(batch_end),
    POINT(gradients_ready),  POINT(step_end),
    POINT(validation_begin), POINT(validation_batch_end),
    POINT(validation_end),   POINT(epoch_end),
    POINT(run_end),
#undef POINT
};

const char *session_point_name(enum point point) {
    return point < POINT_COUNT ? points[point].name : "no point";
}

static point_function function_of(const struct plugin *plugin, enum point point) {
    const lathe_callback_ops *ops = plugin->ops;
    if (ops->size < points[point].offset + sizeof(point_function)) return NULL;
    const char *slot = (const char *)plugin->ops + points[point].offset;
    return *(const point_function *)(const void *)slot;
}

lathe_status session_list_points(lathe_session *s) {
    for (int point = 0; point < POINT_COUNT; point++) {
        struct point_list *list = &s->points[point];
        list->plugins = calloc((size_t)s->callback_count + 1, sizeof *list->plugins);
        if (!list->plugins)
            return fail(&s->err, LATHE_ENOMEM, "no memory for callbacks");
        for (int64_t i = 0; i < s->callback_count; i++)
            if (function_of(&s->callbacks[i], (enum point)point))
                list->plugins[list->count++] = &s->callbacks[i];
    }
    return LATHE_OK;
}

lathe_status session_plugin_failed(lathe_session *s, struct plugin *plugin,
                                   lathe_status status, const char *function) {
    struct error err;
    status = plugin_failure(plugin, status, function, &err);
    s->err = err;
    size_t used = strlen(s->err.where);
    snprintf(s->err.where + used, sizeof s->err.where - used,
             " at epoch %lld step %lld", (long long)s->now.epoch,
             (long long)s->now.step);
    return status;
}

static lathe_status call(lathe_session *s, struct plugin *plugin, enum point point) {
    lathe_status status = LATHE_OK;
    if (session_enter(s, 0, plugin, (int)point))
        status = function_of(plugin, point)(plugin->self, &s->now);
    session_leave(s, 0, plugin, (int)point);
    const bool is_known = status == LATHE_OK || status == LATHE_STOP;
    if (!is_known || plugin->misuse.status != LATHE_OK)
        return session_plugin_failed(s, plugin, status, points[point].name);
    if (status == LATHE_STOP && !(s->requests & LATHE_REQUEST_STOP)) {
        s->requests |= LATHE_REQUEST_STOP;
        snprintf(s->stop_reason, sizeof s->stop_reason, "%s asked for it",
                 plugin->use->id);
    }
    return LATHE_OK;
}

lathe_status session_fire(lathe_session *s, enum point point) {
    const struct point_list *list = &s->points[point];
    if (!list->count) return LATHE_OK;
    lathe_status status = LATHE_OK;
    s->point = point;
    for (int i = 0; i < list->count && status == LATHE_OK; i++)
        status = call(s, list->plugins[i], point);
    s->point = POINT_NONE;
    return status;
}

/* run_end comes to everybody, whatever the others say. The first failure counts, and an
 * error that stands already is kept. */
lathe_status session_fire_end(lathe_session *s) {
    const struct point_list *list = &s->points[POINT_RUN_END];
    lathe_status first = LATHE_OK;
    struct error kept = s->err;
    s->point = POINT_RUN_END;
    for (int i = 0; i < list->count; i++) {
        lathe_status status = call(s, list->plugins[i], POINT_RUN_END);
        if (status == LATHE_OK || first != LATHE_OK) continue;
        first = status;
        if (kept.status == LATHE_OK) kept = s->err;
    }
    s->point = POINT_NONE;
    s->err = kept;
    return first;
}
