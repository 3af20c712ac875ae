/* SPDX-License-Identifier: MIT */
/* Everything but the arithmetic: lines, base64, and what lies where. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "minisign_parts.h"

#define UNTRUSTED "untrusted comment: "
#define TRUSTED "trusted comment: "

/* ---- base64 ---- */

static const char digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* One spelling only: of `size` bytes, padded, and nothing else. */
static bool decode(const char *text, size_t length, void *bytes, size_t size) {
    unsigned char *to = bytes;
    if (length != (size + 2) / 3 * 4) return false;
    for (size_t i = 0, at = 0; i < length; i += 4) {
        uint32_t group = 0;
        const size_t wanted = size - at < 3 ? size - at : 3;
        for (size_t k = 0; k < 4; k++) {
            const char *digit = text[i + k] ? strchr(digits, text[i + k]) : NULL;
            const bool is_padding = k > wanted;
            if (is_padding ? text[i + k] != '=' : !digit) return false;
            group = group << 6 | (is_padding ? 0 : (uint32_t)(digit - digits));
        }
        for (size_t k = 0; k < 3; k++, group <<= 8) {
            if (k < wanted)
                to[at++] = (unsigned char)(group >> 16 & 255);
            else if (group >> 16 & 255)
                return false;
        }
    }
    return true;
}

void minisign_encode(const void *bytes, size_t size, struct text *text) {
    const unsigned char *from = bytes;
    for (size_t at = 0; at < size; at += 3) {
        const size_t count = size - at < 3 ? size - at : 3;
        uint32_t group = (uint32_t)from[at] << 16;
        char four[5] = "====";
        if (count > 1) group |= (uint32_t)from[at + 1] << 8;
        if (count > 2) group |= from[at + 2];
        for (size_t k = 0; k <= count; k++)
            four[k] = digits[group >> (18 - 6 * k) & 63];
        text_add(text, four);
    }
}

/* ---- lines ---- */

struct lines {
    const char *at, *end;
};

/* The next one, without its end; false: there is none. */
static bool next_line(struct lines *lines, const char **line, size_t *length) {
    if (lines->at == lines->end) return false;
    const size_t left = (size_t)(lines->end - lines->at);
    const char *end = memchr(lines->at, '\n', left);
    *line = lines->at;
    *length = end ? (size_t)(end - lines->at) : left;
    lines->at = end ? end + 1 : lines->end;
    if (*length && (*line)[*length - 1] == '\r') --*length;
    return true;
}

static bool begins(const char *line, size_t length, const char *prefix) {
    const size_t count = strlen(prefix);
    return length >= count && !memcmp(line, prefix, count);
}

static bool next_comment(struct lines *lines) {
    const char *line;
    size_t length;
    return next_line(lines, &line, &length) && begins(line, length, UNTRUSTED);
}

static bool next_bytes(struct lines *lines, void *bytes, size_t size) {
    const char *line;
    size_t length;
    return next_line(lines, &line, &length) && decode(line, length, bytes, size);
}

static bool is_over(const struct lines *lines) {
    return lines->at == lines->end;
}

/* ---- keys and signatures ---- */

void minisign_name(const unsigned char id[8], char name[MINISIGN_NAME]) {
    for (int i = 0; i < 8; i++) snprintf(name + 2 * i, 3, "%02X", id[7 - i]);
}

lathe_status minisign_read_public(const char *text, size_t count,
                                  struct minisign_public *key, struct error *err) {
    struct lines lines = {text, text + count};
    unsigned char bytes[2 + sizeof *key];
    const bool has_comment = begins(text, count, UNTRUSTED);
    if ((has_comment && !next_comment(&lines)) ||
        !next_bytes(&lines, bytes, sizeof bytes) || !is_over(&lines))
        return fail(err, LATHE_EDATA, "it is no public key of minisign");
    if (memcmp(bytes, "Ed", 2) != 0)
        return fail(err, LATHE_EDATA, "it is a key of another kind than Ed25519");
    memcpy(key->id, bytes + 2, sizeof key->id);
    memcpy(key->key, bytes + 10, sizeof key->key);
    return LATHE_OK;
}

lathe_status minisign_parse_secret(const char *text, size_t count,
                                   struct minisign_locked *key, struct error *err) {
    struct lines lines = {text, text + count};
    if (!next_comment(&lines) || !next_bytes(&lines, key, sizeof *key) ||
        !is_over(&lines))
        return fail(err, LATHE_EDATA, "it is no secret key of minisign");
    const bool has_password = !memcmp(key->derivation, "Sc", 2);
    if (memcmp(key->kind, "Ed", 2) != 0 || memcmp(key->check, "B2", 2) != 0 ||
        (!has_password && memcmp(key->derivation, "\0\0", 2) != 0))
        return fail(err, LATHE_EDATA,
                    "it is a secret key of a kind that is not known here");
    return LATHE_OK;
}

lathe_status minisign_read_signature(const char *text, size_t count,
                                     struct minisign_signature *signature,
                                     struct error *err) {
    struct lines lines = {text, text + count};
    unsigned char bytes[2 + sizeof signature->id + sizeof signature->bytes];
    const size_t prefix = sizeof TRUSTED - 1;
    const char *line = "";
    size_t length = 0;
    if (!next_comment(&lines) || !next_bytes(&lines, bytes, sizeof bytes) ||
        !next_line(&lines, &line, &length) || !begins(line, length, TRUSTED) ||
        !next_bytes(&lines, signature->global, sizeof signature->global) ||
        !is_over(&lines) || memchr(line, '\0', length))
        return fail(err, LATHE_EDATA, "it is no signature of minisign");
    if (length - prefix >= sizeof signature->comment)
        return fail(err, LATHE_EDATA, "its trusted comment has %zu bytes; %d are taken",
                    length - prefix, MINISIGN_COMMENT - 1);
    signature->is_prehashed = !memcmp(bytes, "ED", 2);
    if (!signature->is_prehashed && memcmp(bytes, "Ed", 2) != 0)
        return fail(err, LATHE_EDATA, "it is a signature of another kind than Ed25519");
    memcpy(signature->id, bytes + 2, sizeof signature->id);
    memcpy(signature->bytes, bytes + 10, sizeof signature->bytes);
    memcpy(signature->comment, line + prefix, length - prefix);
    signature->comment[length - prefix] = '\0';
    return LATHE_OK;
}
