/* SPDX-License-Identifier: MIT */
/* "validation/accuracy": is there somebody who declares it, earlier in the order? */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/nearest.h"
#include "experiment_parts.h"
#include "metrics.h"

void experiment_declare_metrics(struct opening *opening,
                                const struct manifest *manifest) {
    for (size_t i = 0; i < json_size(manifest->metrics); i++) {
        const char **metrics =
            grow(opening->metrics, opening->metric_count, sizeof *metrics);
        if (!metrics) {
            opening->is_broken = true;
            return;
        }
        opening->metrics = metrics;
        metrics[opening->metric_count++] =
            json_text(json_get(json_at(manifest->metrics, i), "name"));
    }
}

/* "validation" of "validation/loss"; NULL: the loop never visits data of that name. */
static const char *find_split(const char *name, size_t length) {
    for (int i = 0; i < SPLIT_COUNT; i++)
        if (strlen(split_names[i]) == length &&
            strncmp(split_names[i], name, length) == 0)
            return split_names[i];
    return NULL;
}

static bool is_declared(const struct opening *opening, const char *name) {
    if (strcmp(name, "loss") == 0) return true;
    for (size_t i = 0; i < opening->metric_count; i++)
        if (strcmp(opening->metrics[i], name) == 0) return true;
    return false;
}

static void list_metric(struct nearest *nearest, const char *split, const char *name) {
    char full[256];
    snprintf(full, sizeof full, "%s/%s", split, name);
    nearest_list(nearest, full);
}

static void suggest_metric(const struct opening *opening, const char *wanted,
                           struct error *err) {
    const struct json *data = json_get(opening->experiment->resolved, "data");
    struct nearest nearest;
    nearest_begin(&nearest, wanted);
    for (int s = 0; s < SPLIT_COUNT; s++) {
        if (!json_get(data, split_names[s])) continue;
        list_metric(&nearest, split_names[s], "loss");
        for (size_t i = 0; i < opening->metric_count; i++)
            list_metric(&nearest, split_names[s], opening->metrics[i]);
    }
    nearest_help(&nearest, "there are", err);
}

void experiment_check_metric(struct opening *opening, const char *path,
                             const char *name) {
    const struct experiment *experiment = opening->experiment;
    const struct json *data = json_get(experiment->resolved, "data");
    const char *slash = strchr(name, '/');
    const char *split = slash ? find_split(name, (size_t)(slash - name)) : NULL;
    const bool is_default = strcmp(experiment_origin(experiment, path), "default") == 0;
    const char *reason, *which = "";
    if (json_kind(data) != JSON_MAP) return; /* told already */
    if (!slash)
        reason = " does not say of which data";
    else if (!split)
        reason = " is of data that is never visited";
    else if (!json_get(data, split))
        reason = ": there is no data.", which = split;
    else if (!opening->is_metrics_open && !is_declared(opening, slash + 1))
        reason = " is declared by nobody before it";
    else
        return;
    suggest_metric(opening, name,
                   experiment_fault(opening, path, "", "metric \"%s\"%s%s%s", name,
                                    is_default ? ", the default" : "", reason, which));
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
            experiment_fault(opening, path, "write it like \">= 0.88\"",
                             "a string was expected, found %s",
                             json_kind_name(json_kind(condition)));
        } else if (!read_condition(expectation->text, expectation)) {
            experiment_fault(
                opening, path, "write it like \">= 0.88\"; there are >=, >, <= and <",
                "\"%s\" is not a comparison with a number", expectation->text);
        }
    }
    experiment->expectation_count = count;
}
