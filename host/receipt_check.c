/* SPDX-License-Identifier: MIT */
/* Is a receipt sound? It may be anybody's, so each member that is used is checked. */
#include <stdio.h>
#include <string.h>

#include "manifest.h"
#include "receipt.h"

enum want { AT_END, A_NAME, A_KIND, A_COUNT, A_DIGEST, A_DIGEST_OR_NULL, A_MAP };

struct member {
    const char *name;
    enum want want;
};

static const struct member of_receipt[] = {
    {"experiment", A_DIGEST}, {"reason", A_NAME}, {"step", A_COUNT},
    {"environment", A_MAP},   {"metrics", A_MAP}, {NULL, AT_END}};
static const struct member of_plugin[] = {
    {"kind", A_KIND}, {"name", A_NAME}, {"sha256", A_DIGEST_OR_NULL}, {NULL, AT_END}};
static const struct member of_data[] = {
    {"path", A_NAME}, {"sha256", A_DIGEST_OR_NULL}, {NULL, AT_END}};
static const struct member of_metrics[] = {
    {"rows", A_COUNT}, {"sha256", A_DIGEST}, {NULL, AT_END}};
static const struct member of_checkpoint[] = {
    {"step", A_COUNT}, {"sha256", A_DIGEST}, {NULL, AT_END}};

static const struct member of_earlier[] = {{"step", A_COUNT}, {NULL, AT_END}};

#define EARLIER_LISTS 2 /* the first ones, which "earlier" has too */
static const struct {
    const char *name;
    const struct member *members;
} lists[] = {{"plugins", of_plugin}, {"data", of_data}, {"checkpoints", of_checkpoint}};

/* NULL: it is as wanted; else what it has to be. */
static const char *judge(const struct json *value, enum want want) {
    const enum json_kind kind = json_kind(value);
    const char *text = json_text(value);
    switch (want) {
    case A_NAME:
        return *text ? NULL : "text that is not empty";
    case A_KIND:
        return manifest_kind_find(text) ? NULL : "a kind of plugins";
    case A_COUNT:
        return json_is_whole(value) && json_number(value) >= 0
                   ? NULL
                   : "a whole number, 0 or more";
    case A_DIGEST_OR_NULL:
        if (value && (kind == JSON_NULL_KIND || (kind == JSON_TEXT && !*text)))
            return NULL;
        /* fall through */
    case A_DIGEST:
        return digest_is_text(text) ? NULL : "a SHA-256 in 64 small hexadecimal digits";
    case A_MAP:
        return kind == JSON_MAP ? NULL : "an object";
    case AT_END:
        break;
    }
    return NULL;
}

static lathe_status refuse(const struct json *found, const char *wanted,
                           struct error *err) {
    struct text shown = {0};
    if (found)
        json_write(found, &shown, 0);
    else
        text_add(&shown, "not there");
    fail(err, LATHE_EDATA, "%.100s; %s was expected", shown.data ? shown.data : "?",
         wanted);
    error_help(err, "put it back as the run left it");
    text_finish(&shown);
    return LATHE_EDATA;
}

/* `where`: "plugins.0.", or nothing. */
static lathe_status check_members(const struct json *map, const struct member *members,
                                  const char *where, struct error *err) {
    if (json_kind(map) != JSON_MAP) {
        refuse(map, "an object", err);
        error_where(err, "%.*s", (int)strlen(where) - 1, where);
        return LATHE_EDATA;
    }
    for (; members->name; members++) {
        const struct json *value = json_get(map, members->name);
        const char *wanted = judge(value, members->want);
        if (!wanted) continue;
        refuse(value, wanted, err);
        error_where(err, "%s%s", where, members->name);
        return LATHE_EDATA;
    }
    return LATHE_OK;
}

/* `in`: "earlier.0.", or nothing. */
static lathe_status check_list(const struct json *map, const char *in, const char *name,
                               const struct member *members, struct error *err) {
    const struct json *list = json_get(map, name);
    if (json_kind(list) != JSON_LIST) {
        refuse(list, "a list", err);
        error_where(err, "%s%s", in, name);
        return LATHE_EDATA;
    }
    for (size_t i = 0; i < json_size(list); i++) {
        char where[80];
        snprintf(where, sizeof where, "%s%s.%zu.", in, name, i);
        lathe_status status = check_members(json_at(list, i), members, where, err);
        if (status) return status;
    }
    return LATHE_OK;
}

static lathe_status check_earlier(const struct json *receipt, struct error *err) {
    const struct json *earlier = json_get(receipt, RECEIPT_EARLIER);
    lathe_status status =
        earlier ? check_list(receipt, "", RECEIPT_EARLIER, of_earlier, err) : LATHE_OK;
    for (size_t i = 0; i < json_size(earlier) && !status; i++) {
        char in[40];
        snprintf(in, sizeof in, RECEIPT_EARLIER ".%zu.", i);
        for (size_t k = 0; k < EARLIER_LISTS && !status; k++)
            status = check_list(json_at(earlier, i), in, lists[k].name,
                                lists[k].members, err);
    }
    return status;
}

/* Steps of checkpoints rise, and none is past the run's last. */
static lathe_status check_steps(const struct json *receipt, struct error *err) {
    const struct json *list = json_get(receipt, "checkpoints");
    const int64_t last = json_whole(json_get(receipt, "step"));
    int64_t before = -1;
    for (size_t i = 0; i < json_size(list); i++) {
        const struct json *step = json_get(json_at(list, i), "step");
        char wanted[80];
        if (json_whole(step) > before && json_whole(step) <= last) {
            before = json_whole(step);
            continue;
        }
        snprintf(wanted, sizeof wanted,
                 "one after %lld and up to %lld, the run's last step,",
                 (long long)before, (long long)last);
        refuse(step, wanted, err);
        error_where(err, "checkpoints.%zu.step", i);
        return LATHE_EDATA;
    }
    return LATHE_OK;
}

lathe_status receipt_check(const struct json *receipt, struct error *err) {
    const struct json *format = json_get(receipt, "format");
    const struct json *weights = json_get(receipt, "weights");
    if (strcmp(json_text(format), RECEIPT_FORMAT) != 0) {
        refuse(format, "\"" RECEIPT_FORMAT "\"", err);
        error_where(err, "format");
        error_help(err, "read it with the lathe that wrote it");
        return LATHE_EDATA;
    }
    lathe_status status = check_members(receipt, of_receipt, "", err);
    for (size_t i = 0; i < sizeof lists / sizeof *lists && !status; i++)
        status = check_list(receipt, "", lists[i].name, lists[i].members, err);
    if (!status) status = check_earlier(receipt, err);
    if (!status)
        status =
            check_members(json_get(receipt, "metrics"), of_metrics, "metrics.", err);
    if (!status && json_kind(weights) != JSON_NULL_KIND)
        status = check_members(weights, of_checkpoint, "weights.", err);
    return status ? status : check_steps(receipt, err);
}
