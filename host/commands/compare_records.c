/* SPDX-License-Identifier: MIT */
/* Where the records of two runs part. A record is told by its split and step; those of
 * a run come in the order of their steps. */
#include <stdlib.h>
#include <string.h>

#include "commands/compare.h"

static int64_t step_of(const struct json *record) {
    return json_whole(json_get(record, "step"));
}

static const char *split_of(const struct json *record) {
    return json_text(json_get(record, "split"));
}

/* NULL: there is none. *from: where a search for this step may begin, and goes on. */
static const struct json *find_record(const struct json *records,
                                      const struct json *wanted, size_t *from) {
    const int64_t step = step_of(wanted);
    while (*from < json_size(records) && step_of(json_at(records, *from)) < step)
        ++*from;
    for (size_t i = *from; i < json_size(records); i++) {
        const struct json *record = json_at(records, i);
        if (step_of(record) != step) break;
        if (!strcmp(split_of(record), split_of(wanted))) return record;
    }
    return NULL;
}

/* A number, or the name of what JSON has no number for. */
static const struct json *value_of(const struct json *record, const char *metric) {
    const struct json *value = json_get(json_get(record, "metrics"), metric);
    const struct json *name = json_get(json_get(record, "nonfinite"), metric);
    return name ? name : value;
}

static struct json *make_apart(const struct json *record, const char *metric,
                               const struct json *a, const struct json *b) {
    char *what = metric ? text_make("%s/%s", split_of(record), metric)
                        : text_make("a record of %s", split_of(record));
    struct json *apart = what ? compare_pair(what, a, b) : NULL;
    free(what);
    apart = json_add(apart, "step", json_make_whole(step_of(record)));
    return json_add(apart, "epoch", json_clone(json_get(record, "epoch")));
}

/* *is_same: they are, to the digit. */
static struct json *compare_record(const struct json *a, const struct json *b,
                                   bool *is_same) {
    const struct json *sides[] = {a, b};
    *is_same = true;
    for (int i = 0; i < 2; i++)
        for (struct json_member at = {0};
             json_next(json_get(sides[i], "metrics"), &at);) {
            const struct json *one = value_of(a, at.key), *other = value_of(b, at.key);
            if (one && other && json_same(one, other)) continue;
            *is_same = false;
            return make_apart(a, at.key, one, other);
        }
    return NULL;
}

/* The end of a prefix is not the run's end. */
static bool is_within(const struct json *record, struct scope scope) {
    return scope.steps < 0 || (step_of(record) <= scope.steps &&
                               !(scope.is_part && !strcmp(split_of(record), "test")));
}

/* The first record of one that the other has not. */
static struct json *find_missing(const struct side *a, const struct side *b,
                                 struct scope scope, bool *is_whole) {
    size_t from = 0;
    for (size_t i = 0; i < json_size(a->records); i++) {
        const struct json *record = json_at(a->records, i);
        if (!is_within(record, scope) || find_record(b->records, record, &from))
            continue;
        struct json *apart = make_apart(record, NULL, record, NULL);
        *is_whole = *is_whole && apart;
        return apart;
    }
    return NULL;
}

static struct json *compare_common(const struct side *a, const struct side *b,
                                   struct scope scope, int64_t *count, bool *is_whole) {
    size_t from = 0;
    for (size_t i = 0; i < json_size(a->records); i++) {
        const struct json *one = json_at(a->records, i);
        const struct json *other = find_record(b->records, one, &from);
        bool is_same = true;
        if (!other || !is_within(one, scope)) continue;
        struct json *apart = compare_record(one, other, &is_same);
        if (is_same) {
            ++*count;
            continue;
        }
        *is_whole = *is_whole && apart;
        return apart;
    }
    return NULL;
}

/* Takes both over. */
static struct json *first_of(struct json *one, struct json *other) {
    const bool is_other = !one || (other && json_whole(json_get(other, "step")) <
                                                json_whole(json_get(one, "step")));
    json_close(is_other ? one : other);
    return is_other ? other : one;
}

/* Without records there are the digests of all of them. */
static struct json *compare_digests(const struct side *a, const struct side *b) {
    const struct json *one = json_get(a->receipt, "metrics");
    const struct json *other = json_get(b->receipt, "metrics");
    if (json_same(one, other)) return NULL;
    return compare_pair("metrics.jsonl", json_get(one, "sha256"),
                        json_get(other, "sha256"));
}

struct json *compare_records(const struct side *a, const struct side *b,
                             struct scope scope, int64_t *count, bool *is_whole) {
    *count = 0;
    if (!scope.is_part && !a->records != !b->records) return compare_digests(a, b);
    struct json *apart = compare_common(a, b, scope, count, is_whole);
    apart = first_of(apart, find_missing(a, b, scope, is_whole));
    if (scope.is_part) return apart;
    struct json *missing = find_missing(b, a, scope, is_whole);
    if (missing) { /* the values change places */
        struct json *there = json_clone(json_get(missing, "a"));
        json_put(missing, "a", json_make_text(NULL));
        json_put(missing, "b", there);
    }
    return first_of(apart, missing);
}

/* ---- the end ---- */

/* {"train/loss": value} of the last record of each split. */
static struct json *last_values(const struct side *side) {
    struct json *map = json_make_map();
    for (size_t i = 0; i < json_size(side->records); i++) {
        const struct json *record = json_at(side->records, i);
        for (struct json_member at = {0};
             json_next(json_get(record, "metrics"), &at);) {
            char *name = text_make("%s/%s", split_of(record), at.key);
            map = json_add(map, name, json_clone(value_of(record, at.key)));
            free(name);
        }
    }
    return map;
}

struct json *compare_ends(const struct side *a, const struct side *b) {
    struct json *one = last_values(a), *other = last_values(b);
    struct json *list = json_make_list();
    if (!one || !other) list = json_append(list, NULL);
    for (struct json_member at = {0}; json_next(one, &at);) {
        const struct json *value = json_get(other, at.key);
        if (!value || !json_same(at.value, value))
            list = json_append(list, compare_pair(at.key, at.value, value));
    }
    for (struct json_member at = {0}; json_next(other, &at);)
        if (!json_get(one, at.key))
            list = json_append(list, compare_pair(at.key, NULL, at.value));
    json_close(one);
    json_close(other);
    return list;
}
