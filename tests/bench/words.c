/* SPDX-License-Identifier: MIT */
/* What has to be written, and how long the first number takes: fashion-mlp.json, and a
 * PyTorch script that does the same. Lines are those that are neither blank nor a
 * comment of their own; time runs from the start of the program, as one would type it,
 * until the first train record is there to be read: that of step 50, for both. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peer.h"

#define EXPERIMENT "manifests/fashion-mlp.json"
#define SCRIPT "tests/bench/fashion_mlp.py"

static int count_lines(const struct bench *bench, const char *name) {
    char path[512], line[512];
    int count = 0;
    snprintf(path, sizeof path, "%s/%s", bench->source, name);
    FILE *file = fopen(path, "re");
    if (file == NULL) bench_give_up("%s cannot be read", path);
    while (fgets(line, sizeof line, file) != NULL) {
        char first = line[strspn(line, " \t\n")];
        if (first != '\0' && first != '#') count++;
    }
    fclose(file);
    return count;
}

/* Seconds until the program prints its first record of training; then it is killed. */
static double time_first_record(const struct bench *bench, char *const *argv) {
    char line[2048], command[128];
    FILE *from;
    pid_t pid;
    int status;
    double begin = bench_seconds(), seconds = 0;
    if (peer_spawn(argv, &pid, NULL, &from) != 0)
        bench_give_up("%s cannot be started", argv[0]);
    while (seconds == 0 && fgets(line, sizeof line, from) != NULL)
        if (strstr(line, "\"train\"") != NULL) seconds = bench_seconds() - begin;
    kill(pid, SIGKILL);
    fclose(from);
    waitpid(pid, &status, 0);
    if (seconds == 0) bench_give_up("%s printed no record of training", argv[0]);
    snprintf(command, sizeof command, "rm -rf '%s/run'", bench->scratch);
    if (system(command) != 0) bench_give_up("%s failed", command);
    return seconds;
}

static double time_lathe(const struct bench *bench) {
    char program[512], experiment[512], run[128];
    snprintf(program, sizeof program, "%s/bin/lathe", bench->build);
    snprintf(experiment, sizeof experiment, "%s/" EXPERIMENT, bench->source);
    snprintf(run, sizeof run, "%s/run", bench->scratch);
    char *const argv[] = {program,
                          (char[]){"run"},
                          experiment,
                          (char[]){"--json"},
                          (char[]){"--run-dir"},
                          run,
                          NULL};
    return time_first_record(bench, argv);
}

static double time_torch(const struct bench *bench) {
    char script[512], run[128];
    snprintf(script, sizeof script, "%s/" SCRIPT, bench->source);
    snprintf(run, sizeof run, "%s/run", bench->scratch);
    /* As a user has it: PyTorch decides on threads. */
    char *const argv[] = {(char[]){"env"},
                          (char[]){"-u"},
                          (char[]){"OPENBLAS_NUM_THREADS"},
                          (char[]){PEER_PYTHON},
                          script,
                          (char[]){"--run-dir"},
                          run,
                          NULL};
    return time_first_record(bench, argv);
}

static void check_torch(void) {
    char *const argv[] = {(char[]){PEER_PYTHON}, (char[]){"-I"}, (char[]){"-c"},
                          (char[]){"import torch"}, NULL};
    FILE *from;
    pid_t pid;
    int status;
    if (access(PEER_PYTHON, X_OK) != 0 || peer_spawn(argv, &pid, NULL, &from) != 0)
        bench_miss(PEER_PACKAGES, "there is no %s", PEER_PYTHON);
    fclose(from);
    if (waitpid(pid, &status, 0) != pid || status != 0)
        bench_miss(PEER_PACKAGES, "%s has no module torch", PEER_PYTHON);
}

static void add_count(struct bench *bench, const char *name, int count) {
    bench_add(bench, "words", name, count, "", -1, "%s", "");
}

void bench_words(struct bench *bench) {
    if (bench->peer != NULL) check_torch();
    add_count(bench, "lathe: lines of C", 0); /* it names nothing but what is shipped */
    add_count(bench, "lathe: lines of JSON", count_lines(bench, EXPERIMENT));
    add_count(bench, "lathe: commands", 1); /* lathe run EXPERIMENT */
    if (bench->peer != NULL) {
        add_count(bench, "torch: lines of Python", count_lines(bench, SCRIPT));
        add_count(bench, "torch: commands", 1); /* python3 SCRIPT */
    }
    struct bench_row row = {.part = "words", .unit = "ms"};
    snprintf(row.name, sizeof row.name, "to the first metric");
    snprintf(row.under.name, sizeof row.under.name, "lathe");
    snprintf(row.over.name, sizeof row.over.name, "torch");
    for (int round = 0; round < bench->rounds; round++) {
        series_add(&row.under, time_lathe(bench) * 1e3);
        if (bench->peer != NULL) series_add(&row.over, time_torch(bench) * 1e3);
    }
    if (bench->peer == NULL) {
        bench_add(bench, "words", "to the first metric", series_median(&row.under),
                  "ms", -1, "best %.0f ms", series_best(&row.under));
        return;
    }
    bench_head("lathe", "torch");
    bench_compare(bench, &row);
}
