/* SPDX-License-Identifier: MIT */
/* ./dev bench: what the design promises about speed, measured in one run. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct part {
    const char *name;
    void (*measure)(struct bench *bench);
} parts[] = {
    {"step", bench_steps}, {"start", bench_start}, {"memory", bench_memory},
    {"warm", bench_warm},  {"host", bench_host},
};
#define PARTS (sizeof parts / sizeof *parts)

static int usage(void) {
    fputs("usage: ./dev bench [PART…] [--json FILE]\nparts:", stderr);
    for (size_t i = 0; i < PARTS; i++) fprintf(stderr, " %s", parts[i].name);
    fputs("\n", stderr);
    return 64;
}

/* Marks the parts that were asked for, all when none was. False: a wrong word. */
static bool choose(int argc, char **argv, bool *chosen, const char **json) {
    bool any = false;
    for (int i = 3; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            if (++i == argc) return false;
            *json = argv[i];
            continue;
        }
        size_t found = PARTS;
        for (size_t part = 0; part < PARTS; part++)
            if (strcmp(argv[i], parts[part].name) == 0) found = part;
        if (found == PARTS) return false;
        chosen[found] = any = true;
    }
    for (size_t i = 0; i < PARTS && !any; i++) chosen[i] = true;
    return true;
}

static char scratch[64]; /* for atexit, which hands nothing over */

static void remove_scratch(void) {
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", scratch);
    if (system(command) != 0) fprintf(stderr, "bench: %s is left\n", scratch);
}

int main(int argc, char **argv) {
    bool chosen[PARTS] = {false};
    const char *json = NULL;
    if (argc < 3 || !choose(argc, argv, chosen, &json)) return usage();
    /* As the program does, before OpenBLAS is loaded. */
    setenv("OPENBLAS_NUM_THREADS", "1", 1);

    struct bench *bench = calloc(1, sizeof *bench);
    if (bench == NULL) bench_give_up("out of memory");
    bench->source = argv[1];
    bench->build = argv[2];
    const char *temporary = getenv("TMPDIR");
    snprintf(scratch, sizeof scratch, "%s/lathe-bench-XXXXXX",
             temporary != NULL && strlen(temporary) < 32 ? temporary : "/tmp");
    if (mkdtemp(scratch) == NULL) bench_give_up("no temporary directory");
    atexit(remove_scratch);
    bench->scratch = scratch;

    bench_describe_machine(bench);
    for (size_t i = 0; i < PARTS; i++)
        if (chosen[i]) parts[i].measure(bench);
    bool is_saved = json == NULL || bench_save(bench, json);
    free(bench);
    return is_saved ? 0 : 73;
}
