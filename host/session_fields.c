/* SPDX-License-Identifier: MIT */
/* Fields: what can be one, and what of one data set fits what was trained on. */
#include <stdlib.h>
#include <string.h>

#include "session_calls.h"

/* ---- one field ---- */

static int is_type(const lathe_field *f) {
    int is_code = f->code == LATHE_INT || f->code == LATHE_UINT ||
                  f->code == LATHE_FLOAT || f->code == LATHE_BFLOAT;
    return is_code && (f->bits == 8 || f->bits == 16 || f->bits == 32 || f->bits == 64);
}

static const char *names_of(const lathe_field *f) {
    return LATHE_COVERS(f, lathe_field, names) ? f->names : NULL;
}

/* One name a class, or a value along the last axis. */
static lathe_status check_names(const lathe_field *f, struct error *err) {
    const char *names = names_of(f);
    const int64_t wanted = f->classes ? f->classes
                           : f->rank  ? f->shape[f->rank - 1]
                                      : 1;
    int64_t lines = 1;
    if (!names) return LATHE_OK;
    for (; (names = strchr(names, '\n')); names++) lines++;
    if (lines == wanted) return LATHE_OK;
    return fail(err, LATHE_EPLUGIN, "field \"%s\" has %lld names for %lld %s", f->name,
                (long long)lines, (long long)wanted, f->classes ? "classes" : "values");
}

lathe_status session_check_field(const lathe_field *fields, int64_t count,
                                 const lathe_field *f, struct error *err) {
    if (f->size < LATHE_FIELD_SIZE_1_0)
        return fail(err, LATHE_EPLUGIN, "lathe_field of %u bytes, less than %u",
                    f->size, LATHE_FIELD_SIZE_1_0);
    if (!f->name || !*f->name) return fail(err, LATHE_EPLUGIN, "a field has no name");
    for (int64_t i = 0; i < count; i++)
        if (!strcmp(fields[i].name, f->name))
            return fail(err, LATHE_EPLUGIN, "field \"%s\" is declared twice", f->name);
    if (f->rank > LATHE_RANK_MAX - 1 || !is_type(f) || f->classes < 0)
        return fail(err, LATHE_EPLUGIN, "field \"%s\" has an impossible type or rank",
                    f->name);
    int64_t bytes = f->bits / 8;
    for (uint32_t i = 0; i < f->rank; i++)
        if (f->shape[i] < 1 || __builtin_mul_overflow(bytes, f->shape[i], &bytes))
            return fail(err, LATHE_EPLUGIN, "field \"%s\" has %lld in its shape",
                        f->name, (long long)f->shape[i]);
    return check_names(f, err);
}

bool session_copy_field(const lathe_field *from, lathe_field *to) {
    const char *names = names_of(from);
    *to = (lathe_field){0};
    memcpy(to, from, from->size < sizeof *to ? from->size : sizeof *to);
    to->size = sizeof *to;
    to->name = text_copy(from->name);
    to->names = names ? text_copy(names) : NULL;
    if (to->name && (to->names || !names)) return true;
    session_finish_field(to);
    return false;
}

void session_finish_field(lathe_field *field) {
    free((void *)field->name);
    free((void *)field->names);
    *field = (lathe_field){0};
}

bool session_is_same_field(const lathe_field *a, const lathe_field *b) {
    return !strcmp(a->name, b->name) && a->code == b->code && a->bits == b->bits &&
           a->rank == b->rank &&
           !memcmp(a->shape, b->shape, a->rank * sizeof *a->shape);
}

/* ---- of two data sets ---- */

static void write_field(struct text *text, const lathe_field *field) {
    static const char *const codes[] = {"int", "uint", "float"};
    const bool is_known = field->code < sizeof codes / sizeof *codes;
    text_format(text, "%s%s%u", field->rank ? "" : "one ",
                is_known ? codes[field->code] : "?", field->bits);
    for (uint32_t i = 0; i < field->rank; i++)
        text_format(text, "%s%lld", i ? ", " : " [", (long long)field->shape[i]);
    if (field->rank) text_add(text, "]");
}

/* `a` and `b` are the first that differ; NULL: that data has no more. */
static lathe_status refuse_field(const lathe_field *a, const lathe_field *b,
                                 struct error *err) {
    struct text text = {0};
    if (!b) {
        text_format(&text, "there is no field \"%s\", which the training data has",
                    a->name);
    } else if (!a) {
        text_format(&text, "the field \"%s\" is not in the training data", b->name);
    } else if (strcmp(a->name, b->name) != 0) {
        text_format(&text, "there is a field \"%s\" where the training data has \"%s\"",
                    b->name, a->name);
    } else {
        text_format(&text, "field \"%s\" is ", b->name);
        write_field(&text, b);
        text_add(&text, ", and in the training data ");
        write_field(&text, a);
    }
    fail(err, LATHE_EDATA, "%s", text.is_broken ? "its fields differ" : text.data);
    text_finish(&text);
    return LATHE_EDATA;
}

/* Where both know what numbers are called, the same number has to be called the same;
 * of classes, a data set may have only the first. */
static lathe_status compare_names(const lathe_field *a, const lathe_field *b,
                                  struct error *err) {
    const char *left = a->names, *right = b->names;
    for (int64_t number = 0; left && right; number++) {
        const int left_length = (int)strcspn(left, "\n"),
                  right_length = (int)strcspn(right, "\n");
        if (left_length != right_length ||
            memcmp(left, right, (size_t)left_length) != 0) {
            fail(err, LATHE_EDATA,
                 "%s %lld of \"%s\" is \"%.*s\", and in the training data \"%.*s\"",
                 a->classes ? "class" : "value", (long long)number, a->name,
                 right_length, right, left_length, left);
            error_help(err, "the same ones are wanted, in the same order");
            return LATHE_EDATA;
        }
        left = left[left_length] ? left + left_length + 1 : NULL;
        right = right[right_length] ? right + right_length + 1 : NULL;
    }
    return LATHE_OK;
}

lathe_status session_check_same_fields(const struct data_set *train,
                                       const struct data_set *set, bool is_for_outputs,
                                       struct error *err) {
    lathe_status status = LATHE_OK;
    for (int64_t i = 0; i < set->field_count || i < train->field_count; i++) {
        const lathe_field *a = i < train->field_count ? &train->fields[i] : NULL,
                          *b = i < set->field_count ? &set->fields[i] : NULL;
        if (is_for_outputs && !b) break;
        if (!a || !b) return refuse_field(a, b, err);
        if (!strcmp(a->name, b->name) && b->classes > a->classes && a->classes)
            return fail(err, LATHE_EDATA,
                        "field \"%s\" has %lld classes, and the training data has %lld",
                        a->name, (long long)b->classes, (long long)a->classes);
        if (!session_is_same_field(a, b)) return refuse_field(a, b, err);
        if ((status = compare_names(a, b, err)) != LATHE_OK) return status;
    }
    return status;
}
