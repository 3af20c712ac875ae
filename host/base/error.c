/* SPDX-License-Identifier: MIT */
#include "error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "grow.h"
#include "text.h"

/* Writes one line, aside first: arguments may point into where it goes. */
static void spell(char *to, size_t size, const char *format, va_list arguments) {
    char line[sizeof((struct error *)0)->what];
    vsnprintf(line, size, format, arguments);
    text_clean(line);
    strcpy(to, line);
}

lathe_status fail_list(struct error *err, lathe_status status, const char *format,
                       va_list arguments) {
    if (!err) return status;
    spell(err->what, sizeof err->what, format, arguments);
    err->status = status;
    err->where[0] = err->help[0] = '\0';
    return status;
}

lathe_status fail(struct error *err, lathe_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail_list(err, status, format, arguments);
    va_end(arguments);
    return status;
}

void error_where(struct error *err, const char *format, ...) {
    if (!err) return;
    char inner[sizeof err->where];
    strcpy(inner, err->where);
    va_list arguments;
    va_start(arguments, format);
    spell(err->where, sizeof err->where, format, arguments);
    va_end(arguments);
    size_t length = strlen(err->where);
    if (!inner[0] || length + 3 >= sizeof err->where) return;
    snprintf(err->where + length, sizeof err->where - length, ": %.*s",
             (int)(sizeof err->where - length - 3), inner);
    text_clean(err->where); /* which may be cut within a letter */
}

void error_help(struct error *err, const char *format, ...) {
    if (!err) return;
    va_list arguments;
    va_start(arguments, format);
    spell(err->help, sizeof err->help, format, arguments);
    va_end(arguments);
}

int error_exit_code(lathe_status status) {
    static const int codes[][2] = {
        {LATHE_EGATE, 1},      {LATHE_EINVAL, 78},   {LATHE_EDATA, 65},
        {LATHE_ENOTFOUND, 66}, {LATHE_EMISSING, 69}, {LATHE_ENOMEM, 71},
        {LATHE_ECREATE, 73},   {LATHE_EIO, 74},      {LATHE_EPERM, 77},
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (status == codes[i][0]) return codes[i][1];
    return status < 0 ? 70 : 0; /* LATHE_EPLUGIN, and codes that nobody knows */
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

lathe_status error_from_create(int number) {
    const lathe_status status = error_from_errno(number);
    if (number == ENOSPC || number == EDQUOT) return LATHE_EIO;
    return status == LATHE_EPERM || status == LATHE_ENOMEM ? status : LATHE_ECREATE;
}

struct error *errors_add(struct errors *errors) {
    if (errors->items == &errors->spare) return &errors->spare;
    if (errors->count == ERRORS_MAX) return &errors->items[ERRORS_MAX - 1];
    struct error *items = grow(errors->items, errors->count, sizeof *items);
    if (!items && errors->count) return &errors->items[errors->count - 1];
    errors->items = items ? items : &errors->spare;
    struct error *last = &errors->items[errors->count++];
    memset(last, 0, sizeof *last);
    return last;
}

void errors_finish(struct errors *errors) {
    if (errors->items != &errors->spare) free(errors->items);
    memset(errors, 0, sizeof *errors);
}
