/* SPDX-License-Identifier: MIT */
#include "receipt.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/path.h"
#include "checkpoints.h"

#define METRICS_MAX ((size_t)1 << 32)

/* ---- the experiment, in one number ---- */

static bool is_left_out(const char *key) {
    static const char *const keys[] = {"run", "from", "origin", "plugin_path"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!strcmp(key, keys[i])) return true;
    return false;
}

static int compare_keys(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_value(struct text *text, const struct json *value);

static void add_members(struct text *text, const struct json *map, bool is_root) {
    const char **keys = calloc(json_size(map) + 1, sizeof *keys);
    size_t count = 0;
    text->is_broken = text->is_broken || !keys;
    for (struct json_member at = {0}; keys && json_next(map, &at);)
        if (!is_root || !is_left_out(at.key)) keys[count++] = at.key;
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
        add_members(text, value, false);
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
    struct text text = {0};
    add_members(&text, resolved, true);
    const bool is_broken = text.is_broken;
    if (!is_broken) digest_bytes(text.data, text.length, hex);
    text_finish(&text);
    return is_broken ? fail(err, LATHE_ENOMEM, "no memory for a receipt") : LATHE_OK;
}

/* ---- making ---- */

struct making {
    const char *run;
    struct json *receipt;
    bool is_broken; /* out of memory on the way to it */
    struct error *err;
};

static void put(struct making *making, struct json *map, const char *name,
                struct json *value) {
    if (!json_put(map, name, value)) making->is_broken = true;
}

static void copy(struct making *making, struct json *to, const struct json *from,
                 const char *name) {
    const struct json *value = json_get(from, name);
    put(making, to, name, value ? json_clone(value) : json_make_text(NULL));
}

static lathe_status read_part(const struct making *making, const char *name,
                              struct json **json) {
    char *path = path_join(making->run, name);
    *json = NULL;
    if (!path) return fail(making->err, LATHE_ENOMEM, "no memory for a path");
    lathe_status status = json_read(path, json, making->err);
    if (status == LATHE_EINVAL) status = LATHE_EDATA;
    if (status && making->err) making->err->status = status;
    free(path);
    return status;
}

static lathe_status put_status(struct making *making) {
    struct json *part;
    lathe_status status = read_part(making, "status.json", &part);
    if (status) return status;
    static const char *const names[] = {"reason", "exit_code", "epoch", "step"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        copy(making, making->receipt, part, names[i]);
    json_close(part);
    return LATHE_OK;
}

/* Where it lay is nobody's business: a path may have a user's name in it. */
static void put_from(struct making *making, const struct json *from) {
    if (!from) return;
    struct json *map = json_make_map();
    copy(making, map, from, "step");
    copy(making, map, from, "sha256");
    put(making, making->receipt, "from", map);
}

static lathe_status put_experiment(struct making *making) {
    struct json *part, *receipt = making->receipt;
    char hex[DIGEST_HEX];
    lathe_status status = read_part(making, "resolved.json", &part);
    if (!status) status = receipt_digest(part, hex, making->err);
    if (!status) {
        copy(making, receipt, part, "run");
        copy(making, receipt, part, "name");
        copy(making, receipt, part, "seed");
        put(making, receipt, "experiment", json_make_text(hex));
        put_from(making, json_get(part, "from"));
    }
    json_close(part);
    return status;
}

static lathe_status put_environment(struct making *making) {
    struct json *part, *facts = json_make_map();
    lathe_status status = read_part(making, "environment.json", &part);
    if (!status) {
        copy(making, making->receipt, part, "plugins");
        copy(making, making->receipt, part, "data");
        for (struct json_member at = {0}; json_next(part, &at);)
            if (strcmp(at.key, "plugins") != 0 && strcmp(at.key, "data") != 0)
                copy(making, facts, part, at.key);
        put(making, making->receipt, "environment", facts);
    } else {
        json_close(facts);
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
    struct json *map = json_make_map();
    if (json_put(map, "rows", json_make_whole(rows)) &&
        json_put(map, "sha256", json_make_text(hex))) {
        *metrics = map;
        return LATHE_OK;
    }
    json_close(map);
    return fail(err, LATHE_ENOMEM, "no memory for a receipt");
}

static lathe_status put_metrics(struct making *making) {
    struct json *metrics;
    lathe_status status = receipt_metrics(making->run, &metrics, making->err);
    if (!status) put(making, making->receipt, "metrics", metrics);
    return status;
}

/* Oldest first; the weights at the end are those of the newest. */
static lathe_status put_checkpoints(struct making *making) {
    struct json *list = json_make_list(), *newest = NULL;
    int64_t *steps = NULL;
    size_t count = 0;
    lathe_status status = checkpoints_steps(making->run, &steps, &count, making->err);
    for (size_t i = count; i-- > 0 && !status;) {
        char hex[DIGEST_HEX];
        status = checkpoints_weights(making->run, steps[i], hex, making->err);
        if (status == LATHE_EDATA || status == LATHE_ENOTFOUND) {
            status = LATHE_OK; /* it is none to go on from either */
            continue;
        }
        struct json *map = json_make_map();
        put(making, map, "step", json_make_whole(steps[i]));
        put(making, map, "sha256", status ? NULL : json_make_text(hex));
        if (!json_push(list, map)) making->is_broken = true;
    }
    if (json_size(list)) newest = json_clone(json_at(list, json_size(list) - 1));
    put(making, making->receipt, "weights", newest ? newest : json_make_text(NULL));
    put(making, making->receipt, "checkpoints", list);
    free(steps);
    return status;
}

lathe_status receipt_make(const char *run, struct json **receipt, struct error *err) {
    struct making making = {.run = run, .receipt = json_make_map(), .err = err};
    *receipt = NULL;
    put(&making, making.receipt, "format", json_make_text(RECEIPT_FORMAT));
    lathe_status status = put_experiment(&making);
    if (!status) status = put_status(&making);
    if (!status) status = put_environment(&making);
    if (!status) status = put_metrics(&making);
    if (!status) status = put_checkpoints(&making);
    if (!status && making.is_broken)
        status = fail(err, LATHE_ENOMEM, "no memory for a receipt");
    if (status && err && !err->where[0]) error_where(err, "%s", run);
    if (status)
        json_close(making.receipt);
    else
        *receipt = making.receipt;
    return status;
}

lathe_status receipt_write(struct rundir *rundir, struct error *err) {
    struct json *receipt;
    struct text text = {0};
    if (!rundir_path(rundir)) return LATHE_OK;
    lathe_status status = receipt_make(rundir_path(rundir), &receipt, err);
    if (status) return status;
    json_write(receipt, &text, 2);
    text_add(&text, "\n");
    status = text.is_broken
                 ? fail(err, LATHE_ENOMEM, "no memory for a receipt")
                 : rundir_write(rundir, RECEIPT_FILE, text.data, text.length, err);
    text_finish(&text);
    json_close(receipt);
    return status;
}

/* ---- reading ---- */

lathe_status receipt_read(const char *run, struct json **receipt, struct error *err) {
    char *path = path_join(run, RECEIPT_FILE);
    *receipt = NULL;
    if (!path) return fail(err, LATHE_ENOMEM, "no memory for a path");
    lathe_status status = json_read(path, receipt, err);
    if (!status && (status = receipt_check(*receipt, err)) != LATHE_OK)
        error_where(err, "%s", path);
    if (status == LATHE_EINVAL) status = LATHE_EDATA;
    if (status) {
        if (err) err->status = status;
        json_close(*receipt);
        *receipt = NULL;
    }
    free(path);
    return status;
}
