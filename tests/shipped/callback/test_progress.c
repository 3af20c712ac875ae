/* SPDX-License-Identifier: MIT */
/* What progress shows: plain lines in a pipe, a bar on a terminal (a
 * pseudo-terminal). Its clock is the test's. */
#include "support/fake_host.h"

#include <fcntl.h>
#include <poll.h>
#include <termios.h>

#include "support/clock.h"

#define clock_gettime read_clock
#include "callback/progress/progress.c"
#undef clock_gettime

#define METRICS 4
#define STEP_SECONDS 0.01
#define END '\a' /* nothing shows it */

struct fixture {
    struct fake_host host; /* first: a host's context is its fake */
    void *self;
    lathe_moment at;
    lathe_metric_view metrics[METRICS];
    int32_t is_due;
    int is_quiet;
    int shown, saved; /* where what is shown can be read; the test's own stderr */
    char text[65536];
};

static struct fixture *fixture_of(const lathe_host *host) {
    return (struct fixture *)fake_of(host);
}

static int32_t fixture_every(const lathe_host *host, const char *path) {
    assert_int_equal(fake_has(host, path), 1);
    return 5;
}

static int32_t fixture_is_due(const lathe_host *host, int32_t every) {
    assert_int_equal(every, 5);
    return fixture_of(host)->is_due;
}

static lathe_status fixture_metric_at(const lathe_host *host, int64_t i,
                                      lathe_metric_view *view) {
    if (i >= METRICS) return LATHE_END;
    *view = fixture_of(host)->metrics[i];
    return LATHE_OK;
}

static const void *fixture_extension(const lathe_host *host, const char *id) {
    int is_asked = !strcmp(id, "lathe.quiet/1") && fixture_of(host)->is_quiet;
    return is_asked ? host : NULL;
}

/* columns 0: a pipe takes what is shown; else a terminal as wide as that. */
static void redirect(struct fixture *f, int columns) {
    int ends[2];
    if (columns) {
        struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)columns};
        struct termios mode;
        ends[0] = posix_openpt(O_RDWR | O_NOCTTY);
        assert_true(ends[0] >= 0 && !grantpt(ends[0]) && !unlockpt(ends[0]));
        ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY);
        assert_true(ends[1] >= 0 && !ioctl(ends[1], TIOCSWINSZ, &size));
        assert_int_equal(tcgetattr(ends[1], &mode), 0);
        cfmakeraw(&mode);
        assert_int_equal(tcsetattr(ends[1], TCSANOW, &mode), 0);
    } else {
        assert_int_equal(pipe(ends), 0);
    }
    f->shown = ends[0];
    f->saved = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
}

/* An experiment of 10 epochs of 100 steps, of which the first has begun. */
static void begin(struct fixture *f, const char *options, int columns) {
    fake_host_init(&f->host, options);
    fake_host_manifest(&f->host, "callback/progress");
    f->host.table.every = fixture_every;
    f->host.table.is_due = fixture_is_due;
    f->host.table.metric_at = fixture_metric_at;
    f->host.table.extension = fixture_extension;
    static const char *const names[METRICS] = {
        "train/loss", "train/accuracy", "validation/loss", "validation/accuracy"};
    for (int i = 0; i < METRICS; i++)
        f->metrics[i] = (lathe_metric_view){
            .size = sizeof f->metrics[i], .name = names[i], .value = NAN, .step = -1};
    f->at = (lathe_moment){.size = sizeof f->at,
                           .epoch = 1,
                           .steps_total = 1000,
                           .steps_per_epoch = 100,
                           .loss = 0.75,
                           .split = "train"};
    setenv("LC_ALL", "C.UTF-8", 1);
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    clock_now = 1000;
    redirect(f, columns);
}

static void start(struct fixture *f) {
    assert_int_equal(lathe_ops_.create(&f->host.table, &f->self), LATHE_OK);
    assert_int_equal(lathe_ops_.run_begin(f->self, &f->at), LATHE_OK);
    if (!f->at.resumed)
        assert_int_equal(lathe_ops_.epoch_begin(f->self, &f->at), LATHE_OK);
}

static void step_to(struct fixture *f, int64_t step) {
    if (clock_now >= 0) clock_now += STEP_SECONDS;
    f->at.step = step;
    f->at.samples = 10 * step;
    assert_int_equal(lathe_ops_.step_end(f->self, &f->at), LATHE_OK);
}

/* What was shown since it was last asked. A pseudo-terminal hands on in its own time,
 * so it is read up to a mark. */
static const char *shown(struct fixture *f) {
    struct pollfd ready = {.fd = f->shown, .events = POLLIN};
    const char mark = END;
    size_t length = 0;
    assert_int_equal(write(STDERR_FILENO, &mark, 1), 1);
    while (!length || f->text[length - 1] != END) {
        assert_true(length < sizeof f->text && poll(&ready, 1, 60000) == 1);
        ssize_t count = read(f->shown, f->text + length, sizeof f->text - length);
        assert_true(count > 0);
        length += (size_t)count;
    }
    f->text[length - 1] = '\0';
    return f->text;
}

