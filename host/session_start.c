/* SPDX-License-Identifier: MIT */
/* Weights to begin from: those of a file that have a name of the model's. The rest of
 * the model stays as it was initialised, and is told. */
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "session_state.h"

#define NAMES_SHOWN 6
#define OURS "lathe/" /* what a checkpoint has beside weights */

struct names {
    struct text text;
    size_t count;
};

struct starting {
    lathe_session *s;
    struct safetensors *file;
    bool *is_chosen;                 /* [parameters] by `only` */
    const struct safetensor **found; /* [parameters]; NULL: the file has none */
    struct names missing, extra;
    int64_t taken, taken_of_block;
    const char *block; /* the first of rename that reached into a checkpoint's blocks */
};

static bool is_ours(const char *name) {
    return !strncmp(name, OURS, sizeof OURS - 1);
}

static void add_name(struct names *names, const char *name) {
    if (names->count++ < NAMES_SHOWN)
        text_format(&names->text, "%s%s", names->count > 1 ? ", " : "", name);
}

static void log_names(lathe_session *s, int32_t level, const char *what,
                      const struct names *names) {
    if (!names->count || names->text.is_broken) return;
    if (names->count > NAMES_SHOWN)
        log_line(&s->log, level, "start: %s: %s, and %zu more", what, names->text.data,
                 names->count - NAMES_SHOWN);
    else
        log_line(&s->log, level, "start: %s: %s", what, names->text.data);
}

/* ---- names ---- */

/* "encoder.*" on "encoder.0.weight" gives "0.weight", `length` bytes; NULL: no fit. */
static const char *match(const char *pattern, const char *name, size_t *length) {
    const char *star = strchr(pattern, '*');
    const size_t whole = strlen(name);
    if (!star) return NULL;
    const size_t head = (size_t)(star - pattern), tail = strlen(star + 1);
    if (whole < head + tail || strncmp(name, pattern, head) != 0 ||
        strcmp(name + whole - tail, star + 1) != 0)
        return NULL;
    *length = whole - head - tail;
    return name + head;
}

/* Does an entry of rename mean the tensor? What a checkpoint has beside weights is
 * meant by its full name only. */
static const char *match_entry(const char *from, const char *name, size_t *length) {
    *length = 0;
    if (is_ours(name) && !is_ours(from)) return NULL;
    return strcmp(from, name) ? match(from, name, length) : name;
}

/* The name in the model of a name in the file; the caller's. Two whole names go before
 * patterns, of which the first that fits is taken. NULL in *from: as it is. */
static char *rename_tensor(const struct json *rename, const char *name,
                           const char **from) {
    const struct json *exact = json_get(rename, name);
    *from = exact ? name : NULL;
    if (exact) return text_copy(json_text(exact));
    for (size_t i = 0; i < json_size(rename); i++) {
        const char *to = json_text(json_at(rename, i)), *star = strchr(to, '*');
        size_t length = 0;
        const char *middle = match_entry(json_key_at(rename, i), name, &length);
        *from = json_key_at(rename, i);
        if (middle && star)
            return text_make("%.*s%.*s%s", (int)(star - to), to, (int)length, middle,
                             star + 1);
    }
    *from = NULL;
    return text_copy(name);
}

static int64_t find_parameter(const struct parameters *parameters, const char *name) {
    int64_t i = 0;
    while (i < parameters->count && strcmp(parameters->items[i].name, name) != 0) i++;
    return i;
}

static lathe_status refuse_entry(const struct starting *at, const char *from,
                                 const char *near, const struct names *names) {
    lathe_session *s = at->s;
    char path[384];
    snprintf(path, sizeof path, "start.rename.%s", from);
    fail(&s->err, LATHE_EINVAL, "\"%s\" matches no tensor of %s", from,
         s->experiment->start.weights);
    error_help(&s->err, "%s%s%sit has %s%s", near ? "did you mean " : "",
               near ? near : "", near ? "? " : "",
               names->count && names->text.data ? names->text.data : "none such",
               names->count > NAMES_SHOWN ? ", …" : "");
    experiment_where(s->experiment, path, &s->err);
    return LATHE_EINVAL;
}

