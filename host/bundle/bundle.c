/* SPDX-License-Identifier: MIT */
#include "bundle/bundle.h"

#include <stdlib.h>
#include <string.h>

#include "archive_tar.h"
#include "options.h"

extern const char schema_bundle[]; /* manifests/schema/bundle.json */

/* ---- what options does not know ---- */

static bool is_line(const char *text) {
    size_t left = strlen(text);
    while (left) {
        const size_t length = text_utf8(text, left);
        const bool is_c1 = length == 2 && text[0] == '\xc2' && text[1] < '\xa0';
        if (!length || (unsigned char)*text < ' ' || *text == 0x7f || is_c1)
            return false;
        text += length;
        left -= length;
    }
    return true;
}

static void check_format(void *context, const char *format, const char *path,
                         struct json *value) {
    const struct option_check *check = context;
    const char *text = json_text(value);
    struct error err = {0};
    unsigned version[2];
    const size_t length = strlen(text);
    if (!strcmp(format, "file"))
        archive_check_name(text, &err);
    else if (length > BUNDLE_LINE_MAX)
        fail(&err, LATHE_EDATA, "it has %zu bytes; at most %d are taken", length,
             BUNDLE_LINE_MAX);
    else if (!strcmp(format, "sha256") && !digest_is_text(text))
        fail(&err, LATHE_EDATA, "\"%.80s\" is no SHA-256 in 64 digits", text);
    else if (!strcmp(format, "version") && !text_read_version(text, version))
        fail(&err, LATHE_EDATA, "\"%.80s\" is no version such as 1.0", text);
    else if (!strcmp(format, "line") && !is_line(text))
        fail(&err, LATHE_EDATA, "one line of text was expected");
    else if (!strcmp(format, "setting") && (!is_line(text) || strchr(text, '=')))
        fail(&err, LATHE_EDATA, "\"%.80s\" is no setting", text);
    if (!err.status) return;
    error_where(&err, "%s: %s", check->file, path);
    *errors_add(check->errors) = err;
}

/* Another version is told as such, whatever else has changed in it. */
static lathe_status check_version(const struct json *root, struct error *err) {
    const char *format = json_text(json_get(root, "format"));
    if (!strcmp(format, BUNDLE_FORMAT)) return LATHE_OK;
    if (strncmp(format, BUNDLE_FORMAT, strlen(BUNDLE_FORMAT) - 1))
        return fail(err, LATHE_EDATA, "it is no bundle: \"format\" is not \"%s\"",
                    BUNDLE_FORMAT);
    fail(err, LATHE_EDATA, "it is a bundle of format \"%.40s\"", format);
    error_help(err, "this lathe reads \"%s\"; open it with the one that packed it",
               BUNDLE_FORMAT);
    return LATHE_EDATA;
}

static lathe_status check_schema(struct json *root, struct error *err) {
    struct json *schema = NULL;
    struct errors errors = {0};
    struct option_check check = {
        .errors = &errors, .file = BUNDLE_JSON, .format = check_format};
    check.context = &check;
    lathe_status status = json_parse(schema_bundle, strlen(schema_bundle),
                                     "(format of bundle.json)", &schema, err);
    if (status) return status;
    options_check(schema, root, "", &check);
    if (errors.count) {
        struct error first = errors.items[0];
        if (first.status != LATHE_ENOMEM) first.status = LATHE_EDATA;
        status = first.status;
        if (err) *err = first;
    }
    errors_finish(&errors);
    json_close(schema);
    return status;
}

/* ---- lists ---- */

static void read_files(const struct json *list, struct bundle_file *files) {
    for (size_t i = 0; i < json_size(list); i++) {
        const struct json *item = json_at(list, i);
        files[i] = (struct bundle_file){.path = json_text(json_get(item, "path")),
                                        .size = json_whole(json_get(item, "size")),
                                        .sha256 = json_text(json_get(item, "sha256")),
                                        .used_by = json_get(item, "used_by")};
    }
}

static void read_plugins(const struct json *list, struct bundle_plugin *plugins) {
    for (size_t i = 0; i < json_size(list); i++) {
        const struct json *item = json_at(list, i);
        plugins[i] =
            (struct bundle_plugin){.kind = json_text(json_get(item, "kind")),
                                   .name = json_text(json_get(item, "name")),
                                   .version = json_text(json_get(item, "version")),
                                   .license = json_text(json_get(item, "license")),
                                   .library = json_text(json_get(item, "library"))};
    }
}

