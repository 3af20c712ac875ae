/* SPDX-License-Identifier: MIT */
#include "commands/signature.h"

lathe_status signature_look(const struct intake *intake, const char *key,
                            struct signature *signature, struct error *err) {
    size_t count = 0, signed_by = 0;
    const char *bytes = intake_text(intake, &count);
    const char *file = intake_signature(intake, &signed_by);
    struct error fault = {0};
    *signature = (struct signature){0};
    lathe_status status = key ? keys_open_one(key, &signature->keys, &fault)
                              : keys_open(&signature->keys, &fault);
    if (status) {
        *err = fault;
        return status;
    }
    keys_check(signature->keys, bytes, count, signed_by ? file : NULL, signed_by,
               &signature->check);
    signature->decision =
        keys_judge(signature->keys, &signature->check, &signature->reason);
    return LATHE_OK;
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
    struct json *root = json_make_map();
    const bool is_whole =
        root && json_put(root, "verdict", json_make_text(verdict_name(signature))) &&
        json_put(root, "key",
                 json_make_text(check->number[0] ? check->number : NULL)) &&
        json_put(root, "name", json_make_text(check->name)) &&
        json_put(root, "comment",
                 json_make_text(check->comment[0] ? check->comment : NULL));
    if (is_whole) return root;
    json_close(root);
    return NULL;
}

void signature_finish(struct signature *signature) {
    keys_close(signature->keys);
    *signature = (struct signature){0};
}