static lathe_status check_entry(const struct starting *at, const char *from) {
    struct names names = {0};
    struct nearest nearest;
    bool is_found = false;
    size_t length;
    nearest_begin(&nearest, from);
    for (size_t i = 0; i < safetensors_count(at->file) && !is_found; i++) {
        const char *name = safetensors_at(at->file, i)->name;
        is_found = match_entry(from, name, &length) != NULL;
        nearest_offer(&nearest, name);
        if (is_ours(name) == is_ours(from)) add_name(&names, name);
    }
    lathe_status status =
        is_found ? LATHE_OK : refuse_entry(at, from, nearest.best, &names);
    text_finish(&names.text);
    return status;
}

/* An entry that means nothing is a slip of the pen. */
static lathe_status check_rename(const struct starting *at) {
    const struct json *rename = at->s->experiment->start.rename;
    lathe_status status = LATHE_OK;
    for (size_t i = 0; status == LATHE_OK && i < json_size(rename); i++)
        status = check_entry(at, json_key_at(rename, i));
    return status;
}

static lathe_status refuse_two(lathe_session *s, const char *first, const char *second,
                               const char *name) {
    fail(&s->err, LATHE_EINVAL,
         "the tensors \"%s\" and \"%s\" would both be the parameter \"%s\"", first,
         second, name);
    error_help(&s->err, "give each a name of its own in start.rename");
    return LATHE_EINVAL;
}

/* Of a block that was asked for and the weights beside it, the block is meant. */
static lathe_status find_tensor(struct starting *at, const struct safetensor *tensor) {
    lathe_session *s = at->s;
    const bool is_block = is_ours(tensor->name);
    const char *from;
    char *name = rename_tensor(s->experiment->start.rename, tensor->name, &from);
    if (!name) return fail(&s->err, LATHE_ENOMEM, "no memory to start");
    const int64_t index = find_parameter(&s->parameters, name);
    free(name);
    if (is_block && !from) return LATHE_OK;
    if (index == s->parameters.count) {
        add_name(&at->extra, tensor->name);
        return LATHE_OK;
    }
    const struct safetensor **found = &at->found[index];
    if (is_block && !at->block) at->block = from;
    if (*found && is_ours((*found)->name) == is_block)
        return refuse_two(s, (*found)->name, tensor->name,
                          s->parameters.items[index].name);
    if (!*found || is_block) *found = tensor;
    return LATHE_OK;
}

static lathe_status find_tensors(struct starting *at) {
    lathe_status status = check_rename(at);
    for (size_t i = 0; i < safetensors_count(at->file) && status == LATHE_OK; i++)
        status = find_tensor(at, safetensors_at(at->file, i));
    return status;
}

/* ---- shapes ---- */

static void write_shape(struct text *text, int64_t rank, const int64_t *shape) {
    text_add(text, "[");
    for (int64_t i = 0; i < rank; i++)
        text_format(text, "%s%lld", i ? ", " : "", (long long)shape[i]);
    text_add(text, "]");
}

static bool fits(const struct parameter *p, const struct safetensor *tensor) {
    return tensor->rank == (int32_t)p->rank &&
           !memcmp(tensor->shape, p->shape, p->rank * sizeof *p->shape);
}

static lathe_status refuse_shape(lathe_session *s, const struct parameter *p,
                                 const struct safetensor *tensor) {
    struct text text = {0};
    text_format(&text, "tensor \"%s\" is ", tensor->name);
    write_shape(&text, tensor->rank, tensor->shape);
    text_format(&text, ", and the parameter \"%s\" is ", p->name);
    write_shape(&text, p->rank, p->shape);
    fail(&s->err, LATHE_EDATA, "%s", text.is_broken ? "?" : text.data);
    error_help(&s->err, "leave it out: start.only names the parameters that are taken");
    text_finish(&text);
    return LATHE_EDATA;
}

