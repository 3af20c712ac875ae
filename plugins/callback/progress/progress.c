/* SPDX-License-Identifier: MIT */
/* Shows on stderr how far the run is: on a terminal a line that is drawn again and
 * again, elsewhere a plain line from time to time; both print one line for each epoch.
 * It reads the clock every so many steps, as many as keep it below 20 times a
 * second. */
#include <lathe/callback.h>

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define DRAW_SECONDS 0.1
#define CHECK_SECONDS 0.05

struct progress {
    const lathe_host *host;
    int32_t every; /* plain lines */
    int64_t width; /* 0: the terminal's */
    int is_quiet, is_terminal, is_utf8, is_colored;
    int is_drawn; /* a bar stands on the last line of the terminal */
    double began_seconds, drawn_seconds, checked_seconds;
    int64_t first_step; /* of this process: what a resumed run's speed counts from */
    int64_t stride, countdown; /* steps between two looks at the clock */
    struct {
        double began_seconds;
        double paused_seconds, pause_began_seconds; /* for validation */
        int64_t first_step, first_sample;
    } epoch;
};

static double now_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- a line of text ---- */

struct line {
    char text[1024];
    size_t length, columns;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line,
                                                      const char *format, ...) {
    size_t room = sizeof line->text - line->length;
    char *at = line->text + line->length;
    va_list arguments;
    va_start(arguments, format);
    int count = vsnprintf(at, room, format, arguments);
    va_end(arguments);
    if (count < 0 || (size_t)count >= room) {
        *at = '\0'; /* what does not fit is left out whole */
        return;
    }
    line->length += (size_t)count;
    for (; *at; at++) line->columns += (*at & 0xC0) != 0x80;
}

/* 312, 21.4k, 1.20M */
static void add_rate(struct line *line, double rate) {
    static const char *const units[] = {"", "k", "M", "G"};
    int unit = 0;
    while (rate >= 999.5 && unit < 3) {
        rate /= 1000;
        unit++;
    }
    int decimals = unit == 0 || rate >= 100 ? 0 : rate >= 10 ? 1 : 2;
    add(line, "%.*f%s samples/s", decimals, rate, units[unit]);
}

/* 0:31, 1:02:03, 3d 04h */
static void add_time(struct line *line, double seconds) {
    long long s = (long long)(seconds + 0.5);
    if (s < 3600)
        add(line, "%lld:%02lld", s / 60, s % 60);
    else if (s < 86400)
        add(line, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
    else
        add(line, "%lldd %02lldh", s / 86400, s / 3600 % 24);
}

static void add_epoch(struct line *line, const lathe_moment *at) {
    int64_t total = 0, per_epoch = at->steps_per_epoch;
    if (at->steps_total > 0 && per_epoch > 0)
        total = (at->steps_total + per_epoch - 1) / per_epoch;
    if (total < at->epoch)
        add(line, "epoch %lld", (long long)at->epoch);
    else {
        int digits = snprintf(NULL, 0, "%lld", (long long)total);
        add(line, "epoch %*lld/%lld", digits, (long long)at->epoch, (long long)total);
    }
}

static void add_step(struct line *line, const lathe_moment *at) {
    add(line, "step %lld", (long long)at->step);
    if (at->steps_total > 0) add(line, "/%lld", (long long)at->steps_total);
}

/* The metrics of a split by their short names: the fresh ones, or all that have a
 * value. Returns how many. */
static int add_metrics(struct line *line, const lathe_host *host, const char *split,
                       const char *between, int64_t fresh_step) {
    int count = 0;
    size_t length = strlen(split);
    lathe_metric_view view = {.size = sizeof view};
    for (int64_t i = 0; host->metric_at(host, i, &view) == LATHE_OK; i++) {
        if (strncmp(view.name, split, length) != 0 || view.name[length] != '/')
            continue;
        if (view.step < 0 || (fresh_step >= 0 && view.step != fresh_step)) continue;
        add(line, fabs(view.value) < 1000 ? "%s%s %#.4g" : "%s%s %.4g",
            count++ ? between : "", view.name + length + 1, view.value);
    }
    return count;
}

static void add_training(struct line *line, const struct progress *p,
                         const lathe_moment *at) {
    if (!add_metrics(line, p->host, "train", "  ", -1))
        add(line, fabs(at->loss) < 1000 ? "loss %#.4g" : "loss %.4g", at->loss);
}

static void add_speed(struct line *line, const struct progress *p,
                      const lathe_moment *at, double now) {
    double seconds = now - p->epoch.began_seconds - p->epoch.paused_seconds;
    int64_t samples = at->samples - p->epoch.first_sample;
    if (seconds > 0 && samples > 0) add_rate(line, (double)samples / seconds);
}

/* How long it still takes at the speed since this process began: a resumed run does not
 * count the steps of the one before. */
static void add_left(struct line *line, const struct progress *p,
                     const lathe_moment *at, double now) {
    int64_t made = at->step - p->first_step, left = at->steps_total - at->step;
    if (made <= 0 || left < 0) return;
    add_time(line, (now - p->began_seconds) * (double)left / (double)made);
    add(line, " left");
}

/* ---- the terminal ---- */

/* One write: whoever else prints does so between lines, not within one. */
static void put(struct progress *p, const struct line *line, int is_bar) {
    char text[sizeof line->text + 8];
    int count = snprintf(text, sizeof text, "%s%s%s", p->is_drawn || is_bar ? "\r" : "",
                         line->text, is_bar || p->is_drawn ? "\033[K" : "");
    if (!is_bar) text[count++] = '\n';
    p->is_drawn = is_bar;
    (void)!write(STDERR_FILENO, text, (size_t)count);
}

static void wipe(struct progress *p) {
    static const char text[] = "\r\033[K";
    if (p->is_drawn) (void)!write(STDERR_FILENO, text, sizeof text - 1);
    p->is_drawn = 0;
}

static size_t find_columns(const struct progress *p) {
    struct winsize size;
    if (p->width > 0) return (size_t)p->width;
    if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col > 0) return size.ws_col;
    const char *text = getenv("COLUMNS");
    unsigned long columns = text ? strtoul(text, NULL, 10) : 0;
    return columns > 0 && columns < 10000 ? columns : 80;
}

