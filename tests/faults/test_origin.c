/* SPDX-License-Identifier: MIT */
/* labels: no-tsan no-valgrind */
/* A checkpoint that is not one to go on from, by every way in which it can be so: it is
 * refused before anything changes, and when it is put right the run ends in the same
 * bits. */
#include "support/scratch.h"
#include "support/test.h"

#include <fcntl.h>

#include "base/digest.h"
#include "faults/whole.h"

static const char *const notes[] = {"format",           "lathe",         "lathe.run",
                                    "lathe.experiment", "lathe.plugins", "lathe.loop"};
#define NOTES (sizeof notes / sizeof *notes)

/* What becomes of a checkpoint: a piece of a note is replaced, or the bytes of a state,
 * of which its digest tells unless it is replaced too. */
struct forgery {
    const char *note, *from, *to;
    const char *state;
    int bytes;           /* that are left of it; -1: all, and each is changed */
    bool is_signed;      /* with a digest that fits */
    lathe_status status; /* of the run that would go on */
    const char *what, *where;
};

static char *replace(const char *text, const char *from, const char *to) {
    const char *at = strstr(text, from);
    if (!at) fail_msg("no %s in %s", from, text);
    return text_make("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

/* The digest of a state in lathe.plugins. */
static char *sign(char *list, const void *before, int64_t before_bytes,
                  const void *after, int64_t after_bytes) {
    char old[DIGEST_HEX], now[DIGEST_HEX];
    digest_bytes(before, (size_t)before_bytes, old);
    digest_bytes(after, (size_t)after_bytes, now);
    char *text = replace(list, old, now);
    free(list);
    return text;
}

static void forge(const char *path, const struct forgery *forgery) {
    struct safetensors *file = NULL;
    struct safetensor tensors[64];
    struct safetensors_note pairs[NOTES];
    struct error err;
    size_t count = 0;
    if (safetensors_open_whole(path, &file, &err)) fail_msg("%s", err.what);
    for (size_t i = 0; i < NOTES; i++) {
        const char *value = safetensors_note(file, notes[i]);
        const bool is_it = forgery->note && !strcmp(forgery->note, notes[i]);
        pairs[i] = (struct safetensors_note){
            notes[i],
            is_it ? replace(value, forgery->from, forgery->to) : text_copy(value)};
    }
    for (; count < safetensors_count(file); count++) {
        struct safetensor *to = &tensors[count];
        *to = *safetensors_at(file, count);
        unsigned char *bytes = malloc((size_t)to->bytes + 1), before[4096];
        assert_int_equal(safetensors_read(file, to, bytes, &err), LATHE_OK);
        to->data = bytes;
        if (!forgery->state || strcmp(forgery->state, to->name) != 0) continue;
        memcpy(before, bytes, (size_t)to->bytes);
        const int64_t had = to->bytes;
        if (forgery->bytes >= 0) to->bytes = to->shape[0] = forgery->bytes;
        for (int64_t k = 0; forgery->bytes < 0 && k < had; k++)
            bytes[k] = (unsigned char)(bytes[k] * 7 + 13);
        if (forgery->is_signed)
            pairs[4].value =
                sign((char *)(uintptr_t)pairs[4].value, before, had, bytes, to->bytes);
    }
    char *other = text_make("%s.other", path);
    const int fd = open(other, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (safetensors_write(fd, tensors, count, pairs, NOTES, &err))
        fail_msg("%s", err.what);
    close(fd);
    for (size_t i = 0; i < count; i++) free((void *)(uintptr_t)tensors[i].data);
    for (size_t i = 0; i < NOTES; i++) free((void *)(uintptr_t)pairs[i].value);
    safetensors_close(file);
    assert_int_equal(rename(other, path), 0);
    free(other);
}

static const struct forgery forgeries[] = {
    {"lathe", "1 ", "2 ", NULL, 0, false, LATHE_EDATA,
     "saved by another lathe: format 2 ", "step-"},
    {"lathe", "ABI 1.", "ABI 2.", NULL, 0, false, LATHE_EDATA, "plugin ABI 2.",
     "step-"},
    {"lathe.run", "", "0", NULL, 0, false, LATHE_EDATA, "of another run", "step-"},
    {"lathe.loop", "\"epoch\"", "\"epoche\"", NULL, 0, false, LATHE_EDATA,
     "its lathe.loop is not one of this run", "step-"},
    {"lathe.loop", "\"train\":26", "\"train\":27", NULL, 0, false, LATHE_EDATA,
     "data.train had 27 samples when this was saved, and has 26", "step-"},
    {"lathe.loop", "\"validation\":7", "\"validation\":9", NULL, 0, false, LATHE_EDATA,
     "data.validation had 9 samples", "step-"},
    {"lathe.plugins", "\"name\":\"ids\",\"version\":\"1.0.0\"",
     "\"name\":\"ids\",\"version\":\"0.9\"", NULL, 0, false, LATHE_EINVAL,
     "version of dataset ids: \"0.9\" -> \"1.0.0\"", "step-"},
    {"lathe.plugins", "\"name\":\"scalar\",\"version\":\"1.0.0\"",
     "\"name\":\"scalar\",\"version\":\"2\"", NULL, 0, false, LATHE_EINVAL,
     "version of model scalar: \"2\" -> \"1.0.0\"", "step-"},
    {"lathe.plugins", "\"name\":\"ledger\",\"version\":\"1.0.0\"",
     "\"name\":\"ledger\",\"version\":\"2\"", NULL, 0, false, LATHE_EINVAL,
     "version of callback ledger", "step-"},
    {NULL, NULL, NULL, "lathe/state/callback/ledger", 7, false, LATHE_EDATA,
     "the state of callbacks[4] ledger (ledger.so 1.0.0) has 7 bytes, which are not "
     "the "
     "16 that it saved",
     "step-"},
    {NULL, NULL, NULL, "lathe/state/callback/ledger", -1, false, LATHE_EDATA,
     "the state of callbacks[4] ledger", "step-"},
    {NULL, NULL, NULL, "lathe/state/callback/ledger", 0, true, LATHE_EDATA,
     "this is not a state of ledger", "callbacks[4] ledger (ledger.so 1.0.0) in load"},
    {NULL, NULL, NULL, "lathe/state/callback/ledger", 7, true, LATHE_EDATA,
     "this is not a state of ledger", "callbacks[4] ledger (ledger.so 1.0.0) in load"},
    {NULL, NULL, NULL, "lathe/state/callback/ledger", -1, true, LATHE_EDATA,
     "this is not a state of ledger", "callbacks[4] ledger (ledger.so 1.0.0) in load"},
    {NULL, NULL, NULL, "lathe/state/callback/early-stopping", -1, true, LATHE_EDATA, "",
     "early-stopping (early-stopping.so 1.0.0) in load"},
    {NULL, NULL, NULL, "lathe/state/callback/early-stopping", 3, true, LATHE_EDATA, "",
     "early-stopping (early-stopping.so 1.0.0) in load"},
    {NULL, NULL, NULL, "lathe/state/callback/checkpoint", -1, true, LATHE_EDATA, "",
     "checkpoint (checkpoint.so 1.0.0) in load"},
    {NULL, NULL, NULL, "lathe/state/callback/checkpoint", 0, true, LATHE_EDATA, "",
     "checkpoint (checkpoint.so 1.0.0) in load"},
    {NULL, NULL, NULL, "lathe/state/schedule/plateau", -1, true, LATHE_EDATA, "",
     "plateau (plateau.so 1.0.0) in load"},
    {NULL, NULL, NULL, "lathe/state/schedule/plateau", 5, true, LATHE_EDATA, "",
     "plateau (plateau.so 1.0.0) in load"},
};

/* A run that stopped after step 5, in "stopped". */
static void stop_in_the_middle(struct whole *whole) {
    static const char *const stopping[] = {"callbacks.chaos.act=request-stop",
                                           "callbacks.chaos.at=5", NULL};
    const char *path = scratch_path(&whole->scratch, "stopped");
    struct outcome outcome = turn(whole_experiment, path, 1, stopping);
    assert_int_equal(outcome.status, LATHE_OK);
    assert_int_equal(outcome.step, 5);
    finish(&outcome);
}

static void try_forgery(struct whole *whole, const struct forgery *forgery) {
    char path[400];
    scratch_run(&whole->scratch, "cp -a stopped run");
    snprintf(path, sizeof path, "%s/checkpoints/step-00000005.safetensors", whole->run);
    forge(path, forgery);
    struct outcome found = turn(NULL, whole->run, 1, whole_calm);
    if (found.status != forgery->status || !strstr(found.error.what, forgery->what) ||
        !strstr(found.error.where, forgery->where))
        fail_msg("%s%s: %d, %s; %s", forgery->note ? forgery->note : forgery->state,
                 forgery->to ? forgery->to : "", found.status, found.error.what,
                 found.error.where);
    finish(&found);
    scratch_run(&whole->scratch, "cmp stopped/metrics.jsonl run/metrics.jsonl && "
                                 "cp stopped/checkpoints/step-* run/checkpoints/");
    whole_go_on(whole, 2, whole_calm, forgery->what);
}

static void what_is_not_of_this_run_is_refused(void **state) {
    struct whole whole;
    (void)state;
    whole_begin(&whole);
    stop_in_the_middle(&whole);
    for (size_t i = 0; i < sizeof forgeries / sizeof *forgeries; i++)
        try_forgery(&whole, &forgeries[i]);
    whole_end(&whole);
}

/* Without forging anything: what was changed says so itself. */
static void allowed_changes_are_made(void **state) {
    const struct forgery grown = {
        .note = "lathe.loop", .from = "\"train\":26", .to = "\"train\":27"};
    const struct forgery older = {.note = "lathe.plugins",
                                  .from = "\"name\":\"scalar\",\"version\":\"1.0.0\"",
                                  .to = "\"name\":\"scalar\",\"version\":\"2\""};
    const struct forgery *const both[] = {&grown, &older};
    struct whole whole;
    char path[400];
    (void)state;
    whole_begin(&whole);
    stop_in_the_middle(&whole);
    turns_flags = LATHE_ALLOW_CHANGE;
    for (int i = 0; i < 2; i++) {
        scratch_run(&whole.scratch, "cp -a stopped run");
        snprintf(path, sizeof path, "%s/checkpoints/step-00000005.safetensors",
                 whole.run);
        forge(path, both[i]);
        whole_go_on(&whole, 1, whole_calm, both[i]->to);
    }
    turns_flags = 0;
    whole_end(&whole);
}

/* The same id, and another plugin: what the one saved is not the other's. */
static void state_is_of_who_saved_it(void **state) {
    static const char *const other[] = {
        "callbacks=[{\"use\": \"early-stopping\", \"id\": \"ledger\"}]", NULL};
    struct whole whole;
    (void)state;
    whole_begin(&whole);
    stop_in_the_middle(&whole);
    scratch_run(&whole.scratch, "cp -a stopped run");
    struct outcome found = turn(NULL, whole.run, 1, other);
    if (found.status != LATHE_OK)
        fail_msg("%s; %s", found.error.what, found.error.where);
    finish(&found);
    whole_end(&whole);
}

/* Records may not be missing; times may. */
static void files_that_were_cut(void **state) {
    struct whole whole;
    (void)state;
    whole_begin(&whole);
    stop_in_the_middle(&whole);
    scratch_run(&whole.scratch, "cp -a stopped run && truncate -s 10 run/timing.jsonl");
    whole_go_on(&whole, 1, whole_calm, "timing.jsonl");
    scratch_run(&whole.scratch,
                "cp -a stopped run && truncate -s 10 run/metrics.jsonl");
    struct outcome found = turn(NULL, whole.run, 1, whole_calm);
    assert_int_equal(found.status, LATHE_EDATA);
    assert_non_null(strstr(found.error.what, "metrics.jsonl has 10 bytes, and had "));
    finish(&found);
    whole_end(&whole);
}

/* Ten rows, then eleven. */
static void data_that_has_grown_is_refused(void **state) {
    static const char *const few[] = {"train.until=3step", NULL};
    static const char *const more[] = {"train.until=6step", NULL};
    struct scratch scratch;
    char experiment[1024];
    (void)state;
    scratch_init_fast(&scratch);
    scratch_run(&scratch, "seq 10 | sed 's/.*/&,&/' >rows.csv");
    snprintf(experiment, sizeof experiment,
             "{ \"lathe\": 1, \"seed\": 1, \"data\": { \"train\": { \"use\": \"csv\","
             " \"file\": \"%s/rows.csv\", \"header\": \"none\", \"label\": 1 } },"
             " \"model\": { \"use\": \"linear\" },"
             " \"optimizer\": { \"use\": \"sgd\", \"lr\": 0.001 },"
             " \"train\": { \"until\": \"6step\", \"batch\": 4 } }",
             scratch.directory);
    struct outcome expected =
        turn(experiment, scratch_path(&scratch, "whole"), 1, NULL);
    if (expected.status) fail_msg("%s; %s", expected.error.what, expected.error.where);
    const char *run = scratch_path(&scratch, "run");
    struct outcome found = turn(experiment, run, 1, few);
    assert_int_equal(found.status, LATHE_OK);
    finish(&found);
    scratch_run(&scratch, "echo 11,11 >>rows.csv");
    found = turn(NULL, run = scratch_path(&scratch, "run"), 1, more);
    assert_int_equal(found.status, LATHE_EDATA);
    assert_string_equal(found.error.what, "data.train had 10 samples when this was "
                                          "saved, and has 11");
    assert_non_null(strstr(found.error.help, "--allow-change"));
    finish(&found);
    scratch_run(&scratch, "sed -i '$d' rows.csv");
    found = turn(NULL, run = scratch_path(&scratch, "run"), 1, more);
    assert_same(&expected, &found, "the data as it was");
    finish(&found);
    finish(&expected);
    scratch_finish(&scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_of_this_run_is_refused),
        cmocka_unit_test(allowed_changes_are_made),
        cmocka_unit_test(state_is_of_who_saved_it),
        cmocka_unit_test(files_that_were_cut),
        cmocka_unit_test(data_that_has_grown_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
