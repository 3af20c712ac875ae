/* SPDX-License-Identifier: MIT */
/* A multilayer perceptron: linear layers with an activation between them.
 *
 * Reads the field "input" (float32 of any rank, taken as one row) and "label": an int32
 * with classes for cross-entropy, float32 of any rank for mean squared error. Layer i
 * has layers.<i>.weight [out,in], as in PyTorch, and layers.<i>.bias [out], which does
 * not decay; both start uniform in ±1/sqrt(in), as torch.nn.Linear does
 * (reset_parameters). The metric "accuracy" is that of classification; the output
 * "output" is the logits, or the prediction. The weight of a slice is its rows. */
#include <lathe/model.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../supervised.h"
#include "kernels/activation.h"
#include "kernels/dense.h"
#include "kernels/panels.h"

struct layer {
    int64_t in, out;
    int32_t weight, bias;       /* parameters */
    int64_t weight_at, bias_at; /* their offsets */
    uint8_t trains_weight, trains_bias;
    float *y, *kept; /* panels [rows,out]: output, and what the activation's backward
                        needs */
};

struct mlp {
    const lathe_host *host;
    const struct activation *activation;
    const struct dense *dense; /* what computes the products */
    struct supervised data;
    int32_t layer_count;
    struct layer *layers;
    int32_t lowest; /* the first layer that trains; layer_count: none does */
    float *x;       /* panels [rows,in] of the input */
    float *d[2];    /* panels [rows,widest]: gradients of a layer's output and input */
    float *rows;    /* [rows,widest]: what is wanted row by row */
};

static void release_rows(struct mlp *mlp) {
    for (int32_t i = 0; mlp->layers && i < mlp->layer_count; i++) {
        free(mlp->layers[i].y);
        free(mlp->layers[i].kept);
        mlp->layers[i].y = mlp->layers[i].kept = NULL;
    }
    free(mlp->x);
    free(mlp->d[0]);
    free(mlp->d[1]);
    free(mlp->rows);
    mlp->x = mlp->d[0] = mlp->d[1] = mlp->rows = NULL;
}

static void destroy(void *self) {
    struct mlp *mlp = self;
    if (!mlp) return;
    release_rows(mlp);
    free(mlp->layers);
    free(mlp);
}

static lathe_status create(const lathe_host *host, void **self) {
    struct mlp *mlp = calloc(1, sizeof *mlp);
    int32_t hidden = (int32_t)lathe_count(host, "hidden");
    if (mlp) mlp->layers = calloc((size_t)hidden + 1, sizeof *mlp->layers);
    if (!mlp || !mlp->layers) {
        destroy(mlp);
        return lathe_fail(host, LATHE_ENOMEM, "no memory for %d layers", hidden + 1);
    }
    mlp->host = host;
    mlp->activation = activation_find(lathe_string(host, "activation"));
    mlp->dense = dense_choose();
    lathe_note(host, "products", dense_describe(mlp->dense));
    mlp->layer_count = hidden + 1;
    for (int32_t i = 0; i < hidden; i++) {
        char path[32];
        snprintf(path, sizeof path, "hidden/%d", i);
        mlp->layers[i].out = mlp->layers[i + 1].in = lathe_integer(host, path);
    }
    *self = mlp;
    return LATHE_OK;
}

/* ---- describe ---- */

static lathe_status declare_layer(struct layer *layer, int32_t index,
                                  const lathe_model_plan *plan) {
    double bound = 1 / sqrt((double)layer->in);
    char name[48];
    lathe_parameter parameter = {.size = sizeof parameter,
                                 .name = name,
                                 .shape = {layer->out, layer->in},
                                 .rank = 2,
                                 .init = LATHE_INIT_UNIFORM,
                                 .a = -bound,
                                 .b = bound};
    snprintf(name, sizeof name, "layers.%d.weight", index);
    lathe_status status = plan->parameter(plan, &parameter, &layer->weight);
    if (status != LATHE_OK) return status;
    snprintf(name, sizeof name, "layers.%d.bias", index);
    parameter.flags = LATHE_NO_DECAY;
    parameter.rank = 1;
    parameter.shape[1] = 0;
    return plan->parameter(plan, &parameter, &layer->bias);
}

static lathe_status describe(void *self, const lathe_model_plan *plan) {
    struct mlp *mlp = self;
    lathe_status status = supervised_describe(&mlp->data, mlp->host, "mlp", plan);
    if (status != LATHE_OK) return status;
    mlp->layers[0].in = mlp->data.in;
    mlp->layers[mlp->layer_count - 1].out = mlp->data.out;
    for (int32_t i = 0; i < mlp->layer_count && status == LATHE_OK; i++)
        status = declare_layer(&mlp->layers[i], i, plan);
    return status == LATHE_OK ? supervised_declare(&mlp->data, plan) : status;
}

/* ---- bind ---- */

static void place_layer(struct layer *layer, const lathe_layout *layout) {
    layer->weight_at = layout->offset[layer->weight];
    layer->bias_at = layout->offset[layer->bias];
    layer->trains_weight = layout->trainable[layer->weight];
    layer->trains_bias = layout->trainable[layer->bias];
}

