/* SPDX-License-Identifier: MIT */
/* What a library says of itself to whoever reads its file: for `inspect`. Nothing of
 * it is loaded. */
#ifndef HOST_FACTS_H
#define HOST_FACTS_H

#include "base/digest.h"
#include "base/elf_object.h"
#include "base/text.h"

struct facts {
    char digest[DIGEST_HEX];
    struct elf_object object;
    bool has_entry; /* lathe_plugin_v1, of an ABI 1.x */
    uint32_t built, needs;
    unsigned glibc[2]; /* the oldest that will do: {2, 34} */
};

/* A failure: it is no library that could be loaded. Fills in what is left empty here,
 * for facts_finish, either way. */
lathe_status facts_read(const char *library, struct facts *facts, struct error *err);
void facts_finish(struct facts *facts);
/* Lines of "abi", "sha256" and "needed". */
void facts_add_lines(const struct facts *facts, struct text *text);
/* , "abi": {…}, "sha256": …, "needed": […]; all of it null without a library. */
void facts_add_json(const struct facts *facts, bool is_there, struct text *text);

#endif
