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
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/activation.h"
#include "kernels/linear.h"
#include "kernels/loss.h"

struct layer {
    int64_t in, out;
    int32_t weight, bias;       /* parameters */
    int64_t weight_at, bias_at; /* their offsets */
    uint8_t trains_weight, trains_bias;
    float *y, *kept; /* [rows,out]: output, and what the activation's backward needs */
};

struct mlp {
    const lathe_host *host;
    const struct activation *activation;
    uint32_t input, label; /* fields */
    int64_t classes;       /* 0: regression */
    int32_t accuracy;      /* metric */
    int32_t layer_count;
    struct layer *layers;
    int32_t lowest; /* the first layer that trains; layer_count: none does */
    float *d[2];    /* [rows,widest]: gradients of a layer's output and input */
};

static void release_rows(struct mlp *mlp) {
    for (int32_t i = 0; mlp->layers && i < mlp->layer_count; i++) {
        free(mlp->layers[i].y);
        free(mlp->layers[i].kept);
        mlp->layers[i].y = mlp->layers[i].kept = NULL;
    }
    free(mlp->d[0]);
    free(mlp->d[1]);
    mlp->d[0] = mlp->d[1] = NULL;
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

static lathe_status find_field(const struct mlp *mlp, const lathe_model_plan *plan,
                               const char *name, uint32_t *index) {
    char names[256] = "none";
    size_t used = 0;
    for (uint32_t i = 0; i < plan->field_count; i++) {
        *index = i;
        if (!strcmp(plan->fields[i]->name, name)) return LATHE_OK;
        if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s\"%s\"",
                                     i ? ", " : "", plan->fields[i]->name);
    }
    return lathe_fail(
        mlp->host, LATHE_EINVAL,
        "mlp reads a field \"%s\", which the data does not have; fields: %s", name,
        names);
}

static const char *type_of(const lathe_field *field, char text[32]) {
    const char *code = field->code == LATHE_INT     ? "int"
                       : field->code == LATHE_UINT  ? "uint"
                       : field->code == LATHE_FLOAT ? "float"
                                                    : "bfloat";
    snprintf(text, 32, "%s%d", code, field->bits);
    return text;
}

/* Elements of one sample, as one row; *width fits an int, as BLAS wants. */
static lathe_status flatten(const struct mlp *mlp, const lathe_field *field,
                            int64_t *width) {
    char type[32];
    if (field->code != LATHE_FLOAT || field->bits != 32)
        return lathe_fail(mlp->host, LATHE_EINVAL,
                          "mlp reads \"%s\" as float32; the data has it as %s",
                          field->name, type_of(field, type));
    int64_t count = 1;
    for (uint32_t i = 0; i < field->rank; i++) {
        if (field->shape[i] < 1 || field->shape[i] > INT_MAX / count)
            return lathe_fail(mlp->host, LATHE_EINVAL,
                              "field \"%s\" must have 1 to %d elements a sample",
                              field->name, INT_MAX);
        count *= field->shape[i];
    }
    *width = count;
    return LATHE_OK;
}

