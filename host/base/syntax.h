/* SPDX-License-Identifier: MIT */
/* Is this text JSON (RFC 8259)? Finds the first fault and says it to a person: what
 * stands there, what belongs there, what to write instead. Builds nothing; never
 * recurses, so text of any depth can be looked at. Duplicate keys are not its
 * business. */
#ifndef HOST_BASE_SYNTAX_H
#define HOST_BASE_SYNTAX_H

#include <stddef.h>

#include "error.h"

/* LATHE_EINVAL: *offset comes to be the byte where the fault is. Refused beyond the
 * RFC: a byte order mark, NUL in a string, numbers that neither int64_t nor double can
 * hold. */
lathe_status syntax_check(const char *bytes, size_t count, size_t *offset,
                          struct error *err);
/* Line and column (in characters) of a byte, both from 1. */
void syntax_place(const char *bytes, size_t offset, size_t *line, size_t *column);

#endif
