/* SPDX-License-Identifier: MIT */
#include "commands/entries.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *known(const char *text) {
    return text && text[0] ? text : NULL;
}

static const char *kind_of(const struct registry_entry *entry) {
    bool is_known = entry->manifest && entry->manifest->kind != LATHE_KIND_NONE;
    return is_known ? manifest_kind_name(entry->manifest->kind) : NULL;
}

const char *entry_name(const struct registry_entry *entry) {
    return entry->manifest ? known(entry->manifest->name) : NULL;
}

const char *entry_status(const struct registry_entry *entry) {
    static const char *const names[] = {"ok", "refused", "shadowed"};
    return names[entry->status];
}

void entry_add_title(const struct registry_entry *entry, struct text *text) {
    const char *kind = kind_of(entry), *name = entry_name(entry);
    if (kind && name) text_format(text, "%s/%s", kind, name);
    if (kind && name && entry->manifest->version[0])
        text_format(text, " %s", entry->manifest->version);
}

static void add_member(struct text *text, const char *key, const char *value) {
    text_format(text, "\"%s\": ", key);
    text_json_string(text, value);
    text_add(text, ", ");
}

void entry_add_json(const struct registry_entry *entry, struct text *text) {
    const struct manifest *manifest = entry->manifest;
    add_member(text, "kind", kind_of(entry));
    add_member(text, "name", entry_name(entry));
    add_member(text, "version", manifest ? known(manifest->version) : NULL);
    add_member(text, "summary", manifest ? known(manifest->summary) : NULL);
    add_member(text, "library", manifest ? known(manifest->library_path) : NULL);
    add_member(text, "manifest", entry->path);
    add_member(text, "status", entry_status(entry));
    struct text reason = {0};
    if (entry->status != REGISTRY_OK) {
        text_add(&reason, entry->reason.what);
        if (entry->reason.help[0]) text_format(&reason, "; %s", entry->reason.help);
    }
    text_add(text, "\"reason\": ");
    text_json_string(text, reason.data);
    text->is_broken |= reason.is_broken;
    text_finish(&reason);
}

void entry_add_reason(const struct registry_entry *entry, const char *indent,
                      struct text *text) {
    text_format(text, "%s%s\n", indent, entry->reason.what);
    if (entry->reason.where[0])
        text_format(text, "%s%s\n", indent, entry->reason.where);
    if (entry->reason.help[0]) text_format(text, "%s%s\n", indent, entry->reason.help);
}

lathe_status entries_print(struct text *text, bool is_for_people, struct error *err) {
    if (text->is_broken) return fail(err, LATHE_ENOMEM, "out of memory");
    if (!text->data) return LATHE_OK;
    if (is_for_people) text_clean_lines(text->data);
    fputs(text->data, stdout); /* main looks whether it arrives */
    return LATHE_OK;
}
