/* SPDX-License-Identifier: MIT */
/* optimizer.groups: parameters by name, with options of their own. */
#include <stdlib.h>
#include <string.h>

#include "experiment_parts.h"

#define GROUPS_MAX 31

/* The optimizer's own options, with those of the group over them. */
static struct json *merge(const struct json *optimizer, const struct json *given) {
    struct json *merged = json_add(json_clone(optimizer), "groups", json_make_list());
    for (struct json_member at = {0}; json_next(given, &at);)
        merged = json_add(merged, at.key, json_clone(at.value));
    return merged;
}

static bool check_match(struct opening *opening, const struct json *given,
                        const char *path) {
    const struct json *match = json_get(given, "match");
    if (json_kind(given) != JSON_MAP)
        experiment_fault(
            opening, path,
            "write { \"match\": \"*.bias\" } with the group's options beside it",
            "a group was expected, found %s", json_kind_name(json_kind(given)));
    else if (json_kind(match) != JSON_TEXT || !*json_text(match))
        experiment_fault(opening, path, "a pattern of names: \"*.bias\"",
                         "no \"match\" says which parameters are meant");
    else
        return true;
    return false;
}

static void find_group(struct opening *opening, const struct json *optimizer,
                       const struct json *given, size_t index) {
    static const char *const reserved[] = {"use",  "id",    "groups",
                                           "keep", "match", NULL};
    struct experiment *experiment = opening->experiment;
    struct group_use *group = &experiment->groups[experiment->group_count++];
    char path[64];
    snprintf(path, sizeof path, "optimizer.groups.%zu", index);
    if (!check_match(opening, given, path)) return;
    group->match = json_text(json_get(given, "match"));
    group->merged = merge(optimizer, given);
    group->use.kind = LATHE_KIND_OPTIMIZER;
    group->use.manifest = experiment->optimizer.manifest;
    group->use.options = group->merged;
    group->use.path = experiment_keep(opening, text_copy(path));
    group->use.id = experiment_keep(
        opening, text_make("%s.groups.%zu", experiment->optimizer.id, index));
    if (!group->merged) opening->is_broken = true;
    if (opening->is_broken) return;
    experiment_check_options(opening, &group->use, group->merged, reserved);
}

void experiment_find_groups(struct opening *opening, struct json *optimizer) {
    struct experiment *experiment = opening->experiment;
    const struct json *groups = json_get(optimizer, "groups");
    if (!groups || !experiment->optimizer.manifest) return;
    if (json_kind(groups) != JSON_LIST || json_size(groups) > GROUPS_MAX) {
        experiment_fault(opening, "optimizer.groups",
                         "[{ \"match\": \"*.bias\", \"weight_decay\": 0 }]",
                         "a list of at most %d groups was expected", GROUPS_MAX);
        return;
    }
    experiment->groups = calloc(json_size(groups) + 1, sizeof *experiment->groups);
    if (!experiment->groups) opening->is_broken = true;
    for (size_t i = 0; i < json_size(groups) && !opening->is_broken; i++)
        find_group(opening, optimizer, json_at(groups, i), i);
}

void experiment_finish_groups(struct experiment *experiment) {
    for (size_t i = 0; i < experiment->group_count; i++) {
        experiment_finish_use(&experiment->groups[i].use);
        json_close(experiment->groups[i].merged);
    }
    free(experiment->groups);
}
