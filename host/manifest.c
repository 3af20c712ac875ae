/* SPDX-License-Identifier: MIT */
#include "manifest_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "base/trust.h"
#include "dylib.h"

#define SIZE_LIMIT (256 << 10) /* bytes */

extern const char schema_plugin[]; /* manifests/schema/plugin.json */

static const char *const kind_names[] = {"?",        "dataset",  "model", "optimizer",
                                         "schedule", "callback", "comm"};
#define KIND_COUNT (sizeof kind_names / sizeof *kind_names)

const char *manifest_kind_name(uint32_t kind) {
    return kind < KIND_COUNT ? kind_names[kind] : kind_names[LATHE_KIND_NONE];
}

uint32_t manifest_kind_find(const char *kind_name) {
    for (uint32_t kind = 1; kind < KIND_COUNT; kind++)
        if (strcmp(kind_names[kind], kind_name) == 0) return kind;
    return LATHE_KIND_NONE;
}

uint32_t manifest_kind_split(const char *word, const char **name) {
    for (uint32_t kind = 1; kind < KIND_COUNT; kind++) {
        const size_t length = strlen(kind_names[kind]);
        if (strncmp(word, kind_names[kind], length) != 0 || word[length] != '/' ||
            strchr(word + length + 1, '/'))
            continue;
        *name = word + length + 1;
        return kind;
    }
    *name = word;
    return LATHE_KIND_NONE;
}

lathe_status manifest_format(struct json **format, struct error *err) {
    return json_parse(schema_plugin, strlen(schema_plugin), "(format of plugin.json)",
                      format, err);
}

/* A member that may be shown, or "". */
static const char *find_line(const struct json *root, const char *key) {
    const char *text = json_text(json_get(root, key));
    return manifest_is_line(text) ? text : "";
}

static const struct json *find_value(const struct json *root, const char *key,
                                     enum json_kind kind) {
    const struct json *value = json_get(root, key);
    return json_kind(value) == kind ? value : NULL;
}

/* Whatever is sound; the rest was or will be refused. */
static lathe_status bind_members(struct manifest *manifest, struct error *err) {
    struct json *root = manifest->root;
    manifest->kind = manifest_kind_find(json_text(json_get(root, "kind")));
    const char *name = find_line(root, "name");
    if (manifest_is_name(name)) manifest->name = name;
    manifest->version = find_line(root, "version");
    manifest->license = find_line(root, "license");
    manifest->summary = find_line(root, "summary");
    if (json_kind(root) == JSON_MAP && !json_get(root, "options") &&
        !json_put(root, "options", json_make_map()))
        return fail(err, LATHE_ENOMEM, "out of memory");
    manifest->options = find_value(root, "options", JSON_MAP);
    manifest->metrics = find_value(root, "metrics", JSON_LIST);
    const char *library = find_line(root, "library");
    if (manifest->linked || !manifest_is_library(library)) return LATHE_OK;
    char *folder = path_directory(manifest->path);
    char *library_path = folder ? path_join(folder, library) : NULL;
    free(folder);
    if (!library_path) return fail(err, LATHE_ENOMEM, "out of memory");
    free(manifest->library_path);
    manifest->library = library;
    manifest->library_path = library_path;
    return LATHE_OK;
}

static lathe_status create_manifest(const char *path, struct manifest **manifest,
                                    struct error *err) {
    *manifest = calloc(1, sizeof **manifest);
    if (!*manifest) return fail(err, LATHE_ENOMEM, "out of memory");
    (*manifest)->path = text_copy(path);
    (*manifest)->library_path = text_copy("");
    (*manifest)->name = (*manifest)->version = (*manifest)->license = "";
    (*manifest)->summary = (*manifest)->library = "";
    if ((*manifest)->path && (*manifest)->library_path) return LATHE_OK;
    manifest_close(*manifest);
    *manifest = NULL;
    return fail(err, LATHE_ENOMEM, "out of memory");
}

static lathe_status read_bytes(int fd, char *bytes, size_t size, size_t *count,
                               struct error *err) {
    *count = 0;
    while (*count < size) {
        ssize_t got = read(fd, bytes + *count, size - *count);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return fail(err, LATHE_EIO, "it cannot be read: %s", strerror(errno));
        if (got == 0) break;
        *count += (size_t)got;
    }
    return LATHE_OK;
}

static lathe_status parse_file(struct manifest *manifest, int fd, int64_t size,
                               struct error *err) {
    if (size > SIZE_LIMIT)
        return fail(err, LATHE_EINVAL, "it has %lld bytes, a manifest has at most %d",
                    (long long)size, SIZE_LIMIT);
    char *content = malloc((size_t)size + 1);
    if (!content) return fail(err, LATHE_ENOMEM, "out of memory");
    manifest->text = content;
    lathe_status status =
        read_bytes(fd, content, (size_t)size, &manifest->text_length, err);
    if (status != LATHE_OK) return status;
    return json_parse(content, manifest->text_length, manifest->path, &manifest->root,
                      err);
}

