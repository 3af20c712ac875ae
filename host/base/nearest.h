/* SPDX-License-Identifier: MIT */
/* The name that somebody probably meant. */
#ifndef HOST_BASE_NEAREST_H
#define HOST_BASE_NEAREST_H

#include "error.h"
#include "text.h"

#define NEAREST_LETTERS_MAX 64 /* of longer names nobody guesses */

struct nearest {
    const char *wanted;
    const char *best; /* NULL: nothing is near enough; lives as long as this */
    size_t distance;  /* of the best, in half letters */
    size_t farthest;  /* that still counts */
    struct text known;
    char copy[NEAREST_LETTERS_MAX + 1];
};

void nearest_begin(struct nearest *nearest, const char *wanted);
/* Offers a candidate. Damerau-Levenshtein; at most a third of the wanted letters (and
 * at least one, but not all) may differ. Case, and '-' against '_', do not count as
 * letters that differ: a name that is equal but for them beats all but an equal one.
 * Where one begins with the other, of three letters and more, it counts as the
 * farthest. Of equally near ones, the first offered stays. */
void nearest_offer(struct nearest *nearest, const char *candidate);
/* The same for one of a short list, which nearest_help is to tell. */
void nearest_list(struct nearest *nearest, const char *candidate);
/* Helps with the best and the list: 'did you mean "lr"? Allowed: lr, beta', for the
 * label "allowed". Frees the list. */
void nearest_help(struct nearest *nearest, const char *label, struct error *err);

#endif
