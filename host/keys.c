/* SPDX-License-Identifier: MIT */
#include "keys.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/grow.h"
#include "base/path.h"
#include "base/trust.h"
#include "options.h"

#define SUFFIX ".pub"
#define CONFIG_MAX ((size_t)1 << 20)

struct key {
    char *name;
    struct minisign_public public;
};

struct keys {
    enum keys_policy policy;
    struct key *items;
    size_t count;
};

static const char *const policies[] = {"any", "warn", "signed-only"};
static const char schema[] =
    "{\"type\": \"object\", \"properties\": {\"bundles\": {\"enum\": [\"any\", "
    "\"warn\", \"signed-only\"], \"default\": \"warn\"}}}";

/* ---- one file ---- */

/* What others can write to says nothing about whom this user trusts. */
static lathe_status read_own(const char *path, size_t limit, char **content,
                             size_t *length, struct error *err) {
    int fd;
    lathe_status status = file_open(path, &fd, NULL, err);
    if (status) return status;
    status = trust_check(fd, path, err);
    close(fd);
    return status ? status : file_read(path, limit, content, length, err);
}

static lathe_status add_key(struct keys *keys, const char *name, const char *text,
                            size_t count, struct error *err) {
    struct key key = {0};
    lathe_status status = minisign_read_public(text, count, &key.public, err);
    if (status) return status;
    struct key *items = grow(keys->items, keys->count, sizeof *items);
    if (items) keys->items = items;
    key.name = text_copy(name);
    if (!items || !key.name) {
        free(key.name);
        return fail(err, LATHE_ENOMEM, "no memory for a key");
    }
    items[keys->count++] = key;
    return LATHE_OK;
}

/* `name`: file name in the folder, with its suffix. */
static lathe_status add_file(struct keys *keys, const char *folder, const char *name,
                             struct error *err) {
    char *path = path_join(folder, name), *content = NULL, *plain = text_copy(name);
    size_t length = 0;
    lathe_status status = LATHE_OK;
    if (!path || !plain) {
        status = fail(err, LATHE_ENOMEM, "no memory for a key");
    } else {
        plain[strlen(name) - strlen(SUFFIX)] = '\0';
        status = read_own(path, MINISIGN_BYTES, &content, &length, err);
        if (!status) status = add_key(keys, plain, content, length, err);
        if (status && err && !err->where[0]) error_where(err, "%s", path);
    }
    free(content);
    free(plain);
    free(path);
    return status;
}

/* ---- the user's ---- */

static int is_key_file(const struct dirent *entry) {
    const size_t length = strlen(entry->d_name), tail = strlen(SUFFIX);
    return entry->d_name[0] != '.' && length > tail &&
           !strcmp(entry->d_name + length - tail, SUFFIX);
}

static lathe_status read_trusted(struct keys *keys, const char *config,
                                 struct error *err) {
    char *folder = path_join(config, "trusted");
    struct dirent **entries = NULL;
    lathe_status status = LATHE_OK;
    if (!folder) return fail(err, LATHE_ENOMEM, "no memory for keys");
    const int count = scandir(folder, &entries, is_key_file, file_compare_entries);
    if (count < 0 && errno != ENOENT && errno != ENOTDIR)
        status = fail(err, error_from_errno(errno), "cannot list \"%.300s\": %s",
                      folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        if (!status) status = add_file(keys, folder, entries[i]->d_name, err);
        free(entries[i]);
    }
    free(entries);
    free(folder);
    return status;
}

static lathe_status check_config(struct keys *keys, struct json *config,
                                 const char *path, struct error *err) {
    struct errors errors = {0};
    struct json *rules = NULL;
    const struct option_check check = {.errors = &errors, .file = path};
    lathe_status status = json_parse(schema, sizeof schema - 1, "schema", &rules, err);
    if (!status) {
        options_check(rules, config, "", &check);
        if (errors.count) {
            status = errors.items[0].status;
            if (err) *err = errors.items[0];
        }
    }
    const char *policy = json_text(json_get(config, "bundles"));
    for (size_t i = 0; !status && i < sizeof policies / sizeof *policies; i++)
        if (!strcmp(policies[i], policy)) keys->policy = (enum keys_policy)i;
    errors_finish(&errors);
    json_close(rules);
    return status;
}

static lathe_status read_config(struct keys *keys, const char *config,
                                struct error *err) {
    char *path = path_join(config, "config.json"), *content = NULL;
    struct json *json = NULL;
    size_t length = 0;
    if (!path) return fail(err, LATHE_ENOMEM, "no memory for a path");
    lathe_status status = read_own(path, CONFIG_MAX, &content, &length, err);
    struct stat link;
    if (status == LATHE_ENOTFOUND && lstat(path, &link)) {
        status = LATHE_OK;
    } else if (!status) {
        status = json_parse(content, length, path, &json, err);
        if (!status) status = check_config(keys, json, path, err);
    }
    json_close(json);
    free(content);
    free(path);
    return status;
}

lathe_status keys_open(struct keys **keys, struct error *err) {
    struct keys *made = calloc(1, sizeof *made);
    char *base = path_xdg("config"), *config = base ? path_join(base, "lathe") : NULL;
    *keys = NULL;
    free(base);
    lathe_status status =
        made ? LATHE_OK : fail(err, LATHE_ENOMEM, "no memory for keys");
    if (made) made->policy = KEYS_WARN;
    if (!status && config) status = read_config(made, config, err);
    if (!status && config) status = read_trusted(made, config, err);
    free(config);
    if (status)
        keys_close(made);
    else
        *keys = made;
    return status;
}

