/* SPDX-License-Identifier: MIT */
/* One instance: made with the options that there are, with options at their edges, and
 * very often. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check/model_fixture.h"
#include "check/pace.h"
#include "check/process.h"
#include "check/tests.h"

/* ---- create ---- */

/* Is it the options that nobody chose which are refused? */
static void tell_refusal(struct check *check, const struct error *err) {
    const struct subject *subject = check->subject;
    if (fixture_is_refusal(err) && subject->made_up.length)
        check_skip(check,
                   "with the options made up for it, create says: %s; give them: "
                   "--with '{…}' or --experiment FILE",
                   err->what);
    else
        check_fail(check, "create failed: %s", err->what);
}

static bool create_once(struct check *check) {
    struct fixture fixture;
    struct plugin plugin;
    struct error err = {0};
    bool is_well = fixture_open(&fixture, check, NULL, &err);
    if (is_well) {
        is_well = fixture_create(&fixture, &plugin, &err);
        fixture_destroy(&fixture, &plugin);
        fixture_close(&fixture);
    }
    if (!is_well) tell_refusal(check, &err);
    return is_well;
}

/* Which data does the model take? The last thing it says is told when none. */
static void find_data(struct check *check) {
    struct error err = {0};
    const bool is_given = check->subject->data != NULL;
    for (int data = is_given ? CHECK_DATA : 0;
         data < (is_given ? CHECK_DATA + 1 : CHECK_DATA); data++) {
        const struct setup setup = {.data = data};
        struct fixture fixture;
        struct model_fixture model;
        if (!fixture_open(&fixture, check, &setup, &err)) break;
        err.status = LATHE_OK;
        if (model_fixture_open(&model, &fixture, &err))
            check->result->answer |= 1u << data;
        model_fixture_close(&model);
        fixture_close(&fixture);
    }
    struct text list = {0};
    for (int data = 0; data <= CHECK_DATA; data++)
        if (check->result->answer >> data & 1)
            text_format(&list, "%s%s", list.length ? "; " : "",
                        subject_data_name(data));
    if (list.length)
        check_note(check, "takes %s", list.data);
    else if (is_given)
        check_fail(check, "%s", err.what);
    else
        check_skip(check,
                   "it takes none of the data that is made up here (%s): name an "
                   "experiment with data for it, --experiment FILE",
                   err.what);
    text_finish(&list);
}

void test_create(struct check *check) {
    const struct subject *subject = check->subject;
    if (subject->missing.length) {
        check_skip(check, "%s must be given: --with '{…}' or --experiment FILE",
                   subject->missing.data);
        return;
    }
    if (subject->manifest->kind == LATHE_KIND_MODEL)
        find_data(check);
    else
        create_once(check);
}

/* ---- options ---- */

static bool work_at_edge(struct fixture *fixture, const char *what, struct error *err) {
    struct text lines = {0};
    const uint32_t kind = fixture->check->subject->manifest->kind;
    struct plugin plugin;
    bool is_well = fixture_create(fixture, &plugin, err);
    fixture_destroy(fixture, &plugin);
    if (is_well && kind == LATHE_KIND_MODEL) {
        struct model_fixture model;
        is_well = model_fixture_open(&model, fixture, err);
        model_fixture_close(&model);
    }
    check_doing(fixture->check, "work with %s", what);
    if (is_well && kind != LATHE_KIND_CALLBACK)
        is_well = fixture_work_of(kind)(fixture, &lines);
    text_finish(&lines);
    return is_well;
}

struct trying {
    struct check *check;
    struct pace pace;
    uint64_t read; /* options, over all values */
};

