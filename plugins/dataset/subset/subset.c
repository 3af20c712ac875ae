/* SPDX-License-Identifier: MIT */
/* Some samples of another dataset: those of a range, or every n-th of them. Fields and
 * values are the other's. It draws nothing at random and passes on no order. */
#include <stdlib.h>
#include <string.h>

#include <lathe/dataset.h>

#define CHUNK 256 /* rows per call of the inner dataset */
#define FIELDS_MAX 16

struct subset {
    const lathe_dataset_ops *ops; /* of the inner dataset, like `inner` the host's */
    void *inner;
    int64_t from, every, count;
    uint32_t field_count;
};

/* Passes what the inner dataset declares on to `plan`, where there is one, and notes
 * it. */
struct listener {
    const lathe_data_plan *plan;
    uint32_t field_count;
    int64_t samples; /* -1: it did not say */
};

static lathe_status hear_field(const lathe_data_plan *plan, const lathe_field *field) {
    struct listener *listener = plan->context;
    listener->field_count++;
    return listener->plan ? listener->plan->field(listener->plan, field) : LATHE_OK;
}

static void hear_samples(const lathe_data_plan *plan, int64_t count) {
    ((struct listener *)plan->context)->samples = count;
}

static lathe_status listen(const struct subset *subset, struct listener *listener) {
    const lathe_data_plan plan = {
        .size = sizeof plan,
        .context = listener,
        .field = hear_field,
        .samples = hear_samples,
    };
    listener->samples = -1;
    return subset->ops->describe(subset->inner, &plan);
}

static lathe_status open_inner(const lathe_host *host, struct subset *subset) {
    const void *ops;
    struct listener listener = {0};
    lathe_status status = host->plugin(host, "of", &ops, &subset->inner);
    if (status) return status;
    subset->ops = ops;
    status = listen(subset, &listener);
    if (status) return status;
    if (!subset->ops->read || listener.samples < 0)
        return lathe_fail(host, LATHE_EINVAL,
                          "of: is a stream; only a dataset of known length has ranges");
    if (listener.field_count > FIELDS_MAX)
        return lathe_fail(host, LATHE_EINVAL,
                          "of: has %u fields; at most %d are possible",
                          listener.field_count, FIELDS_MAX);
    subset->field_count = listener.field_count;
    int64_t from = lathe_integer(host, "range/0"), to = lathe_integer(host, "range/1");
    if (from >= to || to > listener.samples)
        return lathe_fail(
            host, LATHE_EINVAL,
            "range: [%lld, %lld] is not a part of the %lld samples; it is "
            "[from, to] with 0 <= from < to <= %lld",
            (long long)from, (long long)to, (long long)listener.samples,
            (long long)listener.samples);
    subset->from = from;
    subset->every = lathe_integer(host, "every");
    subset->count = (to - from - 1) / subset->every + 1;
    return LATHE_OK;
}

static lathe_status create(const lathe_host *host, void **self) {
    struct subset *subset = calloc(1, sizeof *subset);
    if (!subset) return lathe_fail(host, LATHE_ENOMEM, "out of memory");
    lathe_status status = open_inner(host, subset);
    if (status)
        free(subset);
    else
        *self = subset;
    return status;
}

static lathe_status describe(void *self, const lathe_data_plan *plan) {
    const struct subset *subset = self;
    struct listener listener = {.plan = plan};
    lathe_status status = listen(subset, &listener);
    if (!status) plan->samples(plan, subset->count);
    return status;
}

/* The same tensor from row `first` on, `rows` of it. */
static lathe_tensor cut_tensor(const lathe_tensor *tensor, int64_t first,
                               int64_t rows) {
    lathe_tensor cut = *tensor;
    int64_t row_bytes = tensor->bits / 8;
    for (uint32_t i = 1; i < tensor->rank; i++) row_bytes *= tensor->shape[i];
    cut.data = (char *)tensor->data + first * row_bytes;
    cut.shape[0] = rows;
    return cut;
}

static lathe_status read_chunk(const struct subset *subset, const int64_t *indices,
                               const lathe_batch *into, int64_t first, int64_t rows) {
    int64_t inner_indices[CHUNK];
    lathe_tensor fields[FIELDS_MAX];
    for (int64_t i = 0; i < rows; i++)
        inner_indices[i] = subset->from + indices[first + i] * subset->every;
    for (uint32_t i = 0; i < subset->field_count; i++)
        fields[i] = cut_tensor(&into->fields[i], first, rows);
    const lathe_batch part = {
        .size = sizeof part,
        .field_count = subset->field_count,
        .rows = rows,
        .epoch = into->epoch,
        .position = into->position + first,
        .fields = fields,
    };
    return subset->ops->read(subset->inner, inner_indices, &part);
}

static lathe_status read_samples(void *self, const int64_t *indices,
                                 const lathe_batch *into) {
    lathe_status status = LATHE_OK;
    for (int64_t first = 0; first < into->rows && !status; first += CHUNK) {
        int64_t left = into->rows - first;
        status = read_chunk(self, indices, into, first, left < CHUNK ? left : CHUNK);
    }
    return status;
}

LATHE_DATASET(.create = create, .destroy = free, .describe = describe,
              .read = read_samples);
