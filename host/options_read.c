/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "options_parts.h"

void options_durations(const struct json *value, struct durations *durations) {
    memset(durations, 0, sizeof *durations);
    bool is_list = json_kind(value) == JSON_LIST;
    size_t count = is_list ? json_size(value) : 1;
    for (size_t i = 0; i < count && durations->count < DURATION_LIST_MAX; i++) {
        struct duration *next = &durations->items[durations->count];
        const char *text = json_text(is_list ? json_at(value, i) : value);
        if (duration_parse(text, next, NULL) == LATHE_OK) durations->count++;
    }
}

/* ---- paths ---- */

/* Takes the next part off a path, into a key; false: there is none, or it is too
 * long. */
static bool take_part(const char **path, char key[OPTIONS_PATH_BYTES]) {
    size_t length = strcspn(*path, "/");
    if (length == 0 || length >= OPTIONS_PATH_BYTES) return false;
    memcpy(key, *path, length);
    key[length] = '\0';
    *path += length;
    if (**path == '/') ++*path;
    return true;
}

/* Reads "0", "12"; false: not an index. */
static bool read_index(const char *key, size_t *index) {
    size_t digits = strspn(key, "0123456789");
    if (digits == 0 || digits > 9 || key[digits]) return false;
    *index = 0;
    for (; *key; key++) *index = *index * 10 + (size_t)(*key - '0');
    return true;
}

const struct json *options_find(const struct json *object, const char *path) {
    char key[OPTIONS_PATH_BYTES];
    while (object && *path) {
        size_t index;
        if (!take_part(&path, key)) return NULL;
        if (json_kind(object) == JSON_MAP)
            object = json_get(object, key);
        else if (json_kind(object) == JSON_LIST && read_index(key, &index))
            object = json_at(object, index);
        else
            return NULL;
    }
    return object;
}

const struct json *options_inner(const struct json *schema, const char *key) {
    size_t index;
    const struct json *items = json_get(schema, "items");
    if (items && read_index(key, &index)) return items;
    const struct json *found = json_get(json_get(schema, "properties"), key);
    const struct json *branches = json_get(schema, "oneOf");
    for (size_t i = 0; !found && i < json_size(branches); i++)
        found = options_inner(json_at(branches, i), key);
    return found;
}

const struct json *options_declaration(const struct json *options, const char *path) {
    char key[OPTIONS_PATH_BYTES];
    if (!take_part(&path, key)) return NULL;
    const struct json *schema = json_get(options, key);
    while (schema && *path)
        schema = take_part(&path, key) ? options_inner(schema, key) : NULL;
    return schema;
}

/* ---- words ---- */

/* An example, where the type alone does not say what to write. */
static bool describe_format(const char *format, struct text *text) {
    static const char *const words[][2] = {
        {"duration", "duration, such as \"10ep\" or \"500step\""},
        {"interval", "duration, such as \"1ep\", or \"off\""},
        {"data", "{\"train\": {\"use\": …}}"}};
    const size_t length = strlen("plugin:");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(format, words[i][0]) == 0) return text_add(text, words[i][1]), true;
    if (strncmp(format, "plugin:", length) != 0) return false;
    text_format(text, "{\"use\": (name of the %s)}", format + length);
    return true;
}

static void describe_type(const struct json *schema, struct text *text) {
    const struct json *type = json_get(schema, "type");
    const char *format = json_text(json_get(schema, "format"));
    if (describe_format(format, text)) return;
    if (json_kind(type) == JSON_TEXT) text_add(text, json_text(type));
    for (size_t i = 0; i < json_size(type); i++)
        text_format(text, "%s%s", i ? " or " : "", json_text(json_at(type, i)));
    if (*format) text_format(text, "%s%s", type ? " " : "", format);
    if (!type && !*format) text_add(text, json_get(schema, "oneOf") ? "object" : "any");
}

static void describe_choice(const struct json *schema, struct text *text) {
    const struct json *choices = json_get(schema, "enum");
    const struct json *only = json_get(schema, "const");
    if (only) {
        json_write(only, text, 0);
        return;
    }
    if (json_size(choices) > 1) text_add(text, "one of ");
    for (size_t i = 0; i < json_size(choices); i++) {
        if (i) text_add(text, ", ");
        json_write(json_at(choices, i), text, 0);
    }
}

static void describe_branches(const struct json *branches, struct text *text) {
    const char *key = options_branch_key(branches);
    for (size_t i = 0; key && i < json_size(branches); i++) {
        if (i)
            text_add(text, ", ");
        else
            text_format(text, " with \"%s\" one of ", key);
        json_write(options_branch_const(json_at(branches, i), key), text, 0);
    }
}

static void describe_items(const struct json *schema, struct text *text) {
    const struct json *items = json_get(schema, "items");
    const struct json *least = json_get(schema, "minItems");
    const struct json *most = json_get(schema, "maxItems");
    if (items) {
        text_add(text, " of (");
        options_describe(items, text);
        text_add(text, ")");
    }
    if (!least && !most) return;
    long long count = json_whole(most ? most : least);
    text_add(text, ", ");
    if (least && most && !json_same(least, most))
        text_format(text, "%lld to ", (long long)json_whole(least));
    else if (!least || !most)
        text_add(text, least ? "at least " : "at most ");
    text_format(text, "%lld item%s", count, count == 1 ? "" : "s");
}

void options_describe(const struct json *schema, struct text *text) {
    static const char *const limits[][2] = {{"minimum", ">="},
                                            {"exclusiveMinimum", ">"},
                                            {"maximum", "<="},
                                            {"exclusiveMaximum", "<"},
                                            {"default", "default"}};
    if (json_get(schema, "enum") || json_get(schema, "const"))
        describe_choice(schema, text);
    else
        describe_type(schema, text);
    describe_branches(json_get(schema, "oneOf"), text);
    describe_items(schema, text);
    int64_t letters = json_whole(json_get(schema, "minLength"));
    if (letters == 1)
        text_add(text, ", not empty");
    else if (letters > 1)
        text_format(text, ", at least %lld characters", (long long)letters);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const struct json *limit = json_get(schema, limits[i][0]);
        if (!limit) continue;
        text_format(text, ", %s ", limits[i][1]);
        json_write(limit, text, 0);
    }
    if (json_truth(json_get(schema, "optional"))) text_add(text, ", optional");
}
