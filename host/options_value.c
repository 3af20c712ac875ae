/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "options_parts.h"

#define SHOWN_BYTES 80

/* ---- words for messages ---- */

/* The value as JSON, cut where it is long. */
static const char *show(const struct json *value, char shown[SHOWN_BYTES]) {
    struct text text = {0};
    json_write(value, &text, 0);
    size_t length = text.length;
    if (length >= SHOWN_BYTES) {
        length = SHOWN_BYTES - 4;
        while (length && ((unsigned char)text.data[length] & 0xc0) == 0x80) length--;
    }
    snprintf(shown, SHOWN_BYTES, "%.*s%s", (int)length, text.data ? text.data : "",
             length < text.length ? "…" : "");
    text_finish(&text);
    return shown;
}

void options_found(const struct json *value, char found[OPTIONS_FOUND_BYTES]) {
    char shown[SHOWN_BYTES];
    enum json_kind kind = json_kind(value);
    if (kind == JSON_LIST || kind == JSON_MAP)
        snprintf(found, OPTIONS_FOUND_BYTES, "%s", json_kind_name(kind));
    else
        snprintf(found, OPTIONS_FOUND_BYTES, "%s%s",
                 kind == JSON_TEXT     ? "the string "
                 : kind == JSON_NUMBER ? "the number "
                                       : "",
                 show(value, shown));
}

static void add_list(struct text *text, const struct json *list) {
    char shown[SHOWN_BYTES];
    for (size_t i = 0; i < json_size(list); i++)
        text_format(text, "%s%s", i ? ", " : "", show(json_at(list, i), shown));
}

void options_help(const struct json *schema, struct error *err) {
    struct text text = {0};
    options_describe(schema, &text);
    if (text.length) error_help(err, "allowed: %s", text.data);
    text_finish(&text);
}

/* ---- type ---- */

static bool has_type(const struct json *schema, const struct json *value) {
    const struct json *type = json_get(schema, "type");
    if (!type) return !json_get(schema, "oneOf") || json_kind(value) == JSON_MAP;
    if (json_kind(type) == JSON_TEXT) return options_is_type(value, json_text(type));
    for (size_t i = 0; i < json_size(type); i++)
        if (options_is_type(value, json_text(json_at(type, i)))) return true;
    return false;
}

static void add_type(struct text *text, const char *type) {
    if (strcmp(type, "boolean") == 0)
        text_add(text, "true or false");
    else
        text_format(text, "%s%s",
                    strcmp(type, "null") == 0 ? ""
                    : strchr("aeio", *type)   ? "an "
                                              : "a ",
                    type);
}

static void add_types(struct text *text, const struct json *type) {
    if (json_kind(type) != JSON_LIST) add_type(text, type ? json_text(type) : "object");
    for (size_t i = 0; i < json_size(type); i++) {
        text_add(text, i ? " or " : "");
        add_type(text, json_text(json_at(type, i)));
    }
}

/* Would this text be of the right type without its quotes? */
static bool fits_unquoted(const struct json *schema, const char *text) {
    struct json *parsed;
    if (json_parse(text, strlen(text), NULL, &parsed, NULL)) return false;
    bool fits = has_type(schema, parsed);
    json_close(parsed);
    return fits;
}

/* How JSON writes what others write so; NULL: no truth is meant. */
static const char *spell_truth(const struct json *value) {
    static const char *const words[] = {"off", "on", "no", "yes", "False", "True"};
    if (json_is_whole(value) && (json_whole(value) == 0 || json_whole(value) == 1))
        return json_whole(value) ? "true" : "false";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(json_text(value), words[i])) return i % 2 ? "true" : "false";
    return NULL;
}

/* Digits alone, and still no number that was read as one. */
static bool is_too_large(const char *text) {
    const size_t sign = *text == '-';
    return text[sign] && !text[sign + strspn(text + sign, "0123456789")];
}

/* A text that begins as a list or an object does, or a number that does not fit. */
static void help_broken(const char *text, struct error *err) {
    struct json *parsed = NULL;
    struct error broken = {0};
    if (json_parse(text, strlen(text), "", &parsed, &broken))
        error_help(err, "%s%s",
                   is_too_large(text) ? "" : "its JSON is broken: ", broken.what);
    else
        error_help(err, "remove the quotes: %.60s", text);
    json_close(parsed);
}

