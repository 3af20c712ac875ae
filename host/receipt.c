/* SPDX-License-Identifier: MIT */
#include "receipt.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/path.h"
#include "checkpoints.h"

#define METRICS_MAX ((size_t)1 << 32)

/* ---- the experiment, in one number ---- */

struct json *receipt_settings(const struct json *resolved) {
    static const char *const others[] = {"run", "from", "origin", "plugin_path", NULL};
    return json_clone_without(resolved, others);
}

static int compare_keys(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_value(struct text *text, const struct json *value);

static void add_members(struct text *text, const struct json *map) {
    const char **keys = calloc(json_size(map) + 1, sizeof *keys);
    size_t count = 0;
    text->is_broken = text->is_broken || !keys;
    for (struct json_member at = {0}; keys && json_next(map, &at);)
        keys[count++] = at.key;
    if (keys) qsort(keys, count, sizeof *keys, compare_keys);
    text_add(text, "{");
    for (size_t i = 0; keys && i < count; i++) {
        if (i) text_add(text, ",");
        text_json_string(text, keys[i]);
        text_add(text, ":");
        add_value(text, json_get(map, keys[i]));
    }
    text_add(text, "}");
    free(keys);
}

static void add_value(struct text *text, const struct json *value) {
    const enum json_kind kind = json_kind(value);
    const char *string = json_text(value);
    if (kind == JSON_MAP) {
        add_members(text, value);
    } else if (kind == JSON_LIST) {
        text_add(text, "[");
        for (size_t i = 0; i < json_size(value); i++) {
            if (i) text_add(text, ",");
            add_value(text, json_at(value, i));
        }
        text_add(text, "]");
    } else if (kind == JSON_TEXT) {
        text_json_string(text, *string == '/' ? path_name(string) : string);
    } else {
        json_write(value, text, 0);
    }
}

lathe_status receipt_digest(const struct json *resolved, char hex[DIGEST_HEX],
                            struct error *err) {
    struct json *settings = receipt_settings(resolved);
    struct text text = {0};
    add_value(&text, settings);
    const bool is_broken = !settings || text.is_broken;
    if (!is_broken) digest_bytes(text.data, text.length, hex);
    text_finish(&text);
    json_close(settings);
    return is_broken ? fail(err, LATHE_ENOMEM, "no memory for a receipt") : LATHE_OK;
}

/* ---- making ---- */

static struct json *clone_or_null(const struct json *value) {
    return value ? json_clone(value) : json_make_text(NULL);
}

/* The members of these names; null: there is none. `names` ends with NULL. */
static struct json *add_copies(struct json *to, const struct json *from,
                               const char *const *names) {
    for (; *names; names++)
        to = json_add(to, *names, clone_or_null(json_get(from, *names)));
    return to;
}

static lathe_status add_status(const char *run, struct json **receipt,
                               struct error *err) {
    static const char *const names[] = {"reason", "exit_code", "epoch", "step", NULL};
    struct json *part;
    lathe_status status = rundir_read_json(run, "status.json", &part, err);
    if (!status) *receipt = add_copies(*receipt, part, names);
    json_close(part);
    return status;
}

static lathe_status add_experiment(const char *run, struct json **receipt,
                                   struct error *err) {
    static const char *const names[] = {"run", "name", "seed", NULL};
    /* Where it lay is nobody's business: a path may have a user's name in it. */
    static const char *const origin[] = {"step", "sha256", NULL};
    struct json *part;
    char hex[DIGEST_HEX];
    lathe_status status = rundir_read_json(run, "resolved.json", &part, err);
    if (!status) status = receipt_digest(part, hex, err);
    if (!status) {
        const struct json *from = json_get(part, "from");
        *receipt = add_copies(*receipt, part, names);
        *receipt = json_add(*receipt, "experiment", json_make_text(hex));
        if (from)
            *receipt =
                json_add(*receipt, "from", add_copies(json_make_map(), from, origin));
    }
    json_close(part);
    return status;
}

static lathe_status add_environment(const char *run, struct json **receipt,
                                    struct error *err) {
    static const char *const names[] = {"plugins", "data", RECEIPT_EARLIER, NULL};
    struct json *part;
    lathe_status status = rundir_read_json(run, "environment.json", &part, err);
    if (!status) {
        const size_t count = json_get(part, RECEIPT_EARLIER) ? 3 : 2;
        for (size_t i = 0; i < count; i++)
            *receipt =
                json_add(*receipt, names[i], clone_or_null(json_get(part, names[i])));
        *receipt = json_add(*receipt, "environment", json_clone_without(part, names));
    }
    json_close(part);
    return status;
}

/* All of it: times are in timing.jsonl. Before the first record there is none. */
lathe_status receipt_metrics(const char *run, struct json **metrics,
                             struct error *err) {
    char *path = path_join(run, "metrics.jsonl"), *content = NULL;
    char hex[DIGEST_HEX];
    size_t length = 0;
    int64_t rows = 0;
    *metrics = NULL;
    lathe_status status = path ? file_read(path, METRICS_MAX, &content, &length, err)
                               : fail(err, LATHE_ENOMEM, "no memory for a path");
    free(path);
    if (status && status != LATHE_ENOTFOUND) return status;
    for (size_t i = 0; i < length; i++) rows += content[i] == '\n';
    digest_bytes(length ? content : "", length, hex);
    free(content);
    *metrics =
        JSON_MAP_OF({"rows", json_make_whole(rows)}, {"sha256", json_make_text(hex)});
    return *metrics ? LATHE_OK : fail(err, LATHE_ENOMEM, "no memory for a receipt");
}

static lathe_status add_metrics(const char *run, struct json **receipt,
                                struct error *err) {
    struct json *metrics;
    lathe_status status = receipt_metrics(run, &metrics, err);
    if (!status) *receipt = json_add(*receipt, "metrics", metrics);
    return status;
}

/* Oldest first; the weights at the end are those of the newest. */
static lathe_status add_checkpoints(const char *run, struct json **receipt,
                                    struct error *err) {
    struct json *list = json_make_list();
    int64_t *steps = NULL;
    size_t count = 0;
    lathe_status status = checkpoints_steps(run, &steps, &count, err);
    for (size_t i = count; i-- > 0 && !status;) {
        char hex[DIGEST_HEX];
        status = checkpoints_weights(run, steps[i], hex, err);
        if (!status)
            list = json_append(list, JSON_MAP_OF({"step", json_make_whole(steps[i])},
                                                 {"sha256", json_make_text(hex)}));
        if (status == LATHE_EDATA || status == LATHE_ENOTFOUND)
            status = LATHE_OK; /* it is none to go on from either */
    }
    const size_t kept = json_size(list);
    *receipt = json_add(*receipt, "weights",
                        clone_or_null(kept ? json_at(list, kept - 1) : NULL));
    *receipt = json_add(*receipt, "checkpoints", list);
    free(steps);
    return status;
}

lathe_status receipt_make(const char *run, struct json **receipt, struct error *err) {
    *receipt = JSON_MAP_OF({"format", json_make_text(RECEIPT_FORMAT)});
    lathe_status status = add_experiment(run, receipt, err);
    if (!status) status = add_status(run, receipt, err);
    if (!status) status = add_environment(run, receipt, err);
    if (!status) status = add_metrics(run, receipt, err);
    if (!status) status = add_checkpoints(run, receipt, err);
    if (!status && !*receipt)
        status = fail(err, LATHE_ENOMEM, "no memory for a receipt");
    if (!status) return LATHE_OK;
    if (err && !err->where[0]) error_where(err, "%s", run);
    json_close(*receipt);
    *receipt = NULL;
    return status;
}

lathe_status receipt_write(struct rundir *rundir, struct error *err) {
    struct json *receipt;
    struct text text = {0};
    if (!rundir_path(rundir)) return LATHE_OK;
    lathe_status status = receipt_make(rundir_path(rundir), &receipt, err);
    if (status) return status;
    json_write_document(receipt, &text, 2);
    status = text.is_broken
                 ? fail(err, LATHE_ENOMEM, "no memory for a receipt")
                 : rundir_write(rundir, RECEIPT_FILE, text.data, text.length, err);
    text_finish(&text);
    return status;
}

/* ---- reading ---- */

lathe_status receipt_read(const char *run, struct json **receipt, struct error *err) {
    lathe_status status = rundir_read_json(run, RECEIPT_FILE, receipt, err);
    if (status) return status;
    status = receipt_check(*receipt, err);
    if (!status) return LATHE_OK;
    error_where(err, "%s/" RECEIPT_FILE, run);
    json_close(*receipt);
    *receipt = NULL;
    return status;
}
