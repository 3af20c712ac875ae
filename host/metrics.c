/* SPDX-License-Identifier: MIT */
#include "metrics.h"
#include "base/grow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const split_names[SPLIT_COUNT] = {"train", "validation", "test"};

struct mean {
    double sum, weight;
};

struct amounts {
    struct mean recent, epoch; /* epoch: training only */
    double value;
    int64_t step; /* at which value was settled; -1: never */
};

struct number {
    char *full_name; /* "validation/loss" */
    struct amounts now, marked;
};

struct metric {
    const char *name; /* the end of numbers[0].full_name */
    uint32_t flags;
    struct number numbers[SPLIT_COUNT];
};

struct metrics {
    struct metric *items;
    int64_t count;
    bool is_open[SPLIT_COUNT];
};

lathe_status metrics_create(struct metrics **metrics, struct error *err) {
    struct metrics *m = calloc(1, sizeof *m);
    if (!m) return fail(err, LATHE_ENOMEM, "no memory for metrics");
    *metrics = m;
    if (metrics_declare(m, "loss", 0, err) == METRICS_LOSS) return LATHE_OK;
    metrics_destroy(m);
    return err ? err->status : LATHE_ENOMEM;
}

static void free_names(struct metric *metric) {
    for (int split = 0; split < SPLIT_COUNT; split++)
        free(metric->numbers[split].full_name);
}

int32_t metrics_declare(struct metrics *m, const char *name, uint32_t flags,
                        struct error *err) {
    if (!name || !*name || strchr(name, '/') || !text_is_clean(name)) {
        fail(err, LATHE_EINVAL, "\"%s\" cannot be the name of a metric",
             name ? name : "");
        return -1;
    }
    for (int64_t i = 0; i < m->count; i++)
        if (!strcmp(m->items[i].name, name)) {
            fail(err, LATHE_EINVAL, "metric \"%s\" is declared twice", name);
            return -1;
        }
    struct metric metric = {.flags = flags};
    void *items = grow(m->items, (size_t)m->count, sizeof *m->items);
    bool is_whole = items != NULL;
    if (items) m->items = items;
    for (int split = 0; is_whole && split < SPLIT_COUNT; split++) {
        struct number *number = &metric.numbers[split];
        number->full_name = text_make("%s/%s", split_names[split], name);
        number->now.value = NAN;
        number->now.step = -1;
        is_whole = number->full_name != NULL;
    }
    if (!is_whole) {
        free_names(&metric);
        fail(err, LATHE_ENOMEM, "no memory for metric \"%s\"", name);
        return -1;
    }
    metric.name = strchr(metric.numbers[0].full_name, '/') + 1;
    m->items[m->count] = metric;
    return (int32_t)m->count++;
}

void metrics_open_split(struct metrics *m, enum split split) {
    m->is_open[split] = true;
}

int64_t metrics_count(const struct metrics *m) {
    return m->count;
}

const char *metrics_name(const struct metrics *m, int64_t index) {
    return m->items[index].name;
}

void metrics_add(struct metrics *m, enum split split, int64_t index, double sum,
                 double weight) {
    struct number *number = &m->items[index].numbers[split];
    number->now.recent.sum += sum;
    number->now.recent.weight += weight;
    number->now.epoch.sum += sum;
    number->now.epoch.weight += weight;
}

void metrics_restart(struct metrics *m, enum split split) {
    for (int64_t i = 0; i < m->count; i++) {
        struct number *number = &m->items[i].numbers[split];
        number->now.recent = number->now.epoch = (struct mean){0};
    }
}

static void settle(const struct metric *metric, struct number *number, struct mean mean,
                   int64_t step) {
    if (mean.weight == 0) return;
    number->now.value = mean.sum / mean.weight;
    if (metric->flags & LATHE_METRIC_EXP) number->now.value = exp(number->now.value);
    number->now.step = step;
}

void metrics_settle(struct metrics *m, enum split split, int64_t step) {
    for (int64_t i = 0; i < m->count; i++) {
        struct number *number = &m->items[i].numbers[split];
        settle(&m->items[i], number, number->now.recent, step);
        number->now.recent = (struct mean){0};
    }
}

void metrics_settle_epoch(struct metrics *m, int64_t step) {
    for (int64_t i = 0; i < m->count; i++) {
        struct number *number = &m->items[i].numbers[SPLIT_TRAIN];
        settle(&m->items[i], number, number->now.epoch, step);
    }
}

int32_t metrics_find(const struct metrics *m, const char *full_name) {
    for (int64_t i = 0; i < m->count; i++)
        for (int split = 0; split < SPLIT_COUNT; split++)
            if (m->is_open[split] &&
                !strcmp(m->items[i].numbers[split].full_name, full_name))
                return (int32_t)(i * SPLIT_COUNT + split);
    return -1;
}