static void help_type(const struct json *schema, const struct json *value,
                      struct error *err) {
    char shown[SHOWN_BYTES];
    const struct json *type = json_get(schema, "type");
    const char *wanted = json_text(type);
    enum json_kind kind = json_kind(value);
    if (kind == JSON_TEXT && *json_text(value) &&
        (strchr("[{", *json_text(value)) || is_too_large(json_text(value))))
        help_broken(json_text(value), err);
    else if (kind == JSON_TEXT && fits_unquoted(schema, json_text(value)))
        error_help(err, "remove the quotes: %.60s", json_text(value));
    else if (strcmp(wanted, "string") == 0 &&
             (kind == JSON_NUMBER || kind == JSON_BOOLEAN))
        error_help(err, "put it in quotes: \"%s\"", show(value, shown));
    else if (strcmp(wanted, "array") == 0 && has_type(json_get(schema, "items"), value))
        error_help(err, "put it in brackets: [%s]", show(value, shown));
    else if (strcmp(wanted, "boolean") == 0 && spell_truth(value))
        error_help(err, "write %s", spell_truth(value));
    else
        options_help(schema, err);
}

static bool check_type(const struct json *schema, const struct json *value,
                       const char *path, const struct option_check *check) {
    if (has_type(schema, value)) return true;
    char found[OPTIONS_FOUND_BYTES];
    struct text wanted = {0};
    options_found(value, found);
    add_types(&wanted, json_get(schema, "type"));
    struct error *err = options_fault(check, path, "%s was expected, found %s",
                                      wanted.data ? wanted.data : "", found);
    text_finish(&wanted);
    help_type(schema, value, err);
    return false;
}

/* ---- values ---- */

void options_fail_choice(const struct json *choices, const struct json *value,
                         const char *path, const struct option_check *check) {
    char shown[SHOWN_BYTES];
    struct text list = {0};
    struct nearest nearest;
    const char *truth = NULL;
    nearest_begin(&nearest, json_text(value));
    for (size_t i = 0; i < json_size(choices); i++) {
        nearest_offer(&nearest, json_text(json_at(choices, i)));
        if (json_kind(json_at(choices, i)) == JSON_BOOLEAN) truth = spell_truth(value);
    }
    add_list(&list, choices);
    struct error *err = options_fault(
        check, path, "%s is not %s%.300s", show(value, shown),
        json_size(choices) > 1 ? "one of " : "", list.data ? list.data : "");
    if (truth)
        error_help(err, "write %s", truth);
    else if (nearest.best && *nearest.best)
        error_help(err, "did you mean \"%.200s\"?", nearest.best);
    text_finish(&list);
}

static void check_choice(const struct json *schema, const struct json *value,
                         const char *path, const struct option_check *check) {
    const struct json *choices = json_get(schema, "enum");
    const struct json *only = json_get(schema, "const");
    if (only && !json_same(only, value)) {
        char shown[SHOWN_BYTES], wanted[SHOWN_BYTES];
        options_fault(check, path, "%s is not allowed, only %s", show(value, shown),
                      show(only, wanted));
    }
    for (size_t i = 0; i < json_size(choices); i++)
        if (json_same(json_at(choices, i), value)) return;
    if (choices) options_fail_choice(choices, value, path, check);
}

/* -1, 0, 1. Whole numbers beyond 2^53 are no doubles. */
static int compare(const struct json *a, const struct json *b) {
    if (json_is_whole(a) && json_is_whole(b))
        return (json_whole(a) > json_whole(b)) - (json_whole(a) < json_whole(b));
    return (json_number(a) > json_number(b)) - (json_number(a) < json_number(b));
}

