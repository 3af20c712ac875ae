/* SPDX-License-Identifier: MIT */
/* Entries of the registry as `plugins` and `inspect` show them. */
#ifndef HOST_COMMANDS_ENTRIES_H
#define HOST_COMMANDS_ENTRIES_H

#include "registry.h"

/* NULL: it is not known. Borrowed. */
const char *entry_name(const struct registry_entry *entry);
const char *entry_status(const struct registry_entry *entry); /* "ok", "refused", … */
/* "optimizer/sgd 1.0.0", as far as it is known; "" when nothing is. */
void entry_add_title(const struct registry_entry *entry, struct text *text);
/* "kind": …, "name": …, up to "reason": …, without the braces; unknown ones are
 * null. */
void entry_add_json(const struct registry_entry *entry, struct text *text);
/* Why it is not used, in up to three lines, each after `indent`. */
void entry_add_reason(const struct registry_entry *entry, const char *indent,
                      struct text *text);
/* Writes it to stdout; for people, control characters become '?', since a manifest may
 * hold some and a terminal would obey them. */
lathe_status entries_print(struct text *text, bool is_for_people, struct error *err);

#endif
