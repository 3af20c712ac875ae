/* SPDX-License-Identifier: MIT */
/* What it costs that plugins are shared objects: the same loop over the same code, with
 * dataset, model and optimizer once opened from their folders and once linked into this
 * program. Each round opens both anew, in the other order than the last, so that where
 * memory happens to lie evens out. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TURNS 6
#define STEPS 40
#define LIMIT 1.01
#define PREFIX "linked-"

/* The plugins' entries, renamed by CMakeLists.txt. */
extern const lathe_plugin linked_idx, linked_mlp, linked_sgd;

#define PLUGINS 3
static const struct linked {
    const char *kind, *name;
    const lathe_plugin *entry;
} plugins[PLUGINS] = {{"dataset", "idx", &linked_idx},
                      {"model", "mlp", &linked_mlp},
                      {"optimizer", "sgd", &linked_sgd}};

/* A plugin's manifest, in which it has another name: the folder's would do as well, and
 * nobody would see which it was. The caller's to free. */
static char *read_manifest(const struct bench *bench, const struct linked *plugin) {
    char path[512], wanted[64], *text = calloc(1, 1 << 16);
    snprintf(path, sizeof path, "%s/plugins/%s/%s/plugin.json", bench->source,
             plugin->kind, plugin->name);
    snprintf(wanted, sizeof wanted, "\"name\": \"%s\"", plugin->name);
    FILE *file = fopen(path, "re");
    if (text == NULL || file == NULL ||
        fread(text, 1, (1 << 16) - sizeof PREFIX, file) == 0)
        bench_give_up("%s cannot be read", path);
    fclose(file);
    char *name = strstr(text, wanted);
    if (name == NULL) bench_give_up("no %s in %s", wanted, path);
    name += strlen("\"name\": \"");
    memmove(name + strlen(PREFIX), name, strlen(name) + 1);
    memcpy(name, PREFIX, strlen(PREFIX));
    return text;
}

static double best_of(double best, double value) {
    return best == 0 || value < best ? value : best;
}

static void measure_round(struct bench *bench, struct bench_row *row,
                          const lathe_linked_plugin *const *linked) {
    static const char *const from_folders[] = {
        "optimizer.momentum=0.9", "train.shards=1", "train.threads=1", NULL};
    static const char *const from_here[] = {"data.train.use=" PREFIX "idx",
                                            "model.use=" PREFIX "mlp",
                                            "optimizer.use=" PREFIX "sgd",
                                            "optimizer.momentum=0.9",
                                            "train.shards=1",
                                            "train.threads=1",
                                            NULL};
    lathe_session *sessions[2];
    double best[2] = {0, 0};
    int first = row->under.count % 2;
    for (int i = 0; i < 2; i++) {
        int which = first ^ i; /* 0: linked, 1: from folders */
        sessions[which] =
            bench_open(bench, bench_mlp, which ? from_folders : from_here, linked);
        bench_time_steps(sessions[which], STEPS);
    }
    for (int turn = 0; turn < 2 * TURNS; turn++) {
        int which = first ^ (turn % 2);
        double ms = bench_time_steps(sessions[which], STEPS) * 1e3 / STEPS;
        best[which] = best_of(best[which], ms);
    }
    for (int i = 0; i < 2; i++) bench_close(sessions[i]);
    series_add(&row->under, best[0]);
    series_add(&row->over, best[1]);
}

void bench_static(struct bench *bench) {
    lathe_linked_plugin entries[PLUGINS];
    const lathe_linked_plugin *list[PLUGINS + 1] = {NULL};
    char *manifests[PLUGINS];
    for (size_t i = 0; i < PLUGINS; i++) {
        manifests[i] = read_manifest(bench, &plugins[i]);
        entries[i] = (lathe_linked_plugin){.size = sizeof *entries,
                                           .plugin = plugins[i].entry,
                                           .manifest = manifests[i]};
        list[i] = &entries[i];
    }
    struct bench_row row = {.part = "static", .bound = BENCH_AT_MOST, .limit = LIMIT};
    snprintf(row.name, sizeof row.name, "sgd, batch 64, 1 thread");
    snprintf(row.under.name, sizeof row.under.name, "linked");
    snprintf(row.over.name, sizeof row.over.name, "plugins");
    for (int round = 0; round < bench->rounds; round++)
        measure_round(bench, &row, list);
    bench_head("linked", "plugins");
    bench_compare(bench, &row);
    for (size_t i = 0; i < PLUGINS; i++) free(manifests[i]);
}
