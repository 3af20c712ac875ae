/* SPDX-License-Identifier: MIT */
#include "dylib.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/elf.h"
#include "base/file.h"
#include "base/path.h"
#include "base/trust.h"
#include "dylib_parts.h"

#define NOTE_OWNER "lathe"
#define NOTE_MANIFEST 1

struct dylib {
    void *handle;
};

static void say_where(const char *path, struct error *err) {
    if (!err || err->where[0] != '\0') return;
    char *shown = trust_show(path);
    error_where(err, "%s", shown ? shown : path);
    free(shown);
}

/* The checked file, open, for the caller to close. */
static lathe_status open_checked(const char *path, int *fd, int64_t *size,
                                 struct error *err) {
    lathe_status status = file_open(path, fd, size, err);
    if (status != LATHE_OK) return status;
    status = trust_check(*fd, path, err);
    if (status == LATHE_OK) status = elf_check(*fd, *size, err);
    if (status == LATHE_OK) return LATHE_OK;
    close(*fd);
    *fd = -1;
    return status;
}

lathe_status dylib_file(const char *path, int *fd, int64_t *size, struct error *err) {
    lathe_status status = open_checked(path, fd, size, err);
    if (status != LATHE_OK) say_where(path, err);
    return status;
}

lathe_status dylib_manifest(const char *path, char **text, size_t *length,
                            struct error *err) {
    int fd = -1;
    int64_t size = 0;
    *text = NULL;
    lathe_status status = dylib_file(path, &fd, &size, err);
    if (status != LATHE_OK) return status;
    status = elf_note(fd, size, NOTE_OWNER, NOTE_MANIFEST, text, length, err);
    close(fd);
    if (status != LATHE_OK) say_where(path, err);
    return status;
}

lathe_status dylib_check(const char *path, struct error *err) {
    int fd = -1;
    int64_t size = 0;
    lathe_status status = dylib_file(path, &fd, &size, err);
    if (status == LATHE_OK) close(fd);
    return status;
}

/* dlerror's text can be had once, and begins with the path that where has already. */
static lathe_status tell_loader_error(const char *path, struct error *err) {
    const char *text = dlerror();
    if (!text) text = "the loader gives no reason";
    size_t length = strlen(path);
    if (strncmp(text, path, length) == 0 && strncmp(text + length, ": ", 2) == 0)
        text += length + 2;
    if (strstr(text, "failed to map segment") ||
        strstr(text, "cannot allocate memory") ||
        strstr(text, "Cannot allocate memory"))
        return fail(err, LATHE_ENOMEM, "no memory to load it: %s", text);
    if (strstr(text, "Too many open files"))
        return fail(err, LATHE_ENOMEM, "no descriptor to load it: %s", text);
    fail(err, LATHE_EMISSING, "it cannot be loaded: %s", text);
    if (strstr(text, "cannot open shared object file"))
        error_help(err, "install that library, or link the plugin without it");
    else if (strstr(text, "undefined symbol"))
        error_help(err, "link the plugin with -Wl,-z,defs: it names what is missing");
    return LATHE_EMISSING;
}

/* The loader opened the path for itself: was it still the file that was checked? */
static bool is_same_file(const struct stat *before, const char *path) {
    struct stat now;
    return stat(path, &now) == 0 && file_is_same(&now, before) &&
           now.st_size == before->st_size &&
           now.st_mtim.tv_sec == before->st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == before->st_mtim.tv_nsec;
}

/* The file that was checked, open, opened once more by the loader. */
static lathe_status load(const char *path, int fd, const struct elf_object *object,
                         void **handle, struct error *err) {
    struct stat checked;
    if (fstat(fd, &checked) != 0) return fail(err, LATHE_EIO, "%s", strerror(errno));
    lathe_status status = dylib_check_neighbours(object, err);
    if (status != LATHE_OK) return status;
    dlerror();
    /* NODELETE: a leak in a plugin can then be told by name, and a pointer into one
     * that outlives its handle is never a crash. */
    *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!*handle) return tell_loader_error(path, err);
    if (!is_same_file(&checked, path))
        return fail(err, LATHE_EMISSING, "it was changed while it was being loaded");
    return dylib_check_needed(object, err);
}

static lathe_status check_and_load(const char *path, void **handle, struct error *err) {
    int fd = -1;
    int64_t size = 0;
    struct elf_object object = {0};
    lathe_status status = open_checked(path, &fd, &size, err);
    if (status != LATHE_OK) return status;
    status = elf_object_read(fd, size, true, &object, err);
    if (status == LATHE_OK) status = load(path, fd, &object, handle, err);
    elf_object_finish(&object);
    close(fd);
    return status;
}

lathe_status dylib_open(const char *path, struct dylib **library, struct error *err) {
    /* A bare name would be looked for in the system's directories. */
    char *absolute = path_absolute(path);
    struct dylib *opened = malloc(sizeof *opened);
    lathe_status status = LATHE_OK;
    if (!absolute || !opened)
        status = fail(err, LATHE_ENOMEM, "out of memory");
    else
        status = check_and_load(absolute, &opened->handle, err);
    if (status == LATHE_OK) {
        *library = opened;
    } else {
        say_where(path, err);
        free(opened);
    }
    free(absolute);
    return status;
}

const void *dylib_symbol(const struct dylib *library, const char *name) {
    struct link_map *own = NULL, *owner = NULL;
    Dl_info info;
    void *symbol = dlsym(library->handle, name);
    if (!symbol) return NULL;
    if (dlinfo(library->handle, RTLD_DI_LINKMAP, &own) != 0) return NULL;
    if (dladdr1(symbol, &info, (void **)&owner, RTLD_DL_LINKMAP) == 0) return NULL;
    return own == owner ? symbol : NULL;
}

void (*dylib_function(const struct dylib *library, const char *name))(void) {
    /* POSIX promises that this conversion works; ISO C has no cast for it. */
    void *symbol = dlsym(library->handle, name);
    void (*function)(void) = NULL;
    memcpy(&function, &symbol, sizeof symbol);
    return function;
}

void dylib_close(struct dylib *library) {
    free(library);
}
