/* SPDX-License-Identifier: MIT */
/* Many sessions in one process: one after the other, piece by piece in turns, and each
 * on a thread of its own, they end in the same bits; and whatever was open is
 * closed. */
#include "support/scratch.h"
#include "support/test.h"

#include <dirent.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/stat.h>

#include <lathe/session.h>

#include "base/file.h"
#include "base/text.h"
#include "safetensors.h"

#define SESSIONS 20
#define KINDS 5

/* Noise, a short last window, shards, what callbacks keep, stages; and one alone. */
static const char *const experiments[KINDS] = {
    "{'lathe':1,'data':{"
    "'train':{'use':'ids','count':26,'inputs':[1,2,0.5],'noise':0.25},"
    "'validation':{'use':'ids','count':7,'inputs':[1,3]}},"
    "'model':{'use':'scalar','start':2,'square':true},"
    "'optimizer':{'use':'adamw','lr':0.05},"
    "'train':{'until':'4ep','batch':2,'accumulate':3,'shards':2,'threads':2},"
    "'callbacks':[{'use':'ema','decay':0.8},{'use':'early-stopping','patience':2},"
    "{'use':'checkpoint','every':'3step'}]}",
    "{'lathe':1,'data':{'train':{'use':'blobs','samples':50,'features':3},"
    "'validation':{'use':'blobs','samples':20,'features':3}},"
    "'model':{'use':'mlp','hidden':[6]},'optimizer':{'use':'lion','lr':0.01},"
    "'train':{'until':'3ep','batch':8,'shards':3,'threads':2,'clip_norm':1},"
    "'schedule':{'use':'cosine'},'callbacks':[{'use':'csv'},"
    "{'use':'checkpoint','every':'5step','best':'validation/loss'}]}",
    "{'lathe':1,'data':{'train':{'use':'blobs','samples':40,'features':3},"
    "'validation':{'use':'blobs','samples':20,'features':3}},"
    "'model':{'use':'mlp','hidden':[5,4]},"
    "'optimizer':{'use':'sgd','lr':0.1,'momentum':0.9},"
    "'train':{'until':'2ep','batch':4,'accumulate':3},"
    "'callbacks':[{'use':'ema','decay':0.7},{'use':'checkpoint','every':'1ep'}],"
    "'stages':[{'train':{'only':'layers.2.*'}},{'train':{'until':'5step'},"
    "'optimizer':{'keep':true}}]}",
    "{'lathe':1,'data':{'train':{'use':'blobs','samples':30}},"
    "'model':{'use':'linear'},'optimizer':{'use':'rmsprop','lr':0.01},"
    "'train':{'until':'6ep','batch':7,'nonfinite':'skip'}}",
    "{'lathe':1,'data':{'train':{'use':'ids','count':9,'inputs':[1,-1,2]},"
    "'test':{'use':'ids','count':3}},'model':{'use':'scalar','start':8},"
    "'optimizer':{'use':'lamb','lr':0.1},'train':{'until':'10ep','batch':4}}"};

/* What a session leaves. */
struct outcome {
    lathe_status status;
    lathe_error error;
    char *metrics; /* metrics.jsonl */
    char *saved;   /* every tensor of its last checkpoint: name, type, bytes */
    size_t saved_size;
};

struct one {
    lathe_session *session;
    int index, accused; /* plugins that are said to have started threads */
    char directory[320];
    struct outcome outcome;
};

static void take_log(void *context, int32_t level, const char *text) {
    struct one *one = context;
    one->accused += level == LATHE_LOG_WARNING && strstr(text, "threads of its own");
}

