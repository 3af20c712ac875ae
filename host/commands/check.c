/* SPDX-License-Identifier: MIT */
/* lathe check: the conformance kit of host/check/, test by test, and a grade. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/duration.h"
#include "base/file.h"
#include "base/nearest.h"
#include "bundle/staging.h"
#include "check/runner.h"
#include "check/subject.h"
#include "commands/arguments.h"
#include "commands/commands.h"

#define STAGING_PREFIX "lathe-check-"
#define TIME_LIMIT 60 /* seconds for each test, unless told */

static const char no_library[] = "there is no sound library";

struct checking {
    struct subject subject;
    struct check check;
    struct staging staging; /* of what tests write */
    int is_json, counts[4], left_out;
    struct words only;
    int needs;                   /* the most that a test that is asked for needs */
    const char *why_no_instance; /* tests that need one are skipped; NULL: they run */
};

/* ---- what is printed ---- */

static bool is_asked_for(const struct checking *c, const struct test *test) {
    const struct manifest *m = c->subject.manifest;
    bool is_named = c->only.count == 0;
    for (size_t i = 0; i < c->only.count; i++)
        is_named = is_named || !strcmp(c->only.items[i], test->name);
    return is_named && (test->kind == LATHE_KIND_NONE || (m && test->kind == m->kind));
}

static void print_head(const struct checking *c) {
    const struct manifest *m = c->subject.manifest;
    if (c->is_json) return;
    if (m && m->name && m->name[0])
        printf("%s %s %s  (%s)\n", manifest_kind_name(m->kind), m->name, m->version,
               m->library[0] ? m->library_path : m->path);
    if (c->subject.made_up.length)
        printf("options made up: %s\n", c->subject.made_up.data);
    printf("seed %llu\n\n", (unsigned long long)c->check.seed);
}

static void print_outcome(const struct checking *c, const struct test *test,
                          const struct outcome *outcome) {
    struct text line = {0};
    if (c->is_json) {
        text_format(&line,
                    "{\"event\": \"test\", \"test\": \"%s\", \"verdict\": \"%s\", "
                    "\"reason\": ",
                    test->name, check_verdict_name(outcome->verdict));
        text_json_string(&line, outcome->reason[0] ? outcome->reason : NULL);
        text_format(&line, ", \"seconds\": %.3f}", outcome->seconds);
    } else {
        text_format(&line, "%-4s  %-13s  %s", check_verdict_name(outcome->verdict),
                    test->name, outcome->reason[0] ? outcome->reason : test->summary);
    }
    puts(line.data ? line.data : "");
    fflush(stdout);
    text_finish(&line);
}

static void print_grade(const struct checking *c) {
    const struct manifest *m = c->subject.manifest;
    const int *counts = c->counts;
    const int passed = counts[VERDICT_OK] + counts[VERDICT_WARN];
    const int run = passed + counts[VERDICT_FAIL];
    if (c->is_json) {
        struct text line = {0};
        text_add(&line, "{\"event\": \"end\", \"kind\": ");
        text_json_string(&line, m ? manifest_kind_name(m->kind) : NULL);
        text_add(&line, ", \"plugin\": ");
        text_json_string(&line, m ? m->name : NULL);
        text_add(&line, ", \"version\": ");
        text_json_string(&line, m ? m->version : NULL);
        text_format(&line,
                    ", \"passed\": %d, \"failed\": %d, \"warnings\": %d, "
                    "\"skipped\": %d, \"seed\": %llu}",
                    passed, counts[VERDICT_FAIL], counts[VERDICT_WARN],
                    counts[VERDICT_SKIP], (unsigned long long)c->check.seed);
        puts(line.data ? line.data : "");
        text_finish(&line);
        return;
    }
    if (c->left_out)
        printf("skip  %d others       %s\n", c->left_out,
               c->why_no_instance ? c->why_no_instance : no_library);
    printf("\n%d of %d passed", passed, run);
    if (counts[VERDICT_FAIL]) printf(", %d failed", counts[VERDICT_FAIL]);
    if (counts[VERDICT_WARN])
        printf(", %d warning%s", counts[VERDICT_WARN],
               counts[VERDICT_WARN] > 1 ? "s" : "");
    if (counts[VERDICT_SKIP]) printf(", %d skipped", counts[VERDICT_SKIP]);
    puts("");
    if (counts[VERDICT_FAIL])
        printf("--seed %llu --only TEST repeats one of them\n",
               (unsigned long long)c->check.seed);
}

