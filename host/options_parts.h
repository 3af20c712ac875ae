/* SPDX-License-Identifier: MIT */
/* What the files of options share. Nobody else includes it. */
#ifndef HOST_OPTIONS_PARTS_H
#define HOST_OPTIONS_PARTS_H

#include "options.h"

#define OPTIONS_PATH_BYTES 384
#define OPTIONS_FOUND_BYTES 96

/* Adds a fault at `path` and returns it, for error_help. */
__attribute__((format(printf, 3, 4))) struct error *options_fault(
    const struct option_check *check, const char *path, const char *format, ...);
/* parent.key, or parent.index; cut when it is too long. */
void options_member(char path[OPTIONS_PATH_BYTES], const char *parent, const char *key);
void options_item(char path[OPTIONS_PATH_BYTES], const char *parent, size_t index);
/* Is the value of that type of JSON Schema? 1.0 is an integer. */
bool options_is_type(const struct json *value, const char *type);
/* Type, choice, range, length and duration of a value: what needs no look inside it.
 * Adds the faults; false: not of the right type, so that looking inside makes no
 * sense. */
bool options_check_scalar(const struct json *schema, const struct json *value,
                          const char *path, const struct option_check *check);
/* 'the string "0.1"', 'the number 3', 'an object': what was found, for a message. */
void options_found(const struct json *value, char found[OPTIONS_FOUND_BYTES]);
/* Helps with the schema's own words, when nothing better is known. */
void options_help(const struct json *schema, struct error *err);
/* The fault of a value that is none of the choices. */
void options_fail_choice(const struct json *choices, const struct json *value,
                         const char *path, const struct option_check *check);
/* The key that is const in every branch of a oneOf; NULL: there is none. */
const char *options_branch_key(const struct json *branches);
/* The value of that key in one branch. */
const struct json *options_branch_const(const struct json *branch, const char *key);

#endif