static lathe_status check_tensors(struct starting *at) {
    lathe_session *s = at->s;
    for (int64_t i = 0; i < s->parameters.count; i++) {
        const struct parameter *p = &s->parameters.items[i];
        if (!at->is_chosen[i]) continue;
        if (!at->found[i])
            add_name(&at->missing, p->name);
        else if (!fits(p, at->found[i]))
            return refuse_shape(s, p, at->found[i]);
        else
            at->taken++, at->taken_of_block += is_ours(at->found[i]->name);
    }
    if (at->taken) return LATHE_OK;
    fail(&s->err, LATHE_EDATA, "no tensor of it has the name of a parameter");
    if (at->extra.count && at->missing.count)
        error_help(&s->err,
                   "the file has %.100s; the model wants %.100s; start.rename "
                   "says which is which",
                   at->extra.text.data, at->missing.text.data);
    return LATHE_EDATA;
}

/* ---- the whole ---- */

static lathe_status choose(struct starting *at) {
    lathe_session *s = at->s;
    const char *only = s->experiment->start.only;
    const size_t count = (size_t)s->parameters.count;
    at->is_chosen = calloc(count + 1, sizeof *at->is_chosen);
    at->found = calloc(count + 1, sizeof *at->found);
    if (!at->is_chosen || !at->found)
        return fail(&s->err, LATHE_ENOMEM, "no memory to start");
    if (!strcmp(only, "*")) {
        memset(at->is_chosen, true, count * sizeof *at->is_chosen);
        return LATHE_OK;
    }
    lathe_status status =
        parameters_choose(&s->parameters, only, at->is_chosen, &s->err);
    if (status != LATHE_OK) experiment_where(s->experiment, "start.only", &s->err);
    return status;
}

static lathe_status open_file(struct starting *at) {
    lathe_session *s = at->s;
    lathe_status status =
        safetensors_open(s->experiment->start.weights, &at->file, &s->err);
    if (status == LATHE_OK && safetensors_note(at->file, SAFETENSORS_DIGEST))
        status = safetensors_verify(at->file, &s->err);
    return status;
}

static lathe_status take(struct starting *at) {
    lathe_session *s = at->s;
    lathe_status status = LATHE_OK;
    for (int64_t i = 0; i < s->parameters.count && status == LATHE_OK; i++)
        if (at->is_chosen[i] && at->found[i])
            status = safetensors_read_floats(at->file, at->found[i],
                                             s->weights + s->parameters.items[i].offset,
                                             &s->err);
    if (status != LATHE_OK) return status;
    char block[160] = "";
    if (at->taken_of_block)
        snprintf(block, sizeof block, ", %lld of them its %s",
                 (long long)at->taken_of_block, at->block);
    log_line(&s->log, LATHE_LOG_INFO,
             "start: %lld of %lld parameters are those of %s%s", (long long)at->taken,
             (long long)s->parameters.count, s->experiment->start.weights, block);
    log_names(s, LATHE_LOG_WARNING, "missing in it", &at->missing);
    log_names(s, LATHE_LOG_INFO, "not in the model", &at->extra);
    return LATHE_OK;
}

lathe_status session_start(lathe_session *s) {
    struct starting at = {.s = s};
    const char *weights = s->experiment->start.weights;
    if (!weights || s->origin || s->experiment != s->experiments) return LATHE_OK;
    lathe_status status = choose(&at);
    if (status == LATHE_OK) status = open_file(&at);
    if (status == LATHE_OK) status = find_tensors(&at);
    if (status == LATHE_OK) status = check_tensors(&at);
    if (status == LATHE_OK) status = take(&at);
    if (status != LATHE_OK && !s->err.where[0]) error_where(&s->err, "%s", weights);
    safetensors_close(at.file);
    text_finish(&at.missing.text);
    text_finish(&at.extra.text);
    free(at.found);
    free(at.is_chosen);
    return status;
}
