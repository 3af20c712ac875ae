/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive_tar.h"
#include "base/file.h"
#include "base/path.h"
#include "bundle/pack_parts.h"
#include "bundle/staging.h"

#define PIECE_BYTES ((size_t)1 << 20)

#define STAGING_PREFIX ".pack-"

struct writing {
    const struct staging *staging;
    struct archive_writer *writer;
    char *piece;
    struct error *err;
};

/* Hashing it again would take as long again; a file that was written to has another
 * time or size. */
static bool is_as_hashed(const struct stat *then, int fd) {
    struct stat now;
    return fstat(fd, &now) == 0 && file_is_same(&now, then) &&
           now.st_size == then->st_size && now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == then->st_mtim.tv_nsec &&
           now.st_ctim.tv_sec == then->st_ctim.tv_sec &&
           now.st_ctim.tv_nsec == then->st_ctim.tv_nsec;
}

static lathe_status copy(struct writing *w, int fd, int64_t size) {
    lathe_status status = LATHE_OK;
    for (int64_t at = 0; at < size && !status;) {
        const ssize_t got = pread(fd, w->piece, PIECE_BYTES, at);
        if (got < 0 && errno == EINTR) continue;
        if ((status = staging_check_signals(w->staging, w->err))) return status;
        if (got < 0) return fail(w->err, LATHE_EIO, "%s", strerror(errno));
        if (got == 0) return fail(w->err, LATHE_EDATA, "it has become shorter");
        const int64_t count = got < size - at ? got : size - at;
        status = archive_writer_add(w->writer, w->piece, (size_t)count, w->err);
        at += count;
    }
    return status;
}

static lathe_status add_source(struct writing *w, const struct pack_item *item) {
    int fd = -1;
    lathe_status status = file_open(item->source, &fd, NULL, w->err);
    if (status) return status;
    bool is_same = is_as_hashed(&item->as, fd);
    if (is_same) status = copy(w, fd, item->size);
    is_same = is_same && is_as_hashed(&item->as, fd);
    close(fd);
    if (!is_same)
        status = fail(w->err, LATHE_EDATA, "it was changed while it was packed");
    if (status == LATHE_EINVAL)
        error_help(w->err, "leave out what is so large: --with-data LIMIT");
    if (status) error_where(w->err, "%s", item->source);
    return status;
}

static lathe_status add_item(struct writing *w, const struct pack_item *item) {
    lathe_status status =
        archive_writer_begin(w->writer, item->path, item->size, w->err);
    if (status && item->source) error_where(w->err, "%s", item->source);
    if (status) return status;
    if (item->fd >= 0) return copy(w, item->fd, item->size);
    if (item->source) return add_source(w, item);
    return archive_writer_add(w->writer, item->text.data, item->text.length, w->err);
}

static lathe_status add_text(struct writing *w, const char *name, const char *text,
                             size_t count) {
    lathe_status status = archive_writer_begin(w->writer, name, (int64_t)count, w->err);
    return status ? status : archive_writer_add(w->writer, text, count, w->err);
}

static lathe_status write_all(struct writing *w, const struct pack *pack, int fd,
                              const char *path, const char *signature, size_t count) {
    lathe_status status = w->piece ? archive_writer_create(fd, path, &w->writer, w->err)
                                   : fail(w->err, LATHE_ENOMEM, "out of memory");
    if (!status) status = add_text(w, BUNDLE_JSON, pack->json.data, pack->json.length);
    if (!status && count) status = add_text(w, BUNDLE_SIGNATURE, signature, count);
    for (size_t i = 0; i < pack->item_count && !status; i++)
        if (!pack->items[i].is_outside) status = add_item(w, &pack->items[i]);
    return status ? status : archive_writer_finish(w->writer, w->err);
}

static lathe_status fail_create(const char *path, struct error *err) {
    return fail(err, error_from_create(errno), "cannot create \"%.400s\": %s", path,
                strerror(errno));
}

/* Writes a file in the staging directory, and then renames it to `path`. */
static lathe_status fill(const struct pack *pack, const struct staging *staging,
                         const char *path, const char *signature, size_t count,
                         struct error *err) {
    const char *name = path_name(path);
    const int fd = file_keep_clear(
        openat(staging->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (fd < 0) return fail_create(path, err);
    struct writing w = {.staging = staging, .piece = malloc(PIECE_BYTES), .err = err};
    lathe_status status = write_all(&w, pack, fd, path, signature, count);
    archive_writer_destroy(w.writer);
    free(w.piece);
    const bool is_synced = !status && fsync(fd) == 0;
    if ((close(fd) || !is_synced) && !status)
        status =
            fail(err, LATHE_EIO, "cannot write \"%.400s\": %s", path, strerror(errno));
    if (!status) status = staging_check_signals(staging, err);
    if (!status && renameat(staging->folder, name, AT_FDCWD, path))
        status = fail_create(path, err);
    return status;
}

static lathe_status replace(const struct pack *pack, const char *path,
                            const char *signature, size_t count, struct error *err) {
    struct staging staging = STAGING_NONE;
    struct text size = {0};
    char *folder = path_directory(path);
    if (folder) staging_sweep(folder, STAGING_PREFIX);
    lathe_status status = folder ? staging_open(folder, STAGING_PREFIX, &staging, err)
                                 : fail(err, LATHE_ENOMEM, "out of memory");
    if (status == LATHE_ECREATE) {
        error_where(err, "-o");
        error_help(err, "name a file in a folder that is there: -o NAME.lathe");
    }
    if (!status) status = fill(pack, &staging, path, signature, count, err);
    staging_close(&staging);
    bundle_add_size(pack->bundle.total, &size);
    if (status == LATHE_EIO && err && !err->help[0] && size.data)
        error_help(err,
                   "what is packed has %s before it is compressed; write where "
                   "there is room: -o FILE",
                   size.data);
    text_finish(&size);
    free(folder);
    return status;
}

lathe_status pack_write(const struct pack *pack, const char *path,
                        const char *signature, size_t count, struct error *err) {
    lathe_status status = pack_check_target(pack, path, err);
    if (status) return status;
    char *target = realpath(path, NULL);
    if (!target) target = text_copy(path);
    if (!target) return fail(err, LATHE_ENOMEM, "out of memory");
    status = replace(pack, target, signature, count, err);
    free(target);
    return status;
}
