/* SPDX-License-Identifier: MIT */
/* The arithmetic of a stage's loop. */
#include "plan_parts.h"

/* ---- counts ---- */

struct json *plan_data(const lathe_session *s) {
    const int64_t batch = s->experiment->train.batch;
    struct json *data = json_make_map();
    for (int split = 0; split < SPLIT_COUNT; split++) {
        const int64_t samples = s->data[split].samples, rest = samples % batch;
        if (!s->data[split].is_used) continue;
        data = json_add(
            data, split_names[split],
            JSON_MAP_OF({"samples", json_make_whole(samples)},
                        {"batches", json_make_whole(samples / batch + (rest != 0))},
                        {"last_batch", json_make_whole(rest ? rest : batch)}));
    }
    return data;
}

static struct json *describe_window(const struct sampler *sampler, int64_t window) {
    const int64_t micros = sampler_window(sampler, window);
    const int64_t last = window * sampler->accumulate + micros - 1;
    const int64_t samples = (micros - 1) * sampler->batch + sampler_rows(sampler, last);
    return JSON_MAP_OF({"micros", json_make_whole(micros)},
                       {"samples", json_make_whole(samples)});
}

struct json *plan_loop(const lathe_session *s) {
    const struct sampler *sampler = &s->sampler;
    const struct json *train = json_get(s->experiment->resolved, "train");
    const int64_t total = s->now.steps_total;
    return JSON_MAP_OF(
        {"until", json_clone(json_get(train, "until"))},
        {"steps",
         total ? json_make_whole(total - s->stage.step) : json_make_text(NULL)},
        {"steps_per_epoch", json_make_whole(sampler->steps_per_epoch)},
        {"micros_per_epoch", json_make_whole(sampler->micros_per_epoch)},
        {"window", describe_window(sampler, 0)},
        {"last_window", describe_window(sampler, sampler->steps_per_epoch - 1)});
}

static struct json *list_slices(const lathe_session *s, int64_t rows) {
    struct json *list = json_make_list();
    const int64_t slices = session_slices(s, rows);
    for (int64_t i = 0; i < slices; i++) {
        int64_t count =
            sampler_slice(rows, i + 1, slices) - sampler_slice(rows, i, slices);
        if (count) list = json_append(list, json_make_whole(count));
    }
    return list;
}

struct json *plan_slices(const lathe_session *s) {
    const int64_t full = sampler_rows(&s->sampler, 0);
    const int64_t last = sampler_rows(&s->sampler, s->sampler.micros_per_epoch - 1);
    return JSON_MAP_OF({"shards", json_make_whole(s->shard_count)},
                       {"least_rows", json_make_whole(s->least_rows)},
                       {"full", list_slices(s, full)}, {"last", list_slices(s, last)});
}

struct json *plan_prefetch(const lathe_session *s) {
    const char *obstacle = session_ahead_obstacle(s);
    const bool is_on = s->experiment->train.prefetch == PREFETCH_ON;
    const char *why = is_on ? "train.prefetch is true"
                            : "a core is idle; both ways are tried, the faster is kept";
    const char *ahead = obstacle ? "no" : is_on ? "yes" : "when it pays";
    return JSON_MAP_OF({"ahead", json_make_text(ahead)},
                       {"why", json_make_text(obstacle ? obstacle : why)});
}

/* ---- the rate ---- */

#define RATES_MAX 100000 /* steps that are asked about, evenly spread over more */

static double rate_at(lathe_session *s, int64_t step) {
    const lathe_schedule_ops *ops = s->schedule.ops;
    lathe_progress progress = session_progress(s);
    progress.step = step;
    const uint32_t heed = s->heed;
    if (!s->schedule.use) return s->groups[0].base_rate;
    s->heed = 0; /* also in a dry run, and untraced */
    session_enter(s, 0, &s->schedule, FUNCTION_FACTOR);
    double factor = ops->factor(s->schedule.self, &progress);
    session_leave(s, 0, &s->schedule, FUNCTION_FACTOR);
    s->heed = heed;
    return s->groups[0].base_rate * factor;
}

struct json *plan_rate(lathe_session *s) {
    const lathe_schedule_ops *ops = s->schedule.ops;
    const int64_t steps = session_progress(s).steps;
    const int64_t stride = steps / RATES_MAX + 1;
    double start = rate_at(s, 0), peak = start;
    int64_t peak_step = 0;
    for (int64_t step = 0; s->schedule.use && step < steps; step += stride) {
        double rate = rate_at(s, step);
        if (!(rate > peak)) continue;
        peak = rate;
        peak_step = step;
    }
    return JSON_MAP_OF(
        {"start", json_make_number(start)}, {"peak", json_make_number(peak)},
        {"peak_step", json_make_whole(peak_step)},
        {"end", steps ? json_make_number(rate_at(s, steps - 1)) : json_make_text(NULL)},
        {"observes", json_make_truth(s->schedule.use && ops->observe)});
}
