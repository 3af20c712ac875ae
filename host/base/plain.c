/* SPDX-License-Identifier: MIT */
#include "base/plain.h"

void plain_add_some(struct plain *to, const char *text, size_t most) {
    for (size_t i = 0; i < most && text[i]; i++)
        if (to->length + 1 < to->size) to->text[to->length++] = text[i];
    to->text[to->length] = 0;
}

void plain_add(struct plain *to, const char *text) {
    plain_add_some(to, text, SIZE_MAX);
}

void plain_add_number(struct plain *to, int64_t number) {
    char digits[20];
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    size_t first = sizeof digits;
    do digits[--first] = (char)('0' + left % 10);
    while (left /= 10);
    if (number < 0) plain_add(to, "-");
    plain_add_some(to, digits + first, sizeof digits - first);
}

void plain_add_json(struct plain *to, const char *text) {
    static const char hex[] = "0123456789abcdef";
    if (!text) {
        plain_add(to, "null");
        return;
    }
    plain_add(to, "\"");
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        const char control[] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15], 0};
        const char escaped[] = {'\\', *text, 0};
        if (c < ' ')
            plain_add(to, control);
        else if (c == '"' || c == '\\')
            plain_add(to, escaped);
        else
            plain_add_some(to, text, 1);
    }
    plain_add(to, "\"");
}
