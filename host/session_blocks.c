/* SPDX-License-Identifier: MIT */
/* The blocks that a checkpoint holds, counted through: weights, the optimizer's slots,
 * those that plugins asked for. Saving and restoring go by the same names. */
#include "session_state.h"

static bool is_slot(const lathe_session *s, int64_t block) {
    return block > 0 && block <= s->slot_count;
}

static const struct own_block *own_at(const lathe_session *s, int64_t block) {
    return &s->blocks[block - 1 - s->slot_count];
}

int64_t session_count_blocks(const lathe_session *s) {
    return 1 + s->slot_count + s->block_count;
}

float *session_block(const lathe_session *s, int64_t block) {
    if (!block) return s->weights;
    return is_slot(s, block) ? s->slots[block - 1] : own_at(s, block)->block;
}

bool session_block_has(const lathe_session *s, int64_t block,
                       const struct parameter *parameter) {
    return !is_slot(s, block) || parameter->offset < s->parameters.trained_end;
}

char *session_block_name(const lathe_session *s, int64_t block, const char *parameter) {
    if (!block) return text_copy(parameter);
    if (!is_slot(s, block))
        return text_make(BLOCK_PREFIX "%s/%s", own_at(s, block)->name, parameter);
    const int64_t slot = block - 1;
    if (slot < s->groups[0].slot_count && s->slot_names && s->slot_names[slot])
        return text_make(SLOT_PREFIX "%s/%s", s->slot_names[slot], parameter);
    return text_make(SLOT_PREFIX "%lld/%s", (long long)slot, parameter);
}
