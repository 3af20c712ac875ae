/* SPDX-License-Identifier: MIT */
/* How the loader finds things: a name of an object opened RTLD_LOCAL is looked for in
 * the program and what came with it, then in the object, then in what it needs. A
 * library that somebody needs is not looked for when one of that name is loaded. */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "dylib_parts.h"

#define DEPTH_MAX 8 /* of libraries that are needed by libraries */
#define CACHE_MAX (1 << 26)

static const char hide_help[] =
    "hide it: make it static, or link with a version script as the SDK does";

/* ---- names ---- */

/* Every library has them, and nobody looks for them. */
static bool is_common(const char *name) {
    static const char *const names[] = {"_init",       "_fini",          "_edata",
                                        "__bss_start", "_end",           "__data_start",
                                        "_start",      "lathe_plugin_v1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

/* What C++ headers make of the standard library in whoever uses them (mangled std:: and
 * __gnu_cxx::): the same everywhere, and meant to be one. */
static bool is_standard(const struct elf_export *export) {
    const char *name = export->name;
    if ((!export->is_weak && !export->is_unique) || strncmp(name, "_Z", 2) != 0)
        return false;
    name += 2;
    while (*name && strchr("NKZGTVI", *name)) name++;
    if (*name == 'S' && name[1] == 'S') name++; /* _ZTSSt…: the name of a type */
    return (*name == 'S' && name[1] && strchr("tabsiod", name[1])) ||
           strncmp(name, "9__gnu_cxx", 10) == 0;
}

static lathe_status check_name(const struct elf_export *export, struct error *err) {
    const char *name = export->name;
    if (export->is_unique)
        fail(err, LATHE_EMISSING,
             "it exports \"%s\" as unique in the process: the first library with that "
             "name would have its own used by all",
             name);
    else if (dlsym(RTLD_DEFAULT, name))
        fail(err, LATHE_EMISSING,
             "it exports \"%s\", which this program has too: the program's would be "
             "used in its place",
             name);
    else
        return LATHE_OK;
    error_help(err, "%s", hide_help);
    return LATHE_EMISSING;
}

lathe_status dylib_check_needed(const struct elf_object *object, struct error *err) {
    lathe_status status = LATHE_OK;
    for (const char **needed = object->needed; *needed && !status; needed++) {
        void *handle = dlopen(*needed, RTLD_LAZY | RTLD_NOLOAD);
        for (size_t i = 0; handle && !status && i < object->export_count; i++) {
            const struct elf_export *export = &object->exports[i];
            if (is_common(export->name) || is_standard(export) ||
                !dlsym(handle, export->name))
                continue;
            status = fail(err, LATHE_EMISSING,
                          "it exports \"%s\", which %s has too: that library would use "
                          "it, for other plugins as well",
                          export->name, *needed);
            error_help(err, "%s", hide_help);
        }
        if (handle) dlclose(handle);
    }
    return status;
}

/* ---- libraries ---- */

/* The file called `name` in the places that the object or the environment names, in the
 * loader's order; the caller's; NULL: in none of them. */
static char *find_wanted(const struct elf_object *object, const char *name) {
    const char *given = secure_getenv("LD_LIBRARY_PATH");
    char *list = object->is_searched_last
                     ? text_make("%s:%s", given ? given : "", object->search)
                     : text_make("%s:%s", object->search, given ? given : "");
    char *rest = list, *found = NULL;
    for (char *place; !found && rest && (place = strsep(&rest, ":;"));) {
        char *path = place[0] == '/' ? path_join(place, name) : NULL;
        if (path && access(path, R_OK) == 0)
            found = path;
        else
            free(path);
    }
    free(list);
    return found;
}

static bool is_same(const char *a, const char *b) {
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && file_is_same(&one, &other);
}

/* Is the file in a place where the loader looks for everybody? */
static bool is_in_default_place(const char *path) {
    Dl_serinfo size, *places = NULL;
    void *program = dlopen(NULL, RTLD_LAZY);
    char *folder = path_directory(path);
    bool is = false;
    if (folder && program && dlinfo(program, RTLD_DI_SERINFOSIZE, &size) == 0)
        places = malloc(size.dls_size);
    if (places && dlinfo(program, RTLD_DI_SERINFOSIZE, places) == 0 &&
        dlinfo(program, RTLD_DI_SERINFO, places) == 0)
        for (unsigned i = 0; i < places->dls_cnt && !is; i++)
            is = is_same(folder, places->dls_serpath[i].dls_name);
    if (program) dlclose(program);
    free(places);
    free(folder);
    return is;
}

/* Is the file in the loader's cache, which has its paths as plain strings? */
static bool is_in_cache(const char *path) {
    char *cache = NULL;
    size_t length = 0;
    if (file_read("/etc/ld.so.cache", CACHE_MAX, &cache, &length, NULL)) return false;
    const bool is = memmem(cache, length, path, strlen(path) + 1) != NULL;
    free(cache);
    return is;
}

/* Would the object have got this file, had no other been loaded before it? The loader
 * itself comes from where the program says. */
static bool is_right(const struct link_map *loaded, const char *wanted) {
    const char *path = loaded->l_name;
    if (wanted) /* or its variant for this processor */
        return is_same(path, wanted) || strstr(path, "/glibc-hwcaps/");
    return loaded->l_addr == getauxval(AT_BASE) || is_in_default_place(path) ||
           is_in_cache(path);
}

static lathe_status check_libraries(const struct elf_object *object, int depth,
                                    struct error *err);

static lathe_status check_file(const char *path, int depth, struct error *err) {
    struct elf_object object = {0};
    int fd = -1;
    int64_t size = 0;
    if (file_open(path, &fd, &size, NULL)) return LATHE_OK; /* the loader will tell */
    lathe_status status = LATHE_OK;
    if (elf_object_read(fd, size, false, &object, NULL) == LATHE_OK)
        status = check_libraries(&object, depth, err);
    elf_object_finish(&object);
    close(fd);
    return status;
}

static lathe_status check_libraries(const struct elf_object *object, int depth,
                                    struct error *err) {
    lathe_status status = LATHE_OK;
    for (const char **needed = object->needed; *needed && !status; needed++) {
        if (strchr(*needed, '/')) continue;
        struct link_map *map = NULL;
        char *wanted = find_wanted(object, *needed);
        void *handle = dlopen(*needed, RTLD_LAZY | RTLD_NOLOAD);
        if (!handle && wanted && depth < DEPTH_MAX)
            status = check_file(wanted, depth + 1, err);
        if (handle && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 &&
            !is_right(map, wanted)) {
            status =
                fail(err, LATHE_EMISSING,
                     "it needs \"%s\"%s%s, and another library of that name is "
                     "loaded already: %s",
                     *needed, wanted ? " as " : "", wanted ? wanted : "", map->l_name);
            error_help(err, "link one of the two statically, or give it another name");
        }
        if (handle) dlclose(handle);
        free(wanted);
    }
    return status;
}

lathe_status dylib_check_neighbours(const struct elf_object *object,
                                    struct error *err) {
    for (size_t i = 0; !object->is_symbolic && i < object->export_count; i++) {
        const struct elf_export *export = &object->exports[i];
        if (is_common(export->name) || is_standard(export)) continue;
        if (check_name(export, err)) return LATHE_EMISSING;
    }
    return check_libraries(object, 0, err);
}
