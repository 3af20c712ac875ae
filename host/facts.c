/* SPDX-License-Identifier: MIT */
#include "facts.h"

#include <string.h>
#include <unistd.h>

#include <lathe/abi.h>

#include "dylib.h"

/* The entry is constant data, and but for a pointer it is in the file as it will be in
 * memory. */
static void read_entry(int fd, int64_t size, struct facts *facts) {
    for (size_t i = 0; i < facts->object.export_count; i++) {
        const struct elf_export *export = &facts->object.exports[i];
        lathe_plugin entry;
        if (strcmp(export->name, "lathe_plugin_v1") != 0 ||
            elf_bytes(fd, size, export->address, &entry, sizeof entry, NULL))
            continue;
        facts->has_entry = entry.size >= LATHE_PLUGIN_SIZE_1_0;
        facts->built = entry.built;
        facts->needs = entry.needs;
    }
}

lathe_status facts_read(const char *library, struct facts *facts, struct error *err) {
    int fd = -1;
    int64_t size = 0;
    *facts = (struct facts){0};
    lathe_status status = dylib_file(library, &fd, &size, err);
    if (status) return status;
    status = elf_object_read(fd, size, true, &facts->object, err);
    if (!status) status = digest_file(library, NULL, facts->digest, err);
    if (!status) status = elf_glibc(fd, size, facts->glibc, err);
    if (!status) read_entry(fd, size, facts);
    close(fd);
    return status;
}

void facts_finish(struct facts *facts) {
    elf_object_finish(&facts->object);
}

void facts_add_lines(const struct facts *facts, struct text *text) {
    if (facts->has_entry)
        text_format(text, "abi       built with 1.%u, needs 1.%u or newer\n",
                    facts->built, facts->needs);
    else
        text_add(text, "abi       unknown: it does not export lathe_plugin_v1\n");
    text_format(text, "sha256    %s\n", facts->digest);
    text_add(text, "needed    ");
    for (const char **needed = facts->object.needed; *needed; needed++)
        text_format(text, "%s%s", needed == facts->object.needed ? "" : ", ", *needed);
    text_add(text, facts->object.needed[0] ? "\n" : "no library\n");
}

void facts_add_json(const struct facts *facts, bool is_there, struct text *text) {
    text_add(text, ", \"abi\": ");
    if (is_there && facts->has_entry)
        text_format(text, "{\"built\": \"1.%u\", \"needs\": \"1.%u\"}", facts->built,
                    facts->needs);
    else
        text_add(text, "null");
    text_add(text, ", \"sha256\": ");
    text_json_string(text, is_there ? facts->digest : NULL);
    text_add(text, ", \"needed\": ");
    text_add(text, is_there ? "[" : "null");
    for (const char **needed = is_there ? facts->object.needed : NULL;
         needed && *needed; needed++) {
        if (needed != facts->object.needed) text_add(text, ", ");
        text_json_string(text, *needed);
    }
    text_add(text, is_there ? "]" : "");
}
