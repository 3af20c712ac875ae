/* SPDX-License-Identifier: MIT */
/* Which plugins are there. The places of the search path are scanned in order, the
 * entries of each in byte order: plugin.json at its root, in its folders and in theirs
 * (names that begin with '.' are left out), and libraries that carry their manifest.
 * The first sound one of a kind and name wins; what is wrong with one keeps no other
 * from being found. No library is opened: each is only looked at, as dylib_check does,
 * and refused if store.h has that it was. */
#ifndef HOST_REGISTRY_H
#define HOST_REGISTRY_H

#include <stdbool.h>

#include "base/log.h"
#include "manifest.h"

enum registry_status { REGISTRY_OK = 0, REGISTRY_REFUSED, REGISTRY_SHADOWED };

struct registry_entry {
    enum registry_status status;
    struct manifest *manifest; /* what could be understood of it; NULL: of a folder */
    char *path;          /* of the manifest, or of the folder that cannot be read */
    struct error reason; /* unless ok */
};

/* A directory of the search path. */
struct registry_place {
    /* "--plugin-path", "LATHE_PLUGIN_PATH", "user", "system", "build" */
    const char *origin;
    char *path;           /* absolute */
    struct error problem; /* why it was skipped; LATHE_OK: it was searched */
};

struct registry;

/* Scans: linked plugins, `paths` (NULL-ended or NULL), $LATHE_PLUGIN_PATH
 * (unless the program runs with raised privileges), ~/.local/lib/lathe/plugins,
 * $libdir/lathe/plugins, the build's own (beside the program). A directory given in
 * `paths` that cannot be read is a failure; others are skipped. */
lathe_status registry_open(const char *const *paths,
                           const lathe_linked_plugin *const *linked,
                           struct registry **registry, struct error *err);
size_t registry_count(const struct registry *registry);
/* In the order they were found. Borrowed. */
const struct registry_entry *registry_at(const struct registry *registry, size_t index);
/* The places in order; NULL past the last. Borrowed. */
const struct registry_place *registry_place_at(const struct registry *registry,
                                               size_t index);
/* Borrowed. LATHE_EMISSING with the reason of a refused one (and its file), the kind it
 * is of, the nearest name, or the directories that were searched; where is the
 * caller's. */
lathe_status registry_find(const struct registry *registry, uint32_t kind,
                           const char *name, const struct manifest **manifest,
                           struct error *err);
/* The plugin that somebody named, "sgd" or "optimizer/sgd". One that is sound goes
 * before one that is refused or shadowed. Borrowed. LATHE_EMISSING as registry_find;
 * LATHE_EINVAL: sound ones of two kinds have this name. The caller adds where. */
lathe_status registry_find_word(const struct registry *registry, const char *word,
                                const struct registry_entry **entry, struct error *err);
/* Does the word look like a path, not like a name? */
bool registry_is_path(const char *word);
/* One of this kind and name that was refused, borrowed; NULL: none. Another may have
 * been found in its place. */
const struct registry_entry *registry_refused(const struct registry *registry,
                                              uint32_t kind, const char *name);
/* Somebody who changes a plugin and gets it refused must not think that it is used: is
 * `manifest` used in place of such a one? */
bool registry_warning(const struct registry *registry, const struct manifest *manifest,
                      struct error *warning);
void registry_close(struct registry *registry);

#endif
