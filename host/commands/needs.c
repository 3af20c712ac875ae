/* SPDX-License-Identifier: MIT */
#include "commands/needs.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "registry.h"
#include "safetensors.h"

static lathe_status add_changed(struct json *changed, const char *what,
                                const char *before, const char *now,
                                struct error *err) {
    struct json *a = json_make_text(before), *b = json_make_text(now);
    struct json *pair = what ? compare_pair(what, a, b) : NULL;
    const bool is_whole = pair && json_push(changed, pair);
    json_close(a);
    json_close(b);
    return is_whole ? LATHE_OK : fail(err, LATHE_ENOMEM, "no memory to compare");
}

static lathe_status find_plugin(const struct registry *registry,
                                const struct json *plugin, struct json *changed,
                                struct error *err) {
    const char *kind = json_text(json_get(plugin, "kind"));
    const char *name = json_text(json_get(plugin, "name"));
    const char *before = json_text(json_get(plugin, "sha256"));
    const struct manifest *manifest;
    char now[DIGEST_HEX];
    lathe_status status =
        registry_find(registry, manifest_kind_find(kind), name, &manifest, err);
    if (!status && *before && *manifest->library_path)
        status = digest_file(manifest->library_path, NULL, now, err);
    if (status) error_where(err, "the run's %s", kind);
    if (status || !*before || !*manifest->library_path || !strcmp(before, now))
        return status;
    char *what = text_make("plugin %s %s", kind, name);
    status = add_changed(changed, what, before, now, err);
    free(what);
    return status;
}

static lathe_status find_plugins(const struct side *run,
                                 const char *const *plugin_paths, struct json *changed,
                                 struct error *err) {
    const struct json *list = json_get(run->receipt, "plugins");
    struct registry *registry = NULL;
    lathe_status status = registry_open(plugin_paths, NULL, &registry, err);
    for (size_t i = 0; i < json_size(list) && !status; i++)
        status = find_plugin(registry, json_at(list, i), changed, err);
    registry_close(registry);
    return status;
}

/* Without its name, a home is whoever's who asks. */
static char *whole_path(const char *path) {
    const char *home = getenv("HOME");
    return strncmp(path, "~/", 2) == 0 && home ? text_make("%s%s", home, path + 1)
                                               : text_copy(path);
}

static lathe_status find_file(const struct json *file, struct json *changed,
                              struct error *err) {
    const char *shown = json_text(json_get(file, "path"));
    const char *before = json_text(json_get(file, "sha256"));
    char now[DIGEST_HEX], *path = whole_path(shown);
    if (!path) return fail(err, LATHE_ENOMEM, "no memory for a path");
    lathe_status status = digest_file(path, NULL, now, err);
    if (status) error_where(err, "data of the run");
    free(path);
    if (status || !*before || !strcmp(before, now)) return status;
    return add_changed(changed, shown, before, now, err);
}

static lathe_status find_from(const struct side *run, struct error *err) {
    const struct json *from = json_get(run->resolved, "from");
    const char *path = json_text(json_get(from, "checkpoint"));
    struct safetensors *file = NULL;
    if (!from) return LATHE_OK;
    lathe_status status = safetensors_open(path, &file, err);
    const char *now = status ? NULL : safetensors_note(file, SAFETENSORS_DIGEST);
    if (!status && (!now || strcmp(now, json_text(json_get(from, "sha256"))) != 0))
        status = fail(err, LATHE_EDATA, "it is another checkpoint than it was");
    if (status && !err->where[0]) error_where(err, "%s", path);
    if (status) error_where(err, "the checkpoint that the run began from");
    safetensors_close(file);
    return status;
}

lathe_status needs_find(const struct side *run, const char *const *plugin_paths,
                        bool has_other_data, struct json **changed, struct error *err) {
    const struct json *data = json_get(run->receipt, "data");
    *changed = json_make_list();
    if (!*changed) return fail(err, LATHE_ENOMEM, "no memory to compare");
    lathe_status status = find_plugins(run, plugin_paths, *changed, err);
    if (!status) status = find_from(run, err);
    for (size_t i = 0; i < json_size(data) && !status && !has_other_data; i++)
        status = find_file(json_at(data, i), *changed, err);
    return status;
}
