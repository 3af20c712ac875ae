/* SPDX-License-Identifier: MIT */
/* Time as the loop counts it: bounds, horizons, intervals. */
#include <math.h>

#include "base/clock.h"
#include "session_calls.h"

double session_seconds(const lathe_session *s) {
    return s->seconds_before + clock_seconds() - s->began;
}

/* Steps until so many samples have been seen: whole epochs, then whole windows. */
static int64_t steps_of_samples(const struct sampler *sampler, int64_t samples) {
    int64_t window;
    if (__builtin_mul_overflow(sampler->batch, sampler->accumulate, &window))
        window = INT64_MAX;
    int64_t rest = samples % sampler->samples;
    int64_t steps = rest / window + (rest % window != 0);
    return samples / sampler->samples * sampler->steps_per_epoch + steps;
}

int64_t session_steps(const lathe_session *s, const struct duration *duration) {
    if (duration->unit == DURATION_SAMPLES)
        return steps_of_samples(&s->sampler, (int64_t)duration->amount);
    return duration_steps(duration, s->sampler.steps_per_epoch, 1);
}

void session_set_horizon(lathe_session *s) {
    const struct durations *until = &s->experiment->train.until;
    int64_t least = 0;
    for (int i = 0; i < until->count; i++) {
        if (until->items[i].unit == DURATION_SECONDS) continue;
        int64_t steps = session_steps(s, &until->items[i]);
        if (!least || steps < least) least = steps;
    }
    s->now.steps_total = least ? s->stage.step + least : 0;
    s->now.steps_per_epoch = s->sampler.steps_per_epoch;
}

/* A schedule's progress is that of its stage. */
lathe_progress session_progress(const lathe_session *s) {
    const int64_t total = s->now.steps_total;
    return (lathe_progress){.size = sizeof(lathe_progress),
                            .step = s->now.step - s->stage.step,
                            .steps = total ? total - s->stage.step : 0,
                            .steps_per_epoch = s->now.steps_per_epoch};
}

bool session_is_stopped(lathe_session *s) {
    if (session_is_dry(s) && s->dry_end && s->now.step >= s->dry_end) return true;
    return atomic_load(&s->stop_asked) || s->requests & LATHE_REQUEST_STOP;
}

bool session_is_over(lathe_session *s) {
    return session_is_stopped(s) || session_is_complete(s);
}

/* Windows gone through: steps, and those that were skipped. */
int64_t session_windows(const lathe_session *s) {
    return s->now.step + s->skipped;
}

/* A skipped window is no step, and it is a part of its epoch. */
bool session_is_complete(const lathe_session *s) {
    const struct durations *until = &s->experiment->train.until;
    if (session_is_dry(s) && !s->now.steps_total) return !s->dry_end;
    for (int i = 0; i < until->count; i++) {
        const struct duration *bound = &until->items[i];
        if (bound->unit == DURATION_SECONDS) { /* a dry run takes none */
            if (!session_is_dry(s) &&
                session_seconds(s) - s->stage.seconds >= bound->amount)
                return true;
        } else {
            int64_t gone = bound->unit == DURATION_STEPS
                               ? s->now.step - s->stage.step
                               : session_windows(s) - s->stage.windows;
            if (gone >= session_steps(s, bound)) return true;
        }
    }
    return false;
}

void session_begin_window(lathe_session *s) {
    s->samples_before = s->now.samples;
    s->step_before = s->now.step;
    s->windows_before = session_windows(s);
}

/* Does a count pass a multiple of `period` on its way from `before` to `now`? */
static bool passes(int64_t before, int64_t now, double period) {
    return floor((double)now / period) > floor((double)before / period);
}

static bool comes_round(lathe_session *s, struct interval *interval,
                        const struct duration *every) {
    switch (every->unit) {
    case DURATION_SAMPLES:
        return passes(s->samples_before, s->now.samples, every->amount);
    case DURATION_STEPS:
        return passes(s->step_before, s->now.step, every->amount);
    case DURATION_EPOCHS:
        return passes(s->windows_before - s->stage.windows,
                      session_windows(s) - s->stage.windows,
                      every->amount * (double)s->sampler.steps_per_epoch);
    case DURATION_SECONDS: {
        double seconds = session_seconds(s);
        if (session_is_dry(s) || seconds - interval->last_seconds < every->amount)
            return false;
        interval->last_seconds = seconds;
        return true;
    }
    case DURATION_NONE:
        break;
    }
    return false;
}

static void round_interval(lathe_session *s, struct interval *interval) {
    interval->is_due = false;
    for (int i = 0; i < interval->every.count; i++)
        if (comes_round(s, interval, &interval->every.items[i]))
            interval->is_due = true;
}

void session_end_window(lathe_session *s) {
    round_interval(s, &s->log_due);
    round_interval(s, &s->validate_due);
    for (int64_t i = 0; i < s->interval_count; i++) round_interval(s, &s->intervals[i]);
}
