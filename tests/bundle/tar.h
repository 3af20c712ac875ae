/* SPDX-License-Identifier: MIT */
/* Bundles made by hand, byte by byte: right ones, and ones that no packer would write.
 * */
#ifndef TESTS_BUNDLE_TAR_H
#define TESTS_BUNDLE_TAR_H

#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/text.h"

#define TAR_BLOCK 512

/* One entry; what is left out is as it should be. */
struct tar_entry {
    const char *name; /* up to 100 bytes; or name_bytes of them, NULs included */
    size_t name_bytes;
    const char *prefix;
    char type; /* '0' */
    int mode;  /* 0644 */
    const char *link;
    const char *content; /* ends with NUL */
    const char *size;    /* as it stands in the header */
    const char *magic;   /* "ustar" */
    int has_wrong_sum;
};

static inline void tar_put(struct text *tar, const struct tar_entry *entry) {
    char block[TAR_BLOCK] = {0};
    const char *content = entry->content ? entry->content : "";
    const size_t count = strlen(content);
    unsigned sum = 0;
    memcpy(block, entry->name,
           entry->name_bytes ? entry->name_bytes : strnlen(entry->name, 100));
    snprintf(block + 100, 8, "%07o", (entry->mode ? entry->mode : 0644) & 07777u);
    memcpy(block + 108, "0000000\0000000000", 16);
    if (entry->size)
        memcpy(block + 124, entry->size, strlen(entry->size));
    else
        snprintf(block + 124, 12, "%011o", (unsigned)count);
    snprintf(block + 136, 12, "%011o", 0u);
    block[156] = entry->type ? entry->type : '0';
    if (entry->link) memcpy(block + 157, entry->link, strlen(entry->link));
    memcpy(block + 257, entry->magic ? entry->magic : "ustar\00000", 8);
    if (entry->prefix) memcpy(block + 345, entry->prefix, strlen(entry->prefix));
    memset(block + 148, ' ', 8);
    for (size_t i = 0; i < TAR_BLOCK; i++) sum += (unsigned char)block[i];
    snprintf(block + 148, 8, "%06o", sum + (unsigned)entry->has_wrong_sum);
    text_add_bytes(tar, block, sizeof block);
    text_add_bytes(tar, content, count);
    memset(block, 0, sizeof block);
    text_add_bytes(tar, block, -count & (TAR_BLOCK - 1));
}

static inline void tar_file(struct text *tar, const char *name, const char *content) {
    tar_put(tar, &(struct tar_entry){.name = name, .content = content});
}

static inline void tar_end(struct text *tar) {
    const char blocks[2 * TAR_BLOCK] = {0};
    text_add_bytes(tar, blocks, sizeof blocks);
}

/* ---- bundle.json ---- */

#define LISTED 4 /* files of a bundle that is right */

struct listed {
    const char *path, *content;
};
static const struct listed listed[LISTED] = {{"data/points.csv", "1,2\n"},
                                             {"experiment.json", "{}\n"},
                                             {"plugins/model/m/m.so", "library"},
                                             {"plugins/model/m/plugin.json", "{}"}};

static inline void json_file(struct text *json, const char *path, const char *content,
                             int is_first) {
    char hex[DIGEST_HEX];
    digest_bytes(content, strlen(content), hex);
    text_add(json, is_first ? "{\"path\":" : ",{\"path\":");
    text_json_string(json, path);
    text_format(json, ",\"size\":%zu,\"sha256\":\"%s\"}", strlen(content), hex);
}

/* All but the files, for "[…]" of them. */
static inline void json_head(struct text *json) {
    text_add(json,
             "{\"format\":\"lathe.bundle/1\",\"lathe\":\"1\",\"name\":\"n\","
             "\"experiment\":\"experiment.json\","
             "\"abi\":{\"needs\":\"1.0\",\"built\":\"1.0\"},\"machine\":\"x86_64\","
             "\"glibc\":\"2.2\",\"libraries\":[],\"outside\":[],\"plugins\":[{"
             "\"kind\":\"model\",\"name\":\"m\",\"version\":\"1\","
             "\"library\":\"plugins/model/m/m.so\"}],\"files\":[");
}

/* Of the right bundle, and these files before and after the others. */
static inline void json_of(struct text *json, const struct listed *before,
                           const struct listed *after) {
    json_head(json);
    if (before) json_file(json, before->path, before->content, 1);
    for (int i = 0; i < LISTED; i++)
        json_file(json, listed[i].path, listed[i].content, i == 0 && !before);
    if (after) json_file(json, after->path, after->content, 0);
    text_add(json, "]}");
}

/* bundle.json as the first entry. */
static inline void tar_begin(struct text *tar, const struct listed *before,
                             const struct listed *after) {
    struct text json = {0};
    json_of(&json, before, after);
    tar_file(tar, "bundle.json", json.data);
    text_finish(&json);
}

/* The files from `first` on. */
static inline void tar_files(struct text *tar, int first) {
    for (int i = first; i < LISTED; i++)
        tar_file(tar, listed[i].path, listed[i].content);
}

#endif
