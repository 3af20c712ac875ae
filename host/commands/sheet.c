/* SPDX-License-Identifier: MIT */
#include "commands/sheet.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/half.h"
#include "base/nearest.h"
#include "base/path.h"
#include "commands/output.h"

#define STAGING_PREFIX ".predict-"

static bool is_stdout(const struct sheet *sheet) {
    return !strcmp(sheet->path, "-");
}

static bool is_regular(const char *path, bool *is_there) {
    struct stat info;
    *is_there = stat(path, &info) == 0;
    return !*is_there || S_ISREG(info.st_mode);
}

/* The file that is written, which is `path` unless there is one to replace. */
static lathe_status choose_file(struct sheet *sheet) {
    bool is_there;
    if (!is_regular(sheet->path, &is_there)) return LATHE_OK;
    sheet->target = is_there ? realpath(sheet->path, NULL) : text_copy(sheet->path);
    if (sheet->target) {
        char *place = path_directory(sheet->target);
        if (place) staging_sweep(place, STAGING_PREFIX);
        if (place && staging_open(place, STAGING_PREFIX, &sheet->staging, &sheet->err))
            error_where(&sheet->err, "-o %s", sheet->path);
        else if (place)
            sheet->aside = text_make("%s/rows", sheet->staging.path);
        free(place);
    }
    staging_let_signals(&sheet->staging); /* predict has handlers */
    if (sheet->aside || sheet->err.status) return sheet->err.status;
    return fail(&sheet->err, LATHE_ENOMEM, "no memory to write");
}

