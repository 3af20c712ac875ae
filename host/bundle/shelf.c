/* SPDX-License-Identifier: MIT */
#include "bundle/shelf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "base/trust.h"
#include "bundle/tree.h"

#define STAGING_PREFIX ".unpack-"

lathe_status shelf_place(const char *given, char **place, struct error *err) {
    char *data = given ? NULL : path_xdg("data");
    if (!given && !data) {
        fail(err, LATHE_ENOTFOUND, "there is no data directory without HOME");
        error_help(err, "say where bundles are unpacked: --store DIR");
        return LATHE_ENOTFOUND;
    }
    *place = given ? path_absolute(given) : path_join(data, "lathe/bundles");
    free(data);
    return *place ? LATHE_OK : path_fail(err);
}

/* ---- unpacking ---- */

/* What is unpacked, before it has its name. */
struct unpacking {
    struct staging staging;
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

/* The modes of files and of folders that somebody makes there: umask() tells the mask
 * only by changing it. */
static lathe_status learn_modes(int folder, const char *place, mode_t modes[2],
                                struct error *err) {
    static const char name[] = "modes";
    struct stat info;
    if (mkdirat(folder, name, 0777) ||
        fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) ||
        unlinkat(folder, name, AT_REMOVEDIR))
        return fail_create(place, err);
    modes[1] = info.st_mode & (S_ISGID | 0777);
    modes[0] = info.st_mode & 0666;
    return LATHE_OK;
}

/* Writes the whole bundle to the disk. `place` is what messages name; read-only, or as
 * the user's other files. */
static lathe_status fill(struct unpacking *unpacking, const char *place,
                         struct intake *intake, const struct bundle *bundle,
                         bool is_read_only, struct error *err) {
    size_t json_count, signature_count;
    const char *json = intake_text(intake, &json_count);
    const char *signature = intake_signature(intake, &signature_count);
    struct tree *tree = &unpacking->tree;
    mode_t modes[] = {0444, 0555};
    const struct intake_sink sink = tree_sink(tree);
    shelf_sweep(place);
    lathe_status status = staging_open(place, STAGING_PREFIX, &unpacking->staging, err);
    if (!status)
        status = staging_check_room(&unpacking->staging, place, bundle->total, err);
    if (!status && !is_read_only)
        status = learn_modes(unpacking->staging.folder, place, modes, err);
    *tree = (struct tree){&unpacking->staging, place, modes[0], -1, 0};
    if (status) return status;
    status = intake_files(intake, &sink, err);
    if (!status) status = tree_write(tree, BUNDLE_JSON, json, json_count, err);
    if (!status && signature_count)
        status = tree_write(tree, BUNDLE_SIGNATURE, signature, signature_count, err);
    return status ? status : tree_seal(unpacking->staging.folder, modes[1], err);
}

static void close_unpacking(struct unpacking *unpacking) {
    tree_end(&unpacking->tree);
    staging_close(&unpacking->staging);
}

