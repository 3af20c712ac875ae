/* SPDX-License-Identifier: MIT */
#include "nearest.h"

#include <ctype.h>
#include <string.h>

#define BEGINNING 3 /* letters: fewer say nothing */

void nearest_begin(struct nearest *nearest, const char *wanted) {
    size_t letters = strlen(wanted);
    *nearest = (struct nearest){.wanted = wanted};
    /* The first that is too far: past a third and half a letter for case, or when no
     * letter agrees. */
    nearest->distance =
        letters < 2 ? 2 * letters : 2 * (letters < 6 ? 1 : letters / 3) + 2;
    nearest->farthest = nearest->distance ? nearest->distance - 1 : 0;
}

static char fold(char c) {
    return c == '_' ? '-' : (char)tolower((unsigned char)c);
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Optimal string alignment: insert, delete, change, swap neighbours. */
static size_t count_edits(const char *a, size_t a_length, const char *b,
                          size_t b_length) {
    size_t rows[3][NEAREST_LETTERS_MAX + 1];
    size_t *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= b_length; j++) last[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        now[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            char x = fold(a[i - 1]), y = fold(b[j - 1]);
            now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == fold(b[j - 2]) && y == fold(a[i - 2]))
                now[j] = least(now[j], before[j - 2] + 1);
        }
        size_t *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[b_length];
}

/* "batchsize" is "batch" and more. */
static bool is_beginning(const char *a, const char *b) {
    size_t letters = 0;
    while (a[letters] && fold(a[letters]) == fold(b[letters])) letters++;
    return letters >= BEGINNING && (!a[letters] || !b[letters]);
}

void nearest_offer(struct nearest *nearest, const char *candidate) {
    size_t a = strlen(nearest->wanted), b = strlen(candidate);
    if (a > NEAREST_LETTERS_MAX || b > NEAREST_LETTERS_MAX) return;
    size_t distance = 2 * count_edits(nearest->wanted, a, candidate, b);
    if (distance == 0 && strcmp(nearest->wanted, candidate) != 0) distance = 1;
    if (distance > nearest->farthest && is_beginning(nearest->wanted, candidate))
        distance = nearest->farthest;
    if (distance >= nearest->distance) return;
    nearest->best = memcpy(nearest->copy, candidate, b + 1);
    nearest->distance = distance;
}

void nearest_list(struct nearest *nearest, const char *candidate) {
    text_format(&nearest->known, "%s%s", nearest->known.length ? ", " : "", candidate);
    nearest_offer(nearest, candidate);
}

void nearest_help(struct nearest *nearest, const char *label, struct error *err) {
    const char *known = nearest->known.length ? nearest->known.data : "none";
    if (nearest->best)
        error_help(err, "did you mean \"%s\"? %c%s: %s", nearest->best,
                   toupper((unsigned char)*label), label + 1, known);
    else
        error_help(err, "%s: %s", label, known);
    text_finish(&nearest->known);
}
