/* SPDX-License-Identifier: MIT */
/* A checkpoint as it may leave this machine: the experiment that it remembers has
 * paths, which no reader needs. Its tensors and its other notes stay as they are. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/path.h"
#include "bundle/pack_parts.h"
#include "safetensors.h"

#define NAME "checkpoint.safetensors"
#define EXPERIMENT "lathe.experiment"

static const char *const keys[] = {"format",   "lathe",      "lathe.run",
                                   EXPERIMENT, "lathe.loop", "lathe.plugins"};
#define KEYS (sizeof keys / sizeof *keys)

struct copying {
    struct safetensors *file;
    struct safetensor *tensors;
    struct safetensors_note notes[KEYS];
    size_t note_count;
    char *experiment;
    struct error *err;
};

static lathe_status broken(struct error *err) {
    return fail(err, LATHE_ENOMEM, "no memory to pack the checkpoint");
}

/* Of a path of this machine, the name is kept. */
static bool hide_paths(struct json *value) {
    const char *text = json_text(value);
    bool is_done = true;
    if (*text == '/') {
        char *name = text_copy(path_name(text));
        is_done = name && json_set_text(value, name);
        free(name);
    }
    for (size_t i = 0; i < json_size(value) && is_done; i++)
        is_done = hide_paths(json_at(value, i));
    return is_done;
}

static lathe_status hide_experiment(struct copying *c, const char *note) {
    struct json *root = NULL;
    struct text text = {0};
    lathe_status status = json_parse(note, strlen(note), EXPERIMENT, &root, c->err);
    if (status) return c->err->status = LATHE_EDATA;
    if (hide_paths(root) && json_put(root, "plugin_path", json_make_list())) {
        json_write(root, &text, 2);
        text_add(&text, "\n");
    } else {
        text.is_broken = true;
    }
    json_close(root);
    c->experiment = text.data;
    return text.is_broken ? broken(c->err) : LATHE_OK;
}

static lathe_status copy_notes(struct copying *c) {
    lathe_status status = hide_experiment(c, safetensors_note(c->file, EXPERIMENT));
    for (size_t i = 0; i < KEYS && !status; i++) {
        const char *note = safetensors_note(c->file, keys[i]);
        if (!strcmp(keys[i], EXPERIMENT)) note = c->experiment;
        if (note) c->notes[c->note_count++] = (struct safetensors_note){keys[i], note};
    }
    return status;
}

static lathe_status copy_tensors(struct copying *c) {
    const size_t count = safetensors_count(c->file);
    lathe_status status = LATHE_OK;
    c->tensors = calloc(count + 1, sizeof *c->tensors);
    if (!c->tensors) return broken(c->err);
    for (size_t i = 0; i < count && !status; i++) {
        const struct safetensor *tensor = safetensors_at(c->file, i);
        void *data = malloc((size_t)tensor->bytes + 1);
        if (!data) return broken(c->err);
        c->tensors[i] = *tensor;
        c->tensors[i].data = data;
        status = safetensors_read(c->file, tensor, data, c->err);
    }
    return status;
}

static lathe_status write_item(struct copying *c, struct pack_item *item) {
    char path[40];
    item->fd = memfd_create(NAME, MFD_CLOEXEC);
    if (item->fd < 0) return broken(c->err);
    lathe_status status =
        safetensors_write(item->fd, c->tensors, safetensors_count(c->file), c->notes,
                          c->note_count, c->err);
    item->size = lseek(item->fd, 0, SEEK_END);
    snprintf(path, sizeof path, "/proc/self/fd/%d", item->fd);
    return status ? status : digest_file(path, NULL, item->digest, c->err);
}

/* Makes the item a copy of the file, without paths. */
static lathe_status copy_file(struct safetensors *file, struct pack_item *item,
                              struct error *err) {
    struct copying c = {.file = file, .err = err};
    lathe_status status = copy_notes(&c);
    if (!status) status = copy_tensors(&c);
    if (!status) status = write_item(&c, item);
    for (size_t i = 0; c.tensors && i < safetensors_count(file); i++)
        free((void *)c.tensors[i].data);
    free(c.tensors);
    free(c.experiment);
    return status;
}

lathe_status pack_cut_checkpoint(struct pack_item *item, struct error *err) {
    struct safetensors *file = NULL;
    lathe_status status = LATHE_OK;
    if (safetensors_open(item->source, &file, NULL)) return LATHE_OK;
    if (safetensors_note(file, EXPERIMENT)) {
        if (safetensors_note(file, SAFETENSORS_DIGEST))
            status = safetensors_verify(file, err);
        if (!status) status = copy_file(file, item, err);
        if (status == LATHE_EDATA && !err->help[0])
            error_help(err, "it says that it is a checkpoint: give another file");
    }
    safetensors_close(file);
    return status;
}

lathe_status pack_take_checkpoint(struct pack *pack, const char *source,
                                  struct error *err) {
    struct safetensors *file = NULL;
    struct stat info;
    const bool is_run = stat(source, &info) == 0 && S_ISDIR(info.st_mode);
    char *path =
        is_run ? path_join(source, "checkpoints/last.safetensors") : text_copy(source);
    struct pack_item *item = pack_add(pack, text_copy(NAME));
    pack->checkpoint = text_copy(NAME);
    lathe_status status = path && item && pack->checkpoint
                              ? safetensors_open_whole(path, &file, err)
                              : broken(err);
    if (!status && !safetensors_note(file, EXPERIMENT))
        status = fail(err, LATHE_EDATA,
                      "it is no checkpoint of a run: " EXPERIMENT " is not there");
    if (!status) status = copy_file(file, item, err);
    if (status && path) error_where(err, "%s", path);
    safetensors_close(file);
    if (item) item->source = path; /* that it is not written over */
    if (item && !status && stat(path, &item->as)) status = broken(err);
    if (!item) free(path);
    return status;
}
