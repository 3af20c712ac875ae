/* SPDX-License-Identifier: MIT */
/* Two arrays as the samples of a dataset: "input" and, if there is one, "label",
 * which is a class or a number to come near. Where the arrays come from is the
 * plugin's. */
#ifndef NPY_SAMPLES_H
#define NPY_SAMPLES_H

#include <lathe/dataset.h>

#include "npy_array.h"

struct npy_samples {
    struct npy_array input, label; /* label.rank 0: none */
    int64_t classes;               /* 0: labels are numbers */
    double mean, std;
    int is_plain;     /* inputs are the bytes of the file: 32-bit floats as they are */
    float bytes[256]; /* what each byte of an array of u1 becomes */
};

/* Reads the options "classes", "mean" and "std" and checks the arrays, which are open
 * and then belong to the samples. Finish it also when it failed. */
lathe_status npy_samples_init(const lathe_host *host, struct npy_samples *samples);
lathe_status npy_samples_describe(const struct npy_samples *samples,
                                  const lathe_data_plan *plan);
void npy_samples_read(const struct npy_samples *samples, const int64_t *indices,
                      const lathe_batch *into);
void npy_samples_finish(struct npy_samples *samples);

#endif
