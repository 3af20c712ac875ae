/* SPDX-License-Identifier: MIT */
#include "commands/signature.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/path.h"

#define SIGNATURE_MAX ((size_t)4096)

/* One key was asked for: whom the user trusts has no part in it. */
static void tell_other_key(struct signature *signature) {
    char wanted[MINISIGN_NAME];
    keys_at(signature->keys, 0, wanted);
    fail(&signature->reason, LATHE_EPERM,
         "it says that key %s signed it, and key %s was to have",
         signature->check.number, wanted);
    error_help(&signature->reason, "ask whoever packed it which key is theirs");
}

/* `file` NULL: there is no signature. */
static lathe_status look(const char *bytes, size_t count, const char *file,
                         size_t file_count, const char *key,
                         struct signature *signature, struct error *err) {
    struct error fault = {0};
    *signature = (struct signature){0};
    lathe_status status = key ? keys_open_one(key, &signature->keys, &fault)
                              : keys_open(&signature->keys, &fault);
    if (status) {
        *err = fault;
        return status;
    }
    keys_check(signature->keys, bytes, count, file, file_count, &signature->check);
    signature->decision =
        keys_judge(signature->keys, &signature->check, &signature->reason);
    if (key && signature->check.verdict == KEYS_UNKNOWN) tell_other_key(signature);
    return LATHE_OK;
}

lathe_status signature_look(const struct intake *intake, const char *key,
                            struct signature *signature, struct error *err) {
    size_t count = 0, file_count = 0;
    const char *bytes = intake_text(intake, &count);
    const char *file = intake_signature(intake, &file_count);
    return look(bytes, count, file, file_count, key, signature, err);
}

static lathe_status read_part(const char *folder, const char *name, size_t limit,
                              char **content, size_t *count, struct error *err) {
    char *path = path_join(folder, name);
    lathe_status status = path ? file_read(path, limit, content, count, err)
                               : fail(err, LATHE_ENOMEM, "no memory for a path");
    free(path);
    return status;
}

lathe_status signature_look_unpacked(const char *folder, struct signature *signature,
                                     struct error *err) {
    char *bytes = NULL, *file = NULL;
    size_t count = 0, file_count = 0;
    *signature = (struct signature){0};
    lathe_status status =
        read_part(folder, BUNDLE_JSON, BUNDLE_TEXT_MAX, &bytes, &count, err);
    if (!status)
        status =
            read_part(folder, BUNDLE_SIGNATURE, SIGNATURE_MAX, &file, &file_count, err);
    if (status == LATHE_ENOTFOUND && bytes) {
        status = LATHE_OK;
        *err = (struct error){0};
    }
    if (!status) status = look(bytes, count, file, file_count, NULL, signature, err);
    free(bytes);
    free(file);
    return status;
}

static const char *verdict_name(const struct signature *signature) {
    static const char *const names[] = {[KEYS_UNSIGNED] = "none",
                                        [KEYS_UNKNOWN] = "unknown",
                                        [KEYS_UNCHECKED] = "unchecked",
                                        [KEYS_WRONG] = "wrong",
                                        [KEYS_TRUSTED] = "trusted"};
    return names[signature->check.verdict];
}

void signature_add_line(const struct signature *signature, struct text *text) {
    const struct keys_check *check = &signature->check;
    switch (check->verdict) {
    case KEYS_UNSIGNED:
        text_add(text, "none");
        break;
    case KEYS_WRONG:
        text_format(text, "wrong: %s", check->why.what);
        break;
    case KEYS_UNKNOWN:
        text_format(text, "by key %s, if it is right: you do not trust that key",
                    check->number);
        break;
    case KEYS_UNCHECKED:
        text_format(text, "by key %s, which cannot be checked: %s", check->number,
                    check->why.what);
        break;
    case KEYS_TRUSTED:
        text_format(text, "by %s (key %s, trusted): %s", check->name, check->number,
                    check->comment);
    }
}

struct json *signature_json(const struct signature *signature) {
    const struct keys_check *check = &signature->check;
    const char *key = check->number[0] ? check->number : NULL;
    const char *comment = check->comment[0] ? check->comment : NULL;
    return JSON_MAP_OF({"verdict", json_make_text(verdict_name(signature))},
                       {"key", json_make_text(key)},
                       {"name", json_make_text(check->name)},
                       {"comment", json_make_text(comment)});
}

void signature_finish(struct signature *signature) {
    keys_close(signature->keys);
    *signature = (struct signature){0};
}
