/* SPDX-License-Identifier: MIT */
/* Instances beside one another, and the same work done again elsewhere. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "check/pace.h"
#include "check/process.h"
#include "check/tests.h"

#define BETWEEN 16 /* times that another one comes, or somewhat more */

/* ---- two at once ---- */

/* Another instance comes, works on something else and goes. */
static void disturb(struct fixture *fixture) {
    struct text lines = {0};
    if (!pace_next(fixture->context)) return;
    fixture_work_once(fixture->check, NULL, 1, &lines);
    text_finish(&lines);
}

static bool between(struct pace *pace, const struct text *alone) {
    struct check *check = pace->check;
    struct fixture fixture;
    struct text lines = {0};
    char difference[300];
    if (!fixture_open(&fixture, check, NULL, NULL)) return false;
    fixture.meanwhile = disturb;
    fixture.context = pace;
    bool is_well = fixture_work_of(check->subject->manifest->kind)(&fixture, &lines);
    if (is_well && check_differ(alone, &lines, difference, sizeof difference))
        is_well =
            check_fail(check,
                       "another instance at work in between changes what one does: "
                       "%s; is there a variable that is static and not const?",
                       difference);
    text_finish(&lines);
    fixture_close(&fixture);
    return is_well;
}

struct worker {
    struct check *check;
    const struct text *alone;
    pthread_barrier_t *barrier;
    int variation, rounds;
    bool is_well;
    char difference[300];
};

static void *work_on_a_thread(void *context) {
    struct worker *worker = context;
    struct fixture fixture;
    struct text lines = {0};
    process_keep_to(worker->variation);
    worker->is_well = fixture_open(&fixture, worker->check, NULL, NULL);
    pthread_barrier_wait(worker->barrier);
    if (!worker->is_well) return NULL;
    fixture.variation = worker->variation;
    for (int round = 0; worker->is_well && round < worker->rounds; round++) {
        text_clear(&lines);
        worker->is_well =
            fixture_work_of(worker->check->subject->manifest->kind)(&fixture, &lines);
        if (worker->is_well && check_differ(worker->alone, &lines, worker->difference,
                                            sizeof worker->difference))
            break;
    }
    text_finish(&lines);
    fixture_close(&fixture);
    return NULL;
}

static bool in_threads(struct check *check, const struct text *first,
                       const struct text *second, double seconds) {
    const bool is_run = check->subject->manifest->kind == LATHE_KIND_CALLBACK;
    const int rounds = (int)pace_times(check, "run", seconds, is_run ? 5 : 25);
    pthread_barrier_t barrier;
    pthread_t threads[2];
    struct worker workers[2];
    int count = 0;
    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 0; i < 2; i++)
        workers[i] = (struct worker){.check = check,
                                     .alone = i ? second : first,
                                     .barrier = &barrier,
                                     .variation = i,
                                     .rounds = rounds};
    while (count < 2 &&
           !pthread_create(&threads[count], NULL, work_on_a_thread, &workers[count]))
        count++;
    if (count < 2) return check_skip(check, "no threads to be had");
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    for (int i = 0; i < 2; i++)
        if (workers[i].difference[0])
            check_fail(check, "two instances in two threads disturb each other: %s",
                       workers[i].difference);
    return !check_is_failed(check);
}

void test_instances(struct check *check) {
    struct text first = {0}, second = {0};
    struct pace pace = {check, "run", 3 + BETWEEN, 0, 0};
    const double began = clock_seconds();
    bool is_well = pace_next(&pace) && fixture_work_once(check, NULL, 0, &first);
    const double seconds = clock_seconds() - began;
    is_well = is_well && pace_next(&pace) && fixture_work_once(check, NULL, 1, &second);
    if (is_well && pace_next(&pace) && between(&pace, &first))
        in_threads(check, &first, &second, seconds);
    text_finish(&first);
    text_finish(&second);
}

/* ---- the same again ---- */

/* Another heap, other addresses of libraries, another time, other random numbers. */
static void shift_the_world(void) {
    for (int i = 0; i < 64; i++) {
        const size_t size = 7919 * (size_t)i + 13;
        char *junk = malloc(size);
        if (junk) memset(junk, 0xC3, size);
        if (i % 2) free(junk);
    }
    if (mmap(NULL, (size_t)37 << 12, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
        MAP_FAILED)
        return;
    srand(12345);
    srandom(54321);
    nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
}

/* Works in a process of its own, which writes the lines into a file in memory. */
static bool work_elsewhere(struct check *check, bool is_shifted, int fd) {
    int status = 0;
    const pid_t child = fork();
    if (child < 0) return check_fail(check, "no process to be had");
    if (child == 0) {
        struct text lines = {0};
        if (is_shifted) shift_the_world();
        const bool is_well = fixture_work_once(check, NULL, 0, &lines);
        const bool is_written = write(fd, lines.data ? lines.data : "", lines.length) ==
                                (ssize_t)lines.length;
        _exit(is_well && is_written ? 0 : 1);
    }
    if (waitpid(child, &status, 0) == child && WIFEXITED(status) &&
        !WEXITSTATUS(status))
        return true;
    return check_fail(check, "it does not come to its end in another process");
}

static bool read_lines(int fd, struct text *lines) {
    char bytes[4096];
    ssize_t got;
    lseek(fd, 0, SEEK_SET);
    while ((got = read(fd, bytes, sizeof bytes)) > 0)
        text_add_bytes(lines, bytes, (size_t)got);
    close(fd);
    return got == 0;
}

void test_determinism(struct check *check) {
    struct text lines[3] = {{0}};
    struct pace pace = {check, "run", 4, 0, 0};
    char difference[300];
    bool is_well = true;
    for (int i = 0; is_well && i < 2; i++) {
        const int fd = memfd_create("lathe-check", MFD_CLOEXEC);
        is_well = fd >= 0 && pace_next(&pace) && work_elsewhere(check, i == 1, fd) &&
                  read_lines(fd, &lines[i]);
    }
    is_well =
        is_well && pace_next(&pace) && fixture_work_once(check, NULL, 0, &lines[2]);
    if (is_well) text_clear(&lines[2]);
    is_well =
        is_well && pace_next(&pace) && fixture_work_once(check, NULL, 0, &lines[2]);
    for (int i = 1; is_well && i < 3; i++)
        if (check_differ(&lines[0], &lines[i], difference, sizeof difference))
            is_well = check_fail(check,
                                 "with the same options and seed, %s it does "
                                 "something else: %s",
                                 i == 1 ? "in another process" : "the second time",
                                 difference);
    for (int i = 0; i < 3; i++) text_finish(&lines[i]);
}
