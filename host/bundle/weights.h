/* SPDX-License-Identifier: MIT */
/* Weights of a bundle as they pass by: is what they hold what was saved? A run looks at
 * that before it begins from them. Only the header is kept, whatever their size. What
 * the header has to be besides, and whether it is one, is content's. */
#ifndef HOST_BUNDLE_WEIGHTS_H
#define HOST_BUNDLE_WEIGHTS_H

#include "bundle/intake.h"

struct weights;

/* `next` gets all that passes. Adds each fault to `faults`, LATHE_EDATA. All three are
 * borrowed until weights_close. NULL: out of memory. */
struct weights *weights_open(const struct bundle *bundle,
                             const struct intake_sink *next, struct errors *faults);
struct intake_sink weights_sink(struct weights *weights);
void weights_close(struct weights *weights); /* NULL is fine */

#endif
