/* SPDX-License-Identifier: MIT */
/* A lathe_host without a session, for the unit tests of one plugin: options from a JSON
 * text, nested instances the test makes itself, files through the host's own files
 * module. It does not check options, and has no loop: metrics, requests and blocks are
 * NULL.
 *
 *     struct fake_host h;
 *     fake_host_init(&h, "{\"lr\": 0.1}");
 *     fake_host_manifest(&h, "optimizer/sgd");      // fills in defaults; optional
 *     assert_int_equal(lathe_ops_.create(&h.table, &self), LATHE_OK);
 *     …
 *     fake_host_finish(&h); */
#ifndef TESTS_SUPPORT_FAKE_HOST_H
#define TESTS_SUPPORT_FAKE_HOST_H

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lathe/host.h>

#include "base/duration.h"
#include "files.h"
#include "json.h"
#include "options.h"

#define FAKE_NESTED_MAX 4

struct fake_host {
    lathe_host table; /* what the plugin gets */
    struct json *options;
    struct json *manifest; /* NULL: any path may be read */
    char failure[512];     /* text of the last fail; "" */
    lathe_status status;   /* of the last fail; LATHE_OK */
    char logged[512];      /* the last line; "" */
    int32_t log_level;
    struct files *files;
    uint64_t seed;
    int64_t steps_per_epoch, samples_per_step; /* 10 and 32, for steps() */
    struct {
        const char *path;
        const void *ops;
        void *self;
    } nested[FAKE_NESTED_MAX];
    int nested_count;
};

static inline struct fake_host *fake_of(const lathe_host *host) {
    return host->context;
}

static inline lathe_status fake_fail(const lathe_host *host, lathe_status status,
                                     const char *text) {
    struct fake_host *fake = fake_of(host);
    snprintf(fake->failure, sizeof fake->failure, "%s", text);
    fake->status = status;
    return status;
}

static inline void fake_log(const lathe_host *host, int32_t level, const char *text) {
    struct fake_host *fake = fake_of(host);
    snprintf(fake->logged, sizeof fake->logged, "%s", text);
    fake->log_level = level;
}

static inline const void *fake_extension(const lathe_host *host, const char *id) {
    (void)host, (void)id;
    return NULL;
}

/* A path the manifest does not declare would fail create in a session: here, the
 * test. */
static inline const struct json *fake_option(const lathe_host *host, const char *path) {
    struct fake_host *fake = fake_of(host);
    if (fake->manifest &&
        !options_declaration(json_get(fake->manifest, "options"), path))
        fail_msg("the manifest does not declare \"%s\"", path);
    return options_find(fake->options, path);
}

static inline int32_t fake_has(const lathe_host *host, const char *path) {
    return fake_option(host, path) != NULL;
}

static inline int64_t fake_count(const lathe_host *host, const char *path) {
    return (int64_t)json_size(fake_option(host, path));
}

static inline double fake_number(const lathe_host *host, const char *path) {
    return json_number(fake_option(host, path));
}

static inline int64_t fake_integer(const lathe_host *host, const char *path) {
    const struct json *value = fake_option(host, path);
    return json_kind(value) == JSON_BOOLEAN ? json_truth(value) : json_whole(value);
}

static inline const char *fake_string(const lathe_host *host, const char *path) {
    return json_text(fake_option(host, path));
}

static inline int64_t fake_steps(const lathe_host *host, const char *path) {
    struct fake_host *fake = fake_of(host);
    const struct json *value = fake_option(host, path);
    struct duration duration;
    struct error err;
    if (!value) return 0;
    if (duration_parse(json_text(value), &duration, &err)) fail_msg("%s", err.what);
    return duration_steps(&duration, fake->steps_per_epoch, fake->samples_per_step);
}

static inline lathe_status fake_plugin(const lathe_host *host, const char *path,
                                       const void **ops, void **self) {
    struct fake_host *fake = fake_of(host);
    for (int i = 0; i < fake->nested_count; i++) {
        if (strcmp(fake->nested[i].path, path) != 0) continue;
        *ops = fake->nested[i].ops;
        *self = fake->nested[i].self;
        return LATHE_OK;
    }
    return fake_fail(host, LATHE_EMISSING, path);
}

static inline lathe_status fake_map(const lathe_host *host, const char *path,
                                    const void **bytes, int64_t *count) {
    struct fake_host *fake = fake_of(host);
    struct error err = {0};
    if (files_map(fake->files, fake_string(host, path), bytes, count, &err))
        return fake_fail(host, err.status, err.what);
    return LATHE_OK;
}

static inline void fake_key(const lathe_host *host, uint32_t purpose, int64_t epoch,
                            lathe_key *key) {
    uint64_t seed = fake_of(host)->seed;
    lathe_key root = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    *key = lathe_derive(root, purpose, (uint64_t)epoch);
}

/* options: a JSON text, as the experiment would hold it ("use" left out). */
static inline void fake_host_init(struct fake_host *fake, const char *options) {
    struct error err = {0};
    memset(fake, 0, sizeof *fake);
    fake->seed = 7;
    fake->steps_per_epoch = 10;
    fake->samples_per_step = 32;
    if (json_parse(options, strlen(options), "options", &fake->options, &err) ||
        files_create(&fake->files, &err))
        fail_msg("%s: %s", err.where, err.what);
    fake->table = (lathe_host){
        .size = sizeof(lathe_host),
        .minor = LATHE_ABI_MINOR,
        .context = fake,
        .fail = fake_fail,
        .log = fake_log,
        .extension = fake_extension,
        .has = fake_has,
        .count = fake_count,
        .number = fake_number,
        .integer = fake_integer,
        .string = fake_string,
        .steps = fake_steps,
        .plugin = fake_plugin,
        .map = fake_map,
        .key = fake_key,
    };
}

/* Fills in the defaults of plugins/<plugin>/plugin.json ("dataset/csv") and fails the
 * test when the options do not fit it; from then on, only what it declares may be
 * read. */
static inline void fake_host_manifest(struct fake_host *fake, const char *plugin) {
    static const char *const reserved[] = {"use", "id", NULL};
    const char *source = getenv("SOURCE");
    struct errors errors = {0};
    struct option_check check = {.errors = &errors, .file = "options"};
    struct error err = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/plugins/%s/plugin.json", source ? source : ".",
             plugin);
    if (json_read(path, &fake->manifest, &err)) fail_msg("%s: %s", err.where, err.what);
    options_check_members(json_get(fake->manifest, "options"), fake->options, "options",
                          reserved, plugin, &check);
    if (errors.count) fail_msg("%s: %s", errors.items[0].where, errors.items[0].what);
    errors_finish(&errors);
}

/* What plugin(path) gives: an instance that the test made and destroys. */
static inline void fake_host_set_plugin(struct fake_host *fake, const char *path,
                                        const void *ops, void *self) {
    if (fake->nested_count == FAKE_NESTED_MAX) fail_msg("more than 4 nested plugins");
    fake->nested[fake->nested_count].path = path;
    fake->nested[fake->nested_count].ops = ops;
    fake->nested[fake->nested_count++].self = self;
}

static inline void fake_host_finish(struct fake_host *fake) {
    files_destroy(fake->files);
    json_close(fake->options);
    json_close(fake->manifest);
    memset(fake, 0, sizeof *fake);
}

#endif
