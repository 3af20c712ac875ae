/* SPDX-License-Identifier: MIT */
/* State: what is saved can be loaded and saved again to the same bytes; what is no
 * state is refused, and leaves the instance as it was. */
#include "check/state.h"

#include <stdlib.h>
#include <string.h>

#include "check/small_run.h"
#include "check/tests.h"

#define LENGTHS_MAX 4096 /* of truncated state that are tried */
#define RANDOM_TRIES 32
enum { PURPOSE_BYTES = 600 };

bool state_save(struct fixture *fixture, struct plugin *plugin, struct text *bytes) {
    check_doing(fixture->check, "save");
    return fixture_went_well(fixture, plugin, plugin_save(plugin, bytes), "save");
}

lathe_status state_load(struct fixture *fixture, struct plugin *plugin,
                        const void *bytes, size_t count) {
    check_doing(fixture->check, "load of %zu bytes", count);
    return plugin_load(plugin, bytes, (int64_t)count);
}

static bool is_same(const struct text *a, const struct text *b) {
    return a->length == b->length &&
           (!a->length || !memcmp(a->data, b->data, a->length));
}

/* Is it refused with a reason, and nothing changed? */
static bool refuses(struct fixture *fixture, struct plugin *plugin, const void *bytes,
                    size_t count, const char *what) {
    struct text before = {0}, after = {0};
    struct check *check = fixture->check;
    bool is_well = state_save(fixture, plugin, &before);
    const lathe_status status = is_well ? state_load(fixture, plugin, bytes, count) : 0;
    if (is_well && status >= 0)
        is_well = check_fail(check,
                             "load took %s as its state: it is to refuse with "
                             "LATHE_EDATA",
                             what);
    if (is_well && plugin->failures[0].status == LATHE_OK)
        is_well =
            check_fail(check, "load refused %s without saying why (lathe_fail)", what);
    plugin->failures[0].status = LATHE_OK;
    is_well = is_well && state_save(fixture, plugin, &after);
    if (is_well && !is_same(&before, &after))
        is_well = check_fail(check, "load refused %s, and changed the instance", what);
    text_finish(&before);
    text_finish(&after);
    return is_well;
}

static bool refuse_all(struct fixture *fixture, struct plugin *plugin,
                       const struct text *state) {
    char what[96], *junk = malloc(state->length + 1);
    const size_t step = state->length / LENGTHS_MAX + 1;
    bool is_well = junk || check_fail(fixture->check, "out of memory");
    is_well = is_well && refuses(fixture, plugin, "", 0, "nothing at all");
    for (size_t length = 1; is_well && length < state->length; length += step) {
        snprintf(what, sizeof what, "the first %zu of %zu bytes", length,
                 state->length);
        is_well = refuses(fixture, plugin, state->data, length, what);
    }
    for (uint32_t n = 0; is_well && n < RANDOM_TRIES; n++) {
        for (size_t i = 0; i < state->length; i++)
            junk[i] = (char)check_draw(fixture->check, PURPOSE_BYTES + n, i);
        snprintf(what, sizeof what, "%zu random bytes", state->length);
        is_well = refuses(fixture, plugin, junk, state->length, what);
    }
    free(junk);
    return is_well;
}

static bool comes_back(struct fixture *fixture, struct plugin *plugin,
                       const struct text *state) {
    struct text again = {0};
    lathe_status status = state_load(fixture, plugin, state->data, state->length);
    bool is_well = fixture_went_well(fixture, plugin, status, "load") &&
                   state_save(fixture, plugin, &again);
    if (is_well && !is_same(state, &again))
        is_well = check_fail(fixture->check,
                             "what it loads and saves again are other "
                             "bytes (%zu, not %zu)",
                             again.length, state->length);
    text_finish(&again);
    return is_well;
}

/* State that something has happened to. */
static bool make_state(struct fixture *fixture, struct text *state) {
    struct check *check = fixture->check;
    struct plugin worked;
    if (check->subject->manifest->kind == LATHE_KIND_CALLBACK)
        return small_run_state(check, state);
    bool is_well = fixture_create(fixture, &worked, NULL);
    if (is_well && check->subject->manifest->kind == LATHE_KIND_SCHEDULE)
        schedule_observe_some(fixture, &worked);
    is_well = is_well && state_save(fixture, &worked, state);
    fixture_destroy(fixture, &worked);
    return is_well;
}

static void check_states(struct fixture *fixture) {
    struct plugin plugin;
    struct text state = {0};
    struct check *check = fixture->check;
    bool is_well = fixture_create(fixture, &plugin, NULL);
    const lathe_any_ops *ops = is_well ? plugin.ops : NULL;
    if (ops && !ops->save && !ops->load) {
        check_note(check, "it keeps no state");
    } else if (ops && (!ops->save || !ops->load)) {
        check_fail(check, "it has %s and no %s", ops->save ? "save" : "load",
                   ops->save ? "load" : "save");
    } else if (ops && make_state(fixture, &state)) {
        if (!state.length)
            check_note(check, "its state is empty");
        else if (refuse_all(fixture, &plugin, &state) &&
                 comes_back(fixture, &plugin, &state))
            check_note(check, "%zu bytes", state.length);
    }
    text_finish(&state);
    fixture_destroy(fixture, &plugin);
}

void test_state(struct check *check) {
    struct fixture fixture;
    if (!fixture_open(&fixture, check, NULL, NULL)) return;
    check_states(&fixture);
    fixture_close(&fixture);
}
