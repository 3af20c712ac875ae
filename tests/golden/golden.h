/* SPDX-License-Identifier: MIT */
/* Golden files: JSON beside this header, made by the script of the same name with
 * PyTorch in float64 (golden.py says how). Tests read them; they need no Python.
 *
 * An array is right when each element is within a tolerance of the golden one, relative
 * to the element or to the root mean square of the array, whichever is greater: an
 * element that nearly cancels is not asked for more than the sum it came from had. */
#ifndef TESTS_GOLDEN_H
#define TESTS_GOLDEN_H

#include "support/arrays.h"

#include <stdio.h>

#include "base/text.h"
#include "dylib.h"
#include "json.h"

static inline struct json *golden_open(const char *name) {
    const char *source = getenv("SOURCE");
    struct json *root = NULL;
    struct error err = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/tests/golden/%s", source ? source : ".", name);
    if (json_read(path, &root, &err)) fail_msg("%s: %s", err.where, err.what);
    return root;
}

static inline int64_t golden_whole(const struct json *map, const char *key) {
    if (!json_is_whole(json_get(map, key))) fail_msg("no number \"%s\"", key);
    return json_whole(json_get(map, key));
}

static inline double golden_number(const struct json *map, const char *key) {
    if (json_kind(json_get(map, key)) != JSON_NUMBER) fail_msg("no number \"%s\"", key);
    return json_number(json_get(map, key));
}

/* A value as text, for those who take JSON; the caller frees it. */
static inline char *golden_text(const struct json *value) {
    struct text text = {0};
    json_write(value, &text, 0);
    assert_non_null(text.data);
    return text.data;
}

/* The worst error of actual[count] against a list of as many. */
static inline double golden_error(const float *actual, int64_t count,
                                  const struct json *list) {
    double squares = 0, worst = 0;
    if ((int64_t)json_size(list) != count)
        fail_msg("%zu golden numbers, not %lld", json_size(list), (long long)count);
    for (int64_t i = 0; i < count; i++) {
        double value = json_number(json_at(list, (size_t)i));
        squares += value * value / (double)count;
    }
    for (int64_t i = 0; i < count; i++) {
        double value = json_number(json_at(list, (size_t)i));
        double size = fmax(fabs(value), sqrt(squares));
        double error = fabs((double)actual[i] - value);
        if (isnan(error)) return INFINITY;
        if (error > 0) worst = fmax(worst, error / size);
    }
    return worst;
}

/* Fails unless actual[count] is right; remembers the worst error in *worst. */
static inline void golden_expect(const float *actual, int64_t count,
                                 const struct json *list, double tolerance,
                                 double *worst, const char *what) {
    double error = golden_error(actual, count, list);
    if (error > *worst) *worst = error;
    if (!(error <= tolerance))
        fail_msg("%s: off by %.3g, more than %g", what, error, tolerance);
}

/* The table of a plugin that the build made: "optimizer", "sgd". */
static inline const void *golden_plugin(const char *kind, const char *name) {
    const char *build = getenv("BUILD");
    struct dylib *library = NULL;
    struct error err = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/plugins/%s/%s/%s.so", build ? build : ".", kind,
             name, name);
    if (dylib_open(path, &library, &err)) fail_msg("%s: %s", err.where, err.what);
    const lathe_plugin *plugin = dylib_symbol(library, "lathe_plugin_v1");
    dylib_close(library);
    assert_non_null(plugin);
    return plugin->ops;
}

#endif
