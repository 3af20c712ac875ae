/* SPDX-License-Identifier: MIT */
#include "bundle/machine.h"

#include <gnu/libc-version.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"

#define CACHE_MAX ((size_t)64 << 20)

char *machine_name(void) {
    struct utsname name;
    return text_copy(uname(&name) ? "unknown" : name.machine);
}

/* ---- libraries ---- */

/* A folder is no library. */
static bool is_file(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, R_OK) == 0;
}

/* Where the loader looks, but for what it was told by ld.so.conf: that is in its
 * cache. */
static bool is_in_folder(const char *library) {
    static const char usual[] = "/lib:/usr/lib:/lib64:/usr/lib64:" LATHE_LIBDIR;
    const char *given = secure_getenv("LD_LIBRARY_PATH");
    char *list = text_make("%s:%s", given ? given : "", usual), *rest = list;
    bool is_found = false;
    for (char *place; !is_found && rest && (place = strsep(&rest, ":;"));) {
        char *path = *place == '/' ? path_join(place, library) : NULL;
        is_found = path && is_file(path);
        free(path);
    }
    free(list);
    return is_found;
}

/* The cache holds the paths of all libraries, each with a NUL before and behind it. */
static bool is_in_cache(const char *cache, size_t length, const char *library) {
    char *wanted = text_make("/%s", library);
    const size_t count = wanted ? strlen(wanted) + 1 : 0;
    const char *at = cache, *end = cache + length;
    bool is_found = false;
    while (wanted && !is_found &&
           (at = memmem(at, (size_t)(end - at), wanted, count))) {
        const char *path = at;
        while (path > cache && path[-1]) path--;
        is_found = is_file(path);
        at += count;
    }
    free(wanted);
    return is_found;
}

/* A path would name some other file of this machine. */
static bool is_found(const char *cache, size_t length, const char *library) {
    if (!*library || strchr(library, '/')) return false;
    return (cache && is_in_cache(cache, length, library)) || is_in_folder(library);
}

static void check_libraries(const struct bundle *bundle, struct errors *reasons) {
    char *cache = NULL;
    size_t length = 0;
    if (file_read("/etc/ld.so.cache", CACHE_MAX, &cache, &length, NULL)) cache = NULL;
    for (size_t i = 0; i < json_size(bundle->libraries); i++) {
        const char *library = json_text(json_at(bundle->libraries, i));
        if (is_found(cache, length, library)) continue;
        struct error *err = errors_add(reasons);
        fail(err, LATHE_EMISSING, "the library %s is not on this machine",
             *library ? library : "\"\"");
        error_help(err, "install the package that has it");
    }
    free(cache);
}

/* ---- the rest ---- */

static void check_glibc(const struct bundle *bundle, struct errors *reasons) {
    const char *found = gnu_get_libc_version();
    const unsigned *needs = bundle->glibc;
    unsigned has[2];
    if (!text_read_version(found, has) || needs[0] < has[0] ||
        (needs[0] == has[0] && needs[1] <= has[1]))
        return;
    fail(errors_add(reasons), LATHE_EMISSING,
         "its plugins need glibc %u.%u or newer, and this machine has %s", needs[0],
         needs[1], found);
}

void machine_check(const struct bundle *bundle, struct errors *reasons) {
    char *name = machine_name();
    if (name && strcmp(name, bundle->machine))
        fail(errors_add(reasons), LATHE_EMISSING,
             "its plugins are for %s, and this machine is %s", bundle->machine, name);
    free(name);
    if (bundle->abi_needs > LATHE_ABI_MINOR) {
        struct error *err = errors_add(reasons);
        fail(err, LATHE_EMISSING,
             "its plugins need ABI 1.%u, and this lathe has ABI 1.%u",
             bundle->abi_needs, LATHE_ABI_MINOR);
        error_help(err, "it was packed by lathe %s", bundle->lathe);
    }
    check_glibc(bundle, reasons);
    check_libraries(bundle, reasons);
}