/* A line of base64 is longer than most names, and never a file by accident. */
lathe_status keys_open_one(const char *key, struct keys **keys, struct error *err) {
    struct keys *made = calloc(1, sizeof *made);
    char *content = NULL;
    size_t length = 0;
    struct stat info;
    *keys = NULL;
    if (!made) return fail(err, LATHE_ENOMEM, "no memory for keys");
    made->policy = KEYS_SIGNED_ONLY;
    lathe_status status = LATHE_OK;
    if (stat(key, &info) == 0 || strlen(key) != 56) {
        status = file_read(key, MINISIGN_BYTES, &content, &length, err);
        if (!status) status = add_key(made, path_name(key), content, length, err);
    } else {
        status = add_key(made, "the key that was named", key, strlen(key), err);
    }
    if (status && err && !err->where[0]) error_where(err, "%s", key);
    free(content);
    if (status)
        keys_close(made);
    else
        *keys = made;
    return status;
}

void keys_close(struct keys *keys) {
    if (!keys) return;
    for (size_t i = 0; i < keys->count; i++) free(keys->items[i].name);
    free(keys->items);
    free(keys);
}

enum keys_policy keys_policy(const struct keys *keys) {
    return keys->policy;
}

const char *keys_policy_name(enum keys_policy policy) {
    return policies[policy];
}

size_t keys_count(const struct keys *keys) {
    return keys->count;
}

const char *keys_at(const struct keys *keys, size_t index, char number[MINISIGN_NAME]) {
    minisign_name(keys->items[index].public.id, number);
    return keys->items[index].name;
}

/* ---- checking ---- */

/* Two keys may bear one number: whichever signed it. */
static void try_keys(const struct keys *keys, const void *bytes, size_t count,
                     const struct minisign_signature *signature,
                     struct keys_check *check) {
    for (size_t i = 0; i < keys->count && check->verdict != KEYS_TRUSTED; i++) {
        const struct key *key = &keys->items[i];
        if (memcmp(key->public.id, signature->id, sizeof signature->id) != 0) continue;
        check->name = key->name;
        lathe_status status =
            minisign_verify(&key->public, signature, bytes, count, &check->why);
        check->verdict = status == LATHE_OK        ? KEYS_TRUSTED
                         : status == LATHE_EPLUGIN ? KEYS_UNCHECKED
                                                   : KEYS_WRONG;
    }
    if (check->verdict != KEYS_TRUSTED) return;
    check->why = (struct error){0};
    memcpy(check->comment, signature->comment, sizeof check->comment);
}

void keys_check(const struct keys *keys, const void *bytes, size_t count,
                const char *signature, size_t signature_count,
                struct keys_check *check) {
    struct minisign_signature read;
    memset(check, 0, sizeof *check);
    if (!signature) return;
    if (minisign_read_signature(signature, signature_count, &read, &check->why)) {
        check->verdict = KEYS_WRONG;
        return;
    }
    minisign_name(read.id, check->number);
    check->verdict = KEYS_UNKNOWN;
    try_keys(keys, bytes, count, &read, check);
}

/* What is the matter; nothing of one that is trusted. */
static void tell(const struct keys_check *check, struct error *err) {
    if (check->verdict == KEYS_UNSIGNED) {
        fail(err, LATHE_EPERM, "nobody has signed it");
        error_help(err, "ask for one that is signed, with \"lathe pack --sign\"");
    } else if (check->verdict == KEYS_UNKNOWN) {
        fail(err, LATHE_EPERM, "it says that key %s signed it, which is not trusted",
             check->number);
        error_help(err, "put its public key, from somebody you know, into the "
                        "configuration directory as lathe/trusted/NAME.pub");
    } else if (err) {
        *err = check->why;
        err->status = LATHE_EPERM;
    }
}

enum keys_decision keys_judge(const struct keys *keys, const struct keys_check *check,
                              struct error *err) {
    if (check->verdict == KEYS_TRUSTED) return KEYS_ACCEPT;
    tell(check, err);
    if (check->verdict == KEYS_WRONG || keys->policy == KEYS_SIGNED_ONLY)
        return KEYS_REFUSE;
    return keys->policy == KEYS_WARN ? KEYS_ACCEPT_AND_WARN : KEYS_ACCEPT;
}

/* ---- signing ---- */

lathe_status keys_sign(const char *path,
                       lathe_status (*ask)(void *context, char *password, size_t size,
                                           struct error *err),
                       void *context, const void *bytes, size_t count,
                       const char *comment, struct text *text, struct error *err) {
    struct minisign_secret key;
    char *content = NULL;
    size_t length = 0;
    lathe_status status = file_read(path, MINISIGN_BYTES, &content, &length, err);
    if (!status)
        status = minisign_read_secret(content, length, ask, context, &key, err);
    if (!status) {
        status = minisign_sign(&key, bytes, count, comment, text, err);
        minisign_forget(&key);
    }
    if (content) explicit_bzero(content, length);
    free(content);
    if (status && err && !err->where[0]) error_where(err, "%s", path);
    return status;
}
