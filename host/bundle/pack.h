/* SPDX-License-Identifier: MIT */
/* An experiment packed into one file with all that it needs: every value in force, its
 * plugins, their licences, its data. The same input gives the same bytes, whoever packs
 * it, when and where; no path, host or user of this machine goes in. No plugin is
 * loaded.
 *
 *     pack_create      all is found, looked at and hashed: bundle.json is known
 *     pack_text        its bytes, for whoever signs them
 *     pack_write       the file
 */
#ifndef HOST_BUNDLE_PACK_H
#define HOST_BUNDLE_PACK_H

#include "bundle/bundle.h"

struct pack;

struct pack_request {
    const char *source;              /* as for experiment_open */
    const char *const *overrides;    /* NULL-ended or NULL, as the next */
    const char *const *plugin_paths; /* directories */
    int64_t data_limit;              /* larger files of data go in by digest alone */
    const char *checkpoint;          /* a file; NULL: none */
    const char *run; /* whose receipt and records go in, if it has ended; NULL: none */
    /* Files that are not written to, and directories that are not written in, beside
     * what is packed; NULL-ended or NULL, and there until pack_write. */
    const char *const *kept;
};

/* All faults of the experiment go to `errors`. *pack is the caller's. */
lathe_status pack_create(const struct pack_request *request, struct pack **pack,
                         struct errors *errors);
/* What it will hold. Borrowed. */
const struct bundle *pack_bundle(const struct pack *pack);
/* Was its seed drawn as it was packed? */
bool pack_drawn_seed(const struct pack *pack, uint64_t *seed);
/* Plugins that are not those which the user may think. Borrowed. */
const struct errors *pack_warnings(const struct pack *pack);
/* bundle.json. Borrowed. */
const char *pack_text(const struct pack *pack, size_t *count);
/* Writes aside and renames. `signature` becomes bundle.json.minisig, unless its count
 * is 0. LATHE_EDATA: a file has changed since it was hashed. */
lathe_status pack_write(const struct pack *pack, const char *path,
                        const char *signature, size_t signature_count,
                        struct error *err);
void pack_destroy(struct pack *pack); /* NULL is fine */

#endif
