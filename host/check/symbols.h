/* SPDX-License-Identifier: MIT */
/* The dynamic symbols of a library, read as data. */
#ifndef HOST_CHECK_SYMBOLS_H
#define HOST_CHECK_SYMBOLS_H

#include <stdbool.h>

#include "base/error.h"

/* Gets each name that is seen from outside: defined in the library, or needed by it. */
typedef void symbols_visit(void *context, const char *name, bool is_defined);
lathe_status symbols_read(const char *path, symbols_visit *see, void *context,
                          struct error *err);

#endif
