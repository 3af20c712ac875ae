/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/path.h"
#include "rundir.h"

lathe_status rundir_read_json(const char *run, const char *name, struct json **json,
                              struct error *err) {
    char *path = path_join(run, name);
    *json = NULL;
    if (!path) return fail(err, LATHE_ENOMEM, "no memory for a path");
    lathe_status status = json_read(path, json, err);
    if (status == LATHE_EINVAL) status = LATHE_EDATA;
    if (status && err) err->status = status;
    free(path);
    return status;
}
