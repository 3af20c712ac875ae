/* SPDX-License-Identifier: MIT */
/* What the files of shelf share. */
#ifndef HOST_BUNDLE_SHELF_PARTS_H
#define HOST_BUNDLE_SHELF_PARTS_H

#include "bundle/shelf.h"

#define SHELF_ASIDE ".unpack-" /* what is not whole yet, or not any more */

#endif