static void sync_place(const char *place) {
    const int fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

/* ---- putting ---- */

/* If another process has unpacked the same meanwhile, its folder stays. */
static lathe_status give_name(struct staging *staging, const char *place,
                              const char *folder, struct error *err) {
    if (rename(staging->path, folder) == 0) {
        staging_keep(staging);
        sync_place(place);
        return LATHE_OK;
    }
    if (errno == EEXIST || errno == ENOTEMPTY) return shelf_check(folder, NULL, err);
    return fail_create(place, err);
}

static lathe_status unpack_to(const char *place, const char *folder,
                              struct intake *intake, const struct bundle *bundle,
                              struct error *err) {
    struct unpacking unpacking = {.staging = STAGING_NONE, .tree = {.fd = -1}};
    lathe_status status = make_place(place, err);
    if (!status) status = fill(&unpacking, place, intake, bundle, true, err);
    if (!status) status = give_name(&unpacking.staging, place, folder, err);
    close_unpacking(&unpacking);
    if (status == LATHE_EPERM && err && !err->help[0])
        error_help(err, "unpack elsewhere: --store DIR");
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

lathe_status shelf_hold(const char *folder, int *hold, struct error *err) {
    struct stat held, named;
    *hold = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*hold < 0)
        return fail(err, error_from_errno(errno), "cannot open \"%.400s\": %s", folder,
                    strerror(errno));
    while (flock(*hold, LOCK_SH) && errno == EINTR)
        continue; /* or there are no locks */
    if (!fstat(*hold, &held) && !lstat(folder, &named) && file_is_same(&held, &named))
        return LATHE_OK;
    close(*hold);
    *hold = -1;
    fail(err, LATHE_ENOTFOUND, "\"%.400s\" was removed by another process", folder);
    error_help(err, "do that again, and it is unpacked anew");
    return LATHE_ENOTFOUND;
}

/* One that was changed goes, also where somebody holds it. */
static lathe_status check_there(const char *place, const char *id, const char *folder,
                                int *hold, bool *is_mended, struct error *err) {
    if (hold) shelf_hold(folder, hold, NULL);
    lathe_status status = shelf_check(folder, NULL, err);
    if (!status) return LATHE_OK;
    if (hold && *hold >= 0) close(*hold);
    if (hold) *hold = -1;
    if (status != LATHE_EDATA) return status;
    status = shelf_remove(place, id, NULL, err);
    if (is_mended) *is_mended = !status;
    return status ? status : LATHE_ENOTFOUND;
}

lathe_status shelf_put(const char *place, struct intake *intake,
                       const struct bundle *bundle, char **folder, int *hold,
                       bool *is_mended, struct error *err) {
    *folder = folder_of(place, bundle->id);
    if (is_mended) *is_mended = false;
    lathe_status status =
        *folder ? check_there(place, bundle->id, *folder, hold, is_mended, err)
                : fail(err, LATHE_ENOMEM, "out of memory");
    if (status == LATHE_ENOTFOUND)
        status = unpack_to(place, *folder, intake, bundle, err);
    if (!status && hold && *hold < 0) status = shelf_hold(*folder, hold, err);
    if (!status) {
        if (err) *err = (struct error){0};
        note_use(*folder);
        return LATHE_OK;
    }
    free(*folder);
    *folder = NULL;
    return status;
}

/* ---- to look at ---- */

static lathe_status fail_unpack(const char *path, int number, struct error *err) {
    fail(err, error_from_create(number), "cannot unpack to \"%.400s\": %s", path,
         strerror(number));
    if (number == EEXIST || number == ENOTEMPTY || number == ENOTDIR)
        error_help(err, "name a folder that is not there yet, or empty: -o DIR");
    return err ? err->status : error_from_create(number);
}

/* Moves all but `skipped` from one folder to another, bundle.json last: where that is,
 * all is. Returns errno. */
static int move_all(int from, int to, const char *skipped) {
    const int own = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = own < 0 ? NULL : fdopendir(own);
    int number = listing ? 0 : errno;
    if (own >= 0 && !listing) close(own);
    for (const struct dirent *item; listing && !number && (item = readdir(listing));) {
        const char *name = item->d_name;
        if (!strcmp(name, ".") || !strcmp(name, "..") || !strcmp(name, skipped) ||
            !strcmp(name, BUNDLE_JSON))
            continue;
        if (renameat(from, name, to, name)) number = errno;
    }
    if (listing) closedir(listing);
    if (!number && renameat(from, BUNDLE_JSON, to, BUNDLE_JSON)) number = errno;
    return number;
}

static bool is_empty(const char *path) {
    DIR *listing = opendir(path);
    bool is_so = listing;
    for (const struct dirent *item; is_so && (item = readdir(listing));)
        is_so = !strcmp(item->d_name, ".") || !strcmp(item->d_name, "..");
    if (listing) closedir(listing);
    return is_so;
}

/* The folder stays the one that it is, such as the working directory, and is filled in
 * a few steps. */
static lathe_status unpack_into(const char *path, struct intake *intake,
                                const struct bundle *bundle,
                                struct unpacking *unpacking, struct error *err) {
    shelf_sweep(path);
    if (!is_empty(path)) return fail_unpack(path, ENOTEMPTY, err);
    lathe_status status = fill(unpacking, path, intake, bundle, false, err);
    if (status) return status;
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int number =
        folder < 0 ? errno : move_all(unpacking->staging.folder, folder, "");
    if (folder >= 0 && number)
        move_all(folder, unpacking->staging.folder, path_name(unpacking->staging.path));
    if (folder >= 0) close(folder);
    return number ? fail_unpack(path, number, err) : LATHE_OK;
}

/* Can another folder take its place at once? Not where this process was started in it,
 * something is mounted there, or it or the one above is somebody else's. */
static bool is_replaceable(const char *path, const struct stat *info) {
    struct stat here, above;
    char *parent = path_directory(path);
    const bool is_so = parent && info->st_uid == geteuid() && !access(parent, W_OK) &&
                       !stat(parent, &above) && above.st_dev == info->st_dev &&
                       !stat(".", &here) && !file_is_same(&here, info);
    free(parent);
    return is_so;
}

/* `old`: the empty folder that is there; NULL: none. */
static lathe_status unpack_beside(const char *path, const struct stat *old,
                                  struct intake *intake, const struct bundle *bundle,
                                  struct unpacking *unpacking, struct error *err) {
    char *parent = path_directory(path);
    lathe_status status = parent ? LATHE_OK : fail(err, LATHE_ENOMEM, "out of memory");
    if (!status && access(parent, F_OK)) status = path_make_directories(parent, err);
    if (!status) status = fill(unpacking, parent, intake, bundle, false, err);
    if (!status && ((old && fchmod(unpacking->staging.folder, old->st_mode & 07777)) ||
                    rename(unpacking->staging.path, path)))
        status = fail_unpack(path, errno, err);
    else if (!status)
        staging_keep(&unpacking->staging);
    free(parent);
    return status;
}

lathe_status shelf_unpack(const char *folder, struct intake *intake,
                          const struct bundle *bundle, struct error *err) {
    struct unpacking unpacking = {.staging = STAGING_NONE, .tree = {.fd = -1}};
    struct stat info;
    char *real = realpath(folder, NULL), *path = real ? real : path_absolute(folder);
    const bool is_there = path && !lstat(path, &info);
    lathe_status status = LATHE_OK;
    if (!path)
        status = path_fail(err);
    else if (is_there && !S_ISDIR(info.st_mode))
        status = fail_unpack(path, ENOTDIR, err);
    else if (is_there && !is_replaceable(path, &info))
        status = unpack_into(path, intake, bundle, &unpacking, err);
    else if (is_there && !is_empty(path))
        status = fail_unpack(path, ENOTEMPTY, err);
    else
        status = unpack_beside(path, is_there ? &info : NULL, intake, bundle,
                               &unpacking, err);
    close_unpacking(&unpacking);
    free(path);
    return status;
}

/* ---- keeping house ---- */

/* A read-only folder cannot be moved. Anything else that has the name of a bundle, such
 * as a link, is moved as it is. */
static bool move_into(int staging, const char *folder) {
    struct stat info;
    return !lstat(folder, &info) &&
           (!S_ISDIR(info.st_mode) || !fchmodat(AT_FDCWD, folder, 0700, 0)) &&
           !renameat(AT_FDCWD, folder, staging, "old");
}

lathe_status shelf_remove(const char *place, const char *id, bool *is_held,
                          struct error *err) {
    char *folder = folder_of(place, id);
    struct staging staging = STAGING_NONE;
    lathe_status status = folder ? staging_open(place, STAGING_PREFIX, &staging, err)
                                 : fail(err, LATHE_ENOMEM, "out of memory");
    const int fd = is_held && !status
                       ? open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                       : -1;
    if (is_held)
        *is_held = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
    if (is_held && *is_held)
        status = fail(err, LATHE_EIO, "\"%.400s\" is in use", folder);
    /* It has another name before the first of its files goes. */
    if (!status && !move_into(staging.folder, folder))
        status = fail(err, error_from_errno(errno), "cannot remove \"%.400s\": %s",
                      folder, strerror(errno));
    if (fd >= 0) close(fd);
    staging_close(&staging);
    free(folder);
    return status;
}

int shelf_sweep(const char *place) {
    return staging_sweep(place, STAGING_PREFIX);
}
