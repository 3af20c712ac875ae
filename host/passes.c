/* SPDX-License-Identifier: MIT */
#include "passes.h"

#include <string.h>

#include "passes_loops.h"

void passes_tree(double *leaves, int64_t count) {
    for (int64_t d = 1; d < count; d *= 2)
        for (int64_t i = 0; i + d < count; i += 2 * d) leaves[i] += leaves[i + d];
}

int64_t passes_chunks(int64_t size) {
    return (size + PASS_CHUNK - 1) / PASS_CHUNK;
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* An absent leaf adds nothing; its partner is taken as it is. `nodes` is scratch. */
static float *sum_shards(const struct reduce_pass *pass, float **nodes, int64_t first,
                         int64_t count) {
    const int64_t shards = pass->shard_count;
    memcpy(nodes, pass->shards, (size_t)shards * sizeof *nodes);
    for (int64_t d = 1; d < shards; d *= 2)
        for (int64_t i = 0; i + d < shards; i += 2 * d) {
            if (!nodes[i + d]) continue;
            if (nodes[i])
                passes_add(nodes[i] + first, nodes[i + d] + first, count);
            else
                nodes[i] = nodes[i + d];
        }
    return nodes[0];
}

void passes_reduce(const struct reduce_pass *pass, int worker, int workers) {
    float *nodes[PASS_SHARDS_MAX];
    const int64_t chunks = passes_chunks(pass->size);
    const int64_t end = chunks * (worker + 1) / workers;
    for (int64_t c = chunks * worker / workers; c < end; c++) {
        int64_t first = c * PASS_CHUNK, last = least(first + PASS_CHUNK, pass->size);
        const float *sum = sum_shards(pass, nodes, first, last - first);
        int64_t trained = least(last, pass->trained_end) - first;
        pass->squares[c] =
            sum && trained > 0 ? passes_sum_squares(sum + first, trained) : 0;
    }
}

double passes_squares(const struct reduce_pass *pass) {
    double sum = 0;
    for (int64_t c = 0; c < passes_chunks(pass->size); c++) sum += pass->squares[c];
    return sum;
}

void passes_scale(float *block, int64_t size, double factor, int worker, int workers) {
    const int64_t first = size * worker / workers, last = size * (worker + 1) / workers;
    passes_multiply(block + first, last - first, (float)factor);
}

static lathe_status call_step(const struct step_pass *pass, int64_t first,
                              int64_t count, uint32_t flags,
                              const struct parameter *whole) {
    float *slots[PASS_SLOTS_MAX];
    for (int32_t i = 0; i < pass->slot_count; i++) slots[i] = pass->slots[i] + first;
    const int is_clamped = pass->clip_value > 0;
    if (is_clamped)
        passes_clamp(pass->gradients + first, count, (float)pass->scale,
                     (float)pass->clip_value);
    lathe_span span = {.size = sizeof span,
                       .flags = flags,
                       .first = first,
                       .count = count,
                       .weights = pass->weights + first,
                       .gradients = pass->gradients + first,
                       .slots = slots,
                       .scale = is_clamped ? 1.0 : pass->scale,
                       .rate = pass->rate,
                       .step = pass->step,
                       .shape = whole ? whole->shape : NULL,
                       .rank = whole ? whole->rank : 0};
    return pass->ops->step(pass->optimizer, &span);
}

/* Spans of one chunk: at most two, since decay ends somewhere. */
static lathe_status step_chunk(const struct step_pass *pass, int64_t first,
                               int64_t last) {
    const int64_t border = pass->parameters->groups[pass->group].decaying_end;
    lathe_status status = LATHE_OK;
    if (first < border)
        status =
            call_step(pass, first, least(last, border) - first, LATHE_DECAYS, NULL);
    if (status == LATHE_OK && last > border) {
        int64_t from = first > border ? first : border;
        status = call_step(pass, from, last - from, 0, NULL);
    }
    return status;
}

static lathe_status step_whole(const struct step_pass *pass, int worker, int workers) {
    const struct parameters *all = pass->parameters;
    const int64_t end = all->count * (worker + 1) / workers;
    for (int64_t i = all->count * worker / workers; i < end; i++) {
        const struct parameter *p = &all->items[all->by_offset[i]];
        if (p->flags & LATHE_BUFFER || p->group != pass->group) continue;
        uint32_t flags = p->flags & LATHE_NO_DECAY ? 0 : LATHE_DECAYS;
        lathe_status status = call_step(pass, p->offset, p->count, flags, p);
        if (status != LATHE_OK) return status;
    }
    return LATHE_OK;
}

lathe_status passes_step(const struct step_pass *pass, int worker, int workers) {
    if (!(pass->ops->flags & LATHE_ELEMENTWISE))
        return step_whole(pass, worker, workers);
    const struct parameter_group *group = &pass->parameters->groups[pass->group];
    const int64_t chunks = passes_chunks(group->end - group->first);
    const int64_t end = chunks * (worker + 1) / workers;
    for (int64_t c = chunks * worker / workers; c < end; c++) {
        int64_t first = group->first + c * PASS_CHUNK;
        lathe_status status =
            step_chunk(pass, first, least(first + PASS_CHUNK, group->end));
        if (status != LATHE_OK) return status;
    }
    return LATHE_OK;
}

void passes_buffers(const struct step_pass *pass) {
    const struct parameters *all = pass->parameters;
    for (int64_t i = 0; i < all->count; i++) {
        const struct parameter *p = &all->items[i];
        if (!(p->flags & LATHE_BUFFER)) continue;
        float *b = pass->weights + p->offset;
        const float *g = pass->gradients + p->offset;
        for (int64_t j = 0; j < p->count; j++)
            b[j] = (float)((double)b[j] +
                           p->rate * ((double)g[j] * pass->mean - (double)b[j]));
    }
}