static lathe_status bind(void *self, const lathe_layout *layout) {
    struct mlp *mlp = self;
    int64_t rows = dense_padded(mlp->dense, layout->rows_max), widest = mlp->data.out;
    int is_whole = 1;
    release_rows(mlp);
    mlp->lowest = mlp->layer_count;
    for (int32_t i = mlp->layer_count - 1; i >= 0; i--) {
        struct layer *layer = &mlp->layers[i];
        place_layer(layer, layout);
        if (layer->trains_weight || layer->trains_bias) mlp->lowest = i;
        if (layer->out > widest) widest = layer->out;
        layer->y = supervised_rows(rows, layer->out);
        is_whole &= layer->y != NULL;
        if (!mlp->activation->keeps || i == mlp->layer_count - 1) continue;
        layer->kept = supervised_rows(rows, layer->out);
        is_whole &= layer->kept != NULL;
    }
    mlp->x = supervised_rows(rows, mlp->data.in);
    mlp->d[0] = supervised_rows(rows, widest);
    mlp->d[1] = supervised_rows(rows, widest);
    mlp->rows = supervised_rows(rows, widest);
    if (is_whole && mlp->x && mlp->d[0] && mlp->d[1] && mlp->rows) return LATHE_OK;
    release_rows(mlp);
    return lathe_fail(mlp->host, LATHE_ENOMEM,
                      "no memory for slices of %" PRId64 " rows through %d layers",
                      layout->rows_max, mlp->layer_count);
}

/* ---- passes ---- */

/* The prediction's gradient is left in d[0], in panels. */
static lathe_status judge(struct mlp *mlp, lathe_pass *pass, const float *y) {
    const int64_t rows = pass->batch->rows, out = mlp->data.out;
    lathe_status status = supervised_judge(&mlp->data, pass, y, mlp->d[1]);
    if (status == LATHE_OK && pass->mode == LATHE_TRAIN)
        panels_pack(rows, out, dense_wide(mlp->dense, rows), mlp->d[1], mlp->d[0]);
    return status;
}

static lathe_status forward(void *self, lathe_pass *pass) {
    struct mlp *mlp = self;
    const struct layer *layer = mlp->layers, *last = layer + mlp->layer_count - 1;
    const int64_t rows = pass->batch->rows, wide = dense_wide(mlp->dense, rows);
    const int64_t padded = dense_padded(mlp->dense, rows);
    const float *x = mlp->x;
    panels_pack(rows, mlp->data.in, wide, pass->batch->fields[mlp->data.input].data,
                mlp->x);
    for (; layer <= last; x = layer->y, layer++) {
        mlp->dense->forward(rows, layer->in, layer->out, wide, x,
                            pass->weights + layer->weight_at,
                            pass->weights + layer->bias_at, layer->y);
        if (layer < last)
            mlp->activation->forward(padded * layer->out, layer->kept, layer->y);
    }
    panels_unpack(rows, last->out, wide, last->y, mlp->rows);
    if (pass->mode != LATHE_PREDICT) {
        lathe_status status = judge(mlp, pass, mlp->rows);
        if (status != LATHE_OK) return status;
    }
    if (pass->outputs && pass->outputs[0])
        memcpy(pass->outputs[0], mlp->rows, (size_t)(rows * last->out) * sizeof(float));
    return LATHE_OK;
}

static void backward_parameters(const struct mlp *mlp, int32_t index,
                                const lathe_pass *pass, const float *dy) {
    const struct layer *layer = &mlp->layers[index];
    const int64_t rows = pass->batch->rows, wide = dense_wide(mlp->dense, rows);
    const float *x = mlp->rows;
    const int add = pass->add != 0;
    if (layer->trains_bias)
        panels_backward_bias(rows, layer->out, wide, dy, add,
                             pass->gradients + layer->bias_at);
    if (!layer->trains_weight) return;
    if (index)
        panels_unpack(rows, layer->in, wide, layer[-1].y, mlp->rows);
    else
        x = pass->batch->fields[mlp->data.input].data;
    mlp->dense->backward_weight(rows, layer->in, layer->out, wide, dy, x, add,
                                pass->gradients + layer->weight_at);
}

static lathe_status backward(void *self, const lathe_pass *pass) {
    struct mlp *mlp = self;
    const int64_t rows = pass->batch->rows, wide = dense_wide(mlp->dense, rows);
    const int64_t padded = dense_padded(mlp->dense, rows);
    float *dy = mlp->d[0], *dx = mlp->d[1];
    for (int32_t i = mlp->layer_count - 1; i >= mlp->lowest; i--) {
        const struct layer *layer = &mlp->layers[i], *below = layer - 1;
        backward_parameters(mlp, i, pass, dy);
        if (i == mlp->lowest) break;
        mlp->dense->backward_input(rows, layer->in, layer->out, wide, dy,
                                   pass->weights + layer->weight_at, dx);
        mlp->activation->backward(padded * layer->in, below->kept, below->y, dx);
        float *swap = dy;
        dy = dx;
        dx = swap;
    }
    return LATHE_OK;
}

LATHE_MODEL(.create = create, .destroy = destroy, .describe = describe, .bind = bind,
            .forward = forward, .backward = backward);