/* Makes an instance and has it work; to be refused with a reason is as good. */
static bool try_options(struct trying *trying, const struct json *options,
                        const char *what) {
    struct check *check = trying->check;
    const struct setup setup = {.options = options,
                                .data = subject_first_data(check->subject)};
    struct error err = {0};
    struct fixture fixture;
    bool is_well = fixture_open(&fixture, check, &setup, &err);
    if (is_well) {
        fixture.refusal = &err;
        is_well = work_at_edge(&fixture, what, &err);
        trying->read |= fixture.options_read;
        fixture_close(&fixture);
    }
    if (!check_is_failed(check))
        return is_well || fixture_is_refusal(&err) ||
               check_fail(check, "with %s: %s", what, err.what);
    memcpy(err.what, check->result->reason, sizeof err.what - 1);
    check->result->verdict = VERDICT_OK; /* to be told again, with the options */
    return check_fail(check, "with %s: %s", what, err.what);
}

static bool try_edges(struct trying *trying, const char *name,
                      const struct json *schema) {
    struct json *edges = subject_edges(schema, name);
    bool is_well = true;
    for (size_t i = 0; is_well && i < json_size(edges); i++) {
        struct json *options = json_clone(trying->check->subject->options);
        struct text what = {0};
        if (!options || !json_put(options, name, json_clone(json_at(edges, i)))) break;
        text_format(&what, "%s=", name);
        json_write(json_at(edges, i), &what, 0);
        is_well = pace_next(&trying->pace) &&
                  (what.is_broken || try_options(trying, options, what.data));
        text_finish(&what);
        json_close(options);
    }
    json_close(edges);
    return is_well;
}

/* Files and plugins that nobody gave: what is read only with them, nobody knows. */
static bool was_left_out(const struct subject *subject, const char *name,
                         const struct json *schema) {
    const char *format = json_text(json_get(schema, "format"));
    return !json_get(subject->options, name) && !json_get(schema, "default") &&
           (!strcmp(format, "path") || !strncmp(format, "plugin:", 7));
}

static void judge_reads(const struct trying *trying) {
    const struct subject *subject = trying->check->subject;
    const struct json *options = subject->manifest->options;
    struct text unread = {0};
    bool are_all_tried = true;
    int count = 0;
    for (size_t i = 0; i < json_size(options) && i < 64; i++) {
        const char *name = json_key_at(options, i);
        const bool is_hosts =
            subject->manifest->kind == LATHE_KIND_OPTIMIZER && !strcmp(name, "lr");
        are_all_tried =
            are_all_tried && !was_left_out(subject, name, json_at(options, i));
        if (is_hosts || trying->read >> i & 1) continue;
        text_format(&unread, "%s\"%s\"", count++ ? ", " : "", name);
    }
    const char *is = count == 1 ? "is" : "are";
    if (count && are_all_tried)
        check_warn(trying->check, "%s %s never read", unread.data, is);
    else if (count)
        check_note(trying->check, "%lld values tried, with which %s %s not read",
                   (long long)trying->pace.done, unread.data, is);
    else
        check_note(trying->check, "%lld values tried", (long long)trying->pace.done);
    text_finish(&unread);
}

void test_options(struct check *check) {
    struct trying trying = {.check = check, .pace = {.check = check, .what = "value"}};
    const struct json *options = check->subject->manifest->options;
    for (struct json_member at = {0}; json_next(options, &at);) {
        struct json *edges = subject_edges(at.value, at.key);
        trying.pace.total += (int64_t)json_size(edges);
        json_close(edges);
    }
    if (json_size(options) &&
        !try_options(&trying, check->subject->options, "no more than it needs"))
        return;
    for (struct json_member at = {0}; json_next(options, &at);)
        if (!try_edges(&trying, at.key, at.value)) return;
    judge_reads(&trying);
}

/* ---- lifecycle ---- */

#define WARM 50
#define TIMES 1000
#define LEAKED_MAX 4096 /* bytes, over all times: less than one in each */
#define PAGES_MAX 600

struct usage {
    size_t bytes;
    long pages;
    int descriptors, threads;
};

