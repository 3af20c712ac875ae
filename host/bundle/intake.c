/* SPDX-License-Identifier: MIT */
#include "bundle/intake.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "archive_tar.h"
#include "bundle/magic.h"

#define SIGNATURE_MAX 4096

struct intake {
    char *path;
    struct archive_tar *tar;
    struct text json, signature;
    const struct archive_member *member; /* the next one, whose header was read */
    bool is_at_end;
    struct bundle bundle;
};

__attribute__((format(printf, 3, 4))) static lathe_status refuse(
    const struct intake *intake, struct error *err, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail_list(err, LATHE_EDATA, format, arguments);
    va_end(arguments);
    error_where(err, "%s", intake->path);
    return LATHE_EDATA;
}

/* Fills help after a failure, unless somebody had more to say. */
static void help_damaged(lathe_status status, struct error *err) {
    if (status == LATHE_EDATA && err && !err->help[0])
        error_help(err, "get the bundle again, or make it again: lathe pack");
}

/* Tells what it is instead; the text of the failure has it of what is no file. */
static void help_other(const char *path, struct error *err) {
    const char *found = magic_name(path);
    struct stat info;
    if (stat(path, &info) || !S_ISREG(info.st_mode))
        error_help(err, "a bundle is one file: \"lathe pack\" makes it");
    else if (!info.st_size)
        error_help(err, "it is an empty file; \"lathe pack\" makes a bundle");
    else
        error_help(err, "it looks like %s; \"lathe pack\" makes a bundle",
                   found ? found : "text");
}

/* ---- the head ---- */

/* NULL as the member: there is no other. */
static lathe_status next(struct intake *intake, struct error *err) {
    lathe_status status = archive_tar_next(intake->tar, &intake->member, err);
    intake->is_at_end = status == LATHE_END;
    return status == LATHE_END ? LATHE_OK : status;
}

/* A small member, whole; then moves to the one behind it. */
static lathe_status read_small(struct intake *intake, size_t most, struct text *text,
                               struct error *err) {
    if (intake->member->size > (int64_t)most)
        return refuse(intake, err, "\"%s\" has more than %zu bytes",
                      intake->member->name, most);
    for (;;) {
        const void *bytes;
        size_t count;
        lathe_status status = archive_tar_read(intake->tar, &bytes, &count, err);
        if (status) return status;
        if (!count) return next(intake, err);
        text_add_bytes(text, bytes, count);
        if (text->is_broken)
            return fail(err, LATHE_ENOMEM, "%s: out of memory", intake->path);
    }
}

static lathe_status read_head(struct intake *intake, struct error *err) {
    lathe_status status = next(intake, err);
    if (status) return status;
    if (!intake->member || strcmp(intake->member->name, BUNDLE_JSON))
        return refuse(intake, err, "it is no bundle: \"%s\" is not its first entry",
                      BUNDLE_JSON);
    status = read_small(intake, BUNDLE_TEXT_MAX, &intake->json, err);
    if (status || !intake->member || strcmp(intake->member->name, BUNDLE_SIGNATURE))
        return status;
    text_add(&intake->signature, ""); /* an empty one is one, and wrong */
    return read_small(intake, SIGNATURE_MAX, &intake->signature, err);
}

lathe_status intake_open(const char *path, struct intake **intake, struct error *err) {
    struct intake *opened = calloc(1, sizeof *opened);
    if (!opened) return fail(err, LATHE_ENOMEM, "%s: out of memory", path);
    opened->path = text_copy(path);
    lathe_status status = opened->path
                              ? archive_tar_open(path, &opened->tar, err)
                              : fail(err, LATHE_ENOMEM, "%s: out of memory", path);
    if (!status) status = read_head(opened, err);
    if (status)
        intake_close(opened);
    else
        *intake = opened;
    if (status == LATHE_EDATA && err && !err->help[0] && !magic_is_archive(path))
        help_other(path, err);
    help_damaged(status, err);
    return status;
}

