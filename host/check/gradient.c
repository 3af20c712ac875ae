/* SPDX-License-Identifier: MIT */
/* The gradient against finite differences of the loss.
 *
 * Along a direction v, D(h) = (F(w + hv) - F(w - hv)) / 2h is the slope up to c h^2 and
 * up to e |F| / h, where e is the rounding of float32; R(h) = (4 D(h/2) - D(h)) / 3 is
 * free of the first. Where F has a kink within the steps (relu), D tends to a mean of
 * both sides: J(h) = (F(w + hv) - 2 F(w) + F(w - hv)) / h tends to 0 with h where F is
 * smooth, and K(h) = 2 J(h/2) - J(h) faster, but to the sum of the jumps where it is
 * not. Over halving steps the R is taken whose neighbours, K and rounding are the least
 * together; that is its uncertainty.
 *
 * Directions lie in one parameter at a time: along its gradient (which sees every wrong
 * factor), at random (which sees what is missing across it), and single elements. What
 * is off is tried with other steps, and with other weights: a wrong gradient is wrong
 * nearly everywhere, and kinks that hide from K lie elsewhere. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "check/model_fixture.h"
#include "check/tests.h"

#define ROWS 5 /* few, so that there are few kinks */
#define STEPS 10
#define WIDEST 0.25 /* of a direction of length 1 */
#define ROUNDING (4.0 * (double)FLT_EPSILON)
#define TOLERANCE 1e-3 /* of the slope; wrong by 1 % must be found */
#define UNCERTAINTIES 4
#define TELLING 2.5e-3 /* an uncertainty of so much of the gradient still tells */
#define ELSEWHERE 8    /* other weights, where it is not clear what the slope is */
enum { AT_RANDOM = 3, ELEMENTS = 5, DIRECTIONS = 1 + AT_RANDOM + ELEMENTS };
enum { PURPOSE_DIRECTION = 300 };

struct probe {
    struct model_fixture *model;
    const struct parameter *parameter;
    float *moved;     /* a block: the weights, moved */
    float *direction; /* [parameter->count], of length 1 */
    double size;      /* length of the parameter's gradient */
};

struct slope {
    double value, uncertainty;
};

static double loss_at(const struct probe *probe, double h) {
    const struct parameter *p = probe->parameter;
    const float *w = probe->model->weights + p->offset;
    for (int64_t i = 0; i < p->count; i++)
        probe->moved[p->offset + i] =
            (float)((double)w[i] + h * (double)probe->direction[i]);
    const double loss = model_fixture_loss(probe->model, probe->moved);
    memcpy(probe->moved + p->offset, w, (size_t)p->count * sizeof *w);
    return loss;
}

static double largest(const double *x) {
    return fmax(fabs(x[1] - x[0]), fabs(x[2] - x[1]));
}

static struct slope measure(const struct probe *probe, double widest) {
    double r[STEPS - 1], kinks[STEPS - 1], d[STEPS], j[STEPS], rounding[STEPS];
    struct slope best = {.value = NAN, .uncertainty = HUGE_VAL};
    const double here = loss_at(probe, 0);
    for (int k = 0; k < STEPS; k++) {
        const double h = ldexp(widest, -k);
        const double above = loss_at(probe, h), below = loss_at(probe, -h);
        d[k] = (above - below) / (2 * h);
        j[k] = (above - 2 * here + below) / h;
        rounding[k] = ROUNDING * (fabs(above) + fabs(below)) / (2 * h);
    }
    for (int k = 0; k + 1 < STEPS; k++) {
        r[k] = (4 * d[k + 1] - d[k]) / 3;
        kinks[k] = fabs(2 * j[k + 1] - j[k]);
    }
    for (int k = 0; k + 3 < STEPS; k++) {
        const double uncertainty =
            largest(&r[k]) + fmax(kinks[k], kinks[k + 1]) / 2 + rounding[k + 1];
        if (!(uncertainty < best.uncertainty)) continue;
        best = (struct slope){.value = r[k + 1], .uncertainty = uncertainty};
    }
    return best;
}

