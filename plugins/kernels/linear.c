/* SPDX-License-Identifier: MIT */
#include "linear.h"

#include <string.h>

#include <cblas.h>

void linear_forward(int64_t rows, int64_t in, int64_t out, const float *x,
                    const float *w, float *y) {
    if (rows == 0) return;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)out, (int)in,
                1, x, (int)in, w, (int)in, 0, y, (int)out);
}

void linear_backward_input(int64_t rows, int64_t in, int64_t out, const float *dy,
                           const float *w, float *dx) {
    if (rows == 0) return;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)in, (int)out,
                1, dy, (int)out, w, (int)in, 0, dx, (int)in);
}

void linear_backward_weight(int64_t rows, int64_t in, int64_t out, const float *dy,
                            const float *x, int add, float *dw) {
    if (rows == 0) {
        if (!add) memset(dw, 0, (size_t)(out * in) * sizeof *dw);
        return;
    }
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)out, (int)in, (int)rows,
                1, dy, (int)out, x, (int)in, add ? 1 : 0, dw, (int)in);
}
