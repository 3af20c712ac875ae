/* SPDX-License-Identifier: MIT */
/* What a run is on, of all its stages: each composes its own plugins, so what they are
 * is noted as it is composed. */
#include <stdlib.h>
#include <string.h>

#include "session_state.h"

/* ---- what is noted ---- */

static bool is_plugin(const struct json *item, const struct manifest *m) {
    return !strcmp(json_text(json_get(item, "kind")), manifest_kind_name(m->kind)) &&
           !strcmp(json_text(json_get(item, "name")), m->name);
}

/* Where it is in the list; its size: nowhere. */
static size_t find(const struct json *list, const struct manifest *m) {
    size_t i = 0;
    while (i < json_size(list) && !is_plugin(json_at(list, i), m)) i++;
    return i;
}

static struct json *describe(const struct manifest *m, const char *digest) {
    return environment_plugin(
        &(struct environment_plugin){.kind = manifest_kind_name(m->kind),
                                     .name = m->name,
                                     .version = m->version,
                                     .library = m->library_path,
                                     .digest = digest});
}

/* A library may have been built anew since the stage before. */
static bool note_library(lathe_session *s, const struct library *library) {
    const struct manifest *m = library->manifest;
    const size_t at = find(s->opened, m);
    const char *before = json_text(json_get(json_at(s->opened, at), "sha256"));
    if (at < json_size(s->opened) && !strcmp(before, library->digest)) return false;
    struct json *item = describe(m, library->digest);
    if (at == json_size(s->opened)) {
        s->opened = json_append(s->opened, item);
        return false;
    }
    log_line(&s->log, LATHE_LOG_WARNING,
             "%s %s is another file than the one that was there when the run began "
             "(%.12s…, then %.12s…)",
             manifest_kind_name(m->kind), m->name, library->digest, before);
    if (!item || !json_replace_at(s->opened, at, item)) {
        json_close(s->opened);
        s->opened = NULL;
    }
    return true;
}

static struct json *add_notes(struct json *notes, const char *stage,
                              const struct plugin *plugin) {
    if (plugin->notes) {
        char *path = text_make("%s%s", stage, plugin->use->path);
        struct json *own = json_clone(plugin->notes);
        if (!path) json_close(own);
        notes = json_add(notes, path ? path : "", path ? own : NULL);
        free(path);
    }
    for (size_t i = 0; i < plugin->use->nested_count; i++)
        notes = add_notes(notes, stage, &plugin->nested[i]);
    return notes;
}

static struct json *list_plugins(const lathe_session *s, const struct json *before);

lathe_status session_note_plugins(lathe_session *s) {
    char stage[32] = "";
    const struct plugin *plugin;
    bool is_renewed = false;
    if (!s->opened) s->opened = json_make_list();
    if (!s->notes) s->notes = json_make_map();
    for (int64_t i = 0; i < s->library_count; i++)
        is_renewed = note_library(s, &s->libraries[i]) || is_renewed;
    if (s->now.stage > 1)
        snprintf(stage, sizeof stage, "stages.%lld.", (long long)s->now.stage - 1);
    for (int64_t i = 0; (plugin = session_plugin_at(s, i)) != NULL; i++)
        s->notes = add_notes(s->notes, stage, plugin);
    if (is_renewed && s->environment) {
        struct json *plugins = list_plugins(s, NULL);
        environment_renew(s->environment, plugins, s->now.step);
        json_close(plugins);
    }
    return s->opened && s->notes
               ? LATHE_OK
               : fail(&s->err, LATHE_ENOMEM, "no memory to list what the run is on");
}

/* ---- in which stage ---- */

struct listing {
    const lathe_session *s;
    const struct json *before; /* the list of an earlier process; NULL: none */
    struct json *list;
    int64_t stage; /* from 1 */
};

/* Stages that are over are not composed any more: then it is what it was. */
static struct json *make_item(const struct listing *to, const struct manifest *m) {
    const struct json *item = json_at(to->s->opened, find(to->s->opened, m));
    if (!item) item = json_at(to->before, find(to->before, m));
    return item ? json_clone(item) : describe(m, "");
}

