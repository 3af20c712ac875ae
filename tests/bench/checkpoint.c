/* SPDX-License-Identifier: MIT */
/* What saving costs: the loop, while a small model trains; the disk, for a big file;
 * and who goes on from it. */
#include "bench.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/error.h"
#include "base/log.h"
#include "checkpoints.h"

#define STEPS 20
#define BIG ((size_t)256 << 20)
#define MOST_COST 1.0    /* ms, of a checkpoint of the MLP beyond its copy */
#define LEAST_SHARE 0.85 /* of the speed of digest, write and fsync */
#define MOST_START 0.5   /* s, to go on, beyond reading */

static void *take_memory(size_t bytes) {
    void *memory = malloc(bytes);
    if (memory == NULL) bench_give_up("no memory for %zu bytes", bytes);
    memset(memory, 1, bytes);
    return memory;
}

static void make_directory(const struct bench *bench, const char *name, char *path,
                           size_t size) {
    snprintf(path, size, "%s/%s", bench->scratch, name);
    if (mkdir(path, 0700) != 0) bench_give_up("%s cannot be made", path);
}

static void remove_directory(char *path) {
    char *argv[] = {(char[]){"rm"}, (char[]){"-rf"}, path, NULL};
    bench_spawn(argv, "/dev/null", O_WRONLY);
}

static off_t size_of(const char *directory, const char *file) {
    char path[256];
    struct stat info;
    snprintf(path, sizeof path, "%s/checkpoints/%s", directory, file);
    return stat(path, &info) == 0 ? info.st_size : 0;
}

/* ---- the loop ---- */

struct saving {
    lathe_session *session;
    char directory[128];
    double *copies[2]; /* as many bytes as a checkpoint has, from one to the other */
    size_t bytes;
    int64_t before; /* step of the save before; at first 0, which is never saved */
};

static double time_steps(lathe_session *session) {
    double begin = bench_seconds();
    for (int i = 0; i < STEPS; i++) bench_step(session);
    return bench_seconds() - begin;
}

static double time_save(lathe_session *session) {
    double begin = bench_seconds();
    if (lathe_save(session) != LATHE_OK)
        bench_give_up("%s", lathe_last_error(session)->what);
    return bench_seconds() - begin;
}

/* After steps, the weights are as near as these are after being written. */
static double time_copy(struct saving *saving, int round) {
    time_steps(saving->session);
    memset(saving->copies[0], round, saving->bytes);
    double begin = bench_seconds();
    memcpy(saving->copies[1], saving->copies[0], saving->bytes);
    double seconds = bench_seconds() - begin;
    if (((volatile char *)saving->copies[1])[saving->bytes / 2] != round)
        bench_give_up("a copy is none");
    return seconds;
}

static bool is_saved(const struct saving *saving, int64_t step) {
    char file[64];
    snprintf(file, sizeof file, "step-%08lld.safetensors", (long long)step);
    return size_of(saving->directory, file) > 0;
}

/* Until the file of that step has its own name, and has been read back: then the one
 * before it goes. */
static void wait_for_file(struct saving *saving, int64_t step) {
    const struct timespec pause = {.tv_nsec = 1000000};
    for (int i = 0; !is_saved(saving, step) || is_saved(saving, saving->before); i++) {
        nanosleep(&pause, NULL);
        if (i == 20000) bench_give_up("step %lld is not saved", (long long)step);
    }
    nanosleep(&pause, NULL);
    saving->before = step;
}

static void open_saving(struct bench *bench, struct saving *saving) {
    const char *const overrides[] = {"optimizer={\"use\":\"adamw\",\"lr\":0.001}",
                                     "train.threads=1", NULL};
    snprintf(saving->directory, sizeof saving->directory, "%s/loop", bench->scratch);
    saving->session =
        bench_open_in(bench, saving->directory, bench_mlp, overrides, NULL);
    time_steps(saving->session);
    time_save(saving->session); /* the first one makes room for the copy */
    wait_for_file(saving, lathe_now(saving->session)->step);
    saving->bytes = (size_t)size_of(saving->directory, "last.safetensors");
    for (int i = 0; i < 2; i++) saving->copies[i] = take_memory(saving->bytes);
}

