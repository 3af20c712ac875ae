/* SPDX-License-Identifier: MIT */
/* The header: taken apart member by member, so that no tree of it is ever held and a
 * hostile one costs no more than a few times its own length. What a member says is
 * JSON's to judge. */
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "safetensors_parts.h"

#define VALUE_MAX 4096 /* of what describes a tensor: twenty times what it needs */

struct scan {
    char *text, *at, *end; /* *end is a NUL */
    bool is_first;         /* nothing was taken from this object yet */
};

struct member {
    char *key, *value, *stop; /* stop: past the value */
};

/* ---- where members are ---- */

static char *skip_space(char *at) {
    return at + strspn(at, " \t\r\n");
}

/* Past the string that begins here; NULL: it does not end. */
static char *skip_string(char *at) {
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1]) at++;
    return *at ? at + 1 : NULL;
}

static char *skip_value(char *at) {
    if (*at == '"') return skip_string(at);
    if (*at != '{' && *at != '[') return at + strcspn(at, ",:\"{}[] \t\r\n");
    size_t depth = 0;
    do {
        at += strcspn(at, "\"{}[]");
        if (!*at) return NULL;
        if (*at == '"') {
            at = skip_string(at);
            if (!at) return NULL;
            continue;
        }
        depth += *at == '{' || *at == '[' ? 1 : (size_t)-1;
        at++;
    } while (depth);
    return at;
}

static lathe_status fail_syntax(const struct scan *scan, const char *at,
                                const char *expected, struct error *err) {
    int64_t place = LENGTH_BYTES + (at - scan->text);
    if (at == scan->end)
        return fail(err, LATHE_EDATA, "the header ends where %s was expected",
                    expected);
    return fail(err, LATHE_EDATA,
                "byte %lld, in the header, is 0x%02x, where %s was expected",
                (long long)place, (unsigned char)*at, expected);
}

static lathe_status enter(struct scan *scan, struct error *err) {
    if (*scan->at != '{') return fail_syntax(scan, scan->at, "'{'", err);
    scan->at++;
    scan->is_first = true;
    return LATHE_OK;
}

/* LATHE_END: the object has no more, and scan->at is past it. */
static lathe_status next(struct scan *scan, struct member *member, struct error *err) {
    char *at = skip_space(scan->at);
    if (*at == '}') {
        scan->at = at + 1;
        return LATHE_END;
    }
    if (!scan->is_first) {
        if (*at != ',') return fail_syntax(scan, at, "',' or '}'", err);
        at = skip_space(at + 1);
    }
    member->key = at;
    if (*at != '"') return fail_syntax(scan, at, "a name in double quotes", err);
    at = skip_string(at);
    if (!at) return fail_syntax(scan, scan->end, "the end of a name", err);
    at = skip_space(at);
    if (*at != ':') return fail_syntax(scan, at, "':'", err);
    member->value = skip_space(at + 1);
    at = skip_value(member->value);
    if (!at) return fail_syntax(scan, scan->end, "the end of a value", err);
    if (at == member->value) return fail_syntax(scan, at, "a value", err);
    scan->at = member->stop = at;
    scan->is_first = false;
    return LATHE_OK;
}

/* Leaves the scan where it is. */
static lathe_status count_members(struct scan scan, size_t *count, struct error *err) {
    struct member member;
    lathe_status status;
    for (*count = 0; !(status = next(&scan, &member, err));) ++*count;
    return status == LATHE_END ? LATHE_OK : status;
}

/* A member as an object of its own. Its key ends up, unescaped, in place of its
 * JSON. */
static lathe_status parse_member(const struct member *member, struct json **root,
                                 struct error *err) {
    char after = *member->stop;
    member->key[-1] = '{'; /* was '{', ',' or space, and is done with */
    *member->stop = '}';
    lathe_status status = json_parse(
        member->key - 1, (size_t)(member->stop - member->key) + 2, NULL, root, err);
    *member->stop = after;
    if (status == LATHE_EINVAL)
        return fail(err, LATHE_EDATA, "in the header: %s", err->what);
    if (!status) strcpy(member->key, json_key_at(*root, 0));
    return status;
}

/* ---- tensors ---- */

/* Strings and whole numbers are all that a tensor's description has. */
static lathe_status check_value(const struct member *member, struct error *err) {
    const char *name = member->key;
    const long long count = member->stop - member->value;
    int length =
        (int)strcspn(name + 1, "\"") + 2; /* quotes and all, it is still JSON */
    if (length > 200) length = 200;
    if (count > VALUE_MAX)
        return fail(err, LATHE_EDATA,
                    "tensor %.*s is described by %lld bytes; at most %d are accepted",
                    length, name, count, VALUE_MAX);
    for (char *at = member->value; at < member->stop;) {
        if (*at == '"') {
            at = skip_string(at);
            continue;
        }
        if (!strchr("{}[]:,0123456789 \t\r\n", *at)) {
            while (at > member->value && strchr("0123456789", at[-1])) at--;
            return fail(err, LATHE_EDATA,
                        "tensor %.*s has %.*s where a whole number from 0 was expected",
                        length, name, (int)strcspn(at, ",]} \t\r\n"), at);
        }
        at++;
    }
    return LATHE_OK;
}

