/* SPDX-License-Identifier: MIT */
/* Bundles on a command line. One that stands in place of an experiment file is checked
 * and unpacked into the store, and the options of the session are set to what is there.
 * Reading a bundle is intake's, keeping it is shelf's. */
#ifndef HOST_COMMANDS_BUNDLES_H
#define HOST_COMMANDS_BUNDLES_H

#include <lathe/session.h>

#include "bundle/intake.h"
#include "commands/arguments.h"
#include "commands/signature.h"

struct bundle_flags {
    struct words data; /* folders with what is not in the bundle */
    const char *store; /* NULL: the user's */
};
#define BUNDLE_FLAGS(flags)                                                            \
    {"--data", "DIR", .values = &(flags).data}, {                                      \
        "--store", "DIR", .value = &(flags).store                                      \
    }

/* The only way a bundle comes into the program. What the user's policy makes of its
 * signature is known before its bundle.json is parsed: LATHE_EPERM if that is a no, or
 * a warning on stderr. *intake is the caller's, *bundle borrowed from it. */
lathe_status bundles_open(const char *path, struct intake **intake,
                          const struct bundle **bundle, struct error *err);
/* The same for a command that only looks at it. A wrong signature is refused; of any
 * other, *signature says what there is, for signature_finish also after a failure.
 * `key` as for signature_look; if it is given, it has to have signed. */
lathe_status bundles_look(const char *path, const char *key,
                          struct signature *signature, struct intake **intake,
                          const struct bundle **bundle, struct error *err);

/* Is `word`, given in place of an experiment, a bundle? LATHE_EINVAL: it is a file that
 * can be neither, and the text says what it looks like. */
lathe_status bundles_recognise(const char *word, bool *is_bundle, struct error *err);

/* What takes the place of the words of a command line. */
struct bundle_use {
    char *experiment, *checkpoint; /* in the store; the latter NULL: it has none */
    const char **plugin_paths;     /* the bundle's, then those that were given */
    const char **overrides;        /* where its data is, then those that were given */
    /* bundles.c's own */
    char *folder, *plugins;
    char **made;
    size_t made_count, override_count;
    int hold; /* if is_held: of the bundle in the store, which then stays there */
    bool is_held;
};

/* `word` is a bundle: fills in *use, for bundles_finish either way, and tells on
 * stderr, unless quiet, whose plugins are used. Adds all faults that can be found. */
lathe_status bundles_use(const char *word, const struct bundle_flags *flags,
                         const struct words *plugin_paths,
                         const struct words *overrides, int is_quiet,
                         struct bundle_use *use, struct errors *errors);
void bundles_finish(struct bundle_use *use);
/* The same where the first fault is enough: replaces the experiment, the plugin paths
 * and the overrides of a session's options, if the experiment is a bundle. Returns 0,
 * or the exit status with its reason in *err. */
int bundles_replace(lathe_session_options *options, const struct bundle_flags *flags,
                    int is_quiet, struct bundle_use *use, struct error *err);
/* The checkpoint that a bundle holds, unpacked: use->checkpoint. Returns 0, or the exit
 * status with its reason in *err; bundles_finish either way. */
int bundles_checkpoint(const char *path, const struct bundle_flags *flags,
                       struct bundle_use *use, struct error *err);
/* Is what a run, or that of a checkpoint file, was made of still in the store, where
 * that is where it came from, and does the user's policy accept it? *use, which begins
 * as {0} and is for bundles_finish, keeps it there. LATHE_ENOTFOUND, LATHE_EDATA,
 * LATHE_EPERM. */
lathe_status bundles_check_run(const char *run, struct bundle_use *use,
                               struct error *err);

#endif
