/* SPDX-License-Identifier: MIT */
/* Can this machine run what is in a bundle, as far as bundle.json tells? Nothing is
 * loaded to find out; the loader has the last word when it is. */
#ifndef HOST_BUNDLE_MACHINE_H
#define HOST_BUNDLE_MACHINE_H

#include "bundle/bundle.h"

/* As uname -m has it; the caller's; NULL: out of memory. */
char *machine_name(void);
/* Adds a LATHE_EMISSING for each reason that it cannot: another machine, an older ABI
 * or C library, a library that is not found. */
void machine_check(const struct bundle *bundle, struct errors *reasons);

#endif