/* Of a sanitizer's allocator, where there is one. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static struct usage look(void) {
    struct usage usage = {.descriptors = process_descriptors(),
                          .threads = process_threads()};
    const struct mallinfo2 info = mallinfo2();
    usage.bytes = __sanitizer_get_current_allocated_bytes
                      ? __sanitizer_get_current_allocated_bytes()
                      : info.uordblks + info.hblkhd;
    usage.pages = process_pages();
    return usage;
}

static bool compare(struct check *check, struct usage before, int times,
                    const char *what) {
    struct usage after = look();
    /* A thread that is ending is given time to. */
    for (int i = 0; i < 50 && after.threads > before.threads; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        after.threads = process_threads();
    }
    if (after.threads > before.threads)
        return check_fail(check, "%s %d times leaves %d threads", what, times,
                          after.threads - before.threads);
    if (after.descriptors > before.descriptors)
        return check_fail(check, "%s %d times leaves %d descriptors open", what, times,
                          after.descriptors - before.descriptors);
    if (after.bytes > before.bytes + LEAKED_MAX)
        return check_fail(check, "%s %d times leaks %zu bytes, %.1f each", what, times,
                          after.bytes - before.bytes,
                          (double)(after.bytes - before.bytes) / times);
    if (!__sanitizer_get_current_allocated_bytes &&
        after.pages > before.pages + PAGES_MAX)
        return check_fail(check, "%s %d times takes %ld pages more of memory", what,
                          times, after.pages - before.pages);
    return true;
}

static bool make_and_destroy(struct fixture *fixture, int times) {
    struct pace pace = {fixture->check, "instance", times, 0, 0};
    for (int i = 0; i < times; i++) {
        if (!pace_next(&pace)) return false;
        struct plugin plugin;
        const bool is_well = fixture_create(fixture, &plugin, NULL);
        fixture_destroy(fixture, &plugin);
        if (!is_well) return false;
    }
    return true;
}

static bool make_and_work(struct fixture *fixture, int times, struct pace *pace) {
    struct text lines = {0};
    bool is_well = true;
    for (int i = 0; is_well && i < times; i++) {
        text_clear(&lines);
        is_well =
            pace_next(pace) &&
            fixture_work_of(fixture->check->subject->manifest->kind)(fixture, &lines);
    }
    text_finish(&lines);
    return is_well;
}

/* Whole runs make some noise in the allocator: a leak is what every round adds. */
static void count_in_use(struct fixture *fixture, int rounds, int times) {
    size_t least = SIZE_MAX;
    struct pace pace = {fixture->check, "run", 10 + (int64_t)rounds * times, 0, 0};
    if (!make_and_work(fixture, 10, &pace)) return;
    for (int i = 0; i < rounds; i++) {
        struct usage before = look();
        if (!make_and_work(fixture, times, &pace)) return;
        const size_t now = look().bytes;
        const size_t grown = now > before.bytes ? now - before.bytes : 0;
        if (grown < least) least = grown;
        before.bytes = now;
        if (!compare(fixture->check, before, times, "to make, use and destroy it"))
            return;
    }
    if (least >= (size_t)times * 8)
        check_fail(fixture->check,
                   "to make, use and destroy it %d times leaks %zu bytes, %.1f each",
                   times, least, (double)least / times);
}

/* First a few times, so that what is made once is there. */
static void count_leaks(struct fixture *fixture) {
    struct check *check = fixture->check;
    const bool is_run = check->subject->manifest->kind == LATHE_KIND_CALLBACK;
    struct usage before = look();
    if (!make_and_destroy(fixture, 2)) return;
    before.bytes = look().bytes;
    before.pages = look().pages;
    if (!compare(check, before, 2, "to make and destroy it") ||
        !make_and_destroy(fixture, WARM))
        return;
    before = look();
    if (make_and_destroy(fixture, TIMES) &&
        compare(check, before, TIMES, "to make and destroy it"))
        count_in_use(fixture, 4, is_run ? 12 : 50);
}

void test_lifecycle(struct check *check) {
    struct fixture fixture;
    if (!fixture_open(&fixture, check, NULL, NULL)) return;
    count_leaks(&fixture);
    fixture_close(&fixture);
}