static lathe_status read_members(struct bundle *bundle, struct error *err) {
    const struct json *root = bundle->root, *abi = json_get(root, "abi");
    unsigned needs[2] = {0}, built[2] = {0};
    bundle->name = json_text(json_get(root, "name"));
    bundle->lathe = json_text(json_get(root, "lathe"));
    bundle->machine = json_text(json_get(root, "machine"));
    bundle->libraries = json_get(root, "libraries");
    if (json_get(root, "checkpoint"))
        bundle->checkpoint = json_text(json_get(root, "checkpoint"));
    text_read_version(json_text(json_get(abi, "needs")), needs);
    text_read_version(json_text(json_get(abi, "built")), built);
    text_read_version(json_text(json_get(root, "glibc")), bundle->glibc);
    bundle->abi_needs = needs[1];
    bundle->abi_built = built[1];
    if (needs[0] != 1 || built[0] != 1)
        return fail(err, LATHE_EDATA, "its plugins are of another ABI than 1");
    bundle->file_count = json_size(json_get(root, "files"));
    bundle->outside_count = json_size(json_get(root, "outside"));
    bundle->plugin_count = json_size(json_get(root, "plugins"));
    if (bundle->file_count + bundle->outside_count > ARCHIVE_MEMBERS_MAX - 2)
        return fail(err, LATHE_EDATA, "it lists more than %d files",
                    ARCHIVE_MEMBERS_MAX - 2);
    bundle->files =
        calloc(bundle->file_count + bundle->outside_count + 1, sizeof *bundle->files);
    bundle->plugins = calloc(bundle->plugin_count + 1, sizeof *bundle->plugins);
    if (!bundle->files || !bundle->plugins)
        return fail(err, LATHE_ENOMEM, "out of memory");
    bundle->outside = bundle->files + bundle->file_count;
    read_files(json_get(root, "files"), bundle->files);
    read_files(json_get(root, "outside"), bundle->outside);
    read_plugins(json_get(root, "plugins"), bundle->plugins);
    return LATHE_OK;
}

/* ---- what the lists promise ---- */

struct folded {
    const char *path;
    char key[ARCHIVE_NAME_MAX + 1]; /* in lower case, a part before what goes on */
};

static int compare_folded(const void *a, const void *b) {
    return strcmp(((const struct folded *)a)->key, ((const struct folded *)b)->key);
}

/* On a file system that knows no case, or with one a folder of the other, they would
 * be one. */
static lathe_status check_pair(const struct folded *a, const struct folded *b,
                               struct error *err) {
    const size_t length = strlen(a->key);
    size_t same = 0, folder = 0;
    while (a->key[same] && a->key[same] == b->key[same])
        if (a->key[same++] == '\1') folder = same;
    if (!strncmp(a->key, b->key, length) && (!b->key[length] || b->key[length] == '\1'))
        return fail(err, LATHE_EDATA, "\"%.180s\" and \"%.180s\" cannot both be there",
                    a->path, b->path);
    if (strncmp(a->path, b->path, folder))
        return fail(err, LATHE_EDATA,
                    "the folders of \"%.180s\" and \"%.180s\" differ in case alone",
                    a->path, b->path);
    return LATHE_OK;
}

static lathe_status check_collisions(const struct bundle *bundle, struct error *err) {
    const size_t count = bundle->file_count + bundle->outside_count;
    struct folded *all = calloc(count + 1, sizeof *all);
    lathe_status status = all ? LATHE_OK : fail(err, LATHE_ENOMEM, "out of memory");
    for (size_t i = 0; i < count && !status; i++) {
        all[i].path = bundle->files[i].path;
        for (size_t k = 0; all[i].path[k]; k++) {
            const char c = all[i].path[k];
            all[i].key[k] = (char)(c == '/' ? '\1' : c >= 'A' && c <= 'Z' ? c + 32 : c);
        }
    }
    if (!status) qsort(all, count, sizeof *all, compare_folded);
    for (size_t i = 1; i < count && !status; i++)
        status = check_pair(&all[i - 1], &all[i], err);
    free(all);
    return status;
}

