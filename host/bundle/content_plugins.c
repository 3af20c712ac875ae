/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "bundle/content_parts.h"
#include "facts.h"

struct plugins {
    const struct bundle *bundle;
    const char *folder;
    const struct registry *registry;
    struct errors *faults;
};

__attribute__((format(printf, 4, 5))) static void add_fault(const struct plugins *p,
                                                            lathe_status status,
                                                            const char *where,
                                                            const char *format, ...) {
    struct error *err = errors_add(p->faults);
    va_list arguments;
    va_start(arguments, format);
    fail_list(err, status, format, arguments);
    va_end(arguments);
    error_where(err, "%s", where);
}

/* ---- the manifest ---- */

static bool is_inside(const struct plugins *p, const char *path) {
    return !strncmp(path, p->folder, strlen(p->folder));
}

/* Does the entry belong to this library? Where its manifest does not even say which one
 * it is of: is it in the library's folder? */
static bool is_of(const struct registry_entry *entry, const char *library) {
    char *folder = path_directory(library), *own = path_directory(entry->path);
    const char *named = entry->manifest ? entry->manifest->library_path : NULL;
    const bool is_it = named && *named ? !strcmp(named, library)
                                       : folder && own && !strcmp(folder, own);
    free(folder);
    free(own);
    return is_it;
}

static const struct registry_entry *find_entry(const struct plugins *p,
                                               const char *library) {
    for (size_t i = 0; i < registry_count(p->registry); i++) {
        const struct registry_entry *entry = registry_at(p->registry, i);
        if (entry->path && is_inside(p, entry->path) && is_of(entry, library))
            return entry;
    }
    return NULL;
}

static void check_names(const struct plugins *p, const struct bundle_plugin *plugin,
                        const struct manifest *manifest) {
    const char *kind = manifest_kind_name(manifest->kind);
    if (strcmp(kind, plugin->kind) != 0 || strcmp(manifest->name, plugin->name) != 0 ||
        strcmp(manifest->version, plugin->version) != 0)
        add_fault(p, LATHE_EDATA, plugin->library,
                  "bundle.json calls it %.30s/%.80s %.30s, and its manifest "
                  "%.30s/%.80s %.30s",
                  plugin->kind, plugin->name, plugin->version, kind, manifest->name,
                  manifest->version);
}

/* ---- the library ---- */

/* machine_check goes by what bundle.json says that all plugins need together. */
static void check_needs(const struct plugins *p, const struct bundle_plugin *plugin,
                        const struct facts *facts) {
    const struct bundle *bundle = p->bundle;
    if (facts->needs > bundle->abi_needs)
        add_fault(p, LATHE_EDATA, plugin->library,
                  "it needs ABI 1.%u, and bundle.json says 1.%u", facts->needs,
                  bundle->abi_needs);
    if (facts->glibc[0] > bundle->glibc[0] ||
        (facts->glibc[0] == bundle->glibc[0] && facts->glibc[1] > bundle->glibc[1]))
        add_fault(p, LATHE_EDATA, plugin->library,
                  "it needs glibc %u.%u, and bundle.json says %u.%u", facts->glibc[0],
                  facts->glibc[1], bundle->glibc[0], bundle->glibc[1]);
    for (const char **needed = facts->object.needed; needed && *needed; needed++)
        if (!json_holds(bundle->libraries, *needed))
            add_fault(p, LATHE_EDATA, plugin->library,
                      "it needs %.200s, which bundle.json does not list", *needed);
}

static void check_library(const struct plugins *p, const struct bundle_plugin *plugin,
                          const char *path) {
    struct facts facts;
    struct error err = {0};
    const lathe_status status = facts_read(path, &facts, &err);
    if (status == LATHE_ENOMEM)
        add_fault(p, status, plugin->library, "%s", err.what);
    else if (status || !facts.has_entry)
        add_fault(p, LATHE_EMISSING, plugin->library, "it is no plugin of ABI 1");
    else
        check_needs(p, plugin, &facts);
    facts_finish(&facts);
}

/* ---- all ---- */

static void check_plugin(const struct plugins *p, const struct bundle_plugin *plugin) {
    char *path = path_join(p->folder, plugin->library);
    const struct registry_entry *entry = path ? find_entry(p, path) : NULL;
    if (!path) {
        add_fault(p, LATHE_ENOMEM, plugin->library, "out of memory");
    } else if (!entry) {
        add_fault(p, LATHE_EDATA, plugin->library,
                  "the bundle has no manifest of %.80s/%.80s", plugin->kind,
                  plugin->name);
    } else if (entry->status != REGISTRY_OK) {
        *errors_add(p->faults) = entry->reason;
    } else {
        check_names(p, plugin, entry->manifest);
        check_library(p, plugin, path);
    }
    free(path);
}

static bool is_named(const struct plugins *p, const struct registry_entry *entry) {
    for (size_t i = 0; i < p->bundle->plugin_count; i++) {
        char *path = path_join(p->folder, p->bundle->plugins[i].library);
        const bool is_it = path && is_of(entry, path);
        free(path);
        if (is_it) return true;
    }
    return false;
}

void content_check_plugins(const struct bundle *bundle, const char *folder,
                           const struct registry *registry, struct errors *faults) {
    const struct plugins p = {bundle, folder, registry, faults};
    for (size_t i = 0; i < bundle->plugin_count; i++)
        check_plugin(&p, &bundle->plugins[i]);
    for (size_t i = 0; i < registry_count(registry); i++) {
        const struct registry_entry *entry = registry_at(registry, i);
        if (entry->path && is_inside(&p, entry->path) && !is_named(&p, entry))
            add_fault(&p, LATHE_EDATA, entry->path,
                      "it is a plugin that bundle.json does not name");
    }
}
