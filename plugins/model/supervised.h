/* SPDX-License-Identifier: MIT */
/* What models of "input" and "label" have in common: finding the two fields, choosing
 * the loss by what the label is, the metric "accuracy", the output "output". Not a
 * plugin; a model declares the option "loss" and asks here. How a row of `in` numbers
 * becomes one of `out` is the model's own. */
#ifndef MODEL_SUPERVISED_H
#define MODEL_SUPERVISED_H

#include <lathe/model.h>

struct supervised {
    const lathe_host *host;
    const char *model;     /* for messages */
    uint32_t input, label; /* fields */
    int64_t in, out;       /* numbers of a row; both fit an int, as BLAS wants */
    int64_t classes;       /* 0: regression */
    int32_t accuracy;      /* metric */
};

/* Finds the fields, "input" as float32 and "label" as the loss needs it, and sets
 * all of *supervised. Fails with LATHE_EINVAL where the data does not suit. */
lathe_status supervised_describe(struct supervised *supervised, const lathe_host *host,
                                 const char *model, const lathe_model_plan *plan);
/* Declares the metric of classification and the output; after the parameters. */
lathe_status supervised_declare(struct supervised *supervised,
                                const lathe_model_plan *plan);
/* Fills in the sums and metrics of a pass by its output y[rows,out], and
 * d[rows,out], the gradient of the sum of losses. LATHE_EDATA: a label that is no
 * class. */
lathe_status supervised_judge(const struct supervised *supervised, lathe_pass *pass,
                              const float *y, float *d);
/* rows[rows,width], 64-byte aligned, the caller's to free; NULL: no memory. */
float *supervised_rows(int64_t rows, int64_t width);

#endif
