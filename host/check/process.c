/* SPDX-License-Identifier: MIT */
/* The process as it was found: what the host's guard sees, and the environment, the
 * descriptors and the threads of BLAS besides. */
#include "check/process.h"

#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check/tests.h"
#include "guard.h"

static int count_entries(const char *folder) {
    DIR *entries = opendir(folder);
    int count = 0;
    for (const struct dirent *entry; entries && (entry = readdir(entries));)
        count += entry->d_name[0] != '.';
    if (entries) closedir(entries);
    return count;
}

int process_descriptors(void) {
    return count_entries("/proc/self/fd") - 1; /* the directory itself */
}

int process_threads(void) {
    return count_entries("/proc/self/task");
}

long process_pages(void) {
    char line[64] = "";
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && !fgets(line, sizeof line, file)) line[0] = 0;
    if (file) fclose(file);
    const char *resident = strchr(line, ' ');
    return resident ? strtol(resident, NULL, 10) : 0;
}

double process_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void process_keep_to(int n) {
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed)) return;
    CPU_ZERO(&one);
    n %= CPU_COUNT(&allowed);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && n-- == 0) CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static void copy_environment(struct text *text) {
    for (char **at = environ; at && *at; at++) text_format(text, "%s\n", *at);
}

static void take_line(void *context, int32_t level, const char *line) {
    (void)level;
    text_format(context, "%s\n", line);
}

/* "… changed the locale; it was put back": the first line. */
static void tell_complaint(struct check *check, const struct text *complaints) {
    const char *text = complaints->data;
    const char *what = strstr(text, " changed ");
    const char *start = what ? what + 1 : text;
    size_t length = strcspn(start, ";\n");
    if (!what && strstr(text, " started ")) start = strstr(text, " started ") + 1;
    if (!what) length = strcspn(start, ":\n");
    check_fail(check, "it %.*s", (int)length, start);
}

static const char *const blas_getters[] = {
    "openblas_get_num_threads", "MKL_Get_Max_Threads", "omp_get_max_threads"};

static void check_blas(struct check *check, const struct plugin *plugin) {
    if (!plugin->library || !plugin->library->dylib) return;
    for (size_t i = 0; i < sizeof blas_getters / sizeof *blas_getters; i++) {
        void (*getter)(void) = dylib_function(plugin->library->dylib, blas_getters[i]);
        const int threads = getter ? ((int (*)(void))getter)() : 1;
        if (threads > 1)
            check_fail(check, "it set the threads of BLAS to %d (%s)", threads,
                       blas_getters[i]);
    }
}

static void work_within(struct fixture *fixture) {
    struct plugin plugin;
    struct text lines = {0};
    if (fixture_create(fixture, &plugin, NULL)) {
        fixture_work_of(fixture->check->subject->manifest->kind)(fixture, &lines);
        check_blas(fixture->check, &plugin);
    }
    fixture_destroy(fixture, &plugin);
    text_finish(&lines);
}

static void compare(struct check *check, const struct text *environment,
                    int descriptors, int threads) {
    struct text now = {0};
    char difference[300];
    copy_environment(&now);
    if (check_differ(environment, &now, difference, sizeof difference))
        check_fail(check, "it changed the environment: %s", difference);
    if (process_descriptors() < descriptors)
        check_fail(check, "it closed %d descriptors that were not its own",
                   descriptors - process_descriptors());
    if (process_descriptors() > descriptors)
        check_fail(check, "it left %d descriptors open",
                   process_descriptors() - descriptors);
    if (process_threads() > threads)
        check_fail(check, "it left %d threads", process_threads() - threads);
    text_finish(&now);
}

void test_process(struct check *check) {
    struct text environment = {0}, complaints = {0};
    struct guard guard;
    struct fixture fixture;
    struct log log = {.write = take_line, .context = &complaints};
    copy_environment(&environment);
    const int descriptors = process_descriptors(), threads = process_threads();
    guard_begin(&guard);
    if (fixture_open(&fixture, check, NULL, NULL)) {
        work_within(&fixture);
        if (fixture.complaints.length) tell_complaint(check, &fixture.complaints);
        fixture_close(&fixture);
    }
    guard_end(&guard, &log, "it");
    if (complaints.length) tell_complaint(check, &complaints);
    compare(check, &environment, descriptors, threads);
    text_finish(&environment);
    text_finish(&complaints);
}
