/* SPDX-License-Identifier: MIT */
/* Finds the plugin that a word of the command line names. */
#include <string.h>

#include "base/nearest.h"
#include "registry_parts.h"

static bool has_name(const struct registry_entry *entry, uint32_t kind,
                     const char *name) {
    return entry->manifest && strcmp(entry->manifest->name, name) == 0 &&
           (kind == LATHE_KIND_NONE || entry->manifest->kind == kind);
}

static lathe_status tell_unknown(const struct registry *registry, uint32_t kind,
                                 const char *name, struct error *err) {
    const struct manifest *none;
    if (kind != LATHE_KIND_NONE) return registry_find(registry, kind, name, &none, err);
    struct nearest nearest;
    nearest_begin(&nearest, name);
    for (size_t i = 0; i < registry->entry_count; i++) {
        const struct manifest *manifest = registry->entries[i].manifest;
        if (manifest && manifest->name[0]) nearest_offer(&nearest, manifest->name);
    }
    fail(err, LATHE_EMISSING, "there is no plugin \"%s\"", name);
    if (nearest.best)
        error_help(err, "did you mean \"%s\"?", nearest.best);
    else
        error_help(err, "\"lathe plugins\" lists them");
    return LATHE_EMISSING;
}

static lathe_status tell_ambiguous(const struct registry_entry *a,
                                   const struct registry_entry *b, struct error *err) {
    const char *name = a->manifest->name, *kind = manifest_kind_name(a->manifest->kind),
               *other = manifest_kind_name(b->manifest->kind);
    fail(err, LATHE_EINVAL, "\"%s\" is the name of two plugins: %s and %s", name, kind,
         other);
    error_help(err, "write %s/%s or %s/%s", kind, name, other, name);
    return LATHE_EINVAL;
}

lathe_status registry_find_word(const struct registry *registry, const char *word,
                                const struct registry_entry **entry,
                                struct error *err) {
    const char *name;
    const uint32_t kind = manifest_kind_split(word, &name);
    *entry = NULL;
    for (size_t i = 0; i < registry->entry_count; i++) {
        const struct registry_entry *other = &registry->entries[i];
        if (!has_name(other, kind, name)) continue;
        if (*entry && (*entry)->status == REGISTRY_OK && other->status == REGISTRY_OK)
            return tell_ambiguous(*entry, other, err);
        if (!*entry || other->status == REGISTRY_OK) *entry = other;
    }
    return *entry ? LATHE_OK : tell_unknown(registry, kind, name, err);
}

bool registry_is_path(const char *word) {
    const char *name;
    if (manifest_kind_split(word, &name) != LATHE_KIND_NONE) return false;
    return strchr(word, '/') || word[0] == '.' || strstr(word, ".json") ||
           strstr(word, ".so");
}
