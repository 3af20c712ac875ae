/* SPDX-License-Identifier: MIT */
/* What the files of content share. */
#ifndef HOST_BUNDLE_CONTENT_PARTS_H
#define HOST_BUNDLE_CONTENT_PARTS_H

#include "bundle/content.h"
#include "registry.h"

/* Is each plugin that bundle.json names in the folder, and as it says? Is there no
 * other? */
void content_check_plugins(const struct bundle *bundle, const char *folder,
                           const struct registry *registry, struct errors *faults);

/* Can the experiment be opened, with the plugins and the files of the bundle alone? */
void content_check_experiment(const struct bundle *bundle, const char *folder,
                              const struct registry *registry, struct errors *faults);
/* Is the receipt one, and are its records there? */
void content_check_receipt(const struct bundle *bundle, const char *folder,
                           struct errors *faults);
/* Are the weights that the experiment begins from, and the checkpoint, such files, and
 * of its model? */
void content_check_files(const struct bundle *bundle, const char *folder,
                         const struct experiment *experiment, struct errors *faults);

#endif