void metrics_view(const struct metrics *m, int32_t watched, lathe_metric_view *view) {
    const struct metric *metric = &m->items[watched / SPLIT_COUNT];
    const struct number *number = &metric->numbers[watched % SPLIT_COUNT];
    lathe_metric_view full = {.size = view->size,
                              .flags = metric->flags,
                              .name = number->full_name,
                              .value = number->now.value,
                              .step = number->now.step};
    if (isnan(full.value)) full.value = NAN; /* printf writes the sign of a NaN */
    memcpy(view, &full, view->size < sizeof full ? view->size : sizeof full);
}

int32_t metrics_at(const struct metrics *m, int64_t n) {
    for (int split = 0; split < SPLIT_COUNT; split++) {
        if (!m->is_open[split]) continue;
        if (n < m->count) return (int32_t)(n * SPLIT_COUNT + split);
        n -= m->count;
    }
    return -1;
}

static const char *spell(double value) {
    return isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

struct lister {
    struct text *text;
    struct text nonfinite;
    const char *comma;
};

static void list_number(struct lister *lister, const char *name, double value) {
    text_add(lister->text, lister->comma);
    lister->comma = ",";
    text_json_string(lister->text, name);
    text_add(lister->text, ":");
    text_json_number(lister->text, value);
    if (isfinite(value)) return;
    text_add(&lister->nonfinite, lister->nonfinite.length ? "," : "");
    text_json_string(&lister->nonfinite, name);
    text_format(&lister->nonfinite, ":\"%s\"", spell(value));
}

static void end_list(struct lister *lister) {
    text_add(lister->text, "}");
    if (lister->nonfinite.length)
        text_format(lister->text, ",\"nonfinite\":{%s}", lister->nonfinite.data);
    text_finish(&lister->nonfinite);
}

void metrics_write(const struct metrics *m, enum split split, int64_t step,
                   struct text *text) {
    struct lister lister = {.text = text, .comma = ""};
    text_add(text, ",\"metrics\":{");
    for (int64_t i = 0; i < m->count; i++) {
        const struct number *number = &m->items[i].numbers[split];
        if (number->now.step == step)
            list_number(&lister, m->items[i].name, number->now.value);
    }
    end_list(&lister);
}

void metrics_write_all(const struct metrics *m, struct text *text) {
    struct lister lister = {.text = text, .comma = ""};
    text_add(text, ",\"metrics\":{");
    for (int split = 0; split < SPLIT_COUNT; split++)
        for (int64_t i = 0; i < m->count; i++) {
            const struct number *number = &m->items[i].numbers[split];
            if (number->now.step >= 0)
                list_number(&lister, number->full_name, number->now.value);
        }
    end_list(&lister);
}

/* ---- what can be taken back, and what is saved ---- */

void metrics_mark(struct metrics *m) {
    for (int64_t i = 0; i < m->count; i++)
        for (int split = 0; split < SPLIT_COUNT; split++)
            m->items[i].numbers[split].marked = m->items[i].numbers[split].now;
}

void metrics_take_back(struct metrics *m) {
    for (int64_t i = 0; i < m->count; i++)
        for (int split = 0; split < SPLIT_COUNT; split++) {
            struct number *number = &m->items[i].numbers[split];
            const struct amounts now = number->now;
            number->now = number->marked;
            number->marked = now;
        }
}

#define AMOUNTS 6

struct json *metrics_save(const struct metrics *m) {
    struct json *saved = json_make_map();
    for (int64_t i = 0; i < m->count * SPLIT_COUNT; i++) {
        const struct number *number =
            &m->items[i / SPLIT_COUNT].numbers[i % SPLIT_COUNT];
        const struct amounts *now = &number->now;
        const double amounts[AMOUNTS] = {now->recent.sum, now->recent.weight,
                                         now->epoch.sum,  now->epoch.weight,
                                         now->value,      (double)now->step};
        struct json *list = json_make_list();
        for (int k = 0; k < AMOUNTS; k++)
            list = json_append(list, json_make_exact(amounts[k]));
        saved = json_add(saved, number->full_name, list);
    }
    return saved;
}

lathe_status metrics_load(struct metrics *m, const struct json *saved,
                          struct error *err) {
    for (size_t i = 0; i < json_size(saved); i++)
        if (json_size(json_at(saved, i)) != AMOUNTS)
            return fail(err, LATHE_EDATA, "what is saved of \"%s\" is no metric",
                        json_key_at(saved, i));
    for (int64_t i = 0; i < m->count * SPLIT_COUNT; i++) {
        struct number *number = &m->items[i / SPLIT_COUNT].numbers[i % SPLIT_COUNT];
        const struct json *list = json_get(saved, number->full_name);
        if (!list) continue;
        number->now.recent.sum = json_exact(json_at(list, 0));
        number->now.recent.weight = json_exact(json_at(list, 1));
        number->now.epoch.sum = json_exact(json_at(list, 2));
        number->now.epoch.weight = json_exact(json_at(list, 3));
        number->now.value = json_exact(json_at(list, 4));
        number->now.step = json_whole(json_at(list, 5));
    }
    return LATHE_OK;
}

void metrics_destroy(struct metrics *m) {
    if (!m) return;
    for (int64_t i = 0; i < m->count; i++) free_names(&m->items[i]);
    free(m->items);
    free(m);
}