static lathe_status read_numbers(const struct json *map, const char *key,
                                 const char *name, size_t at_most, int64_t *numbers,
                                 struct error *err) {
    const struct json *list = json_get(map, key);
    if (json_kind(list) != JSON_LIST)
        return fail(err, LATHE_EDATA,
                    "tensor \"%.200s\": \"%s\" is %s; an array was expected", name, key,
                    list ? json_kind_name(json_kind(list)) : "not there");
    if (json_size(list) > at_most)
        return fail(
            err, LATHE_EDATA,
            "tensor \"%.200s\": \"%s\" has %zu numbers; at most %zu are accepted", name,
            key, json_size(list), at_most);
    for (size_t i = 0; i < json_size(list); i++) {
        if (json_kind(json_at(list, i)) != JSON_NUMBER)
            return fail(
                err, LATHE_EDATA,
                "tensor \"%.200s\": \"%s\" holds %s; a whole number was expected", name,
                key, json_kind_name(json_kind(json_at(list, i))));
        numbers[i] = json_whole(json_at(list, i));
    }
    return LATHE_OK;
}

static lathe_status check_bytes(struct safetensor *tensor, const int64_t ends[2],
                                struct error *err) {
    const struct safetensors_type *type = safetensors_type(tensor->dtype);
    int64_t bytes;
    if (!type)
        return fail(err, LATHE_EDATA,
                    "tensor \"%.200s\" is of type \"%.40s\", which the format does not "
                    "have",
                    tensor->name, tensor->dtype);
    tensor->dtype = type->name;
    if (!safetensors_bytes(tensor, type, &bytes))
        return fail(err, LATHE_EDATA,
                    "tensor \"%.200s\": its shape of %s is no whole number of bytes "
                    "below 2^60",
                    tensor->name, type->name);
    if (ends[0] > ends[1] || ends[1] - ends[0] != bytes)
        return fail(err, LATHE_EDATA,
                    "tensor \"%.200s\": its shape of %s takes %lld bytes, and its "
                    "data_offsets are %lld and %lld",
                    tensor->name, type->name, (long long)bytes, (long long)ends[0],
                    (long long)ends[1]);
    tensor->offset = ends[0];
    tensor->bytes = bytes;
    return LATHE_OK;
}

static lathe_status read_tensor(const struct json *map, struct safetensor *tensor,
                                struct error *err) {
    const char *name = tensor->name;
    const struct json *dtype = json_get(map, "dtype");
    int64_t ends[2];
    if (json_kind(map) != JSON_MAP)
        return fail(err, LATHE_EDATA, "tensor \"%.200s\" is %s; an object was expected",
                    name, json_kind_name(json_kind(map)));
    if (json_kind(dtype) != JSON_TEXT)
        return fail(err, LATHE_EDATA,
                    "tensor \"%.200s\": \"dtype\" is %s; a string was expected", name,
                    dtype ? json_kind_name(json_kind(dtype)) : "not there");
    lathe_status status =
        read_numbers(map, "shape", name, LATHE_RANK_MAX, tensor->shape, err);
    if (!status) status = read_numbers(map, "data_offsets", name, 2, ends, err);
    if (status) return status;
    tensor->rank = (int32_t)json_size(json_get(map, "shape"));
    if (json_size(json_get(map, "data_offsets")) != 2 || json_size(map) != 3)
        return fail(
            err, LATHE_EDATA,
            "tensor \"%.200s\": \"dtype\", \"shape\" and \"data_offsets\", begin "
            "and end, were expected and nothing else",
            name);
    tensor->dtype = json_text(dtype);
    return check_bytes(tensor, ends, err);
}

static lathe_status add_tensor(struct safetensors *file, const struct member *member,
                               struct error *err) {
    struct json *root = NULL;
    struct safetensor *tensor = &file->tensors[file->count];
    lathe_status status = check_value(member, err);
    if (!status) status = parse_member(member, &root, err);
    tensor->name = member->key;
    if (!status && strcmp(tensor->name, METADATA) == 0)
        status = fail(err, LATHE_EDATA, "%s is given twice", METADATA);
    if (!status) status = read_tensor(json_at(root, 0), tensor, err);
    if (!status) file->count++;
    json_close(root);
    return status;
}

/* ---- notes ---- */