static void check_range(const struct json *schema, const struct json *value,
                        const char *path, const struct option_check *check) {
    static const struct {
        const char *keyword, *fault;
        int sign;
        bool is_exclusive;
    } bounds[] = {
        {"minimum", "less than the minimum", 1, false},
        {"exclusiveMinimum", "not greater than", 1, true},
        {"maximum", "greater than the maximum", -1, false},
        {"exclusiveMaximum", "not less than", -1, true},
    };
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        const struct json *bound = json_get(schema, bounds[i].keyword);
        if (!bound) continue;
        const int over = compare(value, bound) * bounds[i].sign;
        if (bounds[i].is_exclusive ? over > 0 : over >= 0) continue;
        char shown[SHOWN_BYTES], limit[SHOWN_BYTES];
        struct error *err =
            options_fault(check, path, "%s is %s %s", show(value, shown),
                          bounds[i].fault, show(bound, limit));
        options_help(schema, err);
    }
}

static void check_length(const struct json *schema, const struct json *value,
                         const char *path, const struct option_check *check) {
    int64_t least = json_whole(json_get(schema, "minLength")), length = 0;
    for (const char *c = json_text(value); *c; c++)
        length += ((unsigned char)*c & 0xc0) != 0x80;
    if (length >= least) return;
    if (length == 0)
        options_fault(check, path, "an empty string is not allowed");
    else
        options_fault(check, path, "%lld characters; at least %lld are needed",
                      (long long)length, (long long)least);
}

/* ---- durations ---- */

/* One duration; a bare number is the fault that people make. */
static void check_one_duration(const struct json *value, const char *path,
                               const struct option_check *check) {
    char shown[SHOWN_BYTES];
    struct duration duration;
    struct error inner;
    if (json_kind(value) == JSON_TEXT) {
        if (duration_parse(json_text(value), &duration, &inner) == LATHE_OK) return;
        struct error *err = options_fault(check, path, "%s", inner.what);
        error_help(err, "%s", inner.help);
        return;
    }
    duration_parse(show(value, shown), &duration, &inner);
    if (json_kind(value) == JSON_NUMBER) {
        struct error *err = options_fault(
            check, path, "%s is a bare number: a duration needs a unit", shown);
        error_help(err, "%s", inner.help);
        return;
    }
    char found[OPTIONS_FOUND_BYTES];
    options_found(value, found);
    error_help(options_fault(check, path, "a duration was expected, found %s", found),
               "write " DURATION_SPELLINGS);
}

static void check_duration(const struct json *value, const char *path, bool can_be_off,
                           const struct option_check *check) {
    const char *text = json_text(value);
    bool is_off = json_kind(value) == JSON_BOOLEAN || strcasecmp(text, "off") == 0 ||
                  strcasecmp(text, "never") == 0 || strcasecmp(text, "none") == 0;
    if (can_be_off && strcmp(text, "off") == 0) return;
    if (can_be_off && is_off) {
        char found[OPTIONS_FOUND_BYTES];
        options_found(value, found);
        error_help(options_fault(check, path,
                                 "a duration or \"off\" was expected, found %s", found),
                   "write \"off\", or a duration: " DURATION_SPELLINGS);
        return;
    }
    if (json_kind(value) != JSON_LIST) {
        check_one_duration(value, path, check);
        return;
    }
    size_t count = json_size(value);
    if (count == 0 || count > DURATION_LIST_MAX)
        options_fault(check, path, "%zu durations; 1 to %d are allowed", count,
                      DURATION_LIST_MAX);
    for (size_t i = 0; i < count; i++) {
        char item[OPTIONS_PATH_BYTES];
        options_item(item, path, i);
        check_one_duration(json_at(value, i), item, check);
    }
}

bool options_check_scalar(const struct json *schema, const struct json *value,
                          const char *path, const struct option_check *check) {
    const char *format = json_text(json_get(schema, "format"));
    bool is_interval = strcmp(format, "interval") == 0;
    bool is_duration = is_interval || strcmp(format, "duration") == 0;
    /* A list where the type says string is for check_type to tell. */
    if (is_duration && (json_kind(value) != JSON_LIST || has_type(schema, value))) {
        size_t before = check->errors->count;
        check_duration(value, path, is_interval, check);
        if (check->errors->count == before) check_choice(schema, value, path, check);
        return check->errors->count == before;
    }
    if (!check_type(schema, value, path, check)) return false;
    check_choice(schema, value, path, check);
    if (json_kind(value) == JSON_NUMBER) check_range(schema, value, path, check);
    if (json_kind(value) == JSON_TEXT) check_length(schema, value, path, check);
    return true;
}
