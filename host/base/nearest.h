/* SPDX-License-Identifier: MIT */
/* The name that somebody probably meant. */
#ifndef HOST_BASE_NEAREST_H
#define HOST_BASE_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *wanted;
    const char *best; /* NULL: nothing is near enough */
    size_t distance;  /* of the best, in half letters */
};

void nearest_begin(struct nearest *nearest, const char *wanted);
/* Offers a candidate, borrowed. Damerau-Levenshtein; at most a third of the wanted
 * letters (and at least one, but not all) may differ. Case, and '-' against '_', do not
 * count as letters that differ: a name that is equal but for them beats all but an
 * equal one. Of equally near ones, the first offered stays. */
void nearest_offer(struct nearest *nearest, const char *candidate);

#endif
