/* SPDX-License-Identifier: MIT */
#include "error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

lathe_status fail(struct error *err, lathe_status status, const char *format, ...) {
    if (!err) return status;
    char what[sizeof err->what];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    text_clean(what);
    err->status = status;
    memcpy(err->what, what, sizeof what);
    err->where[0] = err->help[0] = '\0';
    return status;
}

void error_where(struct error *err, const char *format, ...) {
    if (!err) return;
    char where[sizeof err->where];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(where, sizeof where, format, arguments);
    va_end(arguments);
    size_t length = strlen(where);
    if (err->where[0] && length + 3 < sizeof where) {
        size_t room = sizeof where - length - 3, more = strnlen(err->where, room);
        memcpy(where + length, ": ", 2);
        memcpy(where + length + 2, err->where, more);
        where[length + 2 + more] = '\0';
    }
    text_clean(where);
    memcpy(err->where, where, sizeof where);
}

void error_help(struct error *err, const char *format, ...) {
    if (!err) return;
    char help[sizeof err->help];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(help, sizeof help, format, arguments);
    va_end(arguments);
    text_clean(help);
    memcpy(err->help, help, sizeof help);
}

int error_exit_code(lathe_status status) {
    switch (status) {
    case LATHE_EGATE:
        return 1;
    case LATHE_EINVAL:
        return 78;
    case LATHE_EDATA:
        return 65;
    case LATHE_ENOTFOUND:
        return 66;
    case LATHE_EMISSING:
        return 69;
    case LATHE_ENOMEM:
        return 71;
    case LATHE_ECREATE:
        return 73;
    case LATHE_EIO:
        return 74;
    case LATHE_EPERM:
        return 77;
    default: /* LATHE_EPLUGIN, and codes that nobody knows */
        return status < 0 ? 70 : 0;
    }
}

lathe_status error_from_errno(int number) {
    switch (number) {
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
        return LATHE_ENOTFOUND;
    case EACCES:
    case EPERM:
        return LATHE_EPERM;
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case EAGAIN:
        return LATHE_ENOMEM;
    case EEXIST:
    case EROFS:
        return LATHE_ECREATE;
    default:
        return LATHE_EIO;
    }
}

struct error *errors_add(struct errors *errors) {
    if (errors->items == &errors->spare) return &errors->spare;
    if (errors->count == errors->capacity) {
        size_t capacity = errors->capacity ? 2 * errors->capacity : 4;
        struct error *items = realloc(errors->items, capacity * sizeof *items);
        if (!items && errors->count) return &errors->items[errors->count - 1];
        if (!items) {
            errors->items = &errors->spare;
            errors->count = 1;
            return &errors->spare;
        }
        errors->items = items;
        errors->capacity = capacity;
    }
    struct error *last = &errors->items[errors->count++];
    memset(last, 0, sizeof *last);
    return last;
}

void errors_finish(struct errors *errors) {
    if (errors->items != &errors->spare) free(errors->items);
    memset(errors, 0, sizeof *errors);
}
