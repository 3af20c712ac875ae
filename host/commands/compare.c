/* SPDX-License-Identifier: MIT */
#include "commands/compare.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/path.h"
#include "receipt.h"
#include "rundir.h"

#define RECORDS_MAX ((size_t)1 << 32)

/* ---- one side ---- */

static bool is_record(const struct json *row) {
    return json_kind(json_get(row, "split")) == JSON_TEXT &&
           json_kind(json_get(row, "step")) == JSON_NUMBER &&
           json_kind(json_get(row, "metrics")) == JSON_MAP;
}

/* A last line that is being written is not one yet. */
static lathe_status parse_records(const char *content, const char *path,
                                  struct json **records, struct error *err) {
    lathe_status status = LATHE_OK;
    *records = json_make_list();
    const char *end;
    for (const char *at = content; !status && (end = strchr(at, '\n')) != NULL;
         at = end + 1) {
        struct json *row = NULL;
        status = json_parse(at, (size_t)(end - at), path, &row, err);
        if (!status && !is_record(row)) {
            json_close(row);
            status = fail(err, LATHE_EDATA, "this is no record of a run");
            error_where(err, "%s:%zu", path, json_size(*records) + 1);
        } else if (!status && !json_push(*records, row))
            status = fail(err, LATHE_ENOMEM, "no memory for records");
    }
    if (status == LATHE_EINVAL) err->status = status = LATHE_EDATA;
    return status;
}

static lathe_status read_records(struct side *side, struct error *err) {
    char *path = path_join(side->run, "metrics.jsonl"), *content = NULL;
    if (!path) return fail(err, LATHE_ENOMEM, "no memory for a path");
    lathe_status status = file_read(path, RECORDS_MAX, &content, NULL, err);
    if (!status) status = parse_records(content, path, &side->records, err);
    free(content);
    free(path);
    return status == LATHE_ENOTFOUND ? LATHE_OK : status;
}

static lathe_status tell_changed(const struct side *side, const char *name,
                                 struct error *err) {
    fail(err, LATHE_EDATA, "%s is not what receipt.json says: one of them was changed",
         name);
    error_where(err, "%s/%s", side->run, name);
    error_help(err, "put it back as the run left it");
    return LATHE_EDATA;
}

/* A run without a record leaves no file of them; else nothing stands for it. */
static lathe_status check_absent_records(const struct side *side, struct error *err) {
    const struct json *rows = json_get(json_get(side->receipt, "metrics"), "rows");
    if (json_whole(rows) == 0) return LATHE_OK;
    fail(err, LATHE_EDATA,
         "metrics.jsonl is not there, and receipt.json says that it has %lld rows",
         (long long)json_whole(rows));
    error_where(err, "%s/metrics.jsonl", side->run);
    error_help(err, "put it back as the run left it");
    return LATHE_EDATA;
}

/* What a receipt says of the experiment stands for it where it is not there. */
static lathe_status check_receipt(const struct side *side, struct error *err) {
    static const char *const parts[] = {"rows", "sha256"};
    char hex[DIGEST_HEX];
    struct json *now = NULL;
    lathe_status status = LATHE_OK;
    if (side->resolved) status = receipt_digest(side->resolved, hex, err);
    if (status) return status;
    if (side->resolved && strcmp(hex, json_text(json_get(side->receipt, "experiment"))))
        return tell_changed(side, "resolved.json", err);
    if (!side->records) return check_absent_records(side, err);
    status = receipt_metrics(side->run, &now, err);
    for (size_t i = 0; !status && i < sizeof parts / sizeof *parts; i++)
        if (!json_same(json_get(now, parts[i]),
                       json_get(json_get(side->receipt, "metrics"), parts[i])))
            status = tell_changed(side, "metrics.jsonl", err);
    json_close(now);
    return status;
}

lathe_status side_open(const char *run, bool has_receipt, struct side *side,
                       struct error *err) {
    *side = (struct side){.run = text_copy(run)};
    if (!side->run) return fail(err, LATHE_ENOMEM, "no memory for a path");
    lathe_status status = has_receipt ? receipt_read(run, &side->receipt, err)
                                      : receipt_make(run, &side->receipt, err);
    if (!status) status = rundir_read_json(run, "resolved.json", &side->resolved, err);
    if (status == LATHE_ENOTFOUND && side->receipt) {
        status = LATHE_OK;
        *err = (struct error){0};
    }
    if (!status) status = read_records(side, err);
    return !status && has_receipt ? check_receipt(side, err) : status;
}

