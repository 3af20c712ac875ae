/* SPDX-License-Identifier: MIT */
/* Libraries as they run: copies under <cache>/lathe/plugins/<sha256>/, named by what is
 * in them, so that whoever writes over the original reaches no run; and what libraries
 * did when they were first loaded. Nothing of this is needed: where no cache can be
 * had, the original is what runs and nothing is remembered. Holds no state, and any
 * number of processes may use it at once. What was not used for 30 days goes when a new
 * copy is made. */
#ifndef HOST_STORE_H
#define HOST_STORE_H

#include <stdbool.h>

#include "base/digest.h"

/* What to do about a library that is refused for what it did. */
#define STORE_HELP "mend it; \"lathe plugins --rescan\" has it tried once more"

struct store_item {
    char digest[DIGEST_HEX]; /* of what lies at `path`, or of the original */
    char *path;              /* the copy; NULL: there is none, for this reason */
    struct error reason;
};

/* Hashes the open file, and copies it unless that was done before. The name is the
 * copy's. LATHE_EIO when it cannot be read; *item is for store_finish either way. */
lathe_status store_take(int fd, const char *name, struct store_item *item,
                        struct error *err);
void store_finish(struct store_item *item);

/* How a library of this digest did when it was first loaded by this version. */
enum store_verdict { STORE_UNKNOWN = 0, STORE_LOADS, STORE_REFUSED };
enum store_verdict store_recall(const char *digest,
                                struct error *err); /* refused: why */
/* `refused`: why; NULL: it loads. What cannot be written is not remembered. */
void store_remember(const char *digest, const struct error *refused);
/* Is any library refused? Tells without hashing whether it is worth while to. */
bool store_has_refused(void);
/* Forgets what was refused; returns how many there were. */
lathe_status store_forget_refused(int *count, struct error *err);

#endif
