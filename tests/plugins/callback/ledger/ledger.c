/* SPDX-License-Identifier: MIT */
/* Counts the steps that it sees and reports the count, so that state which is lost, or
 * taken twice, shows in metrics.jsonl. */
#include <stdlib.h>
#include <string.h>

#include <lathe/callback.h>

struct ledger {
    const lathe_host *host;
    const char *fails;
    int64_t at;
    int32_t metric, unused;
    struct state {
        char magic[8];
        int64_t count;
    } state;
};

static lathe_status create(const lathe_host *host, void **self) {
    const lathe_metric metric = {.size = sizeof metric, .name = "ledger"};
    struct ledger *l = calloc(1, sizeof *l);
    if (!l) return lathe_fail(host, LATHE_ENOMEM, "no memory");
    l->host = host;
    l->fails = lathe_string(host, "fails");
    l->at = lathe_integer(host, "at");
    l->metric = host->metric(host, &metric);
    l->state = (struct state){.magic = "ledger1"};
    *self = l;
    return LATHE_OK;
}

static lathe_status save(void *self, const lathe_writer *to) {
    const struct ledger *l = self;
    if (!strcmp(l->fails, "save") && l->state.count >= l->at)
        return lathe_fail(l->host, LATHE_EPLUGIN, "the ledger cannot be saved");
    return to->write(to, &l->state, sizeof l->state);
}

static lathe_status load(void *self, const lathe_reader *from) {
    struct ledger *l = self;
    struct state found;
    if (!strcmp(l->fails, "load"))
        return lathe_fail(l->host, LATHE_EPLUGIN, "the ledger cannot be loaded");
    if (lathe_read_state(from, &found, sizeof found) != LATHE_OK ||
        memcmp(found.magic, l->state.magic, sizeof found.magic) != 0)
        return lathe_fail(l->host, LATHE_EDATA, "this is not a state of ledger");
    l->state = found;
    return LATHE_OK;
}

static lathe_status step_end(void *self, const lathe_moment *at) {
    struct ledger *l = self;
    (void)at;
    l->host->report(l->host, l->metric, (double)++l->state.count, 1);
    return LATHE_OK;
}

LATHE_CALLBACK(.create = create, .destroy = free, .save = save, .load = load,
               .step_end = step_end);