/* The n-th direction; false: it is none. */
static bool choose(const struct probe *probe, int n) {
    const struct check *check = probe->model->fixture->check;
    const struct parameter *p = probe->parameter;
    const float *g = probe->model->gradients + p->offset;
    const uint32_t purpose = PURPOSE_DIRECTION + (uint32_t)n;
    double length = 0;
    memset(probe->direction, 0, (size_t)p->count * sizeof(float));
    if (n > AT_RANDOM) {
        const uint32_t draw = check_draw(check, purpose, (uint64_t)p->offset);
        probe->direction[draw % (uint64_t)p->count] = 1;
        return true;
    }
    for (int64_t i = 0; i < p->count; i++) {
        probe->direction[i] =
            n ? (float)check_normal(check, purpose, (uint64_t)(p->offset + i)) : g[i];
        length += (double)probe->direction[i] * (double)probe->direction[i];
    }
    length = sqrt(length);
    for (int64_t i = 0; length > 0 && i < p->count; i++)
        probe->direction[i] = (float)((double)probe->direction[i] / length);
    return length > 0;
}

static double claim(const struct probe *probe) {
    const struct parameter *p = probe->parameter;
    const float *g = probe->model->gradients + p->offset;
    double sum = 0;
    for (int64_t i = 0; i < p->count; i++)
        sum += (double)g[i] * (double)probe->direction[i];
    return sum;
}

static bool is_off(double claimed, struct slope slope) {
    return !(fabs(slope.value - claimed) <=
             UNCERTAINTIES * slope.uncertainty + TOLERANCE * fabs(claimed));
}

static bool tell(const struct probe *probe, int n, double claimed, struct slope slope) {
    static const char *const ways[] = {"along it", "along a random direction",
                                       "along one element"};
    const double weight = probe->model->pass.weight_sum, ratio = slope.value / claimed;
    const char *what = ways[n == 0 ? 0 : n <= AT_RANDOM ? 1 : 2];
    if (weight > 1 && fabs(ratio / weight - 1) < 0.05)
        return check_fail(probe->model->fixture->check,
                          "the gradient of %s is 1/%g of the loss's slope (%.6g, not "
                          "%.6g): the gradient of the sum of the losses is wanted, not "
                          "of their mean",
                          probe->parameter->name, weight, claimed, slope.value);
    return check_fail(
        probe->model->fixture->check,
        "the gradient of %s is wrong: %s it is %.6g and the loss's slope "
        "is %.6g (uncertain by %.1g), %.2g %% of the gradient off",
        probe->parameter->name, what, claimed, slope.value, slope.uncertainty,
        100 * fabs(slope.value - claimed) / fmax(probe->size, fabs(slope.value)));
}

struct findings {
    double worst;      /* error, as a share of the gradient */
    const char *vague; /* a parameter of which nothing can be told; or NULL */
};

static void note_error(const struct probe *probe, struct slope slope,
                       struct findings *found) {
    const double error = fabs(slope.value - claim(probe)) / probe->size;
    found->worst = fmax(found->worst, error);
}

static double size_of_gradient(const struct probe *probe) {
    const struct parameter *p = probe->parameter;
    double sum = 0;
    for (int64_t i = 0; i < p->count; i++) {
        const double g = (double)probe->model->gradients[p->offset + i];
        sum += g * g;
    }
    return sqrt(sum);
}

static bool compute_gradient(struct probe *probe) {
    struct model_fixture *model = probe->model;
    if (!model_fixture_forward(model, LATHE_TRAIN, 0, model->rows) ||
        !model_fixture_backward(model, model->gradients, false))
        return false;
    memcpy(probe->moved, model->weights,
           (size_t)model->parameters.size * sizeof(float));
    return true;
}

/* Is the direction off at other steps too, and so with other weights? Tells if so. */
static bool is_wrong(struct probe *probe, int n, double claimed, struct slope slope) {
    const int own = probe->model->fixture->variation;
    bool is_off_elsewhere = false;
    if (!is_off(claimed, measure(probe, WIDEST * 0.37))) return false;
    for (int elsewhere = 1; elsewhere < 3; elsewhere++) {
        model_fixture_spread(probe->model, own + 7 * elsewhere);
        if (!compute_gradient(probe)) return true;
        if (choose(probe, n) && is_off(claim(probe), measure(probe, WIDEST)))
            is_off_elsewhere = true;
    }
    model_fixture_spread(probe->model, own);
    if (!compute_gradient(probe)) return true;
    if (is_off_elsewhere) tell(probe, n, claimed, slope);
    return is_off_elsewhere;
}

