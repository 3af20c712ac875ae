/* SPDX-License-Identifier: MIT */
/* Writes metrics to a CSV file in the run's directory, for spreadsheets and plots: a
 * row for each validation, or for each epoch where there is no validation data. Its
 * state is how long the file is: a run that goes on cuts it to that, and appends.
 * Columns are epoch, step, all numbers of training, and those of validation that have a
 * value at the first row; a number that is not there yet is an empty field. */
#include <lathe/callback.h>

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SPECIAL ",\"\r\n" /* a field that has one of these is quoted */

struct csv {
    const lathe_host *host;
    const char *name;
    locale_t c; /* numbers have a point, whatever the program's locale */
    int fd;     /* -1: there is no directory */
    int is_validated;
    int64_t *columns; /* indices for metric_at */
    int64_t count;    /* of columns; 0: there is no header yet */
    struct state {
        char magic[8];
        int64_t length; /* of the file */
    } state;
};

static lathe_status no_memory(const struct csv *csv) {
    return lathe_fail(csv->host, LATHE_ENOMEM, "no memory for %s", csv->name);
}

static void destroy(void *self) {
    struct csv *csv = self;
    if (csv->fd >= 0) close(csv->fd);
    if (csv->c) freelocale(csv->c);
    free(csv->columns);
    free(csv);
}

static lathe_status create(const lathe_host *host, void **self) {
    const char *name = lathe_string(host, "file");
    if (strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, ".."))
        return lathe_fail(host, LATHE_EINVAL,
                          "file is \"%s\"; it is written into the run's directory, so "
                          "it must be a name without a path",
                          name);
    struct csv *csv = calloc(1, sizeof *csv);
    if (!csv) return lathe_fail(host, LATHE_ENOMEM, "out of memory");
    csv->host = host;
    csv->name = name;
    csv->fd = -1;
    csv->state = (struct state){.magic = "csvrows"};
    csv->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!csv->c) {
        destroy(csv);
        return lathe_fail(host, LATHE_ENOMEM, "out of memory");
    }
    *self = csv;
    return LATHE_OK;
}

/* ---- state ---- */

static lathe_status save(void *self, const lathe_writer *to) {
    const struct csv *csv = self;
    return to->write(to, &csv->state, sizeof csv->state);
}

static lathe_status load(void *self, const lathe_reader *from) {
    struct csv *csv = self;
    struct state state;
    if (lathe_read_state(from, &state, sizeof state) != LATHE_OK ||
        memcmp(state.magic, csv->state.magic, sizeof state.magic) != 0 ||
        state.length < 0)
        return lathe_fail(csv->host, LATHE_EDATA, "this is not the state of csv");
    csv->state = state;
    return LATHE_OK;
}

/* ---- the file as it was left ---- */

/* The start of the file, up to `length`, and a NUL; the caller's. */
static lathe_status read_file(const struct csv *csv, size_t length, char **content) {
    size_t count = 0;
    if (!(*content = malloc(length + 1))) return no_memory(csv);
    while (count < length) {
        ssize_t got = pread(csv->fd, *content + count, length - count, (off_t)count);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return lathe_fail(csv->host, LATHE_EIO, "%s cannot be read: %s", csv->name,
                              strerror(errno));
        if (got == 0) break;
        count += (size_t)got;
    }
    (*content)[count] = '\0';
    return LATHE_OK;
}

/* How long the field `name` is, with the comma before it, where it stands at `at` as
 * put_name writes it; 0: another one stands there. */
static size_t length_of_field(const char *at, const char *name) {
    const char *first = at;
    const int is_quoted = strpbrk(name, SPECIAL) != NULL;
    if (*at++ != ',' || (is_quoted && *at++ != '"')) return 0;
    for (; *name; name++) {
        if (*at++ != *name) return 0;
        if (*name == '"' && *at++ != '"') return 0;
    }
    if (is_quoted && *at++ != '"') return 0;
    return *at == ',' || *at == '\n' ? (size_t)(at - first) : 0;
}

