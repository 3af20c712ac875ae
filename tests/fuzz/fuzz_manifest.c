/* SPDX-License-Identifier: MIT */
/* Any text is a plugin's manifest, as a file and linked in, or is refused with a
 * reason. What could be understood can be shown, and the options of an accepted one can
 * be described and completed. */
#include "fuzz.h"

#include <lathe/callback.h>

#include "manifest.h"
#include "options.h"

static const lathe_plugin entry = {.size = sizeof entry, .kind = LATHE_KIND_CALLBACK};

static void check_options(const struct manifest *manifest) {
    struct errors errors = {0};
    const struct option_check check = {.errors = &errors, .file = "experiment"};
    struct json *object = json_make_map();
    for (size_t i = 0; i < json_size(manifest->options); i++) {
        struct text text = {0};
        const struct json *schema = json_at(manifest->options, i);
        const char *name = json_key_at(manifest->options, i);
        options_describe(schema, &text);
        FUZZ_CHECK(!text.is_broken);
        FUZZ_CHECK_FOUND(options_declaration(manifest->options, name) == schema, name);
        text_finish(&text);
    }
    options_check_members(manifest->options, object, "", NULL, manifest->name, &check);
    for (size_t i = 0; i < errors.count; i++) fuzz_check_error(&errors.items[i]);
    errors_finish(&errors);
    json_close(object);
}

/* Takes the manifest over. */
static void check(struct manifest *manifest, lathe_status status,
                  const struct error *err) {
    FUZZ_CHECK(manifest && manifest->path && manifest->library_path);
    FUZZ_CHECK(fuzz_is_line(manifest->name) && fuzz_is_line(manifest->version));
    FUZZ_CHECK(fuzz_is_line(manifest->license) && fuzz_is_line(manifest->summary));
    FUZZ_CHECK(!strchr(manifest->library, '/'));
    FUZZ_CHECK(strcmp(manifest_kind_name(manifest->kind), "") != 0);
    manifest_declares_metric(manifest, "accuracy");
    if (status) {
        FUZZ_CHECK(status == LATHE_EINVAL && err->status == status && err->where[0]);
        fuzz_check_error(err);
    } else {
        FUZZ_CHECK(manifest->kind && manifest->name[0] && manifest->options);
        check_options(manifest);
    }
    manifest_close(manifest);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    static struct json *format;
    char path[40], *text = fuzz_text(bytes, count);
    struct manifest *manifest = NULL;
    struct error err = {0};
    if (!format) FUZZ_CHECK(manifest_format(&format, &err) == LATHE_OK);
    fuzz_file(bytes, count, path);
    lathe_status status = manifest_read(path, format, &manifest, &err);
    check(manifest, status, &err);

    const lathe_linked_plugin linked = {
        .size = sizeof linked, .plugin = &entry, .manifest = text};
    err = (struct error){0};
    manifest = NULL;
    status = manifest_from_linked(&linked, format, &manifest, &err);
    check(manifest, status, &err);
    free(text);
    return 0;
}
