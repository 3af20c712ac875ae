/* SPDX-License-Identifier: MIT */
/* Writes metrics to a CSV file in the run's directory, for spreadsheets and plots: a
 * row for each validation, or for each epoch where there is no validation data. It
 * keeps nothing between rows: a run that goes on reads its own file, drops rows of
 * steps that it will make again, and appends. Columns are epoch, step, all numbers
 * of training, and those of validation that have a value at the first row; a number
 * that is not there yet is an empty field. */
#include <lathe/callback.h>

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct csv {
    const lathe_host *host;
    const char *name;
    locale_t c; /* numbers have a point, whatever the program's locale */
    int fd;     /* -1: there is no directory */
    int is_validated;
    int64_t last_step; /* of the last row; -1: none */
    char *header;      /* with its newline; NULL: none in the file yet */
    int64_t *columns;  /* indices for metric_at */
    int64_t count;     /* of columns; 0: no row yet in this process */
};

static lathe_status no_memory(const struct csv *csv) {
    return lathe_fail(csv->host, LATHE_ENOMEM, "no memory for %s", csv->name);
}

static void destroy(void *self) {
    struct csv *csv = self;
    if (csv->fd >= 0) close(csv->fd);
    if (csv->c) freelocale(csv->c);
    free(csv->header);
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
    csv->last_step = -1;
    csv->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!csv->c) {
        destroy(csv);
        return lathe_fail(host, LATHE_ENOMEM, "out of memory");
    }
    *self = csv;
    return LATHE_OK;
}

/* ---- the file as it was left ---- */