/* The columns are those of the header that is there. */
static lathe_status take_columns(struct csv *csv, const char *header) {
    static const char start[] = "epoch,step";
    const lathe_host *host = csv->host;
    const char *at = header + sizeof start - 1;
    lathe_metric_view view = {.size = sizeof view};
    csv->columns = calloc((size_t)host->metrics(host) + 1, sizeof *csv->columns);
    if (!csv->columns) return no_memory(csv);
    if (strncmp(header, start, sizeof start - 1) != 0) at = header;
    while (*at == ',' && csv->count < host->metrics(host)) {
        size_t length = 0;
        int64_t i = 0;
        while (host->metric_at(host, i, &view) == LATHE_OK &&
               !(length = length_of_field(at, view.name)))
            i++;
        if (!length) break;
        csv->columns[csv->count++] = i;
        at += length;
    }
    if (*at == '\n' && at > header) return LATHE_OK;
    return lathe_fail(host, LATHE_EDATA,
                      "the columns of %s are %.*s; from \"%.*s\" on, this run has no "
                      "such numbers: move the file away, or name another one",
                      csv->name, (int)strcspn(header, "\n"), header,
                      (int)strcspn(at + (*at == ','), ",\n"), at + (*at == ','));
}

/* Up to `length` bytes are to stay: what was cut off a line is no row. */
static lathe_status keep(struct csv *csv, size_t length, int64_t *kept) {
    char *content = NULL;
    lathe_status status = read_file(csv, length, &content);
    const char *last = status == LATHE_OK ? strrchr(content, '\n') : NULL;
    *kept = last ? last + 1 - content : 0;
    if (last) status = take_columns(csv, content);
    free(content);
    return status;
}

static lathe_status go_on(struct csv *csv, const lathe_moment *at) {
    struct stat info;
    const int64_t expected = at->resumed == 1 ? csv->state.length : 0;
    if (fstat(csv->fd, &info))
        return lathe_fail(csv->host, LATHE_EIO, "%s: %s", csv->name, strerror(errno));
    if (info.st_size > 0 && !at->resumed)
        return lathe_fail(csv->host, LATHE_ECREATE,
                          "%s is there already, and has rows of another run",
                          csv->name);
    const int64_t left = info.st_size < expected ? info.st_size : expected;
    lathe_status status = keep(csv, (size_t)left, &csv->state.length);
    if (status == LATHE_OK && csv->state.length < expected)
        lathe_log(csv->host, LATHE_LOG_WARNING,
                  "rows of %s are missing: it was %lld bytes long when the run was at "
                  "step %lld, and whole rows of it are left up to byte %lld",
                  csv->name, (long long)expected, (long long)at->step,
                  (long long)csv->state.length);
    if (status == LATHE_OK && csv->state.length < info.st_size &&
        ftruncate(csv->fd, (off_t)csv->state.length))
        return lathe_fail(csv->host, LATHE_EIO, "%s cannot be cut to step %lld: %s",
                          csv->name, (long long)at->step, strerror(errno));
    return status;
}

static int is_of(const char *metric, const char *split) {
    size_t length = strlen(split);
    return !strncmp(metric, split, length) && metric[length] == '/';
}

static lathe_status run_begin(void *self, const lathe_moment *at) {
    struct csv *csv = self;
    const char *directory = csv->host->run_directory(csv->host);
    lathe_metric_view view = {.size = sizeof view};
    if (!directory) {
        lathe_log(csv->host, LATHE_LOG_WARNING,
                  "the run has no directory: %s is not written", csv->name);
        return LATHE_OK;
    }
    for (int64_t i = 0; csv->host->metric_at(csv->host, i, &view) == LATHE_OK; i++)
        csv->is_validated |= is_of(view.name, "validation");
    int folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0)
        csv->fd =
            openat(folder, csv->name, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (csv->fd < 0)
        lathe_fail(csv->host, LATHE_ECREATE, "%s cannot be created in %s: %s",
                   csv->name, directory, strerror(errno));
    if (folder >= 0) close(folder);
    return csv->fd < 0 ? LATHE_ECREATE : go_on(csv, at);
}