static void finish(struct fixture *f) {
    dup2(f->saved, STDERR_FILENO);
    close(f->saved);
    close(f->shown);
    lathe_ops_.destroy(f->self);
    fake_host_finish(&f->host);
}

static void set(struct fixture *f, int metric, double value) {
    f->metrics[metric].value = value;
    f->metrics[metric].step = f->at.step;
}

static void expect_start(const char *text, const char *expected) {
    if (strncmp(text, expected, strlen(expected)) != 0)
        fail_msg("\"%s\" does not start with \"%s\"", text, expected);
}

static void expect_in(const char *text, const char *expected) {
    if (!strstr(text, expected)) fail_msg("\"%s\" is not in \"%s\"", expected, text);
}

static void each_epoch_is_one_plain_line(void **state) {
    (void)state;
    struct fixture f = {.is_due = 0};
    begin(&f, "{}", 0);
    start(&f);
    for (int i = 1; i <= 100; i++) step_to(&f, i);
    assert_string_equal(shown(&f), "");
    set(&f, 0, 0.5);
    set(&f, 1, 0.8125);
    set(&f, 2, 12.345678);
    f.at.split = "validation";
    lathe_ops_.validation_begin(f.self, &f.at);
    lathe_ops_.validation_end(f.self, &f.at);
    assert_string_equal(shown(&f), "");
    f.at.split = "train";
    lathe_ops_.epoch_end(f.self, &f.at);
    const char *text = shown(&f);
    expect_start(text,
                 "epoch  1/10  train loss 0.5000, accuracy 0.8125  validation loss "
                 "12.35  ");
    expect_in(text, " samples/s\n");
    assert_ptr_equal(strchr(text, '\n') + 1, text + strlen(text));
    finish(&f);
}

static void plain_lines_come_when_due_but_not_twice(void **state) {
    (void)state;
    struct fixture f = {.is_due = 1};
    begin(&f, "{}", 0);
    start(&f);
    step_to(&f, 46);
    expect_start(shown(&f), "epoch  1/10  step 46/1000  loss 0.7500  ");
    set(&f, 0, 0.25);
    set(&f, 1, 0.5);
    step_to(&f, 47);
    const char *text = shown(&f);
    expect_start(text, "epoch  1/10  step 47/1000  loss 0.2500  accuracy 0.5000  ");
    expect_in(text, " left\n");
    assert_null(strchr(text, '\r'));
    assert_null(strchr(text, '\033'));
    step_to(&f, 100); /* the epoch's line says it */
    assert_string_equal(shown(&f), "");
    finish(&f);
}

static void validation_within_an_epoch_has_its_line(void **state) {
    (void)state;
    struct fixture f = {.is_due = 0};
    begin(&f, "{}", 0);
    start(&f);
    step_to(&f, 50);
    set(&f, 3, 0.75);
    f.at.split = "validation";
    lathe_ops_.validation_begin(f.self, &f.at);
    lathe_ops_.validation_end(f.self, &f.at);
    assert_string_equal(shown(&f),
                        "epoch  1/10  step 50/1000  validation accuracy 0.7500\n");
    finish(&f);
}

static void unknown_lengths_are_left_out(void **state) {
    (void)state;
    struct fixture f = {.is_due = 1};
    begin(&f, "{}", 0);
    f.at.steps_total = f.at.steps_per_epoch = 0;
    f.at.epoch = 3;
    start(&f);
    step_to(&f, 12);
    const char *text = shown(&f);
    expect_start(text, "epoch 3  step 12  loss 0.7500");
    assert_null(strstr(text, "left"));
    finish(&f);
}

static void a_terminal_gets_a_bar(void **state) {
    (void)state;
    struct fixture f = {.is_due = 1};
    begin(&f, "{}", 120);
    start(&f);
    step_to(&f, 50);
    const char *text = shown(&f);
    expect_start(text, "\repoch  1/10  step 50/1000  \033[36m━━━━━━━━━━━━\033[0m"
                       "────────────  50%  ");
    expect_in(text, "loss 0.7500");
    expect_in(text, "\033[K");
    assert_null(strchr(text, '\n'));
    lathe_ops_.epoch_end(f.self, &f.at); /* in its place */
    text = shown(&f);
    expect_start(text, "\repoch  1/10  ");
    expect_in(text, "\033[K\n");
    lathe_ops_.run_end(f.self, &f.at);
    assert_string_equal(shown(&f), "");
    finish(&f);
}