/* Chooses the loss and, by it, the shape of the output. */
static lathe_status choose_loss(struct mlp *mlp, const lathe_field *label,
                                lathe_field *output) {
    const char *loss = lathe_string(mlp->host, "loss");
    int64_t *width = &mlp->layers[mlp->layer_count - 1].out;
    char type[32];
    mlp->classes = 0;
    if (!strcmp(loss, "mse") && label->classes > 0)
        return lathe_fail(mlp->host, LATHE_EINVAL,
                          "loss \"mse\" needs numbers, but \"label\" is one of %" PRId64
                          " classes: use \"cross-entropy\" or \"auto\"",
                          label->classes);
    if (!strcmp(loss, "cross-entropy") && label->classes <= 0)
        return lathe_fail(mlp->host, LATHE_EINVAL,
                          "loss \"cross-entropy\" needs classes, but \"label\" is a %s "
                          "without any: use \"mse\" or \"auto\"",
                          type_of(label, type));
    if (label->classes <= 0) {
        lathe_status status = flatten(mlp, label, width);
        output->rank = label->rank;
        memcpy(output->shape, label->shape, sizeof output->shape);
        return status;
    }
    if (label->code != LATHE_INT || label->bits != 32 || label->rank != 0)
        return lathe_fail(
            mlp->host, LATHE_EINVAL,
            "loss \"cross-entropy\" needs one int32 a sample as \"label\"; "
            "the data has %s of rank %" PRIu32,
            type_of(label, type), label->rank);
    if (label->classes > INT_MAX)
        return lathe_fail(mlp->host, LATHE_EINVAL,
                          "\"label\" has %" PRId64 " classes; mlp can tell %d apart",
                          label->classes, INT_MAX);
    mlp->classes = *width = label->classes;
    output->rank = 1;
    output->shape[0] = label->classes;
    return LATHE_OK;
}

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
    lathe_field output = {
        .size = sizeof output, .name = "output", .code = LATHE_FLOAT, .bits = 32};
    int32_t index;
    lathe_status status = find_field(mlp, plan, "input", &mlp->input);
    if (status == LATHE_OK) status = find_field(mlp, plan, "label", &mlp->label);
    if (status == LATHE_OK)
        status = flatten(mlp, plan->fields[mlp->input], &mlp->layers[0].in);
    if (status == LATHE_OK)
        status = choose_loss(mlp, plan->fields[mlp->label], &output);
    for (int32_t i = 0; i < mlp->layer_count && status == LATHE_OK; i++)
        status = declare_layer(&mlp->layers[i], i, plan);
    if (status == LATHE_OK && mlp->classes) {
        lathe_metric accuracy = {.size = sizeof accuracy,
                                 .flags = LATHE_HIGHER_IS_BETTER,
                                 .name = "accuracy"};
        status = plan->metric(plan, &accuracy, &mlp->accuracy);
    }
    return status == LATHE_OK ? plan->output(plan, &output, &index) : status;
}

/* ---- bind ---- */

/* [rows,width], 64-byte aligned; NULL: no memory. */
static float *make_rows(int64_t rows, int64_t width) {
    int64_t bytes;
    if (__builtin_mul_overflow(rows, width * (int64_t)sizeof(float), &bytes) ||
        __builtin_add_overflow(bytes, 64, &bytes))
        return NULL;
    return aligned_alloc(64, (size_t)(bytes & -64));
}

static lathe_status bind(void *self, const lathe_layout *layout) {
    struct mlp *mlp = self;
    int64_t rows = layout->rows_max, widest = 0;
    int short_of_memory = 0;
    release_rows(mlp);
    mlp->lowest = mlp->layer_count;
    for (int32_t i = mlp->layer_count - 1; i >= 0; i--) {
        struct layer *layer = &mlp->layers[i];
        layer->weight_at = layout->offset[layer->weight];
        layer->bias_at = layout->offset[layer->bias];
        layer->trains_weight = layout->trainable[layer->weight];
        layer->trains_bias = layout->trainable[layer->bias];
        if (layer->trains_weight || layer->trains_bias) mlp->lowest = i;
        if (layer->out > widest) widest = layer->out;
        layer->y = make_rows(rows, layer->out);
        if (mlp->activation->keeps && i < mlp->layer_count - 1) {
            layer->kept = make_rows(rows, layer->out);
            short_of_memory |= !layer->kept;
        }
        short_of_memory |= !layer->y;
    }
    mlp->d[0] = make_rows(rows, widest);
    mlp->d[1] = make_rows(rows, widest);
    if (!short_of_memory && mlp->d[0] && mlp->d[1]) return LATHE_OK;
    release_rows(mlp);
    return lathe_fail(mlp->host, LATHE_ENOMEM,
                      "no memory for slices of %" PRId64 " rows through %d layers",
                      rows, mlp->layer_count);
}

