/* SPDX-License-Identifier: MIT */
/* A hundred plugins that are found and looked at: in folders with a plugin.json, and as
 * libraries alone that carry theirs. They are copies of the build's own. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

#include "registry.h"

#define PLUGINS 100
#define ROUNDS 30

/* Lays out copies in <scratch>/folders and <scratch>/alone, in turn. */
static void copy_plugins(const struct bench *bench) {
    char command[2048];
    snprintf(command, sizeof command,
             "umask 022; cd '%s' && mkdir -p folders alone && i=0 && "
             "while [ $i -lt %d ]; do for file in '%s'/plugins/*/*/*.so; do "
             "[ $i -lt %d ] || break; folder=${file%%/*}; mkdir folders/p$i && "
             "cp \"$file\" \"$folder/plugin.json\" folders/p$i && "
             "cp \"$file\" alone/p$i.so || exit 1; i=$((i + 1)); done; done",
             bench->scratch, PLUGINS, bench->build, PLUGINS);
    if (system(command) != 0) bench_give_up("the plugins cannot be copied");
}

/* Milliseconds of one scan, which has to find them all. */
static double scan(const char *place) {
    const char *const places[] = {place, NULL};
    struct registry *registry = NULL;
    struct error err = {0};
    size_t found = 0;
    const double begin = bench_seconds();
    if (registry_open(places, NULL, &registry, &err) != LATHE_OK)
        bench_give_up("%s", err.what);
    const double end = bench_seconds();
    for (size_t i = 0; i < registry_count(registry); i++)
        if (registry_at(registry, i)->status != REGISTRY_REFUSED) found++;
    if (found < PLUGINS) bench_give_up("only %zu plugins are found", found);
    registry_close(registry);
    return (end - begin) * 1000;
}

void bench_scan(struct bench *bench) {
    static const char *const names[][2] = {
        {"folders", "100 plugins in folders, and the build's own"},
        {"alone", "100 libraries alone, and the build's own"}};
    copy_plugins(bench);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char place[128];
        double taken[ROUNDS];
        snprintf(place, sizeof place, "%s/%s", bench->scratch, names[i][0]);
        for (size_t round = 0; round < ROUNDS; round++) taken[round] = scan(place);
        const double median = bench_median(taken, ROUNDS);
        bench_add(bench, "scan", names[i][1], median, "ms", 20, "best %.1f", taken[0]);
    }
}
