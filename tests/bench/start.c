/* SPDX-License-Identifier: MIT */
/* The program itself, started as a user would: from its start to the end of the first
 * step, and its peak of memory. The probe callback `stamp` takes both from inside. */
#include "bench.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 9

extern char **environ;

static const char *const files[] = {
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
};

double bench_spawn(char *const *argv, const char *output, int flags) {
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, output, flags, 0600);
    double begin = bench_seconds();
    if (posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ) != 0)
        bench_give_up("%s cannot be started", argv[0]);
    posix_spawn_file_actions_destroy(&actions);
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
        WEXITSTATUS(status) != 0)
        bench_give_up("%s %s failed", argv[0], argv[1]);
    return bench_seconds() - begin;
}

static void discard(const char *directory) {
    char *argv[] = {(char[]){"rm"}, (char[]){"-rf"}, (char *)(uintptr_t)directory,
                    NULL};
    bench_spawn(argv, "/dev/null", O_WRONLY);
}

/* What `stamp` saw of one run of fashion-mlp.json with further arguments
 * (NULL-ended). */
struct seen {
    double first_step; /* seconds from the start of the program */
    double peak_mib;
};

static struct seen run_lathe(const struct bench *bench, const char *const *arguments,
                             const char *stop) {
    char program[512], experiment[512], probes[512], runs[128], stamp[128],
        callbacks[256];
    snprintf(program, sizeof program, "%s/bin/lathe", bench->build);
    snprintf(experiment, sizeof experiment, "%s/manifests/fashion-mlp.json",
             bench->source);
    snprintf(probes, sizeof probes, "%s/tests/plugins", bench->build);
    snprintf(runs, sizeof runs, "%s/run", bench->scratch);
    snprintf(stamp, sizeof stamp, "%s/stamp", bench->scratch);
    snprintf(callbacks, sizeof callbacks,
             "callbacks=[{\"use\":\"progress\"},"
             "{\"use\":\"stamp\",\"file\":\"%s\",\"stop\":%s}]",
             stamp, stop);
    const char *argv[32] = {program,         "run",      "--quiet",   experiment,
                            "--plugin-path", probes,     "--run-dir", runs,
                            callbacks,       "expect={}"};
    size_t count = 10;
    for (; *arguments != NULL; arguments++) argv[count++] = *arguments;
    argv[count] = NULL;

    double begin = bench_seconds(), first_step = 0;
    long kib = 0;
    bench_spawn((char *const *)(uintptr_t)argv, "/dev/null", O_WRONLY);
    FILE *file = fopen(stamp, "re");
    if (file == NULL || fscanf(file, "%lf %ld", &first_step, &kib) != 2)
        bench_give_up("no stamp in %s", stamp);
    fclose(file);
    discard(runs);
    return (struct seen){first_step - begin, (double)kib / 1024};
}

/* The four files as they come out of gzip, in our directory; then overrides for
 * them. */
static void unpack(const struct bench *bench, char (*overrides)[192],
                   const char **list) {
    static const char *const places[] = {
        "data.train.of.images",      "data.train.of.labels",
        "data.validation.of.images", "data.validation.of.labels",
        "data.test.images",          "data.test.labels",
    };
    for (size_t i = 0; i < 4; i++) {
        char packed[128], plain[128];
        snprintf(packed, sizeof packed, FASHION "%s.gz", files[i]);
        snprintf(plain, sizeof plain, "%s/%s", bench->scratch, files[i]);
        char *argv[] = {(char[]){"gzip"}, (char[]){"-dc"}, packed, NULL};
        bench_spawn(argv, plain, O_WRONLY | O_CREAT | O_TRUNC);
    }
    for (size_t i = 0; i < 6; i++) {
        snprintf(overrides[i], sizeof overrides[i], "%s=%s/%s", places[i],
                 bench->scratch, files[i < 4 ? i % 2 : i - 2]);
        list[i] = overrides[i];
    }
    list[6] = NULL;
}

static double time_gzip(void) {
    char packed[4][128];
    char *argv[] = {(char[]){"gzip"}, (char[]){"-dc"}, packed[0], packed[1],
                    packed[2],        packed[3],       NULL};
    for (size_t i = 0; i < 4; i++)
        snprintf(packed[i], sizeof packed[i], FASHION "%s.gz", files[i]);
    return bench_spawn(argv, "/dev/null", O_WRONLY);
}

void bench_start(struct bench *bench) {
    char overrides[6][192];
    const char *plain[7], *const packed[] = {NULL};
    double plain_ms[ROUNDS], packed_ms[ROUNDS], gzip_ms[ROUNDS];
    unpack(bench, overrides, plain);
    for (int round = 0; round < ROUNDS; round++) {
        plain_ms[round] = run_lathe(bench, plain, "true").first_step * 1e3;
        packed_ms[round] = run_lathe(bench, packed, "true").first_step * 1e3;
        gzip_ms[round] = time_gzip() * 1e3;
    }
    double gzip = bench_median(gzip_ms, ROUNDS);
    bench_add(bench, "start", "to the end of the first step, plain IDX",
              bench_median(plain_ms, ROUNDS), "ms", 60, "%s", "");
    bench_add(bench, "start", "to the end of the first step, .gz",
              bench_median(packed_ms, ROUNDS), "ms", 60 + 1.2 * gzip,
              "60 ms + 1.2 x gzip -dc");
    bench_add(bench, "start", "gzip -dc of the same files", gzip, "ms", -1, "%s", "");
}

void bench_memory(struct bench *bench) {
    const char *const arguments[] = {"train.until=2ep", NULL};
    struct seen seen = run_lathe(bench, arguments, "false");
    bench_add(bench, "memory", "peak of fashion-mlp.json, 2 epochs and the test",
              seen.peak_mib, "MiB", 100, "VmHWM");
}
