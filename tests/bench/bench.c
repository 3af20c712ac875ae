/* SPDX-License-Identifier: MIT */
/* ./dev bench: what the design promises about speed, measured in one run. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 9

static const struct part {
    const char *name;
    void (*measure)(struct bench *bench);
    bool is_usual, has_peer; /* measured when no part is named; …, but a peer is */
} parts[] = {
    {"step", bench_steps, true, false},     {"start", bench_start, true, false},
    {"memory", bench_memory, true, false},  {"warm", bench_warm, true, false},
    {"scan", bench_scan, true, false},      {"host", bench_host, true, false},
    {"static", bench_static, false, false}, {"save", bench_saving, false, false},
    {"mlp", bench_mlps, false, true},       {"words", bench_words, false, true},
};
#define PARTS (sizeof parts / sizeof *parts)

struct arguments {
    bool chosen[PARTS];
    const char *json;
};

static int usage(const char *wrong) {
    if (wrong != NULL) fprintf(stderr, "bench: %s\n", wrong);
    fputs("usage: ./dev bench [PART…] [--peer torch] [--rounds N] [--json FILE]\n"
          "parts:",
          stderr);
    for (size_t i = 0; i < PARTS; i++) fprintf(stderr, " %s", parts[i].name);
    fputs("\n", stderr);
    return 64;
}

static bool choose_part(struct arguments *arguments, const char *name) {
    for (size_t i = 0; i < PARTS; i++) {
        if (strcmp(name, parts[i].name) != 0) continue;
        arguments->chosen[i] = true;
        return true;
    }
    return false;
}

/* An option and its value. NULL, or what is wrong. */
static const char *read_option(struct arguments *arguments, struct bench *bench,
                               const char *option, const char *value) {
    if (strcmp(option, "--json") == 0) {
        arguments->json = value;
        return value != NULL ? NULL : "--json wants a file";
    }
    if (strcmp(option, "--peer") == 0) {
        bench->peer = value;
        bool is_known = value != NULL && strcmp(value, "torch") == 0;
        return is_known ? NULL : "--peer wants \"torch\"";
    }
    if (strcmp(option, "--rounds") == 0) {
        bench->rounds = value != NULL ? (int)strtol(value, NULL, 10) : 0;
        bool is_good = bench->rounds >= 1 && bench->rounds <= BENCH_ROUNDS_MAX;
        return is_good ? NULL : "--rounds wants a number from 1 to 32";
    }
    return "there is no such option";
}

/* NULL, or what is wrong. */
static const char *read_arguments(int argc, char **argv, struct arguments *arguments,
                                  struct bench *bench) {
    bool is_named = false, has_peer = false;
    for (int i = 3; i < argc; i++) {
        if (argv[i][0] == '-') {
            const char *value = i + 1 < argc ? argv[i + 1] : NULL;
            const char *wrong = read_option(arguments, bench, argv[i], value);
            if (wrong != NULL) return wrong;
            i++;
            continue;
        }
        if (!choose_part(arguments, argv[i])) return "there is no such part";
        is_named = true;
    }
    for (size_t i = 0; i < PARTS; i++) {
        if (!is_named)
            arguments->chosen[i] = bench->peer ? parts[i].has_peer : parts[i].is_usual;
        has_peer |= arguments->chosen[i] && parts[i].has_peer;
    }
    if (bench->peer != NULL && !has_peer) return "a peer is for \"mlp\" and \"words\"";
    return NULL;
}

/* OpenBLAS reads the environment before `main`: what it should see is set here, and
 * the program started anew. One thread, as lathe sets it; and its own choice of
 * kernels, whatever somebody told it. */
static void settle_environment(char **argv) {
    static const char *const stray[] = {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"};
    const char *threads = getenv("OPENBLAS_NUM_THREADS");
    char ignored[160] = "";
    for (size_t i = 0; i < sizeof stray / sizeof *stray; i++) {
        const char *value = getenv(stray[i]);
        size_t length = strlen(ignored);
        if (value == NULL) continue;
        snprintf(ignored + length, sizeof ignored - length, "%s%s=%.40s",
                 length > 0 ? " " : "", stray[i], value);
        unsetenv(stray[i]);
    }
    if (ignored[0] == '\0' && threads != NULL && strcmp(threads, "1") == 0) return;
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv("LATHE_BENCH_IGNORED", ignored, 1);
    execv("/proc/self/exe", argv);
    bench_give_up("the program cannot start itself anew");
}

static char scratch[64]; /* for atexit, which hands nothing over */

static void remove_scratch(void) {
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", scratch);
    if (system(command) != 0) fprintf(stderr, "bench: %s is left\n", scratch);
}

static void make_scratch(struct bench *bench) {
    const char *temporary = getenv("TMPDIR");
    snprintf(scratch, sizeof scratch, "%s/lathe-bench-XXXXXX",
             temporary != NULL && strlen(temporary) < 32 ? temporary : "/tmp");
    if (mkdtemp(scratch) == NULL) bench_give_up("no temporary directory");
    atexit(remove_scratch);
    bench->scratch = scratch;
}

int main(int argc, char **argv) {
    struct arguments arguments = {.json = NULL};
    struct bench *bench = calloc(1, sizeof *bench);
    if (bench == NULL) bench_give_up("out of memory");
    if (argc < 3) return usage(NULL);
    bench->source = argv[1];
    bench->build = argv[2];
    bench->rounds = ROUNDS;
    const char *wrong = read_arguments(argc, argv, &arguments, bench);
    if (wrong != NULL) return usage(wrong);
    settle_environment(argv);
    const char *ignored = getenv("LATHE_BENCH_IGNORED");
    snprintf(bench->ignored, sizeof bench->ignored, "%s", ignored ? ignored : "");
    unsetenv("LATHE_BENCH_IGNORED");
    time_t now = time(NULL);
    struct tm utc;
    strftime(bench->when, sizeof bench->when, "%Y%m%dT%H%M%SZ", gmtime_r(&now, &utc));
    make_scratch(bench);

    bench_describe_machine(bench);
    for (size_t i = 0; i < PARTS; i++)
        if (arguments.chosen[i]) parts[i].measure(bench);
    bool is_saved = bench_save(bench, arguments.json);
    free(bench);
    return is_saved ? 0 : 73;
}