/* All that the options point to is gone, and its memory used, when this is back. */
static lathe_status open_one(struct one *one) {
    char shipped[512], seed[32], text[1024], directory[sizeof one->directory];
    snprintf(shipped, sizeof shipped, "%s/plugins", getenv("BUILD"));
    snprintf(seed, sizeof seed, "seed=%d", one->index);
    snprintf(text, sizeof text, "%s", experiments[one->index % KINDS]);
    for (char *c = text; *c; c++)
        if (*c == '\'') *c = '"';
    char probes[512];
    snprintf(probes, sizeof probes, "%s", getenv("PROBES"));
    snprintf(directory, sizeof directory, "%s", one->directory);
    const char *paths[] = {probes, shipped, NULL};
    const char *overrides[] = {seed, NULL};
    const lathe_session_options options = {.size = sizeof options,
                                           .flags = LATHE_QUIET,
                                           .experiment = text,
                                           .overrides = overrides,
                                           .plugin_paths = paths,
                                           .run_directory = directory,
                                           .log = take_log,
                                           .context = one};
    one->outcome = (struct outcome){.error.size = sizeof one->outcome.error};
    one->outcome.status = lathe_open(&options, &one->session, &one->outcome.error);
    explicit_bzero(shipped, sizeof shipped);
    explicit_bzero(probes, sizeof probes);
    explicit_bzero(directory, sizeof directory);
    explicit_bzero(seed, sizeof seed);
    explicit_bzero(text, sizeof text);
    explicit_bzero(paths, sizeof paths);
    explicit_bzero(overrides, sizeof overrides);
    return one->outcome.status;
}

static void keep_tensors(const struct safetensors *file, struct text *all) {
    for (size_t i = 0; i < safetensors_count(file); i++) {
        const struct safetensor *tensor = safetensors_at(file, i);
        char *bytes = malloc((size_t)tensor->bytes + 1);
        text_format(all, "%s %s ", tensor->name, tensor->dtype);
        if (safetensors_read(file, tensor, bytes, NULL) == LATHE_OK)
            text_add_bytes(all, bytes, (size_t)tensor->bytes);
        free(bytes);
    }
}

/* Looks at what there is once the session is closed; no assertion, since it may be on
 * any thread. */
static void close_one(struct one *one) {
    struct outcome *outcome = &one->outcome;
    struct text all = {0};
    struct safetensors *file = NULL;
    if (one->session && outcome->status != LATHE_OK)
        outcome->error = *lathe_last_error(one->session);
    lathe_close(one->session);
    char *metrics = text_make("%s/metrics.jsonl", one->directory);
    char *last = text_make("%s/checkpoints/last.safetensors", one->directory);
    file_read(metrics, 1 << 24, &outcome->metrics, NULL, NULL);
    if (safetensors_open(last, &file, NULL) == LATHE_OK) keep_tensors(file, &all);
    safetensors_close(file);
    outcome->saved = all.data;
    outcome->saved_size = all.length;
    free(metrics);
    free(last);
}

/* ---- piece by piece ---- */

enum piece {
    STAGE,
    EPOCH,
    STEP,
    BATCH,
    FORWARD,
    BACKWARD,
    REDUCE,
    UPDATE,
    VALIDATE,
    EPOCH_END,
    SAVE,
    DONE
};

static lathe_status do_if_due(lathe_session *s, uint32_t what,
                              lathe_status (*act)(lathe_session *)) {
    return lathe_is_due(s, what) ? act(s) : LATHE_OK;
}

/* One call of session.h; which is next. */
static enum piece turn(struct one *one, enum piece piece) {
    static const struct {
        lathe_status (*call)(lathe_session *);
        uint32_t due; /* 0: always */
        enum piece next, after_end;
    } pieces[] = {
        [STAGE] = {lathe_stage_begin, 0, EPOCH, DONE},
        [EPOCH] = {lathe_epoch_begin, 0, STEP, STAGE},
        [STEP] = {lathe_step_begin, 0, BATCH, EPOCH},
        [BATCH] = {lathe_batch_begin, 0, FORWARD, REDUCE},
        [FORWARD] = {lathe_forward, 0, BACKWARD, DONE},
        [BACKWARD] = {lathe_backward, 0, BATCH, DONE},
        [REDUCE] = {lathe_reduce, 0, UPDATE, DONE},
        [UPDATE] = {lathe_update, 0, VALIDATE, DONE},
        [VALIDATE] = {lathe_validate, LATHE_DUE_VALIDATION, EPOCH_END, DONE},
        [EPOCH_END] = {lathe_epoch_end, LATHE_DUE_EPOCH_END, SAVE, DONE},
        [SAVE] = {lathe_save, LATHE_DUE_CHECKPOINT, STEP, DONE},
    };
    lathe_session *s = one->session;
    lathe_status status = pieces[piece].due
                              ? do_if_due(s, pieces[piece].due, pieces[piece].call)
                              : pieces[piece].call(s);
    if (status == LATHE_OK) return pieces[piece].next;
    if (status == LATHE_END && pieces[piece].after_end != DONE)
        return pieces[piece].after_end;
    one->outcome.status = lathe_run_end(s, status);
    return DONE;
}

