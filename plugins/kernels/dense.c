/* SPDX-License-Identifier: MIT */
#include "dense.h"

#include <string.h>

#include <cblas.h>

#include "panels.h"

#define MULTIPLE 16 /* what panels.h wants of `wide` */

static void blas_forward(int64_t rows, int64_t in, int64_t out, int64_t wide,
                         const float *x, const float *w, const float *bias, float *y) {
    if (rows == 0) return;
    for (int64_t i = 0; i < out; i++)
        for (int64_t j = 0; j < wide; j++) y[i * wide + j] = bias[i];
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)out, (int)wide, (int)in,
                1, w, (int)in, x, (int)wide, 1, y, (int)wide);
}

static void blas_backward_input(int64_t rows, int64_t in, int64_t out, int64_t wide,
                                const float *dy, const float *w, float *dx) {
    if (rows == 0) return;
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)in, (int)wide, (int)out,
                1, w, (int)in, dy, (int)wide, 0, dx, (int)wide);
}

static void blas_backward_weight(int64_t rows, int64_t in, int64_t out, int64_t wide,
                                 const float *dy, const float *x, int add, float *dw) {
    if (rows == 0 && !add) memset(dw, 0, (size_t)(out * in) * sizeof *dw);
    if (rows == 0) return;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)out, (int)in, (int)rows,
                1, dy, (int)wide, x, (int)in, add ? 1 : 0, dw, (int)in);
}

/* It packs the weights once a product, so all samples are one panel. */
static const struct dense blas = {"OpenBLAS", 0, blas_forward, blas_backward_input,
                                  blas_backward_weight};
static const struct dense panels = {"panels", PANELS_WIDEST, panels_forward,
                                    panels_backward_input, panels_backward_weight};

const struct dense *dense_panels(void) {
    return &panels;
}

const struct dense *dense_blas(void) {
    return &blas;
}

const struct dense *dense_choose(void) {
#ifdef LATHE_BLAS_ONLY
    return &blas;
#else
    return panels_are_fused() ? &panels : &blas;
#endif
}

const char *dense_describe(const struct dense *dense) {
    return dense == &panels ? panels_describe() : dense->name;
}

int64_t dense_wide(const struct dense *dense, int64_t rows) {
    const int64_t wide = rows ? (rows + MULTIPLE - 1) / MULTIPLE * MULTIPLE : MULTIPLE;
    return dense->widest && wide > dense->widest ? dense->widest : wide;
}

int64_t dense_padded(const struct dense *dense, int64_t rows) {
    const int64_t wide = dense_wide(dense, rows);
    return (rows + wide - 1) / wide * wide;
}
