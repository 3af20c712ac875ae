/* SPDX-License-Identifier: MIT */
/* Which plugins a bundle is run with: its own, or some that are installed here. That is
 * found by looking; what the bundle says of itself is not relied on. */
#ifndef HOST_COMMANDS_BUNDLE_PLUGINS_H
#define HOST_COMMANDS_BUNDLE_PLUGINS_H

#include "bundle/bundle.h"

/* A bundle in the store, and what it is run with. */
struct bundle_plugins {
    const struct bundle *bundle;
    const char *folder, *experiment;
    const char *const *plugin_paths, *const *overrides;
};

/* Tells on stderr, unless quiet. LATHE_EMISSING: a plugin of the bundle is refused, and
 * an installed one would take its place; LATHE_EDATA: its experiment names a file that
 * is not the bundle's. Faults of the experiment are for others to
 * tell. */
lathe_status bundle_plugins_look(const struct bundle_plugins *plugins, int is_quiet,
                                 struct error *err);

#endif
