/* SPDX-License-Identifier: MIT */
#include "parameters.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/grow.h"
#include "base/nearest.h"
#include "base/text.h"

#define ALIGNMENT 16 /* floats: 64 bytes */

static int64_t align(int64_t count) {
    return (count + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static lathe_status count_elements(const lathe_parameter *p, int64_t *count,
                                   struct error *err) {
    if (p->rank > LATHE_RANK_MAX)
        return fail(err, LATHE_EPLUGIN, "parameter \"%s\" has rank %u, more than %d",
                    p->name, p->rank, LATHE_RANK_MAX);
    *count = 1;
    for (uint32_t i = 0; i < p->rank; i++)
        if (p->shape[i] < 1 || __builtin_mul_overflow(*count, p->shape[i], count) ||
            *count > INT64_MAX / 8)
            return fail(err, LATHE_EPLUGIN, "parameter \"%s\" has %lld in its shape",
                        p->name, (long long)p->shape[i]);
    return LATHE_OK;
}

static struct parameter *add_item(struct parameters *parameters) {
    void *items =
        grow(parameters->items, (size_t)parameters->count, sizeof *parameters->items);
    if (!items) return NULL;
    parameters->items = items;
    struct parameter *item = &parameters->items[parameters->count];
    memset(item, 0, sizeof *item);
    return item;
}

lathe_status parameters_declare(struct parameters *parameters, const lathe_parameter *p,
                                int32_t *index, struct error *err) {
    if (p->size < LATHE_PARAMETER_SIZE_1_0)
        return fail(err, LATHE_EPLUGIN, "lathe_parameter of %u bytes, less than %u",
                    p->size, LATHE_PARAMETER_SIZE_1_0);
    if (!p->name || !*p->name)
        return fail(err, LATHE_EPLUGIN, "a parameter has no name");
    for (int64_t i = 0; i < parameters->count; i++)
        if (!strcmp(parameters->items[i].name, p->name))
            return fail(err, LATHE_EPLUGIN, "parameter \"%s\" is declared twice",
                        p->name);
    if (p->init > LATHE_INIT_UNIFORM || !isfinite(p->a) || !isfinite(p->b) ||
        !isfinite(p->rate))
        return fail(err, LATHE_EPLUGIN,
                    "parameter \"%s\" starts in a way that cannot be", p->name);
    int64_t count = 0;
    lathe_status status = count_elements(p, &count, err);
    if (status != LATHE_OK) return status;
    struct parameter *item = add_item(parameters);
    char *name = item ? text_copy(p->name) : NULL;
    if (!name)
        return fail(err, LATHE_ENOMEM, "no memory for parameter \"%s\"", p->name);
    item->name = name;
    item->flags = p->flags & (LATHE_NO_DECAY | LATHE_BUFFER);
    item->rank = p->rank;
    item->init = p->init;
    memcpy(item->shape, p->shape, p->rank * sizeof *p->shape);
    item->count = count;
    item->a = p->a;
    item->b = p->b;
    item->rate = p->rate;
    *index = (int32_t)parameters->count++;
    return LATHE_OK;
}

static bool is_buffer(const struct parameter *item) {
    return item->flags & LATHE_BUFFER;
}

static lathe_status refuse_pattern(const struct parameters *parameters,
                                   const char *pattern, struct error *err) {
    struct nearest nearest;
    nearest_begin(&nearest, pattern);
    for (int64_t i = 0; i < parameters->count; i++)
        nearest_offer(&nearest, parameters->items[i].name);
    fail(err, LATHE_EINVAL, "\"%s\" matches no parameter of the model", pattern);
    if (strpbrk(pattern, "'\""))
        error_help(err, "the quotes are part of the pattern; leave them out");
    else if (nearest.best)
        error_help(err, "did you mean \"%s\"?", nearest.best);
    else if (parameters->count)
        error_help(err, "parameters are named like \"%s\"", parameters->items[0].name);
    return LATHE_EINVAL;
}

lathe_status parameters_group(struct parameters *parameters,
                              const char *const *patterns, int32_t count, int32_t *bad,
                              struct error *err) {
    for (int32_t g = 0; g < count; g++) {
        bool is_matched = false;
        *bad = g;
        for (int64_t i = 0; i < parameters->count; i++) {
            struct parameter *item = &parameters->items[i];
            if (is_buffer(item) || fnmatch(patterns[g], item->name, 0)) continue;
            if (item->group)
                return fail(err, LATHE_EINVAL,
                            "\"%s\" and \"%s\" both match the parameter \"%s\"",
                            patterns[item->group - 1], patterns[g], item->name);
            item->group = g + 1;
            is_matched = true;
        }
        if (!is_matched) return refuse_pattern(parameters, patterns[g], err);
    }
    parameters->group_count = count + 1;
    return LATHE_OK;
}

/* Places what `is_here` says, one after the other, from *at on. */
static bool place(struct parameters *parameters, int64_t *placed, int64_t *at,
                  bool (*is_here)(const struct parameter *, int32_t), int32_t group) {
    for (int64_t i = 0; i < parameters->count; i++) {
        struct parameter *item = &parameters->items[i];
        if (!is_here(item, group)) continue;
        parameters->by_offset[(*placed)++] = i;
        item->offset = *at;
        if (__builtin_add_overflow(*at, align(item->count), at) || *at > INT64_MAX / 8)
            return false;
    }
    return true;
}

static bool is_trained(const struct parameter *item) {
    return !is_buffer(item) && !(item->flags & LATHE_FROZEN);
}

static bool decays(const struct parameter *item, int32_t group) {
    return is_trained(item) && item->group == group && !(item->flags & LATHE_NO_DECAY);
}

static bool decays_not(const struct parameter *item, int32_t group) {
    return is_trained(item) && item->group == group && item->flags & LATHE_NO_DECAY;
}

static bool is_statistic(const struct parameter *item, int32_t group) {
    (void)group;
    return is_buffer(item);
}

static bool is_frozen(const struct parameter *item, int32_t group) {
    (void)group;
    return !is_buffer(item) && !is_trained(item);
}

lathe_status parameters_choose(const struct parameters *parameters, const char *only,
                               bool *is_chosen, struct error *err) {
    char *pattern = malloc(strlen(only) + 1);
    if (!pattern) return fail(err, LATHE_ENOMEM, "no memory for a pattern");
    memset(is_chosen, 0, (size_t)parameters->count * sizeof *is_chosen);
    for (const char *at = only + strspn(only, " "); *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        memcpy(pattern, at, length);
        pattern[length] = '\0';
        at += length;
        bool is_matched = false;
        for (int64_t i = 0; i < parameters->count; i++) {
            if (fnmatch(pattern, parameters->items[i].name, 0)) continue;
            is_chosen[i] = is_matched = true;
        }
        if (is_matched) continue;
        refuse_pattern(parameters, pattern, err);
        free(pattern);
        return LATHE_EINVAL;
    }
    free(pattern);
    return LATHE_OK;
}

lathe_status parameters_freeze(struct parameters *parameters, const char *only,
                               struct error *err) {
    bool *is_chosen = calloc((size_t)parameters->count + 1, sizeof *is_chosen);
    if (!is_chosen) return fail(err, LATHE_ENOMEM, "no memory for a pattern");
    lathe_status status = parameters_choose(parameters, only, is_chosen, err);
    for (int64_t i = 0; i < parameters->count && status == LATHE_OK; i++)
        if (!is_chosen[i]) parameters->items[i].flags |= LATHE_FROZEN;
    free(is_chosen);
    return status;
}

lathe_status parameters_lay_out(struct parameters *parameters, struct error *err) {
    int64_t at = 0, placed = 0;
    bool fits = true;
    parameters->by_offset =
        calloc((size_t)parameters->count + 1, sizeof *parameters->by_offset);
    if (!parameters->by_offset)
        return fail(err, LATHE_ENOMEM, "no memory for %lld parameters",
                    (long long)parameters->count);
    if (!parameters->group_count) parameters->group_count = 1;
    for (int32_t g = 0; g < parameters->group_count; g++) {
        struct parameter_group *group = &parameters->groups[g];
        group->first = at;
        fits = fits && place(parameters, &placed, &at, decays, g);
        group->decaying_end = at;
        fits = fits && place(parameters, &placed, &at, decays_not, g);
        group->end = at;
    }
    parameters->trained_end = at;
    fits = fits && place(parameters, &placed, &at, is_statistic, 0);
    fits = fits && place(parameters, &placed, &at, is_frozen, 0);
    parameters->size = at;
    if (!fits) return fail(err, LATHE_ENOMEM, "the model has too many parameters");
    for (int64_t i = 0; i < parameters->count; i++)
        if (is_trained(&parameters->items[i]))
            parameters->trainable += parameters->items[i].count;
    return LATHE_OK;
}

static bool is_same(const struct parameter *a, const struct parameter *b) {
    return !strcmp(a->name, b->name) && a->flags == b->flags && a->rank == b->rank &&
           a->init == b->init && a->a == b->a && a->b == b->b && a->rate == b->rate &&
           !memcmp(a->shape, b->shape, sizeof a->shape);
}

lathe_status parameters_compare(const struct parameters *a, const struct parameters *b,
                                struct error *err) {
    if (a->count != b->count)
        return fail(
            err, LATHE_EPLUGIN,
            "describe declared %lld parameters on one instance, %lld on another",
            (long long)a->count, (long long)b->count);
    for (int64_t i = 0; i < a->count; i++)
        if (!is_same(&a->items[i], &b->items[i]))
            return fail(
                err, LATHE_EPLUGIN,
                "describe declared parameter \"%s\" differently on two instances",
                a->items[i].name);
    return LATHE_OK;
}

/* Two normal draws from two uniform ones (Box and Muller 1958), the first in (0, 1]. */
static void normal_pair(uint32_t u, uint32_t v, double pair[2]) {
    double radius = sqrt(-2.0 * log(((double)u + 1.0) * 0x1p-32));
    double angle = 6.283185307179586 * ((double)v * 0x1p-32);
    pair[0] = radius * cos(angle);
    pair[1] = radius * sin(angle);
}

static void draw4(const struct parameter *p, lathe_key key, int64_t index,
                  int64_t block, double out[4]) {
    uint32_t draws[4];
    lathe_random4(key, (uint64_t)index, (uint64_t)block, draws);
    if (p->init == LATHE_INIT_NORMAL) {
        normal_pair(draws[0], draws[1], out);
        normal_pair(draws[2], draws[3], out + 2);
        for (int i = 0; i < 4; i++) out[i] = p->a + p->b * out[i];
    } else {
        for (int i = 0; i < 4; i++)
            out[i] = p->a + (p->b - p->a) * ((double)draws[i] * 0x1p-32);
    }
}

void parameters_initialise(const struct parameters *parameters, lathe_key key,
                           float *weights) {
    for (int64_t i = 0; i < parameters->count; i++) {
        const struct parameter *p = &parameters->items[i];
        float *to = weights + p->offset;
        double draws[4] = {p->a, p->a, p->a, p->a};
        for (int64_t j = 0; j < p->count; j++) {
            if (p->init != LATHE_INIT_CONSTANT && j % 4 == 0)
                draw4(p, key, i, j / 4, draws);
            to[j] = (float)draws[j % 4];
        }
    }
}

void parameters_view(const struct parameters *parameters, int64_t index,
                     lathe_parameter_view *view) {
    const struct parameter *p = &parameters->items[index];
    lathe_parameter_view full = {.size = view->size,
                                 .flags = p->flags,
                                 .name = p->name,
                                 .offset = p->offset,
                                 .count = p->count,
                                 .rank = p->rank,
                                 .group = (uint32_t)p->group};
    memcpy(full.shape, p->shape, sizeof full.shape);
    memcpy(view, &full, view->size < sizeof full ? view->size : sizeof full);
}

void parameters_finish(struct parameters *parameters) {
    for (int64_t i = 0; i < parameters->count; i++) free(parameters->items[i].name);
    free(parameters->items);
    free(parameters->by_offset);
    memset(parameters, 0, sizeof *parameters);
}

static size_t block_bytes(int64_t size) {
    return size > 0 ? (size_t)size * sizeof(float) : ALIGNMENT * sizeof(float);
}

/* Fresh pages of the kernel are zero and aligned, and huge ones where it offers
 * them. */
float *block_create(int64_t size) {
    void *block = mmap(NULL, block_bytes(size), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return NULL;
    madvise(block, block_bytes(size), MADV_HUGEPAGE);
    return block;
}

void block_destroy(float *block, int64_t size) {
    if (block) munmap(block, block_bytes(size));
}