static lathe_status check_files(struct bundle *bundle, struct error *err) {
    for (size_t i = 0; i < bundle->file_count; i++) {
        const struct bundle_file *file = &bundle->files[i];
        if (i && strcmp(file[-1].path, file->path) >= 0)
            return fail(err, LATHE_EDATA, "\"%s\" is listed twice or out of order",
                        file->path);
        if (!strncmp(file->path, BUNDLE_JSON, strlen(BUNDLE_JSON)))
            return fail(err, LATHE_EDATA, "it lists \"%s\" itself", file->path);
        if (file->size > BUNDLE_TOTAL_MAX - bundle->total)
            return fail(err, LATHE_EDATA, "it holds more than %d GiB",
                        (int)(BUNDLE_TOTAL_MAX >> 30));
        bundle->total += file->size;
    }
    return check_collisions(bundle, err);
}

/* What is spoken of has to be there. */
static lathe_status check_names(const struct bundle *bundle, struct error *err) {
    const char *missing = NULL;
    if (!bundle_find(bundle, BUNDLE_EXPERIMENT)) missing = BUNDLE_EXPERIMENT;
    if (bundle->checkpoint && !bundle_find(bundle, bundle->checkpoint))
        missing = bundle->checkpoint;
    for (size_t i = 0; i < bundle->plugin_count && !missing; i++)
        if (!bundle_find(bundle, bundle->plugins[i].library))
            missing = bundle->plugins[i].library;
    if (!missing) return LATHE_OK;
    return fail(err, LATHE_EDATA, "\"%s\" is not among its files", missing);
}

lathe_status bundle_parse(const char *bytes, size_t count, const char *path,
                          struct bundle *bundle, struct error *err) {
    *bundle = (struct bundle){0};
    digest_bytes(bytes, count, bundle->id);
    lathe_status status = json_parse(bytes, count, BUNDLE_JSON, &bundle->root, err);
    if (status == LATHE_EINVAL) status = err ? err->status = LATHE_EDATA : LATHE_EDATA;
    if (!status) status = check_version(bundle->root, err);
    if (!status) status = check_schema(bundle->root, err);
    if (!status) status = read_members(bundle, err);
    if (!status) status = check_files(bundle, err);
    if (!status) status = check_names(bundle, err);
    if (status)
        error_where(err, err && err->where[0] ? "%s" : "%s: " BUNDLE_JSON, path);
    return status;
}

static int compare_path(const void *path, const void *file) {
    return strcmp(path, ((const struct bundle_file *)file)->path);
}

const struct bundle_file *bundle_find(const struct bundle *bundle, const char *path) {
    return bsearch(path, bundle->files, bundle->file_count, sizeof *bundle->files,
                   compare_path);
}

bool bundle_has_setting(const struct bundle *bundle, const char *setting,
                        size_t length) {
    for (size_t i = 0; i < bundle->file_count + bundle->outside_count; i++)
        for (size_t k = 0; k < json_size(bundle->files[i].used_by); k++) {
            const char *other = json_text(json_at(bundle->files[i].used_by, k));
            if (strlen(other) == length && !strncmp(setting, other, length))
                return true;
        }
    return false;
}

bool bundle_has_plugin(const struct bundle *bundle, const char *kind,
                       const char *name) {
    for (size_t i = 0; i < bundle->plugin_count; i++)
        if (!strcmp(bundle->plugins[i].kind, kind) &&
            !strcmp(bundle->plugins[i].name, name))
            return true;
    return false;
}

void bundle_finish(struct bundle *bundle) {
    free(bundle->files);
    free(bundle->plugins);
    json_close(bundle->root);
    *bundle = (struct bundle){0};
}

void bundle_add_size(int64_t size, struct text *text) {
    static const char *const units[] = {"kB", "MB", "GB", "TB"};
    double amount = (double)size / 1000;
    size_t unit = 0;
    while (amount >= 999.95 && unit < 3) {
        amount /= 1000;
        unit++;
    }
    if (size < 1000)
        text_format(text, "%d bytes", (int)size);
    else
        text_format(text, "%.1f %s", amount, units[unit]);
}
