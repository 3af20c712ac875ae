/* SPDX-License-Identifier: MIT */
/* lathe unpack: a bundle taken apart, for somebody to look at, or into the store. */
#include <stdio.h>
#include <stdlib.h>

#include "bundle/shelf.h"
#include "commands/bundles.h"
#include "commands/commands.h"

static lathe_status put_on_shelf(struct intake *intake, const struct bundle *bundle,
                                 const char *store, struct error *err) {
    char *place = NULL, *folder = NULL;
    lathe_status status = shelf_place(store, &place, err);
    if (!status) status = shelf_put(place, intake, bundle, &folder, NULL, NULL, err);
    if (!status) puts(folder);
    free(folder);
    free(place);
    return status;
}

static lathe_status unpack(const char *path, const char *folder, const char *store,
                           struct error *err) {
    struct intake *intake = NULL;
    const struct bundle *bundle = NULL;
    lathe_status status = bundles_open(path, &intake, &bundle, err);
    if (!status && folder) {
        status = shelf_unpack(folder, intake, bundle, err);
        if (!status) puts(folder);
    } else if (!status) {
        status = put_on_shelf(intake, bundle, store, err);
    }
    intake_close(intake);
    return status;
}

int command_unpack(int argc, char **argv) {
    const char *folder = NULL, *store = NULL, *path = NULL;
    const struct flag flags[] = {{"-o", "DIR", .value = &folder},
                                 {"--store", "DIR", .value = &store},
                                 {.name = NULL}};
    struct arguments arguments = {0};
    struct error err = {0};
    int code = arguments_read(argc, argv, flags, &arguments, &err);
    if (!code)
        code = arguments_lone_word(&arguments, "unpack", "a bundle", &path, &err);
    if (!code) code = error_exit_code(unpack(path, folder, store, &err));
    if (code) command_print_error(&err);
    arguments_finish(&arguments);
    return code;
}