lathe_status sheet_open(struct sheet *sheet) {
    sheet->fd = -1;
    sheet->is_npy = text_ends_with(sheet->path, ".npy");
    if (is_stdout(sheet)) return LATHE_OK;
    if (!sheet->is_npy && !text_ends_with(sheet->path, ".csv")) {
        fail(&sheet->err, LATHE_EINVAL, "the end of \"%.300s\" names no format",
             sheet->path);
        error_help(&sheet->err, "it ends in .csv or .npy, or is - for CSV on stdout");
        return LATHE_EINVAL;
    }
    lathe_status status = choose_file(sheet);
    if (status != LATHE_OK) return status;
    sheet->fd = file_keep_clear(
        sheet->aside
            ? open(sheet->aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
            : open(sheet->path, O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (sheet->fd >= 0) return LATHE_OK;
    return fail(&sheet->err, error_from_create(errno), "cannot create \"%.400s\": %s",
                sheet->path, strerror(errno));
}

/* ---- numbers ---- */

static double real(const lathe_tensor *tensor, int64_t i) {
    const uint16_t *halves = tensor->data;
    if (tensor->bits == 64) return ((const double *)tensor->data)[i];
    if (tensor->bits == 32) return (double)((const float *)tensor->data)[i];
    return (double)(tensor->code == LATHE_FLOAT ? half_widen(halves[i])
                                                : half_widen_bfloat(halves[i]));
}

static double whole(const lathe_tensor *tensor, int64_t i) {
    const bool is_signed = tensor->code == LATHE_INT;
    const void *data = tensor->data;
    switch (tensor->bits) {
    case 8:
        return is_signed ? ((const int8_t *)data)[i] : ((const uint8_t *)data)[i];
    case 16:
        return is_signed ? ((const int16_t *)data)[i] : ((const uint16_t *)data)[i];
    case 32:
        return is_signed ? (double)((const int32_t *)data)[i]
                         : (double)((const uint32_t *)data)[i];
    default:
        return is_signed ? (double)((const int64_t *)data)[i]
                         : (double)((const uint64_t *)data)[i];
    }
}

static double number(const lathe_tensor *tensor, int64_t i) {
    return tensor->code == LATHE_FLOAT || tensor->code == LATHE_BFLOAT
               ? real(tensor, i)
               : whole(tensor, i);
}

static int64_t width(const lathe_field *field) {
    int64_t count = 1;
    for (uint32_t i = 0; i < field->rank; i++) count *= field->shape[i];
    return count;
}

/* ---- which outputs ---- */

static bool is_wanted(const struct sheet *sheet, const lathe_field *field) {
    return !sheet->output || !strcmp(sheet->output, field->name);
}

static lathe_status check_outputs(struct sheet *sheet, const lathe_prediction *p) {
    uint32_t wanted = 0;
    struct nearest nearest;
    nearest_begin(&nearest, sheet->output ? sheet->output : "");
    for (uint32_t i = 0; i < p->output_count; i++) {
        nearest_list(&nearest, p->fields[i]->name);
        wanted += is_wanted(sheet, p->fields[i]);
    }
    if (wanted == 1 || (wanted && !sheet->is_npy)) {
        text_finish(&nearest.known);
        return LATHE_OK;
    }
    if (wanted)
        fail(&sheet->err, LATHE_EINVAL, "the model has %u outputs, and .npy holds one",
             p->output_count);
    else
        fail(&sheet->err, LATHE_EINVAL, "the model has no output \"%s\"",
             sheet->output);
    error_where(&sheet->err, "--output");
    nearest_help(&nearest, "there are", &sheet->err);
    return LATHE_EINVAL;
}

/* Of the outputs that are shown, the first with one number for each class. */
static int64_t scores(const struct sheet *sheet, const lathe_prediction *p) {
    for (uint32_t i = 0; i < p->output_count && p->classes; i++)
        if (is_wanted(sheet, p->fields[i]) && width(p->fields[i]) == p->classes)
            return i;
    return -1;
}

/* ---- CSV ---- */

static void add_name(struct text *text, const char *name) {
    if (!strpbrk(name, ",\"\r\n")) {
        text_add(text, name);
        return;
    }
    for (text_add(text, "\""); *name; name++)
        text_format(text, *name == '"' ? "\"%c" : "%c", *name);
    text_add(text, "\"");
}

static void add_columns(struct sheet *sheet, const lathe_field *field) {
    struct text name = {0};
    for (int64_t k = 0; k < width(field); k++) {
        text_clear(&name);
        text_add(&name, field->name);
        if (field->rank) text_format(&name, ".%lld", (long long)k);
        text_add(&sheet->text, ",");
        add_name(&sheet->text, name.data ? name.data : "");
    }
    text_finish(&name);
}

static void add_header(struct sheet *sheet, const lathe_prediction *p) {
    text_add(&sheet->text, "index");
    for (uint32_t i = 0; i < p->output_count; i++)
        if (is_wanted(sheet, p->fields[i])) add_columns(sheet, p->fields[i]);
    text_add(&sheet->text, scores(sheet, p) < 0 ? "\n" : ",class\n");
}

/* In the C locale's spelling, whatever a plugin did. */
static void add_number(struct text *text, double value) {
    char spelled[40];
    snprintf(spelled, sizeof spelled, "%.9g", isnan(value) ? 0 : value);
    for (char *c = spelled; *c; c++)
        if (!strchr("0123456789+-einf", *c)) *c = '.';
    text_format(text, ",%s", isnan(value) ? "nan" : spelled);
}

static void add_row(struct sheet *sheet, const lathe_prediction *p, int64_t row) {
    const int64_t scored = scores(sheet, p);
    int64_t best = 0;
    text_format(&sheet->text, "%lld", (long long)p->first + row);
    for (uint32_t i = 0; i < p->output_count; i++) {
        const int64_t count = width(p->fields[i]), first = row * count;
        for (int64_t k = 0; k < count && is_wanted(sheet, p->fields[i]); k++) {
            const double value = number(&p->outputs[i], first + k);
            add_number(&sheet->text, value);
            if (i == scored && value > number(&p->outputs[i], first + best)) best = k;
        }
    }
    if (scored >= 0) text_format(&sheet->text, ",%lld", (long long)best);
    text_add(&sheet->text, "\n");
}

/* ---- .npy ---- */

#define NPY_ALIGNMENT 64
#define NPY_START 10  /* bytes before the header's text */
#define NPY_DIGITS 21 /* room that NumPy leaves for the first axis to grow */

static void add_start(struct sheet *sheet, const lathe_prediction *p,
                      const lathe_field *field) {
    struct text header = {0};
    char rows[24];
    const int digits = snprintf(rows, sizeof rows, "%lld", (long long)p->samples);
    text_format(&header, "{'descr': '<f4', 'fortran_order': False, 'shape': (%s,",
                rows);
    for (uint32_t i = 0; i < field->rank; i++)
        text_format(&header, "%s%lld", i ? ", " : " ", (long long)field->shape[i]);
    text_format(&header, "), }%*s", NPY_DIGITS - digits, "");
    const size_t used = NPY_START + header.length + 1;
    text_format(&header, "%*s\n", (int)(NPY_ALIGNMENT - used % NPY_ALIGNMENT), "");
    const char start[NPY_START] = {'\x93',
                                   'N',
                                   'U',
                                   'M',
                                   'P',
                                   'Y',
                                   1,
                                   0,
                                   (char)(header.length & 255),
                                   (char)(header.length >> 8)};
    text_add_bytes(&sheet->text, start, sizeof start);
    text_add_bytes(&sheet->text, header.data ? header.data : "", header.length);
    sheet->text.is_broken = sheet->text.is_broken || header.is_broken;
    text_finish(&header);
}

static void add_floats(struct sheet *sheet, const lathe_prediction *p) {
    for (uint32_t i = 0; i < p->output_count; i++) {
        if (!is_wanted(sheet, p->fields[i])) continue;
        if (!p->first) add_start(sheet, p, p->fields[i]);
        const int64_t count = p->rows * width(p->fields[i]);
        const lathe_tensor *tensor = &p->outputs[i];
        if (tensor->code == LATHE_FLOAT && tensor->bits == 32) {
            text_add_bytes(&sheet->text, tensor->data, (size_t)count * sizeof(float));
            continue;
        }
        for (int64_t k = 0; k < count; k++) {
            const float value = (float)number(tensor, k);
            text_add_bytes(&sheet->text, &value, sizeof value);
        }
    }
}

/* ---- the whole ---- */

static lathe_status write_out(struct sheet *sheet) {
    const struct text *text = &sheet->text;
    if (text->is_broken)
        return fail(&sheet->err, LATHE_ENOMEM, "no memory for rows of predictions");
    if (!is_stdout(sheet))
        return file_write(sheet->fd, text->data, text->length, sheet->path,
                          &sheet->err);
    if (fwrite(text->data, 1, text->length, output_file()) == text->length)
        return LATHE_OK;
    if (output_is_cut()) return LATHE_STOP; /* nobody wants more */
    return fail(&sheet->err, LATHE_EIO, "cannot write to standard output: %s",
                strerror(errno));
}

lathe_status sheet_add(struct sheet *sheet, const lathe_prediction *p) {
    lathe_status status = p->first ? LATHE_OK : check_outputs(sheet, p);
    if (status != LATHE_OK) return status;
    text_clear(&sheet->text);
    if (sheet->is_npy) {
        add_floats(sheet, p);
    } else {
        if (!p->first) add_header(sheet, p);
        for (int64_t row = 0; row < p->rows; row++) add_row(sheet, p, row);
    }
    return write_out(sheet);
}

lathe_status sheet_close(struct sheet *sheet) {
    if (is_stdout(sheet)) return LATHE_OK;
    bool is_whole = fsync(sheet->fd) == 0 || errno == EINVAL; /* a pipe */
    is_whole = close(sheet->fd) == 0 && is_whole;
    sheet->fd = -1;
    if (!is_whole)
        return fail(&sheet->err, LATHE_EIO, "cannot write \"%.400s\": %s", sheet->path,
                    strerror(errno));
    if (sheet->aside && rename(sheet->aside, sheet->target))
        return fail(&sheet->err, error_from_create(errno),
                    "cannot replace \"%.400s\": %s", sheet->path, strerror(errno));
    free(sheet->aside);
    sheet->aside = NULL;
    return LATHE_OK;
}

void sheet_finish(struct sheet *sheet) {
    if (sheet->fd >= 0) close(sheet->fd);
    staging_close(&sheet->staging);
    free(sheet->aside);
    free(sheet->target);
    text_finish(&sheet->text);
}