const char *intake_text(const struct intake *intake, size_t *count) {
    *count = intake->json.length;
    return intake->json.data;
}

const char *intake_signature(const struct intake *intake, size_t *count) {
    *count = intake->signature.length;
    return intake->signature.data;
}

lathe_status intake_begin(struct intake *intake, const struct bundle **bundle,
                          struct error *err) {
    *bundle = &intake->bundle;
    lathe_status status =
        bundle_parse(intake->json.data ? intake->json.data : "", intake->json.length,
                     intake->path, &intake->bundle, err);
    help_damaged(status, err);
    return status;
}

/* ---- files ---- */

/* What stands where `file` was to be, NULL: nothing. */
static lathe_status refuse_member(const struct intake *intake,
                                  const struct bundle_file *file, struct error *err) {
    const char *found = intake->member ? intake->member->name : NULL;
    const struct bundle_file *other =
        found ? bundle_find(&intake->bundle, found) : NULL;
    if (found && (!strcmp(found, BUNDLE_JSON) || !strcmp(found, BUNDLE_SIGNATURE)))
        return refuse(intake, err, "\"%s\" comes again", found);
    if (found && !other)
        return refuse(intake, err, "it holds \"%s\", which bundle.json does not list",
                      found);
    if (other && (!file || strcmp(other->path, file->path) < 0))
        return refuse(intake, err, "\"%s\" comes twice, or out of order", found);
    return refuse(intake, err, "\"%s\" is listed and %s", file->path,
                  found ? "not in its place" : "not there");
}

static lathe_status take_bytes(struct intake *intake, const struct bundle_file *file,
                               const struct intake_sink *sink, struct error *err) {
    struct digest digest;
    char hex[DIGEST_HEX];
    digest_begin(&digest);
    for (;;) {
        const void *bytes;
        size_t count;
        lathe_status status = archive_tar_read(intake->tar, &bytes, &count, err);
        if (status) return status;
        if (!count) break;
        digest_add(&digest, bytes, count);
        if (sink && sink->add) status = sink->add(sink->context, bytes, count, err);
        if (status) return status;
    }
    digest_end(&digest, hex);
    if (strcmp(hex, file->sha256))
        return refuse(intake, err,
                      "\"%s\" is not what was packed: its SHA-256 is %.12s…, and "
                      "bundle.json says %.12s…",
                      file->path, hex, file->sha256);
    return sink && sink->end ? sink->end(sink->context, err) : LATHE_OK;
}

static lathe_status take_file(struct intake *intake, const struct bundle_file *file,
                              const struct intake_sink *sink, struct error *err) {
    const struct archive_member *member = intake->member;
    if (!member || strcmp(member->name, file->path))
        return refuse_member(intake, file, err);
    if (member->size != file->size)
        return refuse(intake, err, "\"%s\" has %lld bytes, and bundle.json says %lld",
                      file->path, (long long)member->size, (long long)file->size);
    lathe_status status =
        sink && sink->begin ? sink->begin(sink->context, file, err) : LATHE_OK;
    if (!status) status = take_bytes(intake, file, sink, err);
    return status ? status : next(intake, err);
}

lathe_status intake_files(struct intake *intake, const struct intake_sink *sink,
                          struct error *err) {
    lathe_status status = LATHE_OK;
    for (size_t i = 0; i < intake->bundle.file_count && !status; i++)
        status = take_file(intake, &intake->bundle.files[i], sink, err);
    if (!status && !intake->is_at_end) status = refuse_member(intake, NULL, err);
    help_damaged(status, err);
    return status;
}

void intake_close(struct intake *intake) {
    if (!intake) return;
    archive_tar_close(intake->tar);
    bundle_finish(&intake->bundle);
    text_finish(&intake->json);
    text_finish(&intake->signature);
    free(intake->path);
    free(intake);
}
