/* SPDX-License-Identifier: MIT */
/* A piece of an experiment that uses a plugin, made from its manifest alone: what must
 * be given, with values that its options allow. */
#ifndef HOST_COMMANDS_EXAMPLE_H
#define HOST_COMMANDS_EXAMPLE_H

#include "manifest.h"

/* { "optimizer": { "use": "sgd", "lr": 0.01 } }: one member, as it goes into the file.
 * The caller's; NULL: an experiment does not name such a plugin, or memory is out. */
struct json *example_make(const struct manifest *manifest);

#endif
