/* SPDX-License-Identifier: MIT */
/* What registry.c, which scans, and registry_find.c, which finds, share. */
#ifndef HOST_REGISTRY_PARTS_H
#define HOST_REGISTRY_PARTS_H

#include <stdbool.h>

#include "registry.h"

struct registry {
    struct registry_entry *entries;
    size_t entry_count;
    struct registry_place *places;
    size_t place_count;
    struct json *format; /* of manifests */
    bool is_wary;        /* some libraries are refused by their digest (store.h) */
};

/* The first of this status, kind and name; NULL: none. */
const struct registry_entry *registry_entry_of(const struct registry *registry,
                                               enum registry_status status,
                                               uint32_t kind, const char *name);

#endif