/* ---- rows ---- */

/* Does the metric, as it stands at the first row, get a column? */
static int is_wanted(const lathe_metric_view *view) {
    return is_of(view->name, "train") ||
           (is_of(view->name, "validation") && view->step >= 0);
}

static void put_name(FILE *to, const char *name) {
    if (!strpbrk(name, SPECIAL)) {
        fprintf(to, ",%s", name);
        return;
    }
    fputs(",\"", to);
    for (; *name; name++) {
        if (*name == '"') fputc('"', to);
        fputc(*name, to);
    }
    fputc('"', to);
}

static lathe_status choose_columns(struct csv *csv, FILE *header) {
    const lathe_host *host = csv->host;
    lathe_metric_view view = {.size = sizeof view};
    csv->columns = calloc((size_t)host->metrics(host) + 1, sizeof *csv->columns);
    if (!csv->columns) return no_memory(csv);
    fputs("epoch,step", header);
    for (int64_t i = 0; host->metric_at(host, i, &view) == LATHE_OK; i++) {
        if (!is_wanted(&view)) continue;
        put_name(header, view.name);
        csv->columns[csv->count++] = i;
    }
    fputc('\n', header);
    return LATHE_OK;
}

/* Whole, or not at all. *text is freed. */
static lathe_status append(struct csv *csv, char *text, size_t length) {
    ssize_t written;
    do written = write(csv->fd, text, length);
    while (written < 0 && errno == EINTR);
    free(text);
    if (written == (ssize_t)length) {
        csv->state.length += written;
        return LATHE_OK;
    }
    int reason = written < 0 ? errno : ENOSPC;
    (void)!ftruncate(csv->fd, (off_t)csv->state.length);
    return lathe_fail(csv->host, LATHE_EIO, "a row of %s cannot be written: %s",
                      csv->name, strerror(reason));
}

static void put_row(const struct csv *csv, const lathe_moment *at, FILE *to) {
    lathe_metric_view view = {.size = sizeof view};
    fprintf(to, "%lld,%lld", (long long)at->epoch, (long long)at->step);
    for (int64_t i = 0; i < csv->count; i++) {
        csv->host->metric_at(csv->host, csv->columns[i], &view);
        if (view.step < 0)
            fputc(',', to);
        else
            fprintf(to, ",%.9g", view.value);
    }
    fputc('\n', to);
}

static lathe_status add_row(struct csv *csv, const lathe_moment *at) {
    char *row = NULL;
    size_t length = 0;
    lathe_status status = LATHE_OK;
    if (csv->fd < 0) return LATHE_OK;
    FILE *file = open_memstream(&row, &length);
    if (!file) return no_memory(csv);
    locale_t before = uselocale(csv->c);
    if (csv->state.length == 0) status = choose_columns(csv, file);
    if (status == LATHE_OK) put_row(csv, at, file);
    uselocale(before);
    const int is_broken = ferror(file);
    if (fclose(file) || is_broken) status = no_memory(csv);
    if (status == LATHE_OK) return append(csv, row, length);
    free(row);
    return status;
}

static lathe_status validation_end(void *self, const lathe_moment *at) {
    return !strcmp(at->split, "validation") ? add_row(self, at) : LATHE_OK;
}

static lathe_status epoch_end(void *self, const lathe_moment *at) {
    struct csv *csv = self;
    return csv->is_validated ? LATHE_OK : add_row(csv, at);
}

LATHE_CALLBACK(.create = create, .destroy = destroy, .save = save, .load = load,
               .run_begin = run_begin, .validation_end = validation_end,
               .epoch_end = epoch_end);
