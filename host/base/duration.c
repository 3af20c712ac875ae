/* SPDX-License-Identifier: MIT */
#include "duration.h"

#include <math.h>
#include <string.h>

#include "nearest.h"
#include "text.h"

#define WHOLE_MAX 0x1p53 /* below, a double holds every whole number */

static const struct unit {
    const char *name;
    enum duration_unit unit;
    double seconds; /* per unit; 1 for what is no time */
} units[] = {
    {"ep", DURATION_EPOCHS, 1},      {"step", DURATION_STEPS, 1},
    {"sample", DURATION_SAMPLES, 1}, {"min", DURATION_SECONDS, 60},
    {"h", DURATION_SECONDS, 3600},   {"s", DURATION_SECONDS, 1},
};

/* What people write instead. */
static const char *const habits[][2] = {
    {"epoch", "ep"}, {"epochs", "ep"},      {"e", "ep"},       {"steps", "step"},
    {"it", "step"},  {"samples", "sample"}, {"minute", "min"}, {"minutes", "min"},
    {"m", "min"},    {"hour", "h"},         {"hours", "h"},    {"hr", "h"},
    {"second", "s"}, {"seconds", "s"},      {"sec", "s"},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The unit that was probably meant; "": no idea. */
static const char *guess_unit(const char *name) {
    struct nearest nearest;
    nearest_begin(&nearest, name);
    for (size_t i = 0; i < COUNT(units); i++) nearest_offer(&nearest, units[i].name);
    for (size_t i = 0; i < COUNT(habits); i++) nearest_offer(&nearest, habits[i][0]);
    const char *best = nearest.best ? nearest.best : "", *guess = "";
    for (size_t i = 0; i < COUNT(habits); i++)
        if (strcmp(best, habits[i][0]) == 0) guess = habits[i][1];
    for (size_t i = 0; i < COUNT(units); i++)
        if (strcmp(best, units[i].name) == 0) guess = units[i].name;
    return guess;
}

static lathe_status fail_bare(const char *text, double amount, struct error *err) {
    fail(err, LATHE_EINVAL, "\"%.60s\" is a bare number: a duration needs a unit",
         text);
    if (!(amount > 0))
        error_help(err,
                   "write a number greater than 0 and a unit: " DURATION_SPELLINGS);
    else if (amount == trunc(amount))
        error_help(err,
                   "write \"%.20sep\", \"%.20sstep\", \"%.20ssample\", \"%.20smin\", "
                   "\"%.20sh\" or \"%.20ss\"",
                   text, text, text, text, text, text);
    else
        error_help(err, "write \"%.20sep\", \"%.20smin\", \"%.20sh\" or \"%.20ss\"",
                   text, text, text, text);
    return LATHE_EINVAL;
}

static lathe_status fail_unit(const char *text, const char *unit, struct error *err) {
    fail(err, LATHE_EINVAL, "\"%.60s\" has the unknown unit \"%.60s\"", text, unit);
    const char *guess = guess_unit(unit + strspn(unit, " "));
    int digits = (int)(unit - text);
    if (*guess)
        error_help(err,
                   "did you mean \"%.*s%s\"? Units are ep, step, sample, min, h, s",
                   digits < 40 ? digits : 40, text, guess);
    else
        error_help(err, "units are ep, step, sample, min, h, s");
    return LATHE_EINVAL;
}

lathe_status duration_parse(const char *text, struct duration *duration,
                            struct error *err) {
    const char *end;
    double amount = text_read_number(text, &end);
    if (end == text) {
        fail(err, LATHE_EINVAL, "\"%.60s\" is not a duration", text);
        error_help(err, "write a number and a unit: " DURATION_SPELLINGS);
        return LATHE_EINVAL;
    }
    const struct unit *unit = NULL;
    for (size_t i = 0; i < COUNT(units); i++)
        if (strcmp(end, units[i].name) == 0) unit = &units[i];
    if (!*end) return fail_bare(text, amount, err);
    if (!unit) return fail_unit(text, end, err);
    bool is_counted = unit->unit == DURATION_STEPS || unit->unit == DURATION_SAMPLES;
    if (!(amount > 0)) {
        fail(err, LATHE_EINVAL, "\"%.60s\": a duration is greater than 0", text);
        return LATHE_EINVAL;
    }
    if (is_counted && amount != trunc(amount)) {
        fail(err, LATHE_EINVAL, "\"%.60s\": a number of %ss is whole", text,
             unit->name);
        error_help(err, "write \"%.0f%s\"", ceil(amount), unit->name);
        return LATHE_EINVAL;
    }
    if (amount * unit->seconds >= WHOLE_MAX) {
        fail(err, LATHE_EINVAL, "\"%.60s\" is too long", text);
        error_help(err, "less than 9007199254740992 epochs, steps, samples or seconds");
        return LATHE_EINVAL;
    }
    duration->unit = unit->unit;
    duration->amount = amount * unit->seconds;
    return LATHE_OK;
}

int64_t duration_steps(const struct duration *duration, int64_t steps_per_epoch,
                       int64_t samples_per_step) {
    if (duration->unit == DURATION_STEPS) return (int64_t)duration->amount;
    if (duration->unit == DURATION_SAMPLES && samples_per_step > 0)
        return ((int64_t)duration->amount - 1) / samples_per_step + 1;
    if (duration->unit != DURATION_EPOCHS || steps_per_epoch <= 0) return 0;
    double steps = duration->amount * (double)steps_per_epoch;
    if (steps >= 0x1p62) return INT64_C(1) << 62;
    /* "0.07ep" of 100 steps is 7 steps, though the product is a little more than 7. */
    double whole = round(steps);
    if (fabs(steps - whole) > 1e-15 * steps) whole = ceil(steps);
    return whole < 1 ? 1 : (int64_t)whole;
}
