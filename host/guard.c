/* SPDX-License-Identifier: MIT */
#include "guard.h"

#include <dirent.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define CONTROL_BITS 0xFFC0u /* without the sticky exception flags */
#define UNKNOWN_MASK ((mode_t)-1)

static uint32_t read_control(void) {
#if defined(__SSE2__)
    return _mm_getcsr() & CONTROL_BITS;
#else
    return 0;
#endif
}

/* umask() tells the mask only by changing it, under the hands of other threads. */
static mode_t read_umask(void) {
    static const char key[] = "\nUmask:";
    char text[1024];
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    text[length < 0 ? 0 : length] = 0;
    const char *found = strstr(text, key);
    return found ? (mode_t)strtoul(found + sizeof key - 1, NULL, 8) : UNKNOWN_MASK;
}

static void read_directory(char *directory, size_t size) {
    if (!getcwd(directory, size)) directory[0] = 0;
}

static void read_locale(char *name, size_t size) {
    const char *now = setlocale(LC_ALL, NULL);
    snprintf(name, size, "%s", now ? now : "");
}

/* 0 when it cannot be told. */
static int count_threads(void) {
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;
    for (const struct dirent *task; tasks && (task = readdir(tasks));)
        count += task->d_name[0] != '.';
    if (tasks) closedir(tasks);
    return count;
}

void guard_threads_begin(struct guard_threads *threads) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const uint32_t unique = (uint32_t)now.tv_nsec ^ (uint32_t)gettid() << 12;
    threads->count = count_threads();
    snprintf(threads->mark, sizeof threads->mark, "lathe-%08x", unique);
    if (pthread_getname_np(pthread_self(), threads->name, sizeof threads->name))
        threads->name[0] = 0;
    if (threads->name[0]) pthread_setname_np(pthread_self(), threads->mark);
}

static bool is_named(const char *task, const char *name) {
    char path[64], found[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%.20s/comm", task);
    FILE *file = fopen(path, "re");
    if (file && !fgets(found, sizeof found, file)) found[0] = 0;
    if (file) fclose(file);
    found[strcspn(found, "\n")] = 0;
    return !strcmp(found, name);
}

int guard_threads_end(const struct guard_threads *threads) {
    int count = 0;
    if (threads->name[0]) pthread_setname_np(pthread_self(), threads->name);
    if (count_threads() <= threads->count) return 0;
    DIR *tasks = opendir("/proc/self/task");
    for (const struct dirent *task; tasks && (task = readdir(tasks));)
        count += task->d_name[0] != '.' && is_named(task->d_name, threads->mark);
    if (tasks) closedir(tasks);
    return count;
}

void guard_begin(struct guard *guard) {
    fegetenv(&guard->arithmetic);
    guard->control = read_control();
    pthread_sigmask(SIG_SETMASK, NULL, &guard->mask);
    for (int s = 1; s < GUARD_SIGNALS; s++) sigaction(s, NULL, &guard->actions[s]);
    read_locale(guard->locale, sizeof guard->locale);
    read_directory(guard->directory, sizeof guard->directory);
    guard->umask = read_umask();
    guard_threads_begin(&guard->threads);
}

static int warn(struct log *log, const char *who, const char *what) {
    log_line(log, LATHE_LOG_WARNING, "%s changed %s; it was put back", who, what);
    return 1;
}

static int check_signals(const struct guard *guard, struct log *log, const char *who) {
    int changed = 0;
    for (int s = 1; s < GUARD_SIGNALS; s++) {
        struct sigaction now;
        const struct sigaction *before = &guard->actions[s];
        if (sigaction(s, NULL, &now)) continue;
        if (now.sa_handler == before->sa_handler &&
            now.sa_sigaction == before->sa_sigaction &&
            now.sa_flags == before->sa_flags)
            continue;
        sigaction(s, before, NULL);
        char what[64];
        snprintf(what, sizeof what, "what signal %d (%s) does", s, sigabbrev_np(s));
        changed += warn(log, who, what);
    }
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    for (int s = 1; s < GUARD_SIGNALS; s++)
        if (sigismember(&mask, s) != sigismember(&guard->mask, s)) {
            pthread_sigmask(SIG_SETMASK, &guard->mask, NULL);
            return changed + warn(log, who, "which signals are blocked");
        }
    return changed;
}

int guard_end(const struct guard *guard, struct log *log, const char *who) {
    int changed = check_signals(guard, log, who);
    if (read_control() != guard->control || fegetround() != FE_TONEAREST) {
        fesetenv(&guard->arithmetic);
        changed += warn(log, who, "the floating-point environment (-ffast-math does)");
    }
    char name[sizeof guard->locale], directory[sizeof guard->directory];
    read_locale(name, sizeof name);
    if (strcmp(name, guard->locale)) {
        setlocale(LC_ALL, guard->locale);
        changed += warn(log, who, "the locale");
    }
    read_directory(directory, sizeof directory);
    if (guard->directory[0] && strcmp(directory, guard->directory) &&
        !chdir(guard->directory))
        changed += warn(log, who, "the working directory");
    const mode_t now = read_umask();
    if (now != guard->umask && now != UNKNOWN_MASK && guard->umask != UNKNOWN_MASK) {
        umask(guard->umask);
        changed += warn(log, who, "the file mode mask (umask)");
    }
    int more = guard_threads_end(&guard->threads);
    if (more > 0)
        log_line(log, LATHE_LOG_WARNING,
                 "%s started %d threads of its own: they compete with the host's", who,
                 more);
    return changed;
}
