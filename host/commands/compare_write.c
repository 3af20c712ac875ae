/* SPDX-License-Identifier: MIT */
/* A report as text. */
#include <string.h>

#include "base/digest.h"
#include "commands/compare.h"

#define SHOWN 56 /* bytes of a value */

/* A map, a record, says no more than that it is there; a digest begins. */
static void add_value(struct text *text, const struct json *value) {
    struct text whole = {0};
    const char *string = json_text(value);
    if (json_kind(value) == JSON_NULL_KIND)
        text_add(&whole, "nothing");
    else if (json_kind(value) == JSON_MAP && json_get(value, "split"))
        text_add(&whole, "one");
    else if (json_kind(value) != JSON_TEXT)
        json_write(value, &whole, 0);
    else if (digest_is_text(string))
        text_format(&whole, "sha256 %.12s", string);
    else
        text_add(&whole, string);
    if (whole.data) text_clean(whole.data); /* no line of its own either */
    if (whole.length > SHOWN)
        text_format(text, "%.*s...", SHOWN - 3, whole.data);
    else
        text_add(text, whole.data ? whole.data : "\"\"");
    text_finish(&whole);
}

static size_t measure(const struct json *value) {
    struct text text = {0};
    add_value(&text, value);
    const size_t length = text.length;
    text_finish(&text);
    return length;
}

static size_t widest(const struct json *list, const char *key) {
    size_t width = 0;
    for (size_t i = 0; i < json_size(list); i++) {
        const size_t length = measure(json_get(json_at(list, i), key));
        width = length > width ? length : width;
    }
    return width;
}

static void add_padded(struct text *text, const struct json *value, size_t width) {
    text_add(text, "  ");
    add_value(text, value);
    text_format(text, "%*s", (int)(width - measure(value)), "");
}

void compare_write_list(const struct json *list, struct text *text) {
    const size_t what = widest(list, "what"), a = widest(list, "a");
    for (size_t i = 0; i < json_size(list); i++) {
        const struct json *pair = json_at(list, i);
        add_padded(text, json_get(pair, "what"), what);
        add_padded(text, json_get(pair, "a"), a);
        text_add(text, "  ");
        add_value(text, json_get(pair, "b"));
        text_add(text, "\n");
    }
}

void compare_write_causes(const struct json *report, struct text *text) {
    static const char *const lists[] = {"settings", "plugins", "data", "environment"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const struct json *list = json_get(report, lists[i]);
        if (!json_size(list)) continue;
        text_format(text, "%s\n", lists[i]);
        compare_write_list(list, text);
    }
}

void compare_write_apart(const struct json *apart, struct text *text) {
    const struct json *step = json_get(apart, "step"),
                      *epoch = json_get(apart, "epoch");
    text_add(text, json_text(json_get(apart, "what")));
    if (step) text_format(text, " at step %lld", (long long)json_whole(step));
    if (epoch) text_format(text, " (epoch %lld)", (long long)json_whole(epoch));
    text_add(text, ": ");
    add_value(text, json_get(apart, "a"));
    text_add(text, " and ");
    add_value(text, json_get(apart, "b"));
}

static void add_count(struct text *text, int64_t count, const char *what) {
    text_format(text, "%lld %s%s", (long long)count, what, count == 1 ? "" : "s");
}

void compare_write_compared(const struct json *report, int64_t steps,
                            struct text *text) {
    const struct json *compared = json_get(report, "compared");
    const struct json *weights = json_get(compared, "weights");
    add_count(text, steps, "step");
    text_add(text, ", ");
    add_count(text, json_whole(json_get(compared, "records")), "record");
    if (json_size(weights)) text_add(text, ", weights after step");
    for (size_t i = 0; i < json_size(weights); i++)
        text_format(text, "%s %lld", i ? "," : "",
                    (long long)json_whole(json_at(weights, i)));
}
