/* SPDX-License-Identifier: MIT */
/* The conformance kit for plugins: what a plugin must do, as tests that each run in a
 * process of their own. This header is what a test sees of the kit: what is checked,
 * and where its verdict goes. It is part of the program, not of liblathe: it looks into
 * sessions (session_state.h), which nobody else outside of them does.
 *
 * A test sets one verdict and gives its reason; the first failure stands. It may crash,
 * hang or end the process: that is what the process is for. */
#ifndef HOST_CHECK_CHECK_H
#define HOST_CHECK_CHECK_H

#include <pthread.h>
#include <stdbool.h>

#include <lathe/host.h>

#include "base/text.h"
#include "json.h"
#include "manifest.h"

enum verdict { VERDICT_OK = 0, VERDICT_FAIL, VERDICT_WARN, VERDICT_SKIP };
const char *check_verdict_name(enum verdict verdict); /* "ok", "FAIL", "warn", "skip" */

/* Made-up data that a model may be checked on; the last one is the user's own. */
#define CHECK_DATA 5

/* What is checked, as the command line says it. Nothing of its code is loaded where
 * this is made. */
struct subject {
    struct manifest *manifest;
    struct json *format;  /* of plugin.json */
    char *directory;      /* a place of the search path */
    struct error refused; /* why there is nothing to load; status LATHE_OK: there is */
    struct json *options; /* of the instances that are made; NULL: none can be */
    struct text made_up;  /* "lr=0.01": those that nobody gave */
    struct text missing;  /* "file": those that nobody gave and cannot be made up */
    struct json *data;    /* the user's own training data; NULL: none */
    uint32_t suitable;    /* a bit for each kind of data that a model takes */
    const char *const *plugin_paths; /* NULL-ended */
};

/* Shared with the process that watches the test. */
struct result {
    enum verdict verdict;
    bool is_done;    /* the test came to its end */
    uint32_t answer; /* a number for whoever asked */
    char reason[1024];
    char doing[256]; /* the call of the plugin in progress, or the last one */
};

/* The call that took longest, as far as anybody looked. */
struct slow {
    double seconds;
    char call[96]; /* "step_end of callbacks.timer"; "" */
};

struct check {
    struct subject *subject;
    uint64_t seed;
    double time_limit, began; /* of the test, by clock_seconds */
    struct result *result;
    pthread_mutex_t lock; /* of result and printed: a test may have two threads */
    struct slow slowest;
    const char *place; /* where their folders are made; NULL: nowhere */
    char folder[256];  /* of this test, for runs and files; "": there can be none */
    int output;        /* a file that standard output goes to; 0: nobody looks */
    char printed[256]; /* the first call after which there was something in it; "" */
};

struct test {
    const char *name, *summary;
    void (*run)(struct check *check);
    uint32_t kind; /* LATHE_KIND_*; NONE: every plugin */
    int needs;     /* NEEDS_* */
};
enum { NEEDS_NOTHING = 0, NEEDS_LIBRARY, NEEDS_INSTANCE };

/* In the order in which they run; NULL past the last. Static. */
const struct test *check_test_at(size_t index);
/* NULL: there is none of that name. */
const struct test *check_test_named(const char *name);

/* Sets the verdict, unless there is a failure already. Always false, so that a test
 * writes `return check_fail(…)`. */
__attribute__((format(printf, 2, 3))) bool check_fail(struct check *check,
                                                      const char *format, ...);
__attribute__((format(printf, 2, 3))) bool check_warn(struct check *check,
                                                      const char *format, ...);
__attribute__((format(printf, 2, 3))) bool check_skip(struct check *check,
                                                      const char *format, ...);
/* What was found where nothing is wrong: "worst relative error 2e-6". */
__attribute__((format(printf, 2, 3))) void check_note(struct check *check,
                                                      const char *format, ...);
/* What is being done, to be told if it does not come back. [any] */
__attribute__((format(printf, 2, 3))) void check_doing(struct check *check,
                                                       const char *format, ...);
/* After the call that was being done: did it print? */
void check_output(struct check *check);
bool check_is_failed(struct check *check);

/* A number from the seed, for one purpose, all 32 bits of it. */
uint32_t check_draw(const struct check *check, uint32_t purpose, uint64_t index);
/* One near to normally distributed, of variance 1. */
double check_normal(const struct check *check, uint32_t purpose, uint64_t index);

bool check_same(const void *a, const void *b, size_t bytes);
/* The first line in which two results differ: "loss 0x1p+3, not 0x1.8p+3". False: they
 * are the same. */
bool check_differ(const struct text *expected, const struct text *found,
                  char *difference, size_t size);

#endif