static void run_in_turns(struct one *all) {
    enum piece next[SESSIONS] = {STAGE};
    for (int i = 0; i < SESSIONS; i++)
        if (open_one(&all[i]) == LATHE_OK)
            all[i].outcome.status = lathe_run_begin(all[i].session);
    for (int busy = 1; busy;) {
        busy = 0;
        for (int i = 0; i < SESSIONS; i++) {
            if (all[i].outcome.status == LATHE_OK && next[i] != DONE)
                next[i] = turn(&all[i], next[i]);
            busy += all[i].outcome.status == LATHE_OK && next[i] != DONE;
        }
    }
    for (int i = SESSIONS - 1; i >= 0; i--) close_one(&all[i]);
}

/* ---- alone, and on threads ---- */

static void *run_alone(void *context) {
    struct one *one = context;
    if (open_one(one) == LATHE_OK) one->outcome.status = lathe_run(one->session);
    close_one(one);
    return NULL;
}

static void run_one_by_one(struct one *all) {
    for (int i = 0; i < SESSIONS; i++) run_alone(&all[i]);
}

static void run_on_threads(struct one *all) {
    pthread_t threads[SESSIONS];
    for (int i = 0; i < SESSIONS; i++)
        if (pthread_create(&threads[i], NULL, run_alone, &all[i]))
            fail_msg("no thread %d", i);
    for (int i = 0; i < SESSIONS; i++) pthread_join(threads[i], NULL);
}

static struct one *run_all(struct scratch *scratch, const char *name,
                           void (*how)(struct one *all)) {
    struct one *all = calloc(SESSIONS, sizeof *all);
    for (int i = 0; i < SESSIONS; i++) {
        all[i].index = i;
        snprintf(all[i].directory, sizeof all[i].directory, "%s/%s-%d",
                 scratch->directory, name, i);
    }
    how(all);
    for (int i = 0; i < SESSIONS; i++)
        if (all[i].outcome.status != LATHE_OK)
            fail_msg("%s, session %d: %s; %s", name, i, all[i].outcome.error.what,
                     all[i].outcome.error.where);
    return all;
}

static void finish(struct one *all) {
    for (int i = 0; i < SESSIONS; i++) {
        free(all[i].outcome.metrics);
        free(all[i].outcome.saved);
    }
    free(all);
}

static bool is_same(const struct outcome *a, const struct outcome *b) {
    return a->metrics && b->metrics && !strcmp(a->metrics, b->metrics) &&
           a->saved_size && a->saved_size == b->saved_size &&
           !memcmp(a->saved, b->saved, a->saved_size);
}

static void assert_same(const struct one *expected, const struct one *found,
                        const char *how) {
    for (int i = 0; i < SESSIONS; i++)
        if (!is_same(&expected[i].outcome, &found[i].outcome))
            fail_msg("session %d %s ends otherwise than alone:\n%s\nnot\n%s", i, how,
                     found[i].outcome.metrics, expected[i].outcome.metrics);
}

static void twenty_sessions_end_in_the_same_bits(void **state) {
    (void)state;
    struct scratch scratch;
    scratch_init_fast(&scratch);
    const mode_t mask = umask(022);
    struct one *alone = run_all(&scratch, "alone", run_one_by_one);
    struct one *turns = run_all(&scratch, "turns", run_in_turns);
    struct one *threads = run_all(&scratch, "threads", run_on_threads);
    assert_same(alone, turns, "in turns");
    assert_same(alone, threads, "on threads");
    /* looking after plugins is nobody else's loss */
    assert_int_equal(umask(mask), 022);
    for (int i = 0; i < SESSIONS; i++) assert_int_equal(threads[i].accused, 0);
    /* the same kind with another seed: what is compared can differ */
    for (int i = 0; i + KINDS < SESSIONS; i++)
        if (i % KINDS < 3)
            assert_false(is_same(&alone[i].outcome, &alone[i + KINDS].outcome));
    finish(alone);
    finish(turns);
    finish(threads);
    scratch_finish(&scratch);
}

