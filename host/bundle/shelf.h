/* SPDX-License-Identifier: MIT */
/* The store of bundles: each is unpacked to <place>/sha256-<id>/, and is whole, checked
 * and read-only from the moment it has that name. Any number of processes may unpack at
 * once, and be killed at any point: what they leave has another name, and the next one
 * removes it. What a bundle says is read by bundle, and its archive by intake. */
#ifndef HOST_BUNDLE_SHELF_H
#define HOST_BUNDLE_SHELF_H

#include <time.h>

#include "bundle/intake.h"

#define SHELF_PREFIX "sha256-"

/* The directory `given`, absolute, or <data>/lathe/bundles of the user; the caller's.
 * LATHE_ENOTFOUND: there is no home. */
lathe_status shelf_place(const char *given, char **place, struct error *err);

/* The id in the name of a bundle's folder; NULL: that is no such name. Borrowed. */
const char *shelf_id(const char *name);

/* Unpacks the bundle, unless it is there already; *folder is the caller's. What is
 * there is compared with its digests, and unpacked anew where it differs (*is_mended,
 * which may be NULL). *hold, which may be NULL too, is as of shelf_hold. Call it after
 * intake_begin. LATHE_ECREATE, LATHE_EIO: the place cannot be written to, or is
 * full. */
lathe_status shelf_put(const char *place, struct intake *intake,
                       const struct bundle *bundle, char **folder, int *hold,
                       bool *is_mended, struct error *err);
/* Is it the folder of a bundle, whole and unchanged? LATHE_ENOTFOUND: it is not there;
 * LATHE_EDATA: it was changed; LATHE_EPERM: others may write there. *bundle may be
 * NULL; it is for bundle_finish. */
lathe_status shelf_check(const char *folder, struct bundle *bundle, struct error *err);

/* Keeps the bundle from being removed by others until *hold, a descriptor, is closed. A
 * place that cannot be written to is fine. LATHE_ENOTFOUND: it is gone. */
lathe_status shelf_hold(const char *folder, int *hold, struct error *err);

/* Unpacks into a folder that is not there yet, or is empty, for somebody to look at; it
 * is whole from one moment to the next. Modes are as the umask says, and that of an
 * empty folder stays. One that cannot be replaced (the working directory, a mount
 * point, somebody else's) is filled in a few steps, bundle.json last. */
lathe_status shelf_unpack(const char *folder, struct intake *intake,
                          const struct bundle *bundle, struct error *err);

struct shelf_item {
    char id[DIGEST_HEX];
    char *name; /* of the experiment; "?" where its bundle.json cannot be read */
    int64_t size;
    time_t used; /* last */
};
struct shelf_list {
    struct shelf_item *items; /* by id */
    size_t count;
};
/* A place that is not there has none. */
lathe_status shelf_read(const char *place, struct shelf_list *list, struct error *err);
void shelf_finish(struct shelf_list *list);
/* Removes one that nobody holds. LATHE_EIO with *is_held: somebody does; is_held NULL:
 * then it is removed all the same, and they keep what they have open. */
lathe_status shelf_remove(const char *place, const char *id, bool *is_held,
                          struct error *err);
/* Removes what killed processes have left; returns how many there were. */
int shelf_sweep(const char *place);

#endif
