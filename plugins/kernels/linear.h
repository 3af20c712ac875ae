/* SPDX-License-Identifier: MIT */
/* The matrix products of a fully connected layer, y = x . w^T, on BLAS; its bias is in
 * activation.h. Weights are [out,in], as in PyTorch, so that its tools read them as
 * they are. All row-major and contiguous; every size fits an int. */
#ifndef KERNELS_LINEAR_H
#define KERNELS_LINEAR_H

#include <stdint.h>

/* y[rows,out] = x[rows,in] . w[out,in]^T */
void linear_forward(int64_t rows, int64_t in, int64_t out, const float *x,
                    const float *w, float *y);
/* dx[rows,in] = dy[rows,out] . w[out,in] */
void linear_backward_input(int64_t rows, int64_t in, int64_t out, const float *dy,
                           const float *w, float *dx);
/* dw[out,in] = (add ? dw : 0) + dy[rows,out]^T . x[rows,in] */
void linear_backward_weight(int64_t rows, int64_t in, int64_t out, const float *dy,
                            const float *x, int add, float *dw);

#endif