/* ---- passes ---- */

static lathe_status check_labels(const struct mlp *mlp, const lathe_batch *batch,
                                 const int32_t *labels) {
    for (int64_t row = 0; row < batch->rows; row++)
        if (labels[row] < 0 || labels[row] >= mlp->classes)
            return lathe_fail(mlp->host, LATHE_EDATA,
                              "label %" PRId32 " at position %" PRId64
                              " is not one of the %" PRId64 " classes, 0 to %" PRId64,
                              labels[row], batch->position + row, mlp->classes,
                              mlp->classes - 1);
    return LATHE_OK;
}

/* Fills in the sums and metrics, and the gradient of the output for backward. */
static lathe_status judge(struct mlp *mlp, lathe_pass *pass, int64_t width,
                          const float *output) {
    const void *label = pass->batch->fields[mlp->label].data;
    int64_t rows = pass->batch->rows;
    if (mlp->classes) {
        lathe_status status = check_labels(mlp, pass->batch, label);
        if (status != LATHE_OK) return status;
        double *accuracy = pass->metrics + 2 * mlp->accuracy;
        accuracy[0] = (double)loss_rows_correct(rows, width, output, label);
        accuracy[1] = (double)rows;
        pass->loss_sum = loss_cross_entropy(rows, width, output, label, mlp->d[0]);
    } else {
        pass->loss_sum = loss_squared_error(rows, width, output, label, mlp->d[0]);
    }
    pass->weight_sum = (double)rows;
    return LATHE_OK;
}

static lathe_status forward(void *self, lathe_pass *pass) {
    struct mlp *mlp = self;
    const struct layer *layer = mlp->layers, *last = layer + mlp->layer_count - 1;
    const float *x = pass->batch->fields[mlp->input].data;
    int64_t rows = pass->batch->rows;
    for (; layer <= last; x = layer->y, layer++) {
        const float *bias = pass->weights + layer->bias_at;
        linear_forward(rows, layer->in, layer->out, x, pass->weights + layer->weight_at,
                       layer->y);
        if (layer < last)
            mlp->activation->forward(rows, layer->out, bias, layer->kept, layer->y);
        else
            bias_forward(rows, layer->out, bias, layer->y);
    }
    if (pass->mode != LATHE_PREDICT) {
        lathe_status status = judge(mlp, pass, last->out, last->y);
        if (status != LATHE_OK) return status;
    }
    if (pass->outputs && pass->outputs[0])
        memcpy(pass->outputs[0], last->y, (size_t)(rows * last->out) * sizeof(float));
    return LATHE_OK;
}

static lathe_status backward(void *self, const lathe_pass *pass) {
    struct mlp *mlp = self;
    int64_t rows = pass->batch->rows;
    float *dy = mlp->d[0], *dx = mlp->d[1];
    int add = pass->add != 0;
    for (int32_t i = mlp->layer_count - 1; i >= mlp->lowest; i--) {
        const struct layer *layer = &mlp->layers[i], *below = layer - 1;
        const float *x = i ? below->y : pass->batch->fields[mlp->input].data;
        if (layer->trains_weight)
            linear_backward_weight(rows, layer->in, layer->out, dy, x, add,
                                   pass->gradients + layer->weight_at);
        if (layer->trains_bias)
            bias_backward(rows, layer->out, dy, add, pass->gradients + layer->bias_at);
        if (i == mlp->lowest) break;
        linear_backward_input(rows, layer->in, layer->out, dy,
                              pass->weights + layer->weight_at, dx);
        mlp->activation->backward(rows * layer->in, below->kept, below->y, dx);
        float *swap = dy;
        dy = dx;
        dx = swap;
    }
    return LATHE_OK;
}

LATHE_MODEL(.create = create, .destroy = destroy, .describe = describe, .bind = bind,
            .forward = forward, .backward = backward);
