/* SPDX-License-Identifier: MIT */
/* Text in memory of the caller's, for where none can be had and snprintf is not
 * allowed: a signal handler. It always ends with a NUL; what does not fit is left
 * out. */
#ifndef HOST_BASE_PLAIN_H
#define HOST_BASE_PLAIN_H

#include <stddef.h>
#include <stdint.h>

struct plain {
    char *text;
    size_t length, size; /* size > 0 */
};

void plain_add(struct plain *to, const char *text);
/* Text that may not end with a NUL: at most so many bytes. */
void plain_add_some(struct plain *to, const char *text, size_t most);
void plain_add_number(struct plain *to, int64_t number);
/* As a JSON string, with its quotes; NULL is null. */
void plain_add_json(struct plain *to, const char *text);

#endif
