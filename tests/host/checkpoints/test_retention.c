/* SPDX-License-Identifier: MIT */
/* Which checkpoints are there after a save, and which is found again. */
#include "host/checkpoints/saves.h"

static void keeps_the_last_alone(void **state) {
    struct saves *saves = *state;
    saves_expect(saves, "");
    assert_null(checkpoints_last(saves->checkpoints));
    assert_int_equal(saves_newest(saves), -1);
    saves_save(saves, 0, false);
    saves_expect(saves, "0 last=0");
    saves_save(saves, 1407, false);
    saves_expect(saves, "1407 last=1407");
    char *names = saves_names(saves);
    assert_string_equal(names, "last.safetensors step-00001407.safetensors ");
    free(names);
    assert_string_equal(
        checkpoints_last(saves->checkpoints),
        scratch_path(&saves->scratch, "checkpoints/step-00001407.safetensors"));
    assert_int_equal(saves_newest(saves), 1407);
}

static void keeps_so_many(void **state) {
    struct saves *saves = *state;
    checkpoints_keep(saves->checkpoints, 3);
    for (int64_t step = 1; step <= 6; step++) saves_save(saves, step, false);
    saves_expect(saves, "4 5 6 last=6");
    checkpoints_keep(saves->checkpoints, 0);
    for (int64_t step = 7; step <= 9; step++) saves_save(saves, step, false);
    saves_expect(saves, "4 5 6 7 8 9 last=9");
}

static void counts_the_best(void **state) {
    struct saves *saves = *state;
    checkpoints_keep(saves->checkpoints, 2);
    for (int64_t step = 1; step <= 6; step++) saves_save(saves, step, step == 2);
    saves_expect(saves, "2 6 best=2 last=6");
    saves_save(saves, 7, true);
    saves_expect(saves, "6 7 best=7 last=7");
    checkpoints_keep(saves->checkpoints, 1);
    saves_save(saves, 8, false);
    saves_expect(saves, "7 8 best=7 last=8");
    saves_save(saves, 9, true);
    saves_expect(saves, "9 best=9 last=9");
}

/* A process knows what those before it wrote, and what was best. */
static void goes_on_counting_in_the_next_process(void **state) {
    struct saves *saves = *state;
    for (int64_t process = 0; process < 4; process++) {
        saves_open(saves, "one");
        checkpoints_keep(saves->checkpoints, 2);
        if (process) {
            char path[64];
            snprintf(path, sizeof path, "checkpoints/step-%08d.safetensors",
                     (int)process * 10);
            checkpoints_resumed(saves->checkpoints,
                                scratch_path(&saves->scratch, path));
            assert_string_equal(checkpoints_last(saves->checkpoints),
                                saves->scratch.path);
        }
        for (int64_t i = 1; i <= 10; i++)
            saves_save(saves, process * 10 + i, process * 10 + i == 5);
    }
    saves_expect(saves, "5 40 best=5 last=40");
}

static void replaces_the_same_step(void **state) {
    struct saves *saves = *state;
    saves_save(saves, 5, true);
    saves_save(saves, 5, false);
    saves_expect(saves, "5 best=5 last=5");
    assert_int_equal(saves_newest(saves), 5);
}

/* The newest was bad, so the run went on from the one before: what it then writes is
 * newer, whatever the numbers say. */
static void gives_up_a_past(void **state) {
    struct saves *saves = *state;
    checkpoints_keep(saves->checkpoints, 3);
    for (int64_t step = 10; step <= 40; step += 10) saves_save(saves, step, false);
    saves_open(saves, "one");
    checkpoints_keep(saves->checkpoints, 2);
    saves_save(saves, 25, false);
    saves_expect(saves, "20 25 last=25");
}

static void leaves_what_is_not_its_own(void **state) {
    struct saves *saves = *state;
    saves_open(saves, "another run");
    saves_save(saves, 3, false);
    saves_open(saves, "one");
    scratch_run(&saves->scratch,
                "cd checkpoints && touch mine.safetensors step-4.safetensors .hidden "
                "step-00000004.safetensors.bak && mkdir step-00000001.safetensors && "
                "echo x >step-00000002.safetensors && ln -s mine.safetensors "
                "step-00000900.safetensors && mkdir .x.safetensors.tmp");
    for (int64_t step = 5; step <= 8; step++) saves_save(saves, step, false);
    char *names = saves_names(saves);
    assert_string_equal(names, ".hidden .x.safetensors.tmp last.safetensors "
                               "mine.safetensors step-00000001.safetensors "
                               "step-00000002.safetensors step-00000003.safetensors "
                               "step-00000004.safetensors.bak "
                               "step-00000008.safetensors step-00000900.safetensors "
                               "step-4.safetensors ");
    free(names);
    assert_int_equal(saves_newest(saves), 8);
}

/* A run that began from another's checkpoint. */
static void leaves_the_run_that_it_began_from(void **state) {
    struct saves *saves = *state, *other = NULL;
    saves_init((void **)&other);
    saves_open(other, "the other");
    saves_save(other, 7, false);
    checkpoints_resumed(saves->checkpoints, checkpoints_last(other->checkpoints));
    for (int64_t step = 8; step <= 10; step++) saves_save(saves, step, false);
    saves_expect(saves, "10 last=10");
    saves_expect(other, "7 last=7");
    assert_int_equal(saves_newest(other), 7);
    saves_finish((void **)&other);
}

static void removes_what_a_killed_process_left(void **state) {
    struct saves *saves = *state;
    saves_save(saves, 1, true);
    scratch_run(&saves->scratch,
                "cd checkpoints && echo x >.step-00000002.safetensors.tmp && "
                "ln -s gone .last.safetensors.tmp && ln -s gone .best.safetensors.tmp");
    assert_int_equal(saves_newest(saves), 1);
    saves_save(saves, 2, true);
    saves_expect(saves, "2 best=2 last=2");
}

static void names_what_is_not_whole(void **state) {
    struct saves *saves = *state;
    checkpoints_keep(saves->checkpoints, 0);
    for (int64_t step = 10; step <= 40; step += 10) saves_save(saves, step, false);
    scratch_run(&saves->scratch,
                "cd checkpoints && truncate -s 3000 step-00000040.safetensors && "
                "printf x | dd of=step-00000030.safetensors bs=1 seek=2000 "
                "conv=notrunc status=none");
    assert_int_equal(saves_newest(saves), 20);
    assert_true(saves_was_told(
        saves, "warning: checkpoints/step-00000040.safetensors is not whole (the file "
               "is cut short: "));
    assert_true(saves_was_told(saves, "step-00000030.safetensors is not whole (its "
                                      "content was changed: "));
    assert_true(saves_was_told(saves, "); using the one before\n"));
    scratch_run(&saves->scratch, "rm checkpoints/step-000000[12]0.safetensors");
    assert_int_equal(saves_newest(saves), -1);
    assert_true(saves_was_told(saves, "); there is none before it\n"));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, saves_init, saves_finish)
    const struct CMUnitTest tests[] = {
        TEST(keeps_the_last_alone),
        TEST(keeps_so_many),
        TEST(counts_the_best),
        TEST(goes_on_counting_in_the_next_process),
        TEST(replaces_the_same_step),
        TEST(gives_up_a_past),
        TEST(leaves_what_is_not_its_own),
        TEST(leaves_the_run_that_it_began_from),
        TEST(removes_what_a_killed_process_left),
        TEST(names_what_is_not_whole),
    };
    return cmocka_run_group_tests_name("which checkpoints are kept", tests, NULL, NULL);
}