/* *content is the caller's. */
static lathe_status read_file(const struct csv *csv, char **content, size_t *length) {
    struct stat info;
    *content = NULL;
    if (fstat(csv->fd, &info) || !(*content = malloc((size_t)info.st_size + 1)))
        return no_memory(csv);
    *length = 0;
    while (*length < (size_t)info.st_size) {
        ssize_t got = pread(csv->fd, *content + *length, (size_t)info.st_size - *length,
                            (off_t)*length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return lathe_fail(csv->host, LATHE_EIO, "%s cannot be read: %s", csv->name,
                              strerror(errno));
        if (got == 0) break;
        *length += (size_t)got;
    }
    (*content)[*length] = '\0';
    return LATHE_OK;
}

/* The step of a row; -1: this is none of our rows. */
static int64_t step_of(const char *row) {
    char *end = NULL;
    errno = 0;
    strtoll(row, &end, 10);
    if (end == row || *end != ',') return -1;
    const char *from = end + 1;
    int64_t step = strtoll(from, &end, 10);
    return end == from || errno || (*end != ',' && *end != '\n') ? -1 : step;
}

/* Takes the header, and the rows up to `step`; *kept is how long they are. A last line
 * without its end was torn, and is not one. */
static lathe_status take_rows(struct csv *csv, const char *content, int64_t step,
                              size_t *kept) {
    const char *line = content, *end = strchr(content, '\n');
    *kept = 0;
    if (!end) return LATHE_OK;
    csv->header = strndup(content, (size_t)(end + 1 - content));
    if (!csv->header) return no_memory(csv);
    for (line = end + 1; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        int64_t found = step_of(line);
        if (found <= csv->last_step)
            return lathe_fail(csv->host, LATHE_EDATA,
                              "%s: \"%.*s\" is no row that can follow the one before; "
                              "rows are epoch,step,... of rising steps",
                              csv->name, (int)(end - line < 80 ? end - line : 80),
                              line);
        if (found > step) break;
        csv->last_step = found;
    }
    *kept = (size_t)(line - content);
    return LATHE_OK;
}

static lathe_status go_on(struct csv *csv, const lathe_moment *at) {
    char *content = NULL;
    size_t length = 0, kept = 0;
    lathe_status status = read_file(csv, &content, &length);
    if (status == LATHE_OK) status = take_rows(csv, content, at->step, &kept);
    free(content);
    if (status != LATHE_OK || kept == length) return status;
    if (!at->resumed)
        return lathe_fail(csv->host, LATHE_ECREATE,
                          "%s is there already, and has rows of another run",
                          csv->name);
    if (ftruncate(csv->fd, (off_t)kept))
        return lathe_fail(csv->host, LATHE_EIO, "%s cannot be cut to step %lld: %s",
                          csv->name, (long long)at->step, strerror(errno));
    return LATHE_OK;
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
    if (!strpbrk(name, ",\"\r\n")) {
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

/* Whole, or not at all. */
static lathe_status append(const struct csv *csv, const char *text, size_t length) {
    struct stat before;
    if (fstat(csv->fd, &before))
        return lathe_fail(csv->host, LATHE_EIO, "%s: %s", csv->name, strerror(errno));
    ssize_t written;
    do written = write(csv->fd, text, length);
    while (written < 0 && errno == EINTR);
    if (written == (ssize_t)length) return LATHE_OK;
    int reason = written < 0 ? errno : ENOSPC;
    (void)!ftruncate(csv->fd, before.st_size);
    return lathe_fail(csv->host, LATHE_EIO, "a row of %s cannot be written: %s",
                      csv->name, strerror(reason));
}

/* *text is the caller's, also when it failed. */
static lathe_status end_text(const struct csv *csv, FILE *file) {
    int is_broken = ferror(file);
    return fclose(file) || is_broken ? no_memory(csv) : LATHE_OK;
}

static lathe_status begin_rows(struct csv *csv) {
    char *header = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&header, &length);
    if (!file) return no_memory(csv);
    lathe_status status = choose_columns(csv, file);
    lathe_status ended = end_text(csv, file);
    if (status == LATHE_OK) status = ended;
    if (status == LATHE_OK && !csv->header)
        status = append(csv, header, length);
    else if (status == LATHE_OK && strcmp(csv->header, header) != 0)
        status = lathe_fail(csv->host, LATHE_EDATA,
                            "%s has the columns %.*s; this run has %.*s: move it away, "
                            "or name another file",
                            csv->name, (int)strcspn(csv->header, "\n"), csv->header,
                            (int)length - 1, header);
    free(header);
    return status;
}

static void put_row(const struct csv *csv, const lathe_moment *at, FILE *to) {
    lathe_metric_view view = {.size = sizeof view};
    fprintf(to, "%lld,%lld", (long long)at->epoch, (long long)at->step);
    for (int64_t i = 0; i < csv->count; i++) {
        csv->host->metric_at(csv->host, csv->columns[i], &view);
        if (view.step < 0)
            fputc(',', to);
        else if (isnan(view.value)) /* printf may write -nan */
            fputs(",nan", to);
        else
            fprintf(to, ",%.9g", view.value);
    }
    fputc('\n', to);
}

static lathe_status add_row(struct csv *csv, const lathe_moment *at) {
    char *row = NULL;
    size_t length = 0;
    if (csv->fd < 0 || at->step <= csv->last_step) return LATHE_OK;
    lathe_status status = csv->count ? LATHE_OK : begin_rows(csv);
    if (status != LATHE_OK) return status;
    FILE *file = open_memstream(&row, &length);
    if (!file) return no_memory(csv);
    locale_t before = uselocale(csv->c);
    put_row(csv, at, file);
    uselocale(before);
    status = end_text(csv, file);
    if (status == LATHE_OK) status = append(csv, row, length);
    free(row);
    if (status == LATHE_OK) csv->last_step = at->step;
    return status;
}

static lathe_status validation_end(void *self, const lathe_moment *at) {
    return !strcmp(at->split, "validation") ? add_row(self, at) : LATHE_OK;
}

static lathe_status epoch_end(void *self, const lathe_moment *at) {
    struct csv *csv = self;
    return csv->is_validated ? LATHE_OK : add_row(csv, at);
}

LATHE_CALLBACK(.create = create, .destroy = destroy, .run_begin = run_begin,
               .validation_end = validation_end, .epoch_end = epoch_end);
