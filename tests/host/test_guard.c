/* SPDX-License-Identifier: MIT */
/* What a plugin changes in the process is put back and told; what others do meanwhile
 * is not laid at its door. */
#include "support/test.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard.h"

struct watched {
    struct guard guard;
    struct log log;
    char lines[1024];
};

static void take_line(void *context, int32_t level, const char *text) {
    struct watched *watched = context;
    const size_t used = strlen(watched->lines);
    (void)level;
    snprintf(watched->lines + used, sizeof watched->lines - used, "%s\n", text);
}

static void begin(struct watched *watched) {
    *watched =
        (struct watched){.log = {.write = take_line, .context = watched}, .lines = ""};
    guard_begin(&watched->guard);
}

static void end(struct watched *watched, const char *lines) {
    guard_end(&watched->guard, &watched->log, "it");
    assert_string_equal(watched->lines, lines);
}

static void *wait_for_end(void *end_of_it) {
    sem_wait(end_of_it);
    return NULL;
}

struct other {
    sem_t go, is_done, end;
    pthread_t started;
};

static void *start_one(void *context) {
    struct other *other = context;
    sem_wait(&other->go);
    if (pthread_create(&other->started, NULL, wait_for_end, &other->end)) return NULL;
    sem_post(&other->is_done);
    pthread_join(other->started, NULL);
    return NULL;
}

static void threads_are_counted_for_who_starts_them(void **state) {
    (void)state;
    struct watched watched;
    struct other other;
    pthread_t thread, another;
    sem_t end_of_it;
    char name[2][16];
    sem_init(&end_of_it, 0, 0);
    sem_init(&other.go, 0, 0);
    sem_init(&other.is_done, 0, 0);
    sem_init(&other.end, 0, 0);
    assert_int_equal(pthread_create(&another, NULL, start_one, &other), 0);
    pthread_getname_np(pthread_self(), name[0], sizeof name[0]);

    begin(&watched);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_end, &end_of_it), 0);
    end(&watched, "it started 1 threads of its own: they compete with the host's\n");
    begin(&watched);
    sem_post(&other.go);
    sem_wait(&other.is_done);
    end(&watched, "");

    pthread_getname_np(pthread_self(), name[1], sizeof name[1]);
    assert_string_equal(name[0], name[1]);
    sem_post(&end_of_it);
    sem_post(&other.end);
    pthread_join(thread, NULL);
    pthread_join(another, NULL);
}

static void the_file_mode_mask_is_put_back_and_never_touched(void **state) {
    (void)state;
    struct watched watched;
    const mode_t before = umask(026);
    begin(&watched);
    end(&watched, "");
    begin(&watched);
    umask(0);
    end(&watched, "it changed the file mode mask (umask); it was put back\n");
    assert_int_equal(umask(before), 026);
}

static void the_working_directory_is_put_back(void **state) {
    (void)state;
    struct watched watched;
    char path[2][512];
    assert_non_null(getcwd(path[0], sizeof path[0]));
    begin(&watched);
    assert_int_equal(chdir("/"), 0);
    end(&watched, "it changed the working directory; it was put back\n");
    assert_non_null(getcwd(path[1], sizeof path[1]));
    assert_string_equal(path[0], path[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_are_counted_for_who_starts_them),
        cmocka_unit_test(the_file_mode_mask_is_put_back_and_never_touched),
        cmocka_unit_test(the_working_directory_is_put_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