/* ---- opened and closed ---- */

static int count_entries(const char *path) {
    DIR *directory = opendir(path);
    int count = 0;
    while (directory && readdir(directory)) count++;
    if (directory) closedir(directory);
    return count;
}

/* Closed at once, in a window, after its end; or never open, being wrong. */
static void open_and_close(struct scratch *scratch, int index) {
    struct one one = {.index = index};
    snprintf(one.directory, sizeof one.directory, "%s/again-%d", scratch->directory,
             index);
    if (index % 4 == 3) scratch_run(scratch, "mkdir -p occupied/x");
    if (index % 4 == 3)
        snprintf(one.directory, sizeof one.directory, "%s/occupied",
                 scratch->directory);
    const lathe_status status = open_one(&one);
    assert_int_equal(status == LATHE_OK, index % 4 != 3);
    enum piece next = STAGE;
    if (index % 4 == 1) assert_int_equal(lathe_run_begin(one.session), LATHE_OK);
    for (int i = 0; i < 20 && index % 4 == 1; i++) next = turn(&one, next);
    if (index % 4 == 2) assert_int_equal(lathe_run(one.session), LATHE_OK);
    close_one(&one);
    free(one.outcome.metrics);
    free(one.outcome.saved);
}

static void fifty_that_were_closed_leave_nothing_open(void **state) {
    (void)state;
    struct scratch scratch;
    scratch_init_fast(&scratch);
    for (int i = 0; i < 20; i++) open_and_close(&scratch, i); /* libraries stay */
    scratch_run(&scratch, "rm -rf again-*");
    const int descriptors = count_entries("/proc/self/fd");
    const int threads = count_entries("/proc/self/task");
    for (int i = 0; i < 50; i++) {
        open_and_close(&scratch, i);
        assert_int_equal(count_entries("/proc/self/fd"), descriptors);
        assert_int_equal(count_entries("/proc/self/task"), threads);
    }
    scratch_finish(&scratch);
}

static void options_that_cannot_be_leave_no_session(void **state) {
    (void)state;
    const lathe_session_options none = {.size = sizeof none};
    lathe_session *session = (lathe_session *)(void *)state;
    assert_int_equal(lathe_open(&none, &session, NULL), LATHE_EINVAL);
    assert_null(session);
    lathe_close(NULL);
}

/* A checkpoint says where plugins were looked for, long after it was told. */
static void what_options_point_to_may_be_gone(void **state) {
    struct scratch scratch;
    struct one one = {0};
    char *content, *last, *plugins;
    size_t length;
    (void)state;
    scratch_init(&scratch);
    snprintf(one.directory, sizeof one.directory, "%s/run", scratch.directory);
    assert_int_equal(open_one(&one), LATHE_OK);
    assert_int_equal(lathe_run(one.session), LATHE_OK);
    close_one(&one);
    assert_non_null(last = text_make("%s/checkpoints/last.safetensors", one.directory));
    assert_int_equal(file_read(last, 1 << 24, &content, &length, NULL), LATHE_OK);
    assert_non_null(plugins = text_make("%s/plugins", getenv("BUILD")));
    assert_non_null(memmem(content, length, plugins, strlen(plugins)));
    free(one.outcome.metrics);
    free(one.outcome.saved);
    free(content);
    free(last);
    free(plugins);
    scratch_finish(&scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twenty_sessions_end_in_the_same_bits),
        cmocka_unit_test(fifty_that_were_closed_leave_nothing_open),
        cmocka_unit_test(what_options_point_to_may_be_gone),
        cmocka_unit_test(options_that_cannot_be_leave_no_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
