/* SPDX-License-Identifier: MIT */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/text.h"

#define WATCHED_MAX 64 /* files that are kept open to see how long they are */

struct data_file {
    char *path; /* as it was first asked for */
    dev_t device;
    ino_t inode;
    void *bytes; /* NULL: only noted so far */
    int64_t count, mapped;
    int fd; /* of a plain file that is mapped, to see how long it is; -1 */
    _Atomic(bool) is_mended;
};

struct files {
    struct data_file *items;
    size_t count, open_count;
};

lathe_status files_create(struct files **files, struct error *err) {
    struct files *created = calloc(1, sizeof *created);
    if (!created) return fail(err, LATHE_ENOMEM, "out of memory");
    *files = created;
    return LATHE_OK;
}

static struct data_file *find_file(struct files *files, const struct stat *info) {
    for (size_t i = 0; i < files->count; i++) {
        struct data_file *file = &files->items[i];
        if (file->device == info->st_dev && file->inode == info->st_ino) return file;
    }
    return NULL;
}

static struct data_file *add_file(struct files *files, const char *path,
                                  const struct stat *info) {
    struct data_file *items = grow(files->items, files->count, sizeof *items);
    if (!items) return NULL;
    files->items = items;
    char *copy = text_copy(path);
    if (!copy) return NULL;
    struct data_file *file = &files->items[files->count++];
    *file = (struct data_file){
        .path = copy, .device = info->st_dev, .inode = info->st_ino, .fd = -1};
    return file;
}

/* The entry of an open file, made where it is a new one; NULL: *status says why not. */
static struct data_file *enter_file(struct files *files, int fd, const char *path,
                                    lathe_status *status, struct error *err) {
    struct stat info;
    if (fstat(fd, &info)) {
        *status = fail(err, LATHE_EIO, "%s: cannot be read: %s", path, strerror(errno));
        return NULL;
    }
    struct data_file *file = find_file(files, &info);
    if (!file) file = add_file(files, path, &info);
    if (!file) *status = fail(err, LATHE_ENOMEM, "%s: out of memory", path);
    return file;
}

/* Touching every page now spares the steps their page faults; a file that would fill
 * the memory is left to be read as it is used. */
static void touch_pages(void *bytes, size_t count) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && count / (size_t)page > (size_t)pages / 4) return;
    madvise(bytes, count, MADV_POPULATE_READ);
}

static lathe_status map_plain(struct data_file *file, int fd, int64_t size,
                              const char *path, struct error *err) {
    /* An empty file has no pages: one of zeros stands for it. */
    size_t length = size > 0 ? (size_t)size : 1;
    int flags = size > 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    void *bytes = mmap(NULL, length, PROT_READ, flags, size > 0 ? fd : -1, 0);
    if (bytes == MAP_FAILED)
        return fail(err, errno == ENOMEM ? LATHE_ENOMEM : LATHE_EIO,
                    "%s: cannot be mapped: %s", path, strerror(errno));
    touch_pages(bytes, length);
    file->bytes = bytes;
    file->count = size;
    file->mapped = (int64_t)length;
    return LATHE_OK;
}

static lathe_status fill_file(struct data_file *file, int fd, int64_t size,
                              const char *path, struct error *err) {
    unsigned char head[4];
    ssize_t got = pread(fd, head, sizeof head, 0);
    if (got < 0)
        return fail(err, LATHE_EIO, "%s: cannot be read: %s", path, strerror(errno));
    if (!archive_is_compressed(head, (size_t)got))
        return map_plain(file, fd, size, path, err);
    lathe_status status =
        archive_inflate(fd, path, &file->bytes, &file->count, &file->mapped, err);
    if (status == LATHE_OK) mprotect(file->bytes, (size_t)file->mapped, PROT_READ);
    return status;
}

/* What was inflated is memory of our own. */
static void watch(struct files *files, struct data_file *file, int fd, int64_t size) {
    if (size == 0 || file->count != size || files->open_count == WATCHED_MAX) return;
    file->fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (file->fd >= 0) files->open_count++;
}

static bool is_shorter(const struct data_file *file) {
    struct stat info;
    if (file->is_mended) return true;
    return file->fd >= 0 && !fstat(file->fd, &info) && info.st_size < file->count;
}

lathe_status files_check(const struct files *files, struct error *err) {
    for (size_t i = 0; i < files->count; i++)
        if (is_shorter(&files->items[i]))
            return fail(err, LATHE_EDATA,
                        "%.300s has become shorter than the %lld bytes that it had",
                        files->items[i].path, (long long)files->items[i].count);
    return LATHE_OK;
}

bool files_mend(struct files *files, const void *address) {
    const int number = errno;
    const uintptr_t at = (uintptr_t)address, page = (uintptr_t)getpagesize();
    bool is_mended = false;
    for (size_t i = 0; files && i < files->count && !is_mended; i++) {
        struct data_file *file = &files->items[i];
        const uintptr_t begin = (uintptr_t)file->bytes;
        if (!begin || at < begin || at >= begin + (uintptr_t)file->mapped) continue;
        const uintptr_t from = at - at % page;
        file->is_mended = true;
        is_mended =
            mmap((void *)from, begin + (uintptr_t)file->mapped - from, PROT_READ,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
    }
    errno = number;
    return is_mended;
}

lathe_status files_map(struct files *files, const char *path, const void **bytes,
                       int64_t *count, struct error *err) {
    int fd;
    int64_t size;
    lathe_status status = file_open(path, &fd, &size, err);
    if (status) return status;
    struct data_file *file = enter_file(files, fd, path, &status, err);
    if (file && !file->bytes) {
        status = fill_file(file, fd, size, path, err);
        if (!status) watch(files, file, fd, size);
    }
    close(fd);
    if (!file || status) return status;
    *bytes = file->bytes;
    *count = file->count;
    return LATHE_OK;
}

lathe_status files_note(struct files *files, const char *path, struct error *err) {
    int fd;
    lathe_status status = file_open(path, &fd, NULL, err);
    if (status) return status;
    enter_file(files, fd, path, &status, err);
    close(fd);
    return status;
}

const char *files_path(const struct files *files, size_t index) {
    return index < files->count ? files->items[index].path : NULL;
}

void files_destroy(struct files *files) {
    if (!files) return;
    for (size_t i = 0; i < files->count; i++) {
        struct data_file *file = &files->items[i];
        if (file->fd >= 0) close(file->fd);
        if (file->bytes) munmap(file->bytes, (size_t)file->mapped);
        free(file->path);
    }
    free(files->items);
    free(files);
}
