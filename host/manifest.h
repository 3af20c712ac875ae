/* SPDX-License-Identifier: MIT */
/* A plugin's manifest, read and checked; nothing of its library is touched. */
#ifndef HOST_MANIFEST_H
#define HOST_MANIFEST_H

#include <lathe/session.h>

#include "json.h"

struct manifest {
    uint32_t kind; /* LATHE_KIND_* */
    /* Strings are borrowed from the JSON, which lives as long as the manifest. One line
     * each, "" for what the manifest leaves out. */
    const char *name, *version, *license, *summary;
    const char *library;        /* file name; "" for a linked plugin */
    const struct json *options; /* name → schema; an empty map when there are none */
    const struct json *metrics; /* [{ "name", "higher_is_better" }]; may be NULL */
    char *path;                 /* of plugin.json; "(linked)" */
    char *library_path;         /* beside it; "" */
    const lathe_plugin *linked; /* NULL: from the library */
    struct json *root;
    char *text; /* of plugin.json, as it was read; NULL: from elsewhere */
    size_t text_length;
};

/* The format of plugin.json, parsed once for many manifests; the caller's, for
 * json_close. */
lathe_status manifest_format(struct json **format, struct error *err);
/* *manifest is the caller's, for manifest_close, and is set after a failure too: it
 * holds what could be understood (kind NONE and "" for the rest), for lists of what is
 * refused; NULL only when memory is out. LATHE_EINVAL with the first fault, where being
 * the file and the path in it; LATHE_EPERM when somebody else may have written it. */
lathe_status manifest_read(const char *path, const struct json *format,
                           struct manifest **manifest, struct error *err);
/* The manifest that a shared object carries, whatever "library" says in it; the library
 * is looked at as by dylib_check, never loaded. LATHE_EMISSING when it carries none. */
lathe_status manifest_from_library(const char *path, const struct json *format,
                                   struct manifest **manifest, struct error *err);
/* Looks at the library as dylib_check does; what manifest it carries must be this
 * one. */
lathe_status manifest_check_library(const struct manifest *manifest,
                                    const struct json *format, struct error *err);
lathe_status manifest_from_linked(const lathe_linked_plugin *linked,
                                  const struct json *format, struct manifest **manifest,
                                  struct error *err);
void manifest_close(struct manifest *manifest);
/* Is the name in "metrics"? What watches it is checked by that list, before any code
 * runs. */
bool manifest_declares_metric(const struct manifest *manifest, const char *name);

const char *manifest_kind_name(uint32_t kind);      /* "dataset"; "?" */
uint32_t manifest_kind_find(const char *kind_name); /* LATHE_KIND_NONE: unknown */
/* "optimizer/sgd": the kind, and *name after it; else NONE, and *name is all of it. */
uint32_t manifest_kind_split(const char *word, const char **name);

#endif
