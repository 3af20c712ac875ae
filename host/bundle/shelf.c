/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/trust.h"
#include "bundle/shelf_parts.h"
#include "bundle/tree.h"

lathe_status shelf_place(const char *given, char **place, struct error *err) {
    char *data = given ? NULL : path_xdg("data");
    if (!given && !data) {
        fail(err, LATHE_ENOTFOUND, "there is no data directory without HOME");
        error_help(err, "say where bundles are unpacked: --store DIR");
        return LATHE_ENOTFOUND;
    }
    *place = given ? path_absolute(given) : path_join(data, "lathe/bundles");
    free(data);
    return *place ? LATHE_OK : fail(err, LATHE_ENOMEM, "out of memory");
}

/* ---- a folder aside ---- */

/* What is unpacked, in a folder that nobody else knows of. */
struct filling {
    struct aside aside;
    struct tree tree;
};

static lathe_status fail_create(const char *path, struct error *err) {
    return fail(err, error_from_create(errno), "cannot unpack in \"%.400s\": %s", path,
                strerror(errno));
}

/* Made for the user alone. */
static lathe_status make_place(const char *place, struct error *err) {
    char *parent = path_directory(place),
         *above = parent ? path_directory(parent) : NULL;
    lathe_status status = above ? LATHE_OK : fail(err, LATHE_ENOMEM, "out of memory");
    if (!status && access(place, F_OK)) {
        status = access(above, F_OK) ? path_make_directories(above, err) : LATHE_OK;
        if (!status && ((mkdir(parent, 0700) && errno != EEXIST) ||
                        (mkdir(place, 0700) && errno != EEXIST)))
            status = fail_create(place, err);
    }
    if (!status) status = trust_check_folder(place, err);
    free(above);
    free(parent);
    return status;
}

/* All of the bundle, on the disk; `place` is what messages name. */
static lathe_status fill(struct filling *filling, const char *place,
                         struct intake *intake, const struct bundle *bundle,
                         const mode_t modes[2], struct error *err) {
    size_t json_count, signature_count;
    const char *json = intake_text(intake, &json_count);
    const char *signature = intake_signature(intake, &signature_count);
    struct tree *tree = &filling->tree;
    *tree = (struct tree){&filling->aside, place, modes[0], -1, 0};
    const struct intake_sink sink = tree_sink(tree);
    shelf_sweep(place);
    lathe_status status = aside_open(place, SHELF_ASIDE, &filling->aside, err);
    if (!status) status = aside_check_room(&filling->aside, place, bundle->total, err);
    if (status) return status;
    status = intake_files(intake, &sink, err);
    if (!status) status = tree_write(tree, BUNDLE_JSON, json, json_count, err);
    if (!status && signature_count)
        status = tree_write(tree, BUNDLE_SIGNATURE, signature, signature_count, err);
    return status ? status : tree_seal(filling->aside.folder, modes[1], err);
}

static void close_filling(struct filling *filling) {
    tree_end(&filling->tree);
    aside_close(&filling->aside);
}

static void sync_place(const char *place) {
    const int fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

/* ---- putting ---- */

/* Two may have unpacked the same at once: the first one's stays. */
static lathe_status give_name(struct aside *aside, const char *place,
                              const char *folder, struct error *err) {
    if (rename(aside->path, folder) == 0) {
        aside_keep(aside);
        sync_place(place);
        return LATHE_OK;
    }
    if (errno == EEXIST || errno == ENOTEMPTY) return shelf_check(folder, NULL, err);
    return fail_create(place, err);
}

static lathe_status unpack_to(const char *place, const char *folder,
                              struct intake *intake, const struct bundle *bundle,
                              struct error *err) {
    static const mode_t read_only[] = {0444, 0555};
    struct filling filling = {.aside = ASIDE_NONE, .tree = {.fd = -1}};
    lathe_status status = make_place(place, err);
    if (!status) status = fill(&filling, place, intake, bundle, read_only, err);
    if (!status) status = give_name(&filling.aside, place, folder, err);
    close_filling(&filling);
    if (status == LATHE_ECREATE || status == LATHE_EIO)
        error_help(err, "make room (\"lathe store prune\"), or unpack elsewhere: "
                        "--store DIR");
    return status;
}

static void note_use(const char *folder) {
    utimensat(AT_FDCWD, folder, NULL, 0);
}

static char *folder_of(const char *place, const char *id) {
    return text_make("%s/" SHELF_PREFIX "%s", place, id);
}

lathe_status shelf_put(const char *place, struct intake *intake,
                       const struct bundle *bundle, char **folder, bool *is_mended,
                       struct error *err) {
    *folder = folder_of(place, bundle->id);
    if (is_mended) *is_mended = false;
    lathe_status status = *folder ? shelf_check(*folder, NULL, err)
                                  : fail(err, LATHE_ENOMEM, "out of memory");
    if (status == LATHE_EDATA) {
        status = shelf_remove(place, bundle->id, err);
        if (!status) status = LATHE_ENOTFOUND;
        if (is_mended) *is_mended = status == LATHE_ENOTFOUND;
    }
    if (status == LATHE_ENOTFOUND)
        status = unpack_to(place, *folder, intake, bundle, err);
    if (!status) {
        if (err) *err = (struct error){0};
        note_use(*folder);
        return LATHE_OK;
    }
    free(*folder);
    *folder = NULL;
    return status;
}

lathe_status shelf_unpack(const char *folder, struct intake *intake,
                          const struct bundle *bundle, struct error *err) {
    static const mode_t usual[] = {0644, 0755};
    char *path = path_absolute(folder), *parent = path ? path_directory(path) : NULL;
    struct filling filling = {.aside = ASIDE_NONE, .tree = {.fd = -1}};
    lathe_status status = parent ? LATHE_OK : fail(err, LATHE_ENOMEM, "out of memory");
    if (!status && access(parent, F_OK)) status = path_make_directories(parent, err);
    if (!status) status = fill(&filling, parent, intake, bundle, usual, err);
    if (!status && rename(filling.aside.path, path)) {
        status = fail(err, LATHE_ECREATE, "cannot unpack to \"%.400s\": %s", path,
                      strerror(errno));
        if (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR)
            error_help(err, "name a folder that is not there yet: -o DIR");
    } else if (!status) {
        aside_keep(&filling.aside);
    }
    close_filling(&filling);
    free(parent);
    free(path);
    return status;
}

/* ---- keeping house ---- */

/* A folder can be moved once it can be written to; anything else that has the name of a
 * bundle, such as a link, goes as it is. */
static bool move_into(int aside, const char *folder) {
    struct stat info;
    return !lstat(folder, &info) &&
           (!S_ISDIR(info.st_mode) || !fchmodat(AT_FDCWD, folder, 0700, 0)) &&
           !renameat(AT_FDCWD, folder, aside, "old");
}

lathe_status shelf_remove(const char *place, const char *id, struct error *err) {
    char *folder = folder_of(place, id);
    struct aside aside = ASIDE_NONE;
    lathe_status status = folder ? aside_open(place, SHELF_ASIDE, &aside, err)
                                 : fail(err, LATHE_ENOMEM, "out of memory");
    /* It has another name before the first of its files goes. */
    if (!status && !move_into(aside.folder, folder))
        status = fail(err, error_from_errno(errno), "cannot remove \"%.400s\": %s",
                      folder, strerror(errno));
    aside_close(&aside);
    free(folder);
    return status;
}

int shelf_sweep(const char *place) {
    return aside_sweep(place, SHELF_ASIDE);
}
