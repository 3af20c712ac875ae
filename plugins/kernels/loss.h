/* SPDX-License-Identifier: MIT */
/* Losses, each with its gradient in one pass over a row. They return the SUM of the
 * losses of the rows and write the gradient of that sum; nothing is divided by the
 * rows. A row's part depends on that row alone. NaN in gives NaN out. */
#ifndef KERNELS_LOSS_H
#define KERNELS_LOSS_H

#include <stdint.h>

/* sum over rows of log(sum_j e^z[j]) - z[label], by z - max z, which cannot overflow;
 * d[rows,classes] = softmax(z) - [j = label].
 * z[rows,classes]; labels[rows], each in 0 … classes-1: the caller has checked. */
double loss_cross_entropy(int64_t rows, int64_t classes, const float *z,
                          const int32_t *labels, float *d);

/* sum over rows of (1/width) sum_j (y[j] - t[j])^2; divided by the rows, PyTorch's
 * MSELoss(reduction="mean"). d[rows,width] = (2/width) (y - t). y, t [rows,width]. */
double loss_squared_error(int64_t rows, int64_t width, const float *y, const float *t,
                          float *d);

/* How many rows of z[rows,classes] have their (first) maximum at their label. */
int64_t loss_rows_correct(int64_t rows, int64_t classes, const float *z,
                          const int32_t *labels);

#endif