static void add_bar(struct line *line, const struct progress *p, double fraction,
                    int width) {
    int full = (int)(fraction * width);
    if (!p->is_utf8) add(line, "[");
    if (p->is_colored) add(line, "\033[36m");
    for (int i = 0; i < full; i++) add(line, p->is_utf8 ? "━" : "=");
    if (p->is_colored) add(line, "\033[0m");
    for (int i = full; i < width; i++) add(line, p->is_utf8 ? "─" : " ");
    add(line, p->is_utf8 ? "  " : "]  ");
    if (p->is_colored) line->columns -= 9; /* colours take no room */
}

/* Of the epoch, or of the run where epochs have no known length; -1: not known. */
static double find_fraction(const struct progress *p, const lathe_moment *at) {
    double fraction = -1;
    if (at->steps_per_epoch > 0)
        fraction =
            (double)(at->step - p->epoch.first_step) / (double)at->steps_per_epoch;
    else if (at->steps_total > 0)
        fraction = (double)at->step / (double)at->steps_total;
    return fraction > 1 ? 1 : fraction;
}

/* Parts that do not fit are left out, from the first such one on. */
static void join(struct line *line, const struct line *part, size_t limit) {
    if (!part->length || line->columns > limit) return;
    if (line->columns + 2 + part->columns > limit) {
        line->columns = limit + 1;
        return;
    }
    size_t columns = line->columns + 2 + part->columns;
    add(line, "  %s", part->text);
    line->columns = columns;
}

static void draw(struct progress *p, const lathe_moment *at, const char *doing,
                 double now) {
    struct line line = {.length = 0}, parts[5] = {{.length = 0}};
    size_t limit = find_columns(p) - 1;
    double fraction = find_fraction(p, at);
    add_epoch(&line, at);
    add_step(&parts[0], at);
    if (doing)
        add(&parts[1], "%s", doing);
    else if (fraction >= 0) {
        if (limit >= 79) add_bar(&parts[1], p, fraction, limit < 99 ? 12 : 24);
        add(&parts[1], "%d%%", (int)(100 * fraction));
    }
    if (!doing) add_left(&parts[2], p, at, now);
    if (!doing) add_training(&parts[3], p, at);
    if (!doing) add_speed(&parts[4], p, at, now);
    for (int i = 0; i < 5; i++) join(&line, &parts[i], limit);
    put(p, &line, 1);
    p->drawn_seconds = now;
}

/* ---- plain lines ---- */

static void print_progress(struct progress *p, const lathe_moment *at, double now) {
    struct line line = {.length = 0}, parts[4] = {{.length = 0}};
    add_epoch(&line, at);
    add_step(&parts[0], at);
    add_training(&parts[1], p, at);
    add_speed(&parts[2], p, at, now);
    add_left(&parts[3], p, at, now);
    for (int i = 0; i < 4; i++) join(&line, &parts[i], sizeof line.text);
    put(p, &line, 0);
}

