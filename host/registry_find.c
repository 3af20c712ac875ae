/* SPDX-License-Identifier: MIT */
/* Finding a plugin by kind and name, and saying what is there instead. */
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/text.h"
#include "registry_parts.h"

const struct registry_entry *registry_entry_of(const struct registry *registry,
                                               enum registry_status status,
                                               uint32_t kind, const char *name) {
    for (size_t i = 0; i < registry->entry_count; i++) {
        const struct registry_entry *entry = &registry->entries[i];
        if (entry->status == status && entry->manifest &&
            entry->manifest->kind == kind && strcmp(entry->manifest->name, name) == 0)
            return entry;
    }
    return NULL;
}

/* "searched: A B; not there: C (LATHE_PLUGIN_PATH)". A usual place that is not there is
 * named only if no place is there. */
static void add_places(const struct registry *registry, struct text *text) {
    const char *lead = "searched:";
    for (size_t i = 0; i < registry->place_count; i++) {
        if (registry->places[i].problem.status != LATHE_OK) continue;
        text_format(text, "%s %s", lead, registry->places[i].path);
        lead = "";
    }
    const bool is_none = *lead;
    lead = is_none ? "not there:" : "; not there:";
    for (size_t i = 0; i < registry->place_count; i++) {
        const struct registry_place *place = &registry->places[i];
        if (place->problem.status == LATHE_OK) continue;
        if (!is_none && strcmp(place->origin, "LATHE_PLUGIN_PATH") != 0) continue;
        text_format(text, "%s %s (%s)", lead, place->path, place->origin);
        lead = ",";
    }
}

/* What else could have been meant? Fills help. */
static void suggest(const struct registry *registry, uint32_t kind, const char *name,
                    struct error *err) {
    struct nearest nearest;
    nearest_begin(&nearest, name);
    size_t refused_count = 0;
    for (size_t i = 0; i < registry->entry_count; i++) {
        const struct registry_entry *entry = &registry->entries[i];
        if (entry->status == REGISTRY_REFUSED) refused_count++;
        if (entry->status != REGISTRY_OK) continue;
        const char *other = manifest_kind_name(entry->manifest->kind);
        if (entry->manifest->kind == kind) {
            nearest_offer(&nearest, entry->manifest->name);
        } else if (strcmp(entry->manifest->name, name) == 0) {
            error_help(err, "\"%s\" is %s %s: %s/%s", name,
                       other[0] == 'o' ? "an" : "a", other, other, name);
            return;
        }
    }
    if (nearest.best) {
        error_help(err, "did you mean \"%s\"?", nearest.best);
        return;
    }
    struct text searched = {0};
    if (refused_count > 0)
        text_format(&searched, "\"lathe plugins\" tells why %zu were refused; ",
                    refused_count);
    add_places(registry, &searched);
    if (!searched.is_broken) error_help(err, "%s", searched.data);
    text_finish(&searched);
}

lathe_status registry_find(const struct registry *registry, uint32_t kind,
                           const char *name, const struct manifest **manifest,
                           struct error *err) {
    const struct registry_entry *entry =
        registry_entry_of(registry, REGISTRY_OK, kind, name);
    *manifest = entry ? entry->manifest : NULL;
    if (entry) return LATHE_OK;
    entry = registry_entry_of(registry, REGISTRY_REFUSED, kind, name);
    if (entry) {
        const struct error *reason = &entry->reason;
        const bool is_named = strstr(reason->what, reason->where) != NULL;
        fail(err, LATHE_EMISSING, "%s \"%s\" was refused: %s%s%s%s",
             manifest_kind_name(kind), name, reason->what, is_named ? "" : " (",
             is_named ? "" : reason->where, is_named ? "" : ")");
        error_help(err, "%s", entry->reason.help);
    } else {
        fail(err, LATHE_EMISSING, "there is no %s \"%s\"", manifest_kind_name(kind),
             name);
        if (err) suggest(registry, kind, name, err);
    }
    return LATHE_EMISSING;
}

/* Sources, from which the one in use was built elsewhere. */
static bool is_source(const struct registry_entry *refused,
                      const struct manifest *manifest) {
    const struct manifest *m = refused->manifest;
    return !strcmp(m->version, manifest->version) && m->library_path &&
           access(m->library_path, F_OK) != 0;
}

bool registry_warning(const struct registry *registry, const struct manifest *manifest,
                      struct error *warning) {
    const struct registry_entry *refused =
        registry_refused(registry, manifest->kind, manifest->name);
    if (!refused || is_source(refused, manifest)) return false;
    fail(warning, LATHE_EMISSING, "%.150s was refused (%.150s); using %.150s",
         refused->path, refused->reason.what, manifest->path);
    return true;
}

const struct registry_entry *registry_refused(const struct registry *registry,
                                              uint32_t kind, const char *name) {
    return registry_entry_of(registry, REGISTRY_REFUSED, kind, name);
}
