/* SPDX-License-Identifier: MIT */
/* What a checkpoint says of itself. */
#include <string.h>

#include "checkpoints.h"

lathe_status checkpoints_check_format(const struct safetensors *file,
                                      struct error *err) {
    const char *format = safetensors_note(file, NOTE_FORMAT);
    const char *abi = format ? strstr(format, "plugin ABI ") : NULL;
    if (!format)
        return fail(err, LATHE_EDATA,
                    "it is no checkpoint of a run: " NOTE_FORMAT " is not there");
    if (strncmp(format, "1 ", 2) == 0 && abi && strncmp(abi + 11, "1.", 2) == 0)
        return LATHE_OK;
    fail(err, LATHE_EDATA, "it was saved by another lathe: format %s", format);
    error_help(err,
               "this one reads format 1, with state of plugins of ABI 1; go on with "
               "the one that saved it");
    return LATHE_EDATA;
}

lathe_status checkpoints_note(const struct safetensors *file, const char *key,
                              struct json **json, struct error *err) {
    const char *note = safetensors_note(file, key);
    *json = NULL;
    if (!note)
        return fail(err, LATHE_EDATA, "it is no checkpoint of a run: %s is not there",
                    key);
    lathe_status status = json_parse(note, strlen(note), key, json, err);
    if (status && err) err->status = LATHE_EDATA;
    return status ? LATHE_EDATA : LATHE_OK;
}