static void the_bar_is_wiped_at_the_end(void **state) {
    (void)state;
    struct fixture f = {.is_due = 0};
    begin(&f, "{}", 120);
    start(&f);
    step_to(&f, 50);
    f.at.split = "test";
    lathe_ops_.validation_begin(f.self, &f.at);
    expect_in(shown(&f), "  testing");
    lathe_ops_.run_end(f.self, &f.at);
    assert_string_equal(shown(&f), "\r\033[K");
    finish(&f);
}

static void plain_terminals_get_plain_text(void **state) {
    (void)state;
    struct fixture f = {.is_due = 1};
    begin(&f, "{}", 120);
    setenv("NO_COLOR", "1", 1);
    setenv("LC_ALL", "C", 1);
    start(&f);
    step_to(&f, 50);
    expect_in(shown(&f), "  [============            ]  50%  ");
    finish(&f);

    begin(&f, "{}", 120);
    setenv("TERM", "dumb", 1);
    start(&f);
    step_to(&f, 50);
    const char *text = shown(&f);
    expect_start(text, "epoch ");
    assert_null(strchr(text, '\033'));
    finish(&f);
}

static int columns_of(const char *text) {
    int columns = 0;
    for (; *text && strncmp(text, "\033[K", 3) != 0; text++) {
        if (*text == '\033')
            while (*text != 'm') text++;
        else if (*text != '\r')
            columns += (*text & 0xC0) != 0x80;
    }
    return columns;
}

static void the_bar_never_wraps(void **state) {
    (void)state;
    for (int width = 20; width < 160; width++) {
        struct fixture f = {.is_due = 0};
        begin(&f, "{}", width);
        start(&f);
        set(&f, 0, 0.5);
        set(&f, 1, 0.5);
        step_to(&f, 50);
        const char *text = shown(&f);
        expect_start(text, "\repoch  1/10");
        if (columns_of(text) >= width)
            fail_msg("%d columns on %d: %s", columns_of(text), width, text);
        if (width > 130) expect_in(text, "samples/s");
        finish(&f);
    }
    struct fixture f = {.is_due = 0};
    begin(&f, "{\"width\": 30}", 120);
    start(&f);
    step_to(&f, 50);
    assert_in_range(columns_of(shown(&f)), 12, 29);
    finish(&f);
}

static void quiet_shows_nothing(void **state) {
    (void)state;
    for (int columns = 0; columns <= 80; columns += 80) {
        struct fixture f = {.is_due = 1, .is_quiet = 1};
        begin(&f, "{}", columns);
        start(&f);
        for (int i = 1; i <= 50; i++) step_to(&f, i);
        f.at.split = "validation";
        lathe_ops_.validation_begin(f.self, &f.at);
        lathe_ops_.validation_end(f.self, &f.at);
        lathe_ops_.epoch_end(f.self, &f.at);
        lathe_ops_.run_end(f.self, &f.at);
        assert_string_equal(shown(&f), "");
        finish(&f);
    }
}

/* One step took 0.2 s, so the other 31 take 6: not the time of 32 that were made
 * before. */
static void a_resumed_run_counts_on_and_times_anew(void **state) {
    (void)state;
    struct fixture f = {.is_due = 1};
    begin(&f, "{}", 0);
    f.at.resumed = 1;
    f.at.steps_total = 64;
    f.at.step = 32;
    f.at.samples = 320;
    start(&f);
    clock_now += 0.2 - STEP_SECONDS;
    step_to(&f, 33);
    const char *text = shown(&f);
    expect_in(text, "  step 33/64  ");
    expect_in(text, "  0:06 left\n");
    finish(&f);
}

static void a_step_costs_next_to_nothing(void **state) {
    (void)state;
    struct fixture f = {.is_due = 0};
    begin(&f, "{}", 100);
    f.at.steps_total = f.at.steps_per_epoch = 2000000;
    clock_now = -1;
    start(&f);
    double before = now_seconds();
    for (int64_t i = 1; i <= 1000000; i++) {
        step_to(&f, i);
        if (i % 1000 == 0) shown(&f);
    }
    double seconds = now_seconds() - before;
    finish(&f);
    if (seconds > 0.5) fail_msg("%.0f ns a step", 1000 * seconds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_epoch_is_one_plain_line),
        cmocka_unit_test(plain_lines_come_when_due_but_not_twice),
        cmocka_unit_test(validation_within_an_epoch_has_its_line),
        cmocka_unit_test(unknown_lengths_are_left_out),
        cmocka_unit_test(a_terminal_gets_a_bar),
        cmocka_unit_test(the_bar_is_wiped_at_the_end),
        cmocka_unit_test(plain_terminals_get_plain_text),
        cmocka_unit_test(the_bar_never_wraps),
        cmocka_unit_test(quiet_shows_nothing),
        cmocka_unit_test(a_resumed_run_counts_on_and_times_anew),
        cmocka_unit_test(a_step_costs_next_to_nothing),
    };
    return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}
