/* SPDX-License-Identifier: MIT */
/* What dylib.c, which opens a shared object, and dylib_neighbours.c share: one that is
 * opened must use its own names and its own libraries, and leave others theirs. */
#ifndef HOST_DYLIB_PARTS_H
#define HOST_DYLIB_PARTS_H

#include "base/elf_object.h"

/* Before it is opened. LATHE_EMISSING when the process would put something of another's
 * in the place of one of its names, or when a library that it needs is there under the
 * same name, and is another file. */
lathe_status dylib_check_neighbours(const struct elf_object *object, struct error *err);
/* Once it is opened: does it put a name of its own in the place of one of a library
 * that it shares with others? */
lathe_status dylib_check_needed(const struct elf_object *object, struct error *err);

#endif
