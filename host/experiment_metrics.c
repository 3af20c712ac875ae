/* SPDX-License-Identifier: MIT */
/* "validation/accuracy": is there somebody who declares it, earlier in the order? */
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "experiment_parts.h"

void experiment_declare_metrics(struct opening *opening,
                                const struct manifest *manifest) {
    for (size_t i = 0; i < json_size(manifest->metrics); i++) {
        const char **metrics =
            realloc(opening->metrics, (opening->metric_count + 1) * sizeof *metrics);
        if (!metrics) {
            opening->is_broken = true;
            return;
        }
        opening->metrics = metrics;
        metrics[opening->metric_count++] =
            json_text(json_get(json_at(manifest->metrics, i), "name"));
    }
}

static const char *const splits[] = {"train", "validation", "test"};
#define SPLIT_COUNT (sizeof splits / sizeof splits[0])

/* "validation" of "validation/loss"; NULL: the loop never visits data of that name. */
static const char *find_split(const char *name, size_t length) {
    for (size_t i = 0; i < SPLIT_COUNT; i++)
        if (strlen(splits[i]) == length && strncmp(splits[i], name, length) == 0)
            return splits[i];
    return NULL;
}

static bool is_declared(const struct opening *opening, const char *name) {
    if (strcmp(name, "loss") == 0) return true;
    for (size_t i = 0; i < opening->metric_count; i++)
        if (strcmp(opening->metrics[i], name) == 0) return true;
    return false;
}

/* The full name of the i-th metric there is, the caller's; NULL past the last. */
static char *full_name(const struct opening *opening, size_t i) {
    const struct json *data = json_get(opening->experiment->resolved, "data");
    const size_t each = opening->metric_count + 1;
    for (size_t s = 0; s < SPLIT_COUNT; s++) {
        if (!json_get(data, splits[s])) continue;
        if (i < each)
            return text_make("%s/%s", splits[s],
                             i == 0 ? "loss" : opening->metrics[i - 1]);
        i -= each;
    }
    return NULL;
}

static void suggest_metric(const struct opening *opening, struct error *err,
                           const char *wanted) {
    struct nearest nearest;
    struct text known = {0};
    char *best = NULL;
    nearest_begin(&nearest, wanted);
    for (size_t i = 0;; i++) {
        char *name = full_name(opening, i);
        if (!name) break;
        text_format(&known, "%s%s", i > 0 ? ", " : "", name);
        nearest_offer(&nearest, name);
        if (nearest.best == name) {
            free(best);
            best = name;
        } else {
            free(name);
        }
    }
    if (best) {
        error_help(err, "did you mean \"%s\"? There are: %s", best, known.data);
    } else {
        error_help(err, "there are: %s", known.data ? known.data : "none");
    }
    free(best);
    text_finish(&known);
}

void experiment_check_metric(struct opening *opening, const char *path,
                             const char *name) {
    const struct experiment *experiment = opening->experiment;
    const struct json *data = json_get(experiment->resolved, "data");
    const char *slash = strchr(name, '/');
    const char *split = slash ? find_split(name, (size_t)(slash - name)) : NULL;
    const bool is_default = strcmp(experiment_origin(experiment, path), "default") == 0;
    const char *mark = is_default ? ", the default" : "";
    struct error *err = NULL;
    if (json_kind(data) != JSON_MAP) return; /* told already */
    if (!slash) {
        err =
            experiment_fault(opening, LATHE_EINVAL, path,
                             "metric \"%s\"%s does not say of which data", name, mark);
    } else if (!split) {
        err = experiment_fault(opening, LATHE_EINVAL, path,
                               "metric \"%s\"%s is of data that is never visited", name,
                               mark);
    } else if (!json_get(data, split)) {
        err =
            experiment_fault(opening, LATHE_EINVAL, path,
                             "metric \"%s\"%s: there is no data.%s", name, mark, split);
    } else if (!opening->is_metrics_open && !is_declared(opening, slash + 1)) {
        err = experiment_fault(opening, LATHE_EINVAL, path,
                               "metric \"%s\"%s is declared by nobody before it", name,
                               mark);
    }
    if (err) suggest_metric(opening, err, name);
}

/* ">= 0.88" */
static bool read_condition(const char *text, struct expectation *expectation) {
    struct json *bound = NULL;
    size_t length = strspn(text, "<>=");
    if (length < 1 || length > 2 || text[0] == '=' || (length == 2 && text[1] != '='))
        return false;
    memcpy(expectation->comparison, text, length);
    expectation->comparison[length] = '\0';
    text += length;
    if (json_parse(text, strlen(text), "bound", &bound, NULL) != LATHE_OK) return false;
    const bool is_number = json_kind(bound) == JSON_NUMBER;
    expectation->bound = json_number(bound);
    json_close(bound);
    return is_number;
}

void experiment_read_expectations(struct opening *opening) {
    struct experiment *experiment = opening->experiment;
    const struct json *expect = json_get(experiment->resolved, "expect");
    const size_t count = json_kind(expect) == JSON_MAP ? json_size(expect) : 0;
    experiment->expectations = calloc(count + 1, sizeof *experiment->expectations);
    if (!experiment->expectations) opening->is_broken = true;
    for (size_t i = 0; i < count && !opening->is_broken; i++) {
        struct expectation *expectation = &experiment->expectations[i];
        const struct json *condition = json_at(expect, i);
        char path[384];
        expectation->metric = json_key_at(expect, i);
        expectation->text = json_text(condition);
        snprintf(path, sizeof path, "expect.%s", expectation->metric);
        experiment_check_metric(opening, path, expectation->metric);
        if (json_kind(condition) != JSON_TEXT) {
            error_help(experiment_fault(opening, LATHE_EINVAL, path,
                                        "a string was expected, found %s",
                                        json_kind_name(json_kind(condition))),
                       "write it like \">= 0.88\"");
        } else if (!read_condition(expectation->text, expectation)) {
            error_help(experiment_fault(opening, LATHE_EINVAL, path,
                                        "\"%s\" is not a comparison with a number",
                                        expectation->text),
                       "write it like \">= 0.88\"; there are >=, >, <= and <");
        }
    }
    experiment->expectation_count = count;
}