static void list_use(struct listing *to, const struct use *use) {
    const struct manifest *m = use->manifest;
    if (!m) return;
    const size_t at = find(to->list, m);
    if (at == json_size(to->list))
        to->list = json_append(to->list,
                               json_add(make_item(to, m), "stages", json_make_list()));
    struct json *item = json_at(to->list, at), *stages = json_get(item, "stages");
    const size_t count = json_size(stages);
    if (!count || json_whole(json_at(stages, count - 1)) != to->stage)
        json_push(stages, json_make_whole(to->stage));
    for (size_t i = 0; i < use->nested_count; i++) list_use(to, &use->nested[i]);
}

static void list_stage(struct listing *to, const struct experiment *e) {
    to->stage++;
    for (size_t i = 0; i < e->data_count; i++) list_use(to, &e->data[i].use);
    list_use(to, &e->model);
    list_use(to, &e->optimizer);
    list_use(to, &e->schedule);
    for (size_t i = 0; i < e->callback_count; i++) list_use(to, &e->callbacks[i]);
}

/* Which of the stages use it is told where that is not all of them. */
static struct json *list_plugins(const lathe_session *s, const struct json *before) {
    static const char *const stages[] = {"stages", NULL};
    const struct experiment *whole = s->experiments;
    struct listing to = {.s = s, .before = before, .list = json_make_list()};
    list_stage(&to, whole);
    for (size_t i = 0; i < whole->stage_count; i++) list_stage(&to, whole->stages[i]);
    struct json *list = json_make_list();
    for (size_t i = 0; to.list && i < json_size(to.list); i++) {
        const struct json *item = json_at(to.list, i);
        const bool is_in_all =
            json_size(json_get(item, "stages")) == whole->stage_count + 1;
        list = json_append(list, is_in_all ? json_clone_without(item, stages)
                                           : json_clone(item));
    }
    if (!to.list) list = json_append(list, NULL);
    json_close(to.list);
    return list;
}

/* ---- the file ---- */

static size_t count_files(const lathe_session *s) {
    size_t count = 0;
    while (files_path(s->files, count)) count++;
    return count;
}

/* NULL: nothing was made yet, or the file is not whole; a loss of power can do that. */
static struct json *read_before(lathe_session *s) {
    struct json *before = NULL;
    if (s->options.resume && s->now.step && !s->is_begun_again)
        rundir_read_json(rundir_path(s->rundir), "environment.json", &before, NULL);
    return before;
}

/* Of stages that are over, what was noted then. */
static struct json *join_notes(const lathe_session *s, const struct json *before) {
    struct json *notes = json_clone(s->notes);
    for (struct json_member at = {0};
         s->now.stage > 1 && json_next(json_get(before, "notes"), &at);)
        if (!json_get(notes, at.key))
            notes = json_add(notes, at.key, json_clone(at.value));
    return notes;
}

lathe_status session_begin_environment(lathe_session *s) {
    const size_t file_count = count_files(s);
    const char **files = calloc(file_count + 1, sizeof *files);
    char blas[128] = "";
    if (!rundir_path(s->rundir)) {
        free(files);
        return LATHE_OK;
    }
    struct json *before = read_before(s);
    struct json *plugins = list_plugins(s, json_get(before, "plugins"));
    struct json *notes = join_notes(s, before);
    lathe_status status = LATHE_OK;
    if (!plugins || !files || !notes)
        status = fail(&s->err, LATHE_ENOMEM, "no memory to list what the run is on");
    for (int64_t i = 0; i < s->library_count && !blas[0]; i++)
        library_blas_name(&s->libraries[i], blas, sizeof blas);
    for (size_t i = 0; i < file_count && files; i++) files[i] = files_path(s->files, i);
    const struct environment_start start = {.blas = blas[0] ? blas : NULL,
                                            .threads = workers_count(s->workers),
                                            .plugins = plugins,
                                            .notes = notes,
                                            .files = files,
                                            .file_count = file_count,
                                            .before = before,
                                            .step = s->now.step,
                                            .keeps_data = s->now.stage > 1,
                                            .log = &s->log};
    if (status == LATHE_OK)
        status = environment_begin(s->rundir, &start, &s->environment, &s->err);
    json_close(plugins);
    json_close(notes);
    json_close(before);
    free(files);
    return status;
}
