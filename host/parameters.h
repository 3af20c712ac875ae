/* SPDX-License-Identifier: MIT */
/* The parameters a model declared, and where each lies in every block. A block is one
 * array of floats as long as all parameters together; weights, gradients, optimizer
 * slots and averages are blocks with the same offsets.
 *
 * Order of a block: decaying parameters, those that do not decay, buffers, frozen ones.
 * Each starts on 64 bytes; the padding between them stays 0. */
#ifndef HOST_PARAMETERS_H
#define HOST_PARAMETERS_H

#include <stdbool.h>

#include <lathe/model.h>

#include "base/error.h"

struct parameter {
    char *name;
    uint32_t flags, rank, init;
    int32_t group; /* of the optimizer; 0: the default one */
    int64_t shape[LATHE_RANK_MAX];
    int64_t count, offset; /* in floats */
    double a, b, rate;     /* as in lathe_parameter */
};

/* Where a group lies, in floats: [first, decaying_end) decays, [decaying_end, end)
 * not. */
struct parameter_group {
    int64_t first, decaying_end, end;
};

#define PARAMETER_GROUPS_MAX 32 /* the default one included */

struct parameters {
    struct parameter *items; /* in the order of declaration */
    int64_t count;
    int64_t *by_offset; /* indices of items, in the order of the block */
    struct parameter_group groups[PARAMETER_GROUPS_MAX];
    int32_t group_count;
    int64_t trained_end; /* [0, here) has gradients and slots */
    int64_t size;        /* floats in a block, buffers and padding included */
    int64_t trainable;   /* floats that are trained, padding not counted */
};

/* Copies what `parameter` says. LATHE_EINVAL: a name twice or empty, a shape that
 * cannot be. *index counts declarations. */
lathe_status parameters_declare(struct parameters *parameters,
                                const lathe_parameter *parameter, int32_t *index,
                                struct error *err);
/* Puts every parameter whose name matches patterns[i] (as fnmatch does) into group i
 * + 1. LATHE_EINVAL: a pattern that matches none, or two that match the same; *bad
 * is its i. */
lathe_status parameters_group(struct parameters *parameters,
                              const char *const *patterns, int32_t count, int32_t *bad,
                              struct error *err);
/* Which parameters match one of the patterns, which stand between blanks: [count].
 * LATHE_EINVAL: a pattern that matches nothing. */
lathe_status parameters_choose(const struct parameters *parameters, const char *only,
                               bool *is_chosen, struct error *err);
/* Freezes what matches none of the patterns, which stand between blanks. LATHE_EINVAL:
 * a pattern that matches nothing. */
lathe_status parameters_freeze(struct parameters *parameters, const char *only,
                               struct error *err);
/* Gives every parameter its place, once all are declared. */
lathe_status parameters_lay_out(struct parameters *parameters, struct error *err);
/* Do two instances of a model say the same? The message names the first difference. */
lathe_status parameters_compare(const struct parameters *a, const struct parameters *b,
                                struct error *err);
/* Fills the weights as declared; draws are keyed by position of declaration and
 * element. */
void parameters_initialise(const struct parameters *parameters, lathe_key key,
                           float *weights);
/* Fills as much of *view as its size covers. */
void parameters_view(const struct parameters *parameters, int64_t index,
                     lathe_parameter_view *view);
void parameters_finish(struct parameters *parameters);

/* A block: 64-byte aligned, zeroed; NULL: out of memory. For block_destroy. */
float *block_create(int64_t size);
void block_destroy(float *block, int64_t size);

#endif
