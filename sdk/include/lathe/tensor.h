/* SPDX-License-Identifier: MIT */
/* Arrays that cross the wall: tensors, the fields of a sample, batches of samples.
 * All are row-major and contiguous; shape[0] of a batch's tensor is its rows. */
#ifndef LATHE_TENSOR_H
#define LATHE_TENSOR_H

#include "abi.h"

#define LATHE_INT 0u /* type codes are DLPack's */
#define LATHE_UINT 1u
#define LATHE_FLOAT 2u
#define LATHE_BFLOAT 4u

#define LATHE_RANK_MAX 6

/* Frozen for ever, and without a size, because it crosses in arrays. */
typedef struct lathe_tensor {
    void *data;         /* a batch of the host: row 0 is 64-byte aligned */
    uint8_t code, bits; /* LATHE_FLOAT, 32 */
    uint16_t lanes;     /* 1 */
    uint32_t rank;
    int64_t shape[LATHE_RANK_MAX];
} lathe_tensor;

/* What one column of the data, or one output of a model, looks like. */
typedef struct lathe_field {
    uint32_t size, rank; /* rank and shape of one sample; rank 0 is a scalar */
    const char *name;    /* supervised data: "input", "label"; text: "tokens" */
    uint8_t code, bits;
    uint16_t reserved[3];
    int64_t shape[LATHE_RANK_MAX - 1];
    int64_t classes; /* values are 0 … classes-1; 0: not a category */
    /* What they are called, one a line: the classes, or the values along the last axis,
     * such as columns of a table. NULL: not known, and not compared. */
    const char *names;
} lathe_field;
#define LATHE_FIELD_SIZE_1_0 72u

/* Rows of all fields. The rows are consecutive positions of one epoch's order. */
typedef struct lathe_batch {
    uint32_t size, field_count;
    int64_t rows;
    int64_t epoch;              /* from 1; 0 outside training */
    int64_t position;           /* of row 0 in the epoch's order, from 0 */
    const lathe_tensor *fields; /* [field_count], in the order the dataset declared */
} lathe_batch;
#define LATHE_BATCH_SIZE_1_0 40u

#endif
