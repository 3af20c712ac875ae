/* SPDX-License-Identifier: MIT */
/* A library that mentions every struct that crosses, for abidiff to compare. */
#include <lathe/callback.h>
#include <lathe/dataset.h>
#include <lathe/model.h>
#include <lathe/optimizer.h>
#include <lathe/schedule.h>
#include <lathe/session.h>

#define STRUCT(type, bytes)                                                            \
    LATHE_EXPORT const type *probe_##type(type *it);                                   \
    const type *probe_##type(type *it) {                                               \
        return it;                                                                     \
    }
#define FIELD(type, name, at, bytes)
#define CONSTANT(name, value)
#include "layout.def"
