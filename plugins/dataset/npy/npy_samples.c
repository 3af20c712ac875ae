/* SPDX-License-Identifier: MIT */
#include "npy_samples.h"

#include <math.h>
#include <string.h>

#define CACHE_LINE 64

/* ---- checks ---- */

/* What a number becomes as an input. */
static float scale(const struct npy_samples *samples, double number) {
    return (float)((number - samples->mean) / samples->std);
}

/* NaN, infinities and what no float can hold: whole numbers cannot be any. */
static lathe_status check_input(const lathe_host *host,
                                const struct npy_samples *samples) {
    const struct npy_array *input = &samples->input;
    int64_t count = input->shape[0] * input->sample;
    if (input->kind != 'f') return LATHE_OK;
    for (int64_t i = 0; i < count; i++) {
        double number = npy_array_number(input, i);
        if (!isfinite(scale(samples, number)))
            return lathe_fail(host, LATHE_EDATA,
                              "%s: sample %lld holds %g; an input must be a finite "
                              "32-bit float",
                              input->name, (long long)(i / input->sample), number);
    }
    return LATHE_OK;
}

static lathe_status check_classes(const lathe_host *host, struct npy_samples *samples,
                                  int64_t classes) {
    const struct npy_array *label = &samples->label;
    double largest = (double)(classes ? classes - 1 : INT32_MAX - 1);
    if (label->sample != 1) {
        char shape[160];
        npy_array_shape(label, shape, sizeof shape);
        return lathe_fail(host, LATHE_EDATA,
                          "%s: is %s; a class is one whole number a sample (one-hot: "
                          "save a.argmax(1)); with \"classes\": 0 labels are numbers",
                          label->name, shape);
    }
    samples->classes = classes;
    for (int64_t i = 0; i < label->shape[0]; i++) {
        double number = npy_array_number(label, i);
        if (!(number >= 0 && number <= largest && number == floor(number)))
            return lathe_fail(host, LATHE_EDATA,
                              "%s: sample %lld has label %.17g; labels are whole "
                              "numbers from 0 to %.0f",
                              label->name, (long long)i, number, largest);
        if (!classes && (int64_t)number >= samples->classes)
            samples->classes = (int64_t)number + 1;
    }
    return LATHE_OK;
}

static lathe_status check_targets(const lathe_host *host,
                                  const struct npy_array *label) {
    int64_t count = label->shape[0] * label->sample;
    for (int64_t i = 0; i < count; i++) {
        double number = npy_array_number(label, i);
        if (!isfinite((float)number))
            return lathe_fail(host, LATHE_EDATA,
                              "%s: sample %lld holds %g; a label must be a finite "
                              "32-bit float",
                              label->name, (long long)(i / label->sample), number);
    }
    return LATHE_OK;
}

static lathe_status check_label(const lathe_host *host, struct npy_samples *samples) {
    const struct npy_array *input = &samples->input, *label = &samples->label;
    int has_classes = lathe_has(host, "classes");
    int64_t classes = has_classes ? lathe_integer(host, "classes") : 0;
    if (!label->rank)
        return has_classes
                   ? lathe_fail(host, LATHE_EINVAL, "classes is given without a label")
                   : LATHE_OK;
    if (label->shape[0] != input->shape[0])
        return lathe_fail(host, LATHE_EDATA, "labels: %lld, inputs: %lld (%s and %s)",
                          (long long)label->shape[0], (long long)input->shape[0],
                          label->name, input->name);
    if (has_classes ? classes == 0 : label->kind == 'f')
        return check_targets(host, label);
    return check_classes(host, samples, classes);
}

lathe_status npy_samples_init(const lathe_host *host, struct npy_samples *samples) {
    const struct npy_array *input = &samples->input;
    samples->mean = lathe_number(host, "mean");
    samples->std = lathe_number(host, "std");
    samples->is_plain = input->kind == 'f' && input->width == 4 && !input->is_big &&
                        samples->mean == 0 && samples->std == 1;
    for (int i = 0; i < 256; i++) samples->bytes[i] = scale(samples, i);
    lathe_status status = check_input(host, samples);
    return status == LATHE_OK ? check_label(host, samples) : status;
}

/* ---- samples ---- */

static lathe_field field_of(const struct npy_array *array, const char *name) {
    lathe_field field = {.size = sizeof field,
                         .rank = (uint32_t)array->rank - 1,
                         .name = name,
                         .code = LATHE_FLOAT,
                         .bits = 32};
    for (int i = 1; i < array->rank; i++) field.shape[i - 1] = array->shape[i];
    return field;
}

lathe_status npy_samples_describe(const struct npy_samples *samples,
                                  const lathe_data_plan *plan) {
    const lathe_field input = field_of(&samples->input, "input");
    lathe_status status = plan->field(plan, &input);
    if (status == LATHE_OK && samples->label.rank) {
        lathe_field label = {.size = sizeof label,
                             .name = "label",
                             .code = LATHE_INT,
                             .bits = 32,
                             .classes = samples->classes};
        if (!samples->classes) label = field_of(&samples->label, "label");
        status = plan->field(plan, &label);
    }
    if (status == LATHE_OK) plan->samples(plan, samples->input.shape[0]);
    return status;
}

/* Samples come in random order, so the processor cannot guess the next one: asked for
 * while this one is written, it is there in time. */
static void gather(const struct npy_samples *samples, int64_t index, int64_t next,
                   float *to) {
    const struct npy_array *input = &samples->input;
    int64_t length = input->sample * input->width, first = index * input->sample;
    const unsigned char *at = input->values + index * length;
    const unsigned char *ahead = input->values + next * length;
    for (int64_t i = 0; i < length; i += CACHE_LINE) __builtin_prefetch(ahead + i);
    if (samples->is_plain)
        memcpy(to, at, (size_t)length);
    else if (input->kind == 'u' && input->width == 1)
        for (int64_t i = 0; i < length; i++) to[i] = samples->bytes[at[i]];
    else
        for (int64_t i = 0; i < input->sample; i++)
            to[i] = scale(samples, npy_array_number(input, first + i));
}

void npy_samples_read(const struct npy_samples *samples, const int64_t *indices,
                      const lathe_batch *into) {
    const struct npy_array *label = &samples->label;
    float *input = into->fields[0].data;
    for (int64_t row = 0; row < into->rows; row++) {
        int64_t next = indices[row + 1 < into->rows ? row + 1 : row];
        gather(samples, indices[row], next, input + row * samples->input.sample);
    }
    if (!label->rank) return;
    int32_t *class = into->fields[1].data;
    float *target = into->fields[1].data;
    for (int64_t row = 0; row < into->rows; row++)
        for (int64_t i = 0; i < label->sample; i++) {
            double number = npy_array_number(label, indices[row] * label->sample + i);
            if (samples->classes)
                class[row] = (int32_t)number;
            else
                target[row * label->sample + i] = (float)number;
        }
}

void npy_samples_finish(struct npy_samples *samples) {
    npy_array_close(&samples->input);
    npy_array_close(&samples->label);
}