void side_finish(struct side *side) {
    free(side->run);
    json_close(side->receipt);
    json_close(side->resolved);
    json_close(side->records);
    *side = (struct side){0};
}

/* ---- weights ---- */

const struct json *compare_find_step(const struct json *list, int64_t step) {
    for (size_t i = 0; i < json_size(list); i++)
        if (json_whole(json_get(json_at(list, i), "step")) == step)
            return json_at(list, i);
    return NULL;
}

/* Of the steps that both have kept. Those that are the same go to *compared. */
static struct json *compare_weights(const struct side *a, const struct side *b,
                                    struct scope scope, struct json *compared) {
    const struct json *list = json_get(a->receipt, "checkpoints");
    for (size_t i = 0; i < json_size(list); i++) {
        const struct json *one = json_at(list, i);
        const int64_t step = json_whole(json_get(one, "step"));
        const struct json *other =
            compare_find_step(json_get(b->receipt, "checkpoints"), step);
        if (!other || (scope.steps >= 0 && step > scope.steps)) continue;
        if (json_same(json_get(one, "sha256"), json_get(other, "sha256"))) {
            json_push(compared, json_make_whole(step));
            continue;
        }
        struct json *apart =
            compare_pair("weights", json_get(one, "sha256"), json_get(other, "sha256"));
        return json_add(apart, "step", json_make_whole(step));
    }
    return NULL;
}

/* Both ended, in other places: the records alone may not show it. */
static struct json *compare_length(const struct side *a, const struct side *b) {
    const struct json *one = json_get(a->receipt, "step");
    const struct json *other = json_get(b->receipt, "step");
    if (json_same(one, other)) return NULL;
    const bool is_first = json_whole(one) < json_whole(other);
    return json_add(compare_pair("last step", one, other), "step",
                    json_clone(is_first ? one : other));
}

/* Takes both over, gives the earlier one; where both are of one step, the first. */
static struct json *earlier(struct json *one, struct json *other) {
    if (one && other &&
        json_whole(json_get(other, "step")) < json_whole(json_get(one, "step"))) {
        struct json *first = one;
        one = other;
        other = first;
    }
    if (!one) return other;
    json_close(other);
    return one;
}

/* ---- the report ---- */

struct json *compare_sides(const struct side *a, const struct side *b,
                           struct scope scope) {
    struct json *report = json_make_map(), *weights = json_make_list();
    int64_t records = 0;
    bool is_whole = report && weights && compare_causes(report, a, b);
    struct json *apart =
        is_whole ? compare_records(a, b, scope, &records, &is_whole) : NULL;
    if (is_whole) apart = earlier(apart, compare_weights(a, b, scope, weights));
    if (is_whole && !scope.is_part) apart = earlier(apart, compare_length(a, b));
    report = json_add(
        report, "compared",
        JSON_MAP_OF({"records", json_make_whole(records)}, {"weights", weights}));
    report = json_add(report, "apart", apart ? apart : json_make_text(NULL));
    return json_add(report, "metrics", is_whole ? compare_ends(a, b) : NULL);
}

lathe_status compare_check(const struct json *report, struct error *err) {
    const struct json *compared = json_get(report, "compared");
    if (json_kind(json_get(report, "apart")) == JSON_MAP ||
        json_whole(json_get(compared, "records")) > 0 ||
        json_size(json_get(compared, "weights")) > 0)
        return LATHE_OK;
    fail(err, LATHE_ENOTFOUND, "there is nothing to compare: %s", COMPARE_NOTHING);
    error_help(err, "records are in metrics.jsonl, weights in checkpoints");
    return LATHE_ENOTFOUND;
}

bool compare_has_difference(const struct json *report) {
    static const char *const lists[] = {"settings", "plugins", "data", "environment"};
    bool has_one = json_kind(json_get(report, "apart")) == JSON_MAP;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        has_one = has_one || json_size(json_get(report, lists[i])) > 0;
    return has_one;
}