static lathe_status add_note(struct safetensors *file, const struct member *member,
                             struct error *err) {
    struct json *root = NULL;
    if (*member->value != '"')
        return fail(err, LATHE_EDATA, "%s holds something else than strings", METADATA);
    lathe_status status = parse_member(member, &root, err);
    if (status) return status;
    if (strcmp(member->key, SAFETENSORS_DIGEST) == 0 &&
        member->stop - member->value == DIGEST_DIGITS + 2)
        file->digest_at = LENGTH_BYTES + (member->value + 1 - file->header);
    strcpy(member->value, json_text(json_at(root, 0)));
    file->notes[file->note_count++] =
        (struct safetensors_note){member->key, member->value};
    json_close(root);
    return LATHE_OK;
}

static lathe_status read_notes(struct safetensors *file, struct scan scan,
                               struct error *err) {
    size_t count;
    struct member member;
    lathe_status status = enter(&scan, err);
    if (!status) status = count_members(scan, &count, err);
    if (status) return status;
    if (file->notes) return fail(err, LATHE_EDATA, "%s is given twice", METADATA);
    file->notes = calloc(count + 1, sizeof *file->notes);
    if (!file->notes) return fail(err, LATHE_ENOMEM, "no memory for %zu notes", count);
    while (!(status = next(&scan, &member, err)) &&
           !(status = add_note(file, &member, err)))
        ;
    if (status != LATHE_END) return status;
    qsort(file->notes, count, sizeof *file->notes, safetensors_compare_notes);
    for (size_t i = 1; i < count; i++)
        if (strcmp(file->notes[i - 1].key, file->notes[i].key) == 0)
            return fail(err, LATHE_EDATA, "the note \"%.200s\" is given twice",
                        file->notes[i].key);
    return LATHE_OK;
}

/* ---- all of it ---- */

static int compare_places(const void *a, const void *b) {
    const struct safetensor *left = a, *right = b;
    if (left->offset != right->offset) return left->offset < right->offset ? -1 : 1;
    if (left->bytes != right->bytes) return left->bytes < right->bytes ? -1 : 1;
    return strcmp(left->name, right->name);
}

static int compare_names(const void *a, const void *b) {
    const struct safetensor *const *left = a, *const *right = b;
    return strcmp((*left)->name, (*right)->name);
}

/* Every byte of the data belongs to one tensor. */
static lathe_status check_places(struct safetensors *file, struct error *err) {
    const int64_t size = file->size - file->data_start;
    int64_t end = 0;
    qsort(file->tensors, file->count, sizeof *file->tensors, compare_places);
    for (size_t i = 0; i < file->count; i++) {
        const struct safetensor *tensor = &file->tensors[i];
        if (tensor->offset != end)
            return fail(
                err, LATHE_EDATA,
                "tensor \"%.200s\" begins at byte %lld of the data, where the one "
                "before ends at %lld",
                tensor->name, (long long)tensor->offset, (long long)end);
        end += tensor->bytes; /* no overflow: it is in data_offsets */
        file->by_name[i] = tensor;
    }
    if (end > size)
        return fail(err, LATHE_EDATA,
                    "the file is cut short: it has %lld bytes of data, and its tensors "
                    "have %lld",
                    (long long)size, (long long)end);
    if (end < size)
        return fail(err, LATHE_EDATA, "%lld bytes follow the last tensor",
                    (long long)(size - end));
    qsort(file->by_name, file->count, sizeof *file->by_name, compare_names);
    for (size_t i = 1; i < file->count; i++)
        if (strcmp(file->by_name[i - 1]->name, file->by_name[i]->name) == 0)
            return fail(err, LATHE_EDATA, "tensor \"%.200s\" is given twice",
                        file->by_name[i]->name);
    return LATHE_OK;
}

lathe_status safetensors_parse(struct safetensors *file, size_t length,
                               struct error *err) {
    struct scan scan = {.text = file->header, .at = file->header};
    struct member member;
    size_t count;
    scan.end = file->header + length;
    if (strlen(file->header) != length)
        return fail_syntax(&scan, scan.text + strlen(scan.text), "text", err);
    lathe_status status = enter(&scan, err);
    if (!status) status = count_members(scan, &count, err);
    if (status) return status;
    file->tensors = calloc(count + 1, sizeof *file->tensors);
    file->by_name = calloc(count + 1, sizeof *file->by_name);
    if (!file->tensors || !file->by_name)
        return fail(err, LATHE_ENOMEM, "no memory for a list of %zu tensors", count);
    while (!(status = next(&scan, &member, err))) {
        struct scan inner = {scan.text, member.value, member.stop, true};
        status = strncmp(member.key, "\"" METADATA "\"", sizeof METADATA + 1)
                     ? add_tensor(file, &member, err)
                     : read_notes(file, inner, err);
        if (status) return status;
    }
    if (status != LATHE_END) return status;
    scan.at += strspn(scan.at, " ");
    if (scan.at != scan.end) return fail_syntax(&scan, scan.at, "a space", err);
    return check_places(file, err);
}