lathe_status manifest_read(const char *path, const struct json *format,
                           struct manifest **manifest, struct error *err) {
    int fd = -1;
    int64_t size = 0;
    lathe_status status = create_manifest(path, manifest, err);
    if (status != LATHE_OK) return status;
    status = file_open(path, &fd, &size, err);
    if (status == LATHE_OK) {
        status = parse_file(*manifest, fd, size, err);
        if (status == LATHE_OK) status = bind_members(*manifest, err);
        /* Known to be somebody else's, it is still worth showing by name. */
        if (status == LATHE_OK) status = trust_check(fd, path, err);
        if (status == LATHE_OK) status = manifest_check(*manifest, format, err);
        close(fd);
    }
    if (status != LATHE_OK && err && err->where[0] == '\0')
        error_where(err, "%s", path);
    return status;
}

/* The text that the library at `path` carries; "library" is that one, whatever the text
 * says. */
static lathe_status parse_carried(const char *path, const char *text, size_t length,
                                  const struct json *format, struct manifest *manifest,
                                  struct error *err) {
    lathe_status status = json_parse(text, length, path, &manifest->root, err);
    if (status == LATHE_OK && json_kind(manifest->root) == JSON_MAP &&
        !json_put(manifest->root, "library", json_make_text(path_name(path))))
        status = fail(err, LATHE_ENOMEM, "out of memory");
    if (status == LATHE_OK) status = bind_members(manifest, err);
    if (status == LATHE_OK) status = manifest_check(manifest, format, err);
    return status;
}

lathe_status manifest_from_library(const char *path, const struct json *format,
                                   struct manifest **manifest, struct error *err) {
    char *text = NULL;
    size_t length = 0;
    lathe_status status = create_manifest(path, manifest, err);
    if (status == LATHE_OK) status = dylib_manifest(path, &text, &length, err);
    if (status == LATHE_OK && text) {
        status = parse_carried(path, text, length, format, *manifest, err);
    } else if (status == LATHE_OK) {
        status = fail(err, LATHE_EMISSING,
                      "it carries no manifest, and no plugin.json names it");
        error_help(err, "build it with lathe_add_plugin, or put a plugin.json beside");
    }
    free(text);
    if (status != LATHE_OK && err && err->where[0] == '\0')
        error_where(err, "%s", path);
    return status;
}

static lathe_status compare(const struct manifest *manifest, const struct json *carried,
                            struct error *err) {
    for (struct json_member at = {0}; json_next(manifest->root, &at);) {
        const struct json *other = json_get(carried, at.key);
        if (other && json_same(at.value, other)) continue;
        return fail(err, LATHE_EINVAL,
                    "\"%s\" is not what it is in the manifest that %s carries", at.key,
                    manifest->library);
    }
    for (struct json_member at = {0}; json_next(carried, &at);)
        if (!json_get(manifest->root, at.key))
            return fail(err, LATHE_EINVAL,
                        "\"%s\" is missing; the manifest that %s carries has it",
                        at.key, manifest->library);
    return LATHE_OK;
}

lathe_status manifest_check_library(const struct manifest *manifest,
                                    const struct json *format, struct error *err) {
    const char *path = manifest->library_path;
    char *text = NULL;
    size_t length = 0;
    struct manifest *carried = NULL;
    lathe_status status = dylib_manifest(path, &text, &length, err);
    const bool is_same = text && manifest->text && length == manifest->text_length &&
                         memcmp(text, manifest->text, length) == 0;
    if (status != LATHE_OK || !text || is_same) {
        free(text);
        return status;
    }
    status = create_manifest(path, &carried, err);
    if (status == LATHE_OK)
        status = parse_carried(path, text, length, format, carried, err);
    if (status == LATHE_OK && (status = compare(manifest, carried->root, err))) {
        error_where(err, "%s", manifest->path);
        error_help(err, "build it again, so that both are of the same build");
    }
    manifest_close(carried);
    free(text);
    return status;
}

lathe_status manifest_from_linked(const lathe_linked_plugin *linked,
                                  const struct json *format, struct manifest **manifest,
                                  struct error *err) {
    lathe_status status = create_manifest("(linked)", manifest, err);
    if (status != LATHE_OK) return status;
    if (!LATHE_COVERS(linked, lathe_linked_plugin, manifest) || !linked->plugin ||
        !linked->manifest) {
        status = fail(err, LATHE_EINVAL, "a linked plugin has no entry or no manifest");
    } else {
        (*manifest)->linked = linked->plugin;
        status = json_parse(linked->manifest, strlen(linked->manifest), "(linked)",
                            &(*manifest)->root, err);
    }
    if (status == LATHE_OK) status = bind_members(*manifest, err);
    if (status == LATHE_OK) status = manifest_check(*manifest, format, err);
    if (status != LATHE_OK && err && err->where[0] == '\0')
        error_where(err, "(linked)");
    return status;
}

void manifest_close(struct manifest *manifest) {
    if (!manifest) return;
    json_close(manifest->root);
    free(manifest->library_path);
    free(manifest->path);
    free(manifest->text);
    free(manifest);
}

bool manifest_declares_metric(const struct manifest *manifest, const char *name) {
    return name && json_find(manifest->metrics, "name", name);
}