/* Along the gradient, with other weights and rows until it is clear what the slope
 * is. */
static bool look_elsewhere(struct probe *probe, struct findings *found) {
    struct model_fixture *model = probe->model;
    const int64_t rows = model->rows;
    bool is_told = false, is_well = true;
    for (int i = 1; is_well && !is_told && i <= ELSEWHERE; i++) {
        model->rows = i % 2 && model->least_rows == 1 ? 1 : rows;
        model_fixture_spread(model, model->fixture->variation + 7 * i);
        is_well = compute_gradient(probe);
        probe->size = size_of_gradient(probe);
        if (!is_well || !choose(probe, 0)) continue;
        const struct slope slope = measure(probe, WIDEST);
        is_told = slope.uncertainty <= TELLING * probe->size;
        if (is_off(claim(probe), slope) &&
            is_off(claim(probe), measure(probe, WIDEST / 3)))
            return tell(probe, 0, claim(probe), slope);
        if (is_told) note_error(probe, slope, found);
    }
    if (!is_told) found->vague = probe->parameter->name;
    model->rows = rows;
    model_fixture_spread(model, model->fixture->variation);
    return is_well && compute_gradient(probe);
}

static bool try_direction(struct probe *probe, int n, struct findings *found) {
    if (!choose(probe, n)) return true;
    const double claimed = claim(probe);
    const struct slope slope = measure(probe, WIDEST);
    if (is_off(claimed, slope)) return !is_wrong(probe, n, claimed, slope);
    if (n == 0 && slope.uncertainty > TELLING * probe->size)
        return look_elsewhere(probe, found);
    if (n == 0) note_error(probe, slope, found);
    return !check_is_failed(probe->model->fixture->check);
}

static bool try_parameter(struct probe *probe, struct findings *found) {
    probe->size = size_of_gradient(probe);
    if (!isfinite(probe->size))
        return check_fail(probe->model->fixture->check,
                          "the gradient of %s is not finite", probe->parameter->name);
    for (int n = 0; n < DIRECTIONS; n++)
        if (!try_direction(probe, n, found)) return false;
    return true;
}

static bool try_all(struct model_fixture *model, struct probe *probe) {
    struct check *check = model->fixture->check;
    struct findings found = {0};
    const double end = clock_seconds() + check->time_limit / 6;
    int64_t left_out = 0;
    if (model->rows > ROWS && model->least_rows <= ROWS) model->rows = ROWS;
    if (!compute_gradient(probe)) return false;
    for (int64_t i = 0; i < model->parameters.count; i++) {
        probe->parameter = &model->parameters.items[i];
        if (!model_fixture_is_trained(model, i)) continue;
        if (clock_seconds() > end)
            left_out++;
        else if (!try_parameter(probe, &found))
            return false;
    }
    if (found.vague)
        check_warn(check,
                   "the loss is too rough, or too flat, to tell whether the "
                   "gradient of %s is right",
                   found.vague);
    else if (left_out)
        check_warn(check, "no time for %lld of the parameters: --time-limit gives more",
                   (long long)left_out);
    check_note(check, "off by at most %.1e of it", found.worst);
    return true;
}

static bool gradient(struct model_fixture *model) {
    struct probe probe = {.model = model,
                          .moved = model_fixture_block(model),
                          .direction = model_fixture_block(model)};
    const bool is_well = probe.moved && probe.direction
                             ? try_all(model, &probe)
                             : check_fail(model->fixture->check, "out of memory");
    block_destroy(probe.moved, model->parameters.size);
    block_destroy(probe.direction, model->parameters.size);
    return is_well;
}

void test_model_gradient(struct check *check) {
    model_fixture_each(check, gradient);
}
