/* SPDX-License-Identifier: MIT */
/* Points in round clusters around centres, for trying things out without a file. A
 * sample is a function of seed and index alone: nothing is kept, two splits that name
 * one seed are parts of the same data. */
#include <math.h>
#include <stdlib.h>

#include <lathe/dataset.h>

#define PURPOSE_CENTRES 1
#define PURPOSE_NOISE 2
#define MOST_CENTRES (1LL << 28) /* numbers of them: 1 GiB, and seconds to draw */

struct blobs {
    int64_t samples, features, classes;
    double spread;
    lathe_key noise;
    float centres[]; /* [classes, features] */
};

/* normals[4] of the standard normal distribution, by Box and Muller. */
static void draw_normals(lathe_key key, int64_t position, int64_t block,
                         double normals[4]) {
    const double turn = 6.283185307179586;
    uint32_t draws[4];
    lathe_random4(key, (uint64_t)position, (uint64_t)block, draws);
    for (int i = 0; i < 4; i += 2) {
        double length = sqrt(-2 * log(1 - (double)lathe_unit(draws[i])));
        double angle = turn * (double)lathe_unit(draws[i + 1]);
        normals[i] = length * cos(angle);
        normals[i + 1] = length * sin(angle);
    }
}

/* to[i] = scale * normal + around[i]; around may be NULL. */
static void draw_point(lathe_key key, int64_t position, double scale,
                       const float *around, int64_t count, float *to) {
    double normals[4];
    for (int64_t i = 0; i < count; i++) {
        if (i % 4 == 0) draw_normals(key, position, i / 4, normals);
        double centre = around ? (double)around[i] : 0;
        to[i] = (float)(scale * normals[i % 4] + centre);
    }
}

static lathe_status create(const lathe_host *host, void **self) {
    int64_t features = lathe_integer(host, "features");
    int64_t classes = lathe_integer(host, "classes");
    uint64_t seed = (uint64_t)lathe_integer(host, "seed");
    if (features > MOST_CENTRES / classes)
        return lathe_fail(host, LATHE_EINVAL,
                          "features times classes is at most %lld, and %lld times %lld "
                          "was asked for",
                          MOST_CENTRES, (long long)features, (long long)classes);
    struct blobs *blobs =
        malloc(sizeof *blobs + (size_t)(features * classes) * sizeof(float));
    if (!blobs)
        return lathe_fail(host, LATHE_ENOMEM, "out of memory for %lld classes of %lld",
                          (long long)classes, (long long)features);
    lathe_key key = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    lathe_key centres = lathe_derive(key, PURPOSE_CENTRES, 0);
    blobs->samples = lathe_integer(host, "samples");
    blobs->features = features;
    blobs->classes = classes;
    blobs->spread = lathe_number(host, "spread");
    blobs->noise = lathe_derive(key, PURPOSE_NOISE, 0);
    for (int64_t i = 0; i < classes; i++)
        draw_point(centres, i, 1, NULL, features, blobs->centres + i * features);
    *self = blobs;
    return LATHE_OK;
}

static lathe_status describe(void *self, const lathe_data_plan *plan) {
    const struct blobs *blobs = self;
    lathe_field input = {.size = sizeof input,
                         .rank = 1,
                         .name = "input",
                         .code = LATHE_FLOAT,
                         .bits = 32,
                         .shape = {blobs->features}};
    lathe_field label = {.size = sizeof label,
                         .name = "label",
                         .code = LATHE_INT,
                         .bits = 32,
                         .classes = blobs->classes};
    lathe_status status = plan->field(plan, &input);
    if (!status) status = plan->field(plan, &label);
    if (!status) plan->samples(plan, blobs->samples);
    return status;
}

static lathe_status read_samples(void *self, const int64_t *indices,
                                 const lathe_batch *into) {
    const struct blobs *blobs = self;
    float *input = into->fields[0].data;
    int32_t *label = into->fields[1].data;
    for (int64_t row = 0; row < into->rows; row++) {
        int64_t class = indices[row] % blobs->classes;
        label[row] = (int32_t) class;
        draw_point(blobs->noise, indices[row], blobs->spread,
                   blobs->centres + class * blobs->features, blobs->features,
                   input + row * blobs->features);
    }
    return LATHE_OK;
}

LATHE_DATASET(.create = create, .destroy = free, .describe = describe,
              .read = read_samples);
