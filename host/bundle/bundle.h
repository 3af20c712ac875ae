/* SPDX-License-Identifier: MIT */
/* What a bundle says of itself: its bundle.json, checked whole before anything of it is
 * used. Whether its files are as it says is found when they are read (intake). Holds
 * no file open. */
#ifndef HOST_BUNDLE_BUNDLE_H
#define HOST_BUNDLE_BUNDLE_H

#include "base/digest.h"
#include "json.h"

#define BUNDLE_FORMAT "lathe.bundle/1"
#define BUNDLE_JSON "bundle.json"              /* the first entry */
#define BUNDLE_SIGNATURE "bundle.json.minisig" /* the second, where it is signed */
#define BUNDLE_EXPERIMENT "experiment.json"
#define BUNDLE_RECEIPT "receipt.json" /* of the run that was packed; it may be absent */
#define BUNDLE_RECORDS "metrics.jsonl"
#define BUNDLE_LINE_MAX 256 /* bytes of a name, a version, a setting … */
#define BUNDLE_TOTAL_MAX ((int64_t)64 << 30) /* bytes of all its files */
#define BUNDLE_TEXT_MAX ((size_t)4 << 20)    /* of bundle.json */

/* Strings are borrowed from the JSON. How long lists may be is in its schema. */
struct bundle_file {
    const char *path;
    int64_t size;
    const char *sha256;
    const struct json *used_by; /* of data: the settings that name it */
};

struct bundle_plugin {
    const char *kind, *name, *version;
    const char *license; /* "" where its manifest has none */
    const char *library;
};

struct bundle {
    char id[DIGEST_HEX]; /* SHA-256 of bundle.json */
    const char *name, *lathe, *machine;
    const char *checkpoint;        /* NULL: none */
    unsigned abi_needs, abi_built; /* minor numbers; the major one is 1 */
    unsigned glibc[2];             /* {2, 34} */
    const struct json *libraries;
    struct bundle_plugin *plugins;
    /* By byte order; as they are used. `outside` begins where `files` ends. */
    struct bundle_file *files, *outside;
    size_t plugin_count, file_count, outside_count;
    int64_t total; /* bytes of the files */
    struct json *root;
};

/* `path` is the bundle's, for messages. LATHE_EDATA with the first fault; *bundle is
 * for bundle_finish either way. */
lathe_status bundle_parse(const char *bytes, size_t count, const char *path,
                          struct bundle *bundle, struct error *err);
/* NULL: no such file. Borrowed. */
const struct bundle_file *bundle_find(const struct bundle *bundle, const char *path);
/* Does bundle.json list the setting, `length` bytes of it, for a file? */
bool bundle_has_setting(const struct bundle *bundle, const char *setting,
                        size_t length);
/* Does bundle.json name such a plugin? */
bool bundle_has_plugin(const struct bundle *bundle, const char *kind, const char *name);
void bundle_finish(struct bundle *bundle);

/* "12,345 bytes", "26.4 MB": for people. */
void bundle_add_size(int64_t size, struct text *text);

#endif