static int list_tests(void) {
    const struct test *test;
    for (size_t i = 0; (test = check_test_at(i)) != NULL; i++)
        printf("%-9s  %-13s  %s\n", test->kind ? manifest_kind_name(test->kind) : "all",
               test->name, test->summary);
    return 0;
}

/* ---- the tests ---- */

/* What a test that did not go well means for those that come after it. */
static void draw_conclusions(struct checking *c, const struct test *test,
                             const struct outcome *outcome) {
    if (!strcmp(test->name, "create")) c->subject.suitable = outcome->answer;
    if (outcome->verdict != VERDICT_FAIL && outcome->verdict != VERDICT_SKIP) return;
    if (!strcmp(test->name, "create"))
        c->why_no_instance = outcome->verdict == VERDICT_SKIP
                                 ? "there are no options to make an instance with"
                                 : "no instance can be made";
    if (!strcmp(test->name, "functions")) c->why_no_instance = "it cannot be loaded";
}

static lathe_status run_test(struct checking *c, const struct test *test,
                             struct error *err) {
    struct outcome outcome = {.verdict = VERDICT_SKIP};
    const char *why = NULL;
    if (test->needs >= NEEDS_LIBRARY && c->subject.refused.status != LATHE_OK)
        why = no_library;
    else if (test->needs == NEEDS_INSTANCE || !strcmp(test->name, "create"))
        why = c->why_no_instance;
    if (why) {
        snprintf(outcome.reason, sizeof outcome.reason, "%s", why);
    } else {
        lathe_status status = runner_run(test, &c->check, &outcome, err);
        if (status == LATHE_OK) status = staging_check_signals(&c->staging, err);
        if (status != LATHE_OK) return status;
    }
    if (!why) draw_conclusions(c, test, &outcome);
    if (!is_asked_for(c, test) && outcome.verdict == VERDICT_OK) return LATHE_OK;
    c->counts[outcome.verdict]++;
    c->left_out += why != NULL;
    if (!why || c->is_json) print_outcome(c, test, &outcome);
    return LATHE_OK;
}

/* Those that need an instance want to know of `functions` and `create` that there can
 * be one. */
static bool is_to_run(const struct checking *c, const struct test *test) {
    const bool is_first =
        !strcmp(test->name, "functions") || !strcmp(test->name, "create");
    return is_asked_for(c, test) || (is_first && c->needs == NEEDS_INSTANCE);
}

static lathe_status run_tests(struct checking *c, struct error *err) {
    const struct test *test;
    lathe_status status = LATHE_OK;
    for (size_t i = 0; (test = check_test_at(i)) != NULL; i++)
        if (is_asked_for(c, test) && test->needs > c->needs) c->needs = test->needs;
    for (size_t i = 0; status == LATHE_OK && (test = check_test_at(i)) != NULL; i++)
        if (is_to_run(c, test)) status = run_test(c, test, err);
    return status;
}

/* ---- the command line ---- */

static int refuse(struct error *err, const char *flag, const char *value,
                  const char *help) {
    fail(err, LATHE_EINVAL, "%s %s: %s", flag, value, help);
    error_where(err, "command line of \"check\"");
    return EXIT_USAGE;
}

static int read_numbers(struct check *check, const char *seed, const char *limit,
                        struct error *err) {
    struct duration duration;
    char *end = NULL;
    check->time_limit = TIME_LIMIT;
    if (seed) {
        check->seed = strtoull(seed, &end, 10);
        if (*end || seed[0] < '0' || seed[0] > '9')
            return refuse(err, "--seed", seed, "a whole number is wanted");
    } else if (getrandom(&check->seed, sizeof check->seed, 0) == sizeof check->seed) {
        check->seed = check->seed % 1000000 + 1;
    }
    if (!limit) return 0;
    if (duration_parse(limit, &duration, NULL) || duration.unit != DURATION_SECONDS ||
        !(duration.amount > 0))
        return refuse(err, "--time-limit", limit, "a time is wanted: 30s, 5min");
    check->time_limit = duration.amount;
    return 0;
}

