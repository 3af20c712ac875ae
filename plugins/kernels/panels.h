/* SPDX-License-Identifier: MIT */
/* Panels: the samples of a slice side by side, and the products of a fully connected
 * layer with them.
 *
 * A matrix of `rows` samples by `width` features lies in panels of `wide` samples, a
 * multiple of 16: element (row, feature) is [row / wide][feature][row % wide]. A weight
 * matrix [out,in] then meets it as it lies in the block, row after row: nothing is
 * packed, so that a thin slice costs no more per row than a thick one. Samples past the
 * last are padding: pack makes them 0, the other functions compute them and never mix
 * them with others.
 *
 * Each sum runs over its index in order, from the bias or what is added to, by fused
 * multiply-adds where the processor has them (AVX2 and AVX-512: the same bits), else by
 * multiplying and adding. So a row's bits depend on that row, not on its slice. */
#ifndef KERNELS_PANELS_H
#define KERNELS_PANELS_H

#include <stdint.h>

#define PANELS_WIDEST 64 /* `wide` of the products, at most; the others take any */

/* Does this processor multiply and add in one? If not, a BLAS is faster. */
int panels_are_fused(void);
/* "panels, AVX-512": with the instructions that the products use here; a constant */
const char *panels_describe(void);

/* panels = x[rows,width] */
void panels_pack(int64_t rows, int64_t width, int64_t wide, const float *x,
                 float *panels);
/* x[rows,width] = panels */
void panels_unpack(int64_t rows, int64_t width, int64_t wide, const float *panels,
                   float *x);

/* y = x . w[out,in]^T + bias[out]; x, y panels */
void panels_forward(int64_t rows, int64_t in, int64_t out, int64_t wide, const float *x,
                    const float *w, const float *bias, float *y);
/* dx = dy . w[out,in]; dy, dx panels */
void panels_backward_input(int64_t rows, int64_t in, int64_t out, int64_t wide,
                           const float *dy, const float *w, float *dx);
/* dw[out,in] = (add ? dw : 0) + dy^T . x[rows,in]; dy panels, x not */
void panels_backward_weight(int64_t rows, int64_t in, int64_t out, int64_t wide,
                            const float *dy, const float *x, int add, float *dw);
/* db[out] = (add ? db : 0) + sum over rows of dy; dy panels */
void panels_backward_bias(int64_t rows, int64_t out, int64_t wide, const float *dy,
                          int add, float *db);

#endif
