/* SPDX-License-Identifier: MIT */
/* Where a bundle may be written: never over, nor among, what it is made of, and over
 * nothing but another bundle. */
#include "base/file.h"
#include "bundle/intake.h"
#include "bundle/magic.h"
#include "bundle/pack_parts.h"

static bool is_file(const char *path, const struct stat *there) {
    struct stat info;
    return path && !stat(path, &info) && file_is_same(&info, there);
}

/* A manifest is held as text, and goes into the bundle without its file. */
static bool is_of_plugin(const struct pack *pack, const struct stat *there) {
    for (size_t i = 0; i < registry_count(pack->registry); i++) {
        const struct manifest *manifest = registry_at(pack->registry, i)->manifest;
        if (manifest &&
            (is_file(manifest->path, there) || is_file(manifest->library_path, there)))
            return true;
    }
    return false;
}

static bool was_read(const struct pack *pack, const struct stat *there) {
    if (is_file(pack->experiment->file, there)) return true;
    for (size_t i = 0; i < pack->item_count; i++)
        if (pack->items[i].source && file_is_same(&pack->items[i].as, there))
            return true;
    for (size_t i = 0; i < pack->twin_count; i++)
        if (file_is_same(&pack->twins[i], there)) return true;
    for (const char *const *kept = pack->kept; kept && *kept; kept++)
        if (is_file(*kept, there)) return true;
    return is_of_plugin(pack, there);
}

static lathe_status check_folders(const struct pack *pack, const char *path,
                                  struct error *err) {
    for (const char *const *kept = pack->kept; kept && *kept; kept++) {
        if (!file_is_inside(path, *kept)) continue;
        return fail(err, LATHE_ECREATE, "\"%.300s\" is inside the run \"%.300s\"", path,
                    *kept);
    }
    return LATHE_OK;
}

/* One of another format is a bundle too; an empty file is somebody's place for one. */
static lathe_status check_replaced(const char *path, const struct stat *there,
                                   struct error *err) {
    struct intake *intake = NULL;
    if (!there->st_size) return LATHE_OK;
    const bool is_bundle = intake_open(path, &intake, NULL) == LATHE_OK;
    intake_close(intake);
    if (is_bundle) return LATHE_OK;
    const char *found = magic_name(path);
    fail(err, LATHE_ECREATE, "\"%.400s\" is there, and is no bundle: it looks like %s",
         path, found ? found : "text");
    error_where(err, "-o");
    error_help(err, "name another file, -o NAME.lathe, or remove that one first");
    return LATHE_ECREATE;
}

lathe_status pack_check_target(const struct pack *pack, const char *path,
                               struct error *err) {
    struct stat there;
    const bool is_there = !stat(path, &there);
    lathe_status status = check_folders(pack, path, err);
    if (!status && is_there && !S_ISREG(there.st_mode))
        status = fail(err, LATHE_ECREATE, "\"%.400s\" is there, and is no regular file",
                      path);
    else if (!status && is_there && was_read(pack, &there))
        status =
            fail(err, LATHE_ECREATE,
                 "\"%.400s\" is one of the files that are packed, or were read for "
                 "it",
                 path);
    if (!status) return is_there ? check_replaced(path, &there, err) : LATHE_OK;
    error_where(err, "-o");
    error_help(err, "name a bundle, outside of what is packed: -o NAME.lathe");
    return status;
}