static int check_names(const struct words *only, struct error *err) {
    for (size_t i = 0; i < only->count; i++) {
        struct nearest nearest;
        const struct test *test;
        if (check_test_named(only->items[i])) continue;
        nearest_begin(&nearest, only->items[i]);
        for (size_t j = 0; (test = check_test_at(j)) != NULL; j++)
            nearest_offer(&nearest, test->name);
        refuse(err, "--only", only->items[i], "there is no such test");
        if (nearest.best)
            error_help(err, "did you mean \"%s\"?", nearest.best);
        else
            error_help(err, "\"lathe check --list\" lists them");
        return EXIT_USAGE;
    }
    return 0;
}

/* The allocator keeps freed memory at hand for each thread, and counts it as in use: no
 * leak can be told from that. It can only be told not to when a program starts. */
static void begin_again(int argc, char **argv) {
    static const char setting[] = "glibc.malloc.tcache_count=0";
    const char *before = getenv("GLIBC_TUNABLES");
    if (before && strstr(before, setting)) return;
    char *after = text_make("%s%s%s", before ? before : "", before ? ":" : "", setting);
    char **again = calloc((size_t)argc + 2, sizeof *again);
    char name[] = "lathe";
    if (after && again && setenv("GLIBC_TUNABLES", after, 1) == 0) {
        again[0] = name;
        memcpy(again + 1, argv, (size_t)argc * sizeof *again);
        execv("/proc/self/exe", again);
    }
    free(again);
    free(after);
}

/* 70: it failed. 64: options are wanted before it can be told. */
static int grade(const struct checking *c) {
    if (c->counts[VERDICT_FAIL]) return error_exit_code(LATHE_EPLUGIN);
    return c->why_no_instance ? EXIT_USAGE : 0;
}

/* A word that names two plugins is a wrong command line. Once a plugin was found, what
 * was given for it is a wrong configuration. */
static int ungraded(const struct checking *c, lathe_status status) {
    const bool is_found = c->subject.manifest || c->subject.refused.status;
    return status == LATHE_EINVAL && !is_found ? EXIT_USAGE : error_exit_code(status);
}

/* What the tests write is in one place, which goes with them. */
static lathe_status run_in_place(struct checking *c, struct error *err) {
    const char *place = file_temporary();
    staging_sweep(place, STAGING_PREFIX);
    staging_open(place, STAGING_PREFIX, &c->staging, NULL);
    c->check.place = c->staging.path;
    lathe_status status = run_tests(c, err);
    staging_close(&c->staging); /* and a signal that came has its way */
    return status;
}

static int check_plugin(struct checking *c, const char *word, const struct given *given,
                        const char *const *places, struct error *err) {
    c->check.subject = &c->subject;
    lathe_status status = subject_open(&c->subject, word, given, places, err);
    if (status == LATHE_OK) {
        print_head(c);
        status = run_in_place(c, err);
    }
    if (status == LATHE_OK) print_grade(c);
    const int code = status == LATHE_OK ? grade(c) : ungraded(c, status);
    subject_close(&c->subject);
    return code;
}

int command_check(int argc, char **argv) {
    struct checking c = {.check = {.lock = PTHREAD_MUTEX_INITIALIZER}};
    struct words places = {0};
    int lists = 0;
    struct given given = {0};
    const char *seed = NULL, *limit = NULL, *word;
    const struct flag flags[] = {{"--with", "JSON", .value = &given.with},
                                 {"--experiment", "FILE", .value = &given.experiment},
                                 {"--only", "TEST", .values = &c.only},
                                 {"--list", .count = &lists},
                                 {"--seed", "N", .value = &seed},
                                 {"--time-limit", "TIME", .value = &limit},
                                 {"--plugin-path", "DIR", .values = &places},
                                 {"--json", .count = &c.is_json},
                                 {.name = NULL}};
    struct arguments arguments = {0};
    struct error err = {0};
    begin_again(argc, argv);
    int code = arguments_read(argc, argv, flags, &arguments, &err);
    if (!code && lists) {
        arguments_finish(&arguments);
        return list_tests();
    }
    if (!code) code = arguments_only_word(&arguments, "check", "a plugin", &word, &err);
    if (!code) code = read_numbers(&c.check, seed, limit, &err);
    if (!code) code = check_names(&c.only, &err);
    if (!code && given.with && given.experiment)
        code = refuse(&err, "--with", given.with, "it does not go with --experiment");
    given.words = arguments.overrides.items;
    if (!code) code = check_plugin(&c, word, &given, places.items, &err);
    if (err.status != LATHE_OK) command_print_error(&err);
    arguments_finish(&arguments);
    return code;
}