static void measure_loop(struct bench *bench) {
    struct saving saving = {.before = 0};
    double cost[BENCH_ROUNDS_MAX], copy[BENCH_ROUNDS_MAX], after[BENCH_ROUNDS_MAX];
    open_saving(bench, &saving);
    for (int round = 0; round < bench->rounds; round++) {
        copy[round] = time_copy(&saving, round) * 1e3;
        double undisturbed = time_steps(saving.session);
        const int64_t step = lathe_now(saving.session)->step;
        cost[round] = time_save(saving.session) * 1e3 - copy[round];
        after[round] = (time_steps(saving.session) - undisturbed) * 1e3;
        wait_for_file(&saving, step);
    }
    const size_t count = (size_t)bench->rounds;
    bench_add(bench, "save", "cost to the loop, beyond the copy",
              bench_median(cost, count), "ms", MOST_COST,
              "%.1f MB of an MLP with AdamW; the copy takes %.3f ms",
              (double)saving.bytes / 1e6, bench_median(copy, count));
    bench_add(bench, "save", "the 20 steps that follow are slower by",
              bench_median(after, count), "ms", -1, "while it is written");
    bench_close(saving.session);
    for (int i = 0; i < 2; i++) free(saving.copies[i]);
    remove_directory(saving.directory);
}

/* ---- the disk ---- */

static void take_line(void *context, int32_t level, const char *text) {
    (void)context;
    if (level <= LATHE_LOG_WARNING) bench_give_up("%s", text);
}

static double time_ours(struct checkpoints *checkpoints, const void *bytes,
                        int64_t step) {
    struct error err = {0};
    struct safetensor tensor = {.name = "all",
                                .dtype = "F32",
                                .rank = 1,
                                .shape = {(int64_t)BIG / 4},
                                .bytes = (int64_t)BIG,
                                .data = bytes};
    const struct checkpoint checkpoint = {
        .step = step, .tensors = &tensor, .tensor_count = 1, .flush_fd = -1};
    double begin = bench_seconds();
    if (checkpoints_write(checkpoints, &checkpoint, &err) != LATHE_OK ||
        checkpoints_wait(checkpoints, &err) != LATHE_OK)
        bench_give_up("%s (%s)", err.what, err.where);
    return bench_seconds() - begin;
}

static double time_plain(const char *directory, const char *bytes) {
    char path[160], hex[DIGEST_HEX];
    snprintf(path, sizeof path, "%s/plain", directory);
    double begin = bench_seconds();
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    digest_bytes(bytes, BIG, hex);
    for (size_t done = 0; done < BIG;) {
        ssize_t written = write(fd, bytes + done, BIG - done);
        if (written <= 0) bench_give_up("%s cannot be written", path);
        done += (size_t)written;
    }
    if (fsync(fd) != 0 || close(fd) != 0) bench_give_up("%s cannot be written", path);
    double seconds = bench_seconds() - begin;
    unlink(path);
    return seconds;
}

static void measure_disk(struct bench *bench) {
    char directory[128], file[256];
    char *bytes = take_memory(BIG);
    struct checkpoints *checkpoints = NULL;
    struct error err = {0};
    struct log log = {.write = take_line};
    struct bench_row row = {.part = "save",
                            .name = "256 MiB: plain / lathe",
                            .bound = BENCH_AT_LEAST,
                            .limit = LEAST_SHARE,
                            .under.name = "lathe",
                            .over.name = "digest, write, fsync"};
    make_directory(bench, "disk", directory, sizeof directory);
    if (checkpoints_create(directory, "bench", &log, &checkpoints, &err) != LATHE_OK)
        bench_give_up("%s", err.what);
    checkpoints_keep(checkpoints, 0);
    for (int round = -1; round < bench->rounds; round++) { /* -1: both begin cold */
        double ours = time_ours(checkpoints, bytes, round + 2);
        double plain = time_plain(directory, bytes);
        snprintf(file, sizeof file, "%s/checkpoints/step-%08d.safetensors", directory,
                 round + 2);
        if (unlink(file) != 0) bench_give_up("there is no %s", file);
        if (round >= 0) series_add(&row.under, ours * 1e3);
        if (round >= 0) series_add(&row.over, plain * 1e3);
    }
    bench_head("lathe", "plain");
    bench_compare(bench, &row);
    checkpoints_destroy(checkpoints);
    free(bytes);
    remove_directory(directory);
}

