/* SPDX-License-Identifier: MIT */
/* What the files of pack share. */
#ifndef HOST_BUNDLE_PACK_PARTS_H
#define HOST_BUNDLE_PACK_PARTS_H

#include <sys/stat.h>

#include "bundle/pack.h"
#include "experiment.h"

/* One file that goes in, or that is named by its digest. */
struct pack_item {
    char *path;   /* in the bundle */
    char *source; /* absolute; NULL: it is `text` */
    struct text text;
    int fd;         /* it is this, open; -1: it is one of the above */
    struct stat as; /* when it was hashed */
    int64_t size;
    char digest[DIGEST_HEX];
    char original[DIGEST_HEX]; /* of `source`, where it is data */
    bool is_outside;
    struct json *used_by; /* of data */
};

struct pack {
    struct registry *registry;
    const char *const *kept; /* as in the request; borrowed */
    struct experiment *experiment;
    struct pack_item *items; /* by byte order once all are there */
    size_t item_count;
    struct json *sources; /* of data: {absolute path: its SHA-256} */
    struct stat *twins;   /* files that hold the same as an item of data */
    size_t twin_count;
    struct json *plugins;   /* as in bundle.json */
    struct json *libraries; /* that they need, by name; {name: true} */
    char *checkpoint;       /* its path in the bundle; NULL: none */
    unsigned abi_needs, abi_built, glibc[2];
    struct errors warnings;
    struct text json; /* bundle.json */
    struct bundle bundle;
};

lathe_status pack_no_memory(struct error *err); /* LATHE_ENOMEM */
/* A new last item, borrowed until the next; takes `path` over. NULL: out of memory, or
 * `path` is NULL. */
struct pack_item *pack_add(struct pack *pack, char *path);
void pack_finish_item(struct pack_item *item); /* what it holds */
/* Looks at item->source and hashes it. */
lathe_status pack_hash(struct pack_item *item, struct error *err);
/* The same of its text. */
void pack_hash_text(struct pack_item *item);
/* A new item whose text is this. */
lathe_status pack_add_json(struct pack *pack, const char *path,
                           const struct json *value, struct error *err);

/* ---- pack_plugins.c ---- */

/* Every plugin in use, with its licences. */
lathe_status pack_take_plugins(struct pack *pack, struct error *err);

/* ---- pack_data.c ---- */

/* Every file that an option names, and the experiment, which then names them as they
 * are called in the bundle. */
lathe_status pack_take_data(struct pack *pack, int64_t limit, struct error *err);
lathe_status pack_take_experiment(struct pack *pack, struct error *err);

/* ---- pack_checkpoint.c ---- */

/* Data that is a checkpoint becomes a copy of it without paths; any other stays. */
lathe_status pack_cut_checkpoint(struct pack_item *item, struct error *err);
/* Of a file, or the newest of a run's directory. */
lathe_status pack_take_checkpoint(struct pack *pack, const char *source,
                                  struct error *err);

/* ---- pack_receipt.c ---- */

/* What came of a run, if it has a receipt. */
lathe_status pack_take_receipt(struct pack *pack, const char *run, struct error *err);

/* ---- pack_target.c ---- */

/* The target may be a bundle that is there, but neither a file of those that were read
 * nor in a directory that is kept. LATHE_ECREATE. */
lathe_status pack_check_target(const struct pack *pack, const char *path,
                               struct error *err);

#endif
