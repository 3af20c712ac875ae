/* SPDX-License-Identifier: MIT */
/* Whose plugins are used when a bundle is: found out, not taken from what the bundle
 * says. */
#ifndef HOST_COMMANDS_BUNDLE_PLUGINS_H
#define HOST_COMMANDS_BUNDLE_PLUGINS_H

#include "bundle/bundle.h"

/* A bundle in the store, and what it is run with. */
struct bundle_plugins {
    const struct bundle *bundle;
    const char *folder, *experiment;
    const char *const *plugin_paths, *const *overrides;
};

/* Says on stderr, unless quiet, which are the bundle's and which are installed here.
 * LATHE_EMISSING: the bundle has one that is refused, and another would take its place.
 * An experiment that is wrong is for others to tell. */
lathe_status bundle_plugins_look(const struct bundle_plugins *plugins, int is_quiet,
                                 struct error *err);

#endif
