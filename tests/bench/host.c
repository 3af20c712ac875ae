/* SPDX-License-Identifier: MIT */
/* What a step costs the host: a model of one weight, where everything but a few
 * nanoseconds is the host's, without callbacks and under eight that do nothing. */
#include "bench.h"

#define ROUNDS 9
#define STEPS 20000

static const char experiment[] =
    "{ \"lathe\": 1, \"name\": \"bench\", \"seed\": 7,"
    "  \"data\": { \"train\": { \"use\": \"ids\", \"count\": 1000000 } },"
    "  \"model\": { \"use\": \"scalar\" },"
    "  \"optimizer\": { \"use\": \"sgd\", \"lr\": 0 },"
    "  \"train\": { \"until\": \"1000ep\", \"batch\": 1, \"shards\": 1,"
    "             \"prefetch\": false } }";

static const char eight[] =
    "callbacks=["
    "{\"use\":\"empty\",\"id\":\"e1\"},{\"use\":\"empty\",\"id\":\"e2\"},"
    "{\"use\":\"empty\",\"id\":\"e3\"},{\"use\":\"empty\",\"id\":\"e4\"},"
    "{\"use\":\"empty\",\"id\":\"e5\"},{\"use\":\"empty\",\"id\":\"e6\"},"
    "{\"use\":\"empty\",\"id\":\"e7\"},{\"use\":\"empty\",\"id\":\"e8\"}]";

static double time_steps(lathe_session *session) {
    double begin = bench_seconds();
    for (int i = 0; i < STEPS; i++) bench_step(session);
    return (bench_seconds() - begin) / STEPS * 1e6;
}

void bench_host(struct bench *bench) {
    const char *const none[] = {NULL}, *const some[] = {eight, NULL};
    lathe_session *bare = bench_open(bench, experiment, none, NULL);
    lathe_session *called = bench_open(bench, experiment, some, NULL);
    double bare_us[ROUNDS], called_us[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        bare_us[round] = time_steps(bare);
        called_us[round] = time_steps(called);
    }
    double without = bench_median(bare_us, ROUNDS);
    double with = bench_median(called_us, ROUNDS);
    bench_add(bench, "host", "one step of one weight, no callback", without, "us", -1,
              "%s", "");
    bench_add(bench, "host", "one step of one weight, eight empty callbacks", with,
              "us", 2, "%.1f ns a call", (with - without) * 1e3 / 48);
    bench_close(bare);
    bench_close(called);
}
