/* SPDX-License-Identifier: MIT */
/* The one checker of both formats: a JSON value against the subset of JSON Schema
 * (draft-07) that manifests may use (manifests/README.md lists the keywords). It
 * reports every error with its path, fills in defaults, and knows nothing of plugins:
 * what "format" means beyond "duration" and "interval" is told by a hook.
 *
 * What differs from draft-07: an object has only the members that "properties" lists
 * (one without "properties" may have any); "oneOf" picks its branch by a key that is
 * const in each; a "format" is always checked.
 *
 * Paths are spelled as an override would be: "optimizer.lr",
 * "callbacks.progress.every", "model.hidden.0". */
#ifndef HOST_OPTIONS_H
#define HOST_OPTIONS_H

#include "base/duration.h"
#include "json.h"

struct option_check {
    struct errors *errors; /* one is added per fault; where = "<file>: <path>" */
    const char *file;
    /* Called for a value of the right type whose schema has a "format" that options
     * does not know itself ("path", "metric", "plugin:<kind>"). Adds its own errors. */
    void (*format)(void *context, const char *format, const char *path,
                   struct json *value);
    void *context;
};

/* Checks value against schema; members that are missing and have a default are put
 * in. */
void options_check(const struct json *schema, struct json *value, const char *path,
                   const struct option_check *check);
/* The same for the members of an object against a plugin's "options" (name → schema): a
 * member without default must be there unless "optional" is true. Keys in `reserved`
 * (NULL-ended; "use", "id") are left alone. `owner` names the plugin in messages. */
void options_check_members(const struct json *options, struct json *object,
                           const char *path, const char *const *reserved,
                           const char *owner, const struct option_check *check);
/* Is this a schema we accept? Unknown keywords and formats, wrong keyword values,
 * defaults that do not fit their own schema are errors. The hook is not called. */
void options_check_schema(const struct json *schema, const char *path,
                          const struct option_check *check);
/* Reads "format": "duration": a string, or a list of them. "off" and what is not there
 * count 0. Already checked. */
void options_durations(const struct json *value, struct durations *durations);

/* The value at "layers/2/filters", borrowed; NULL: not there. */
const struct json *options_find(const struct json *object, const char *path);
/* The schema that declares such a path ("layers/2/filters" → the items' property),
 * borrowed; NULL: the manifest does not declare it. */
const struct json *options_declaration(const struct json *options, const char *path);
/* The schema of a member, in whatever branch of a oneOf has one, or of an item; NULL:
 * there is none of that name. Borrowed. */
const struct json *options_inner(const struct json *schema, const char *key);
/* One line about a schema: 'number, > 0, default 0.001', for help and inspect. */
void options_describe(const struct json *schema, struct text *text);

#endif
