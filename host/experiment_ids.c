/* SPDX-License-Identifier: MIT */
/* State and randomness are keyed by id, so no two plugins of one kind may share one. */
#include <stdlib.h>
#include <string.h>

#include "experiment_parts.h"

struct seen {
    struct opening *opening;
    struct owner {
        const struct use *use;
    } * owners;
    size_t count;
};

static const struct use *find_owner(const struct seen *seen, const struct use *use) {
    for (size_t i = 0; i < seen->count; i++) {
        const struct use *owner = seen->owners[i].use;
        if (owner->kind == use->kind && strcmp(owner->id, use->id) == 0) return owner;
    }
    return NULL;
}

static void see(struct seen *seen, const struct use *use) {
    if (!use->id || !use->path) return; /* not in use */
    const struct use *owner = use->id[0] != '\0' ? find_owner(seen, use) : NULL;
    if (owner)
        error_help(experiment_fault(seen->opening, LATHE_EINVAL, use->path,
                                    "the %s at %s has the id \"%s\" already",
                                    manifest_kind_name(use->kind), owner->path,
                                    use->id),
                   "add \"id\": \"%s-2\" beside \"use\"", use->id);
    struct owner *owners =
        realloc(seen->owners, (seen->count + 1) * sizeof *seen->owners);
    if (!owners) {
        seen->opening->is_broken = true;
        return;
    }
    seen->owners = owners;
    owners[seen->count++].use = use;
    for (size_t i = 0; i < use->nested_count; i++) see(seen, &use->nested[i]);
}

void experiment_check_ids(struct opening *opening) {
    const struct experiment *experiment = opening->experiment;
    struct seen seen = {.opening = opening};
    see(&seen, &experiment->model);
    for (size_t i = 0; i < experiment->data_count; i++)
        see(&seen, &experiment->data[i].use);
    see(&seen, &experiment->optimizer);
    see(&seen, &experiment->schedule);
    for (size_t i = 0; i < experiment->callback_count; i++)
        see(&seen, &experiment->callbacks[i]);
    free(seen.owners);
}