/* ---- going on ---- */

/* 784 inputs, 28388 hidden numbers, 3 classes, weights and two slots: 256 MiB. */
static const char big_mlp[] =
    "{ \"lathe\": 1, \"name\": \"big\", \"seed\": 7,"
    "  \"data\": { \"train\": { \"use\": \"blobs\", \"samples\": 64,"
    "                           \"features\": 784 } },"
    "  \"model\": { \"use\": \"mlp\", \"hidden\": [28388] },"
    "  \"optimizer\": { \"use\": \"adamw\", \"lr\": 0.001 },"
    "  \"train\": { \"until\": \"1000ep\", \"batch\": 1 } }";

/* Leaves a run with a checkpoint. Seconds of a step. */
static double make_run(struct bench *bench, const char *directory) {
    lathe_session *session = bench_open_in(bench, directory, big_mlp, NULL, NULL);
    bench_time_steps(session, 1);
    double seconds = bench_time_steps(session, 3) / 3;
    lathe_stop(session, "interrupted");
    bench_close(session);
    return seconds;
}

/* A stamp that is another than the last one: the run was stopped by that. */
static double time_resume(const struct bench *bench, char *directory, int round) {
    char program[512], probes[512], stamp[128], callbacks[256];
    snprintf(program, sizeof program, "%s/bin/lathe", bench->build);
    snprintf(probes, sizeof probes, "%s/tests/plugins", bench->build);
    snprintf(stamp, sizeof stamp, "%s/stamp-%d", bench->scratch, round);
    snprintf(callbacks, sizeof callbacks,
             "callbacks=[{\"use\":\"stamp\",\"file\":\"%s\",\"stop\":true}]", stamp);
    char *argv[] = {
        program,   (char[]){"resume"},        directory, (char[]){"--quiet"},
        callbacks, (char[]){"--plugin-path"}, probes,    NULL};
    double begin = bench_seconds(), first_step = 0;
    bench_spawn(argv, "/dev/null", O_WRONLY);
    FILE *file = fopen(stamp, "re");
    if (file == NULL || fscanf(file, "%lf", &first_step) != 1)
        bench_give_up("no stamp in %s", stamp);
    fclose(file);
    return first_step - begin;
}

static double time_read(const char *directory) {
    char path[256];
    static char buffer[1 << 20];
    ssize_t got;
    snprintf(path, sizeof path, "%s/checkpoints/last.safetensors", directory);
    double begin = bench_seconds();
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while ((got = read(fd, buffer, sizeof buffer)) > 0) continue;
    if (fd < 0 || got < 0) bench_give_up("%s cannot be read", path);
    close(fd);
    return bench_seconds() - begin;
}

static void measure_resume(struct bench *bench) {
    char directory[128];
    double beyond[BENCH_ROUNDS_MAX], whole[BENCH_ROUNDS_MAX], read[BENCH_ROUNDS_MAX];
    snprintf(directory, sizeof directory, "%s/big", bench->scratch);
    const double step = make_run(bench, directory);
    const double size = (double)size_of(directory, "last.safetensors");
    for (int round = 0; round < bench->rounds; round++) {
        read[round] = time_read(directory);
        whole[round] = time_resume(bench, directory, round);
        beyond[round] = whole[round] - read[round] - step;
    }
    const size_t count = (size_t)bench->rounds;
    bench_add(bench, "save", "going on from it, beyond reading",
              bench_median(beyond, count), "s", MOST_START,
              "%.1f MiB; %.3f s from the start, %.3f s to read, %.3f s a step",
              size / (1 << 20), bench_median(whole, count), bench_median(read, count),
              step);
    remove_directory(directory);
}

void bench_saving(struct bench *bench) {
    measure_loop(bench);
    measure_disk(bench);
    measure_resume(bench);
}
