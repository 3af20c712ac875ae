/* SPDX-License-Identifier: MIT */
/* How many numbers a session holds, and where. */
#include "plan_parts.h"

/* Of the parameters before an offset. */
static int64_t count_floats(const lathe_session *s, int64_t end) {
    int64_t floats = 0;
    for (int64_t i = 0; i < s->parameters.count; i++)
        if (s->parameters.items[i].offset < end) floats += s->parameters.items[i].count;
    return floats;
}

static struct json *describe_group(const lathe_session *s, int32_t index) {
    int64_t parameters = 0, floats = 0;
    for (int64_t i = 0; i < s->parameters.count; i++) {
        const struct parameter *p = &s->parameters.items[i];
        if (p->group != index || p->offset >= s->parameters.trained_end) continue;
        parameters++;
        floats += p->count;
    }
    const char *match = index ? s->experiment->groups[index - 1].match : NULL;
    return JSON_MAP_OF({"match", json_make_text(match)},
                       {"parameters", json_make_whole(parameters)},
                       {"floats", json_make_whole(floats)},
                       {"rate", json_make_number(s->groups[index].base_rate)});
}

struct json *plan_parameters(const lathe_session *s) {
    struct json *groups = json_make_list();
    for (int32_t i = 0; i < s->group_count; i++)
        groups = json_append(groups, describe_group(s, i));
    return JSON_MAP_OF(
        {"count", json_make_whole(s->parameters.count)},
        {"floats", json_make_whole(count_floats(s, s->parameters.size))},
        {"trained", json_make_whole(count_floats(s, s->parameters.trained_end))},
        {"groups", groups});
}

struct json *plan_memory(const lathe_session *s) {
    const int64_t block = s->parameters.size * (int64_t)sizeof(float);
    const int64_t count = 1 + s->shard_count + s->slot_count + s->block_count;
    return JSON_MAP_OF({"weights", json_make_whole(block)},
                       {"gradients", json_make_whole(block * s->shard_count)},
                       {"slots", json_make_whole(block * s->slot_count)},
                       {"own", json_make_whole(block * s->block_count)},
                       {"total", json_make_whole(block * count)});
}

int64_t plan_checkpoint_bytes(const lathe_session *s) {
    return (int64_t)sizeof(float) *
           (count_floats(s, s->parameters.size) * (1 + s->block_count) +
            count_floats(s, s->parameters.trained_end) * s->slot_count);
}
