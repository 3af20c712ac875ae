/* SPDX-License-Identifier: MIT */
/* The products of a fully connected layer, with the samples of a slice in panels
 * (panels.h), by what computes them: our own loops or a BLAS. Which one is chosen here,
 * once, and depends on the processor alone. */
#ifndef KERNELS_DENSE_H
#define KERNELS_DENSE_H

#include <stdint.h>

/* One that computes; `wide` is dense_wide(dense, rows). */
struct dense {
    const char *name;
    int64_t widest; /* samples that lie side by side, at most; 0: all */
    /* y = x . w[out,in]^T + bias[out]; x, y panels */
    void (*forward)(int64_t rows, int64_t in, int64_t out, int64_t wide, const float *x,
                    const float *w, const float *bias, float *y);
    /* dx = dy . w[out,in]; dy, dx panels */
    void (*backward_input)(int64_t rows, int64_t in, int64_t out, int64_t wide,
                           const float *dy, const float *w, float *dx);
    /* dw[out,in] = (add ? dw : 0) + dy^T . x[rows,in]; dy panels, x not */
    void (*backward_weight)(int64_t rows, int64_t in, int64_t out, int64_t wide,
                            const float *dy, const float *x, int add, float *dw);
};

/* "panels": loops of our own, fast where the processor has fused multiply-adds. */
const struct dense *dense_panels(void);
/* "OpenBLAS", on any processor. */
const struct dense *dense_blas(void);
/* The faster one here; in a build with LATHE_BLAS_ONLY, the BLAS. */
const struct dense *dense_choose(void);

/* It, for people, with the processor's instructions that it uses; a constant. */
const char *dense_describe(const struct dense *dense);

/* Samples that lie side by side where a slice has `rows`: `wide` of panels.h */
int64_t dense_wide(const struct dense *dense, int64_t rows);
/* Samples in all panels of such a slice, padding included: a matrix takes so many
 * floats per feature. Never less for more rows. */
int64_t dense_padded(const struct dense *dense, int64_t rows);

#endif
