/* SPDX-License-Identifier: MIT */
/* A dataset says what a sample looks like and fills buffers of the host's with samples.
 * It does not shuffle, batch, slice or prefetch: the host does. `describe` and `read`
 * are mandatory; a stream that has `next` instead is in draft/next.h. */
#ifndef LATHE_DATASET_H
#define LATHE_DATASET_H

#include "host.h"

/* The host's side of describe: call `field` once per field, `samples` once. */
typedef struct lathe_data_plan {
    uint32_t size, reserved;
    void *context;
    /* Declares the next field; copied. LATHE_EINVAL for a field that cannot be. */
    lathe_status (*field)(const struct lathe_data_plan *, const lathe_field *);
    /* Says how many samples there are. Not called: the dataset is a stream. */
    void (*samples)(const struct lathe_data_plan *, int64_t count);
} lathe_data_plan;

typedef struct lathe_dataset_ops {
    LATHE_OPS_HEAD;
    /* Declares the fields of a sample and how many samples there are, always the same.
     * The host refuses a split whose fields differ from the training data's, in what
     * is called how as well, unless in fewer `classes`. Fails with what the plan
     * returned. [load] */
    lathe_status (*describe)(void *self, const lathe_data_plan *plan);
    /* Writes samples indices[0 … rows-1] to rows 0 … of every field of `into`, whose
     * tensors are [rows, shape of the field] in the order of describe. A sample is a
     * function of its index, and of position and epoch where it is drawn. Fails with
     * LATHE_EDATA or LATHE_EIO; the buffers then hold anything. Without order and save,
     * it may come before its turn, and for rows that the run does not get to. [any] */
    lathe_status (*read)(void *self, const int64_t *indices, const lathe_batch *into);
    /* Writes the indices that stand at positions first … first+count-1 of an epoch, in
     * place of the host's shuffle. NULL: the host's order. The epoch keeps its length.
     * Fails with LATHE_EPLUGIN. [loop] */
    lathe_status (*order)(void *self, int64_t epoch, int64_t first, int64_t count,
                          int64_t *indices);
} lathe_dataset_ops;
#define LATHE_DATASET_OPS_SIZE_1_0 72u

#define LATHE_DATASET(...)                                                             \
    LATHE_PLUGIN_(LATHE_KIND_DATASET, lathe_dataset_ops, __VA_ARGS__)

#endif
