/* SPDX-License-Identifier: MIT */
/* Why a text is no JSON, told to a person: what stands there, what belongs there, what
 * to write instead. Judges nothing that Jansson judges: it looks at the text where
 * Jansson stopped. A part of json; nobody else includes it. */
#ifndef HOST_JSON_FAULT_H
#define HOST_JSON_FAULT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* What Jansson would take, or refuse for another reason: encodings, NUL, brackets more
 * than 64 deep. `name` as in json_parse. */
lathe_status json_check_text(const char *bytes, size_t count, const char *name,
                             struct error *err);
/* LATHE_EINVAL. Jansson has read `stop` bytes and said `told`; is_cut: because the text
 * was at its end. */
lathe_status json_explain(const char *bytes, size_t count, size_t stop,
                          const char *told, bool is_cut, const char *name,
                          struct error *err);

#endif