static void print_measured(struct progress *p, const lathe_moment *at, int is_epoch) {
    struct line line = {.length = 0}, step = {.length = 0};
    struct line train = {.length = 0}, validation = {.length = 0}, tail = {.length = 0};
    double now = now_seconds();
    add_epoch(&line, at);
    if (!is_epoch) add_step(&step, at);
    join(&line, &step, sizeof line.text);
    add(&train, "train ");
    if (is_epoch && add_metrics(&train, p->host, "train", ", ", at->step))
        join(&line, &train, sizeof line.text);
    add(&validation, "validation ");
    if (add_metrics(&validation, p->host, "validation", ", ", at->step))
        join(&line, &validation, sizeof line.text);
    if (is_epoch) add_speed(&tail, p, at, now);
    join(&line, &tail, sizeof line.text);
    put(p, &line, 0);
}

/* ---- points ---- */

static int is_terminal(void) {
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

/* Asks for the user's character set without setting the process's locale. */
static int is_utf8(void) {
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    int is = locale && !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");
    if (locale) freelocale(locale);
    return is;
}

static lathe_status create(const lathe_host *host, void **self) {
    struct progress *p = calloc(1, sizeof *p);
    if (!p) return lathe_fail(host, LATHE_ENOMEM, "no memory for progress");
    const char *no_color = getenv("NO_COLOR");
    p->host = host;
    p->every = host->every(host, "every");
    p->width = lathe_has(host, "width") ? lathe_integer(host, "width") : 0;
    p->is_quiet = host->extension(host, "lathe.quiet/1") != NULL;
    p->is_terminal = is_terminal();
    p->is_utf8 = is_utf8();
    p->is_colored = p->is_terminal && !(no_color && *no_color);
    p->stride = p->countdown = 1;
    *self = p;
    return LATHE_OK;
}

static void begin_epoch(struct progress *p, const lathe_moment *at,
                        int64_t first_step) {
    memset(&p->epoch, 0, sizeof p->epoch);
    p->epoch.began_seconds = now_seconds();
    p->epoch.first_sample = at->samples;
    p->epoch.first_step = first_step;
}

/* A run may be resumed in the middle of an epoch, which then does not begin again. */
static lathe_status run_begin(void *self, const lathe_moment *at) {
    struct progress *p = self;
    int64_t into = at->steps_per_epoch > 0 ? at->step % at->steps_per_epoch : 0;
    begin_epoch(p, at, at->step - into);
    p->began_seconds = p->checked_seconds = p->epoch.began_seconds;
    p->first_step = at->step;
    return LATHE_OK;
}

static lathe_status epoch_begin(void *self, const lathe_moment *at) {
    begin_epoch(self, at, at->step);
    return LATHE_OK;
}

static int is_epochs_last(const struct progress *p, const lathe_moment *at) {
    return at->step - p->epoch.first_step == at->steps_per_epoch;
}

static lathe_status step_end(void *self, const lathe_moment *at) {
    struct progress *p = self;
    if (p->is_quiet) return LATHE_OK;
    if (!p->is_terminal) {
        if (p->host->is_due(p->host, p->every) && !is_epochs_last(p, at))
            print_progress(p, at, now_seconds());
        return LATHE_OK;
    }
    if (--p->countdown > 0) return LATHE_OK;
    double now = now_seconds(), seconds = now - p->checked_seconds;
    double wanted =
        (double)p->stride * CHECK_SECONDS / (seconds > 1e-9 ? seconds : 1e-9);
    if (wanted > 2 * (double)p->stride) wanted = 2 * (double)p->stride;
    p->stride = wanted < 1 ? 1 : (int64_t)wanted;
    p->countdown = p->stride;
    p->checked_seconds = now;
    if (now - p->drawn_seconds >= DRAW_SECONDS) draw(p, at, NULL, now);
    return LATHE_OK;
}

static lathe_status validation_begin(void *self, const lathe_moment *at) {
    struct progress *p = self;
    p->epoch.pause_began_seconds = now_seconds();
    if (p->is_terminal && !p->is_quiet)
        draw(p, at, strcmp(at->split, "test") ? "validating" : "testing",
             p->epoch.pause_began_seconds);
    return LATHE_OK;
}

static lathe_status validation_end(void *self, const lathe_moment *at) {
    struct progress *p = self;
    p->epoch.paused_seconds += now_seconds() - p->epoch.pause_began_seconds;
    int is_shown = strcmp(at->split, "validation") == 0 && !is_epochs_last(p, at);
    if (!p->is_quiet && is_shown) print_measured(p, at, 0);
    return LATHE_OK;
}

static lathe_status epoch_end(void *self, const lathe_moment *at) {
    struct progress *p = self;
    if (!p->is_quiet) print_measured(p, at, 1);
    return LATHE_OK;
}

static lathe_status run_end(void *self, const lathe_moment *at) {
    (void)at;
    wipe(self);
    return LATHE_OK;
}

LATHE_CALLBACK(.create = create, .destroy = free, .run_begin = run_begin,
               .epoch_begin = epoch_begin, .step_end = step_end,
               .validation_begin = validation_begin, .validation_end = validation_end,
               .epoch_end = epoch_end, .run_end = run_end);
