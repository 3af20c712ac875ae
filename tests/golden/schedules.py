# SPDX-License-Identifier: MIT
"""schedules.json: the factor before every step, by torch.optim.lr_scheduler.

A scheduler of torch's that has been stepped k times gives the rate of update k + 1, as
factor(step = k) does. Torch has no warm-up: here it is (k + 1) / w for k < w, times the
schedule's beginning; what comes after is torch's own, begun after the warm-up, but for
stairs, which count from the start of the run. 10 steps are an epoch.
"""
import warnings

import torch
from torch.optim import lr_scheduler

from golden import fill, numbers, save

warnings.filterwarnings("ignore", message=".*lr_scheduler.step.*")


def rates(make, count, step=lambda scheduler, k: scheduler.step()):
    """The first `count` rates of a scheduler whose optimizer has lr 1."""
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    scheduler = make(optimizer)
    found = []
    for k in range(count):
        found.append(optimizer.param_groups[0]["lr"])
        step(scheduler, k)
    return found


def rise(k, warmup):
    return (k + 1) / warmup if k < warmup else 1


def after(warmup, steps, make):
    """Warm-up, then torch's from its beginning."""
    rest = rates(make, steps - warmup)
    return [rest[0] * rise(k, warmup) for k in range(warmup)] + rest


def case(name, options, steps, factors, **more):
    return {"schedule": name, "options": options, "steps": steps, **more,
            "factors": numbers(factors, 17)}


def warm(warmup):
    return {"warmup": f"{warmup}step"} if warmup else {}


def cosine(warmup, floor, steps=25):
    options = {"floor": floor, **warm(warmup)}
    return case("cosine", options, steps, after(
        warmup, steps,
        lambda o: lr_scheduler.CosineAnnealingLR(o, steps - warmup, eta_min=floor)))


def linear(warmup, start, end, over=None, steps=25):
    options = {"from": start, "to": end, **warm(warmup)}
    if over:
        options["over"] = f"{over}step"
    return case("linear", options, steps, after(
        warmup, steps,
        lambda o: lr_scheduler.LinearLR(o, start, end, over or steps - warmup)))


def stairs(warmup, every, factor, steps=25):
    options = {"every": f"{every}step", "factor": factor, **warm(warmup)}
    found = rates(lambda o: lr_scheduler.StepLR(o, every, gamma=factor), steps)
    return case("step", options, steps,
                [f * rise(k, warmup) for k, f in enumerate(found)])


def polynomial(warmup, power, steps=25):
    options = {"power": power, **warm(warmup)}
    return case("polynomial", options, steps, after(
        warmup, steps, lambda o: lr_scheduler.PolynomialLR(o, steps - warmup, power)))


def onecycle(top, pct_start, div, final, shape, steps=25):
    options = {"max": top, "pct_start": pct_start, "div_factor": div,
               "final_div_factor": final, "shape": shape}
    return case("onecycle", options, steps, rates(
        lambda o: lr_scheduler.OneCycleLR(
            o, top, total_steps=steps, pct_start=pct_start, div_factor=div,
            final_div_factor=final, anneal_strategy=shape[:3].replace("lin", "linear"),
            cycle_momentum=False),
        steps, lambda s, k: s.step() if k < steps - 1 else None))


def plateau(direction, threshold_mode="relative", threshold=2.0**-7, **options):
    """A value is observed after each step, then the factor is asked for."""
    noise = fill((40,), 0.5, 11)
    sign = 1 if direction == "lower" else -1
    values = [3 + sign * float(2.0 ** (-k / 4) + noise[k] / 16) for k in range(40)]
    wanted = {"factor": 0.5, "patience": 3, "cooldown": 0, "min": 0, **options}
    found = rates(
        lambda o: lr_scheduler.ReduceLROnPlateau(
            o, {"lower": "min", "higher": "max"}[direction], factor=wanted["factor"],
            patience=wanted["patience"] - 1, threshold=threshold,
            threshold_mode=threshold_mode[:3], cooldown=wanted["cooldown"],
            min_lr=wanted["min"], eps=0),
        len(values), lambda s, k: s.step(values[k]))
    assert found[-1] < 1
    return case("plateau", {"direction": direction, "threshold": threshold,
                            "threshold_mode": threshold_mode, **wanted},
                len(found), found, observed=numbers(values, 17))


save("schedules.json", {"cases": [
    cosine(0, 0.0), cosine(5, 0.125),
    linear(0, 0.25, 1.0, over=10), linear(0, 1.0, 0.0), linear(5, 0.75, 0.25),
    linear(3, 1.0, 0.5, over=8),
    stairs(0, 4, 0.5), stairs(6, 4, 0.5),
    polynomial(0, 1.0), polynomial(0, 2.0), polynomial(5, 0.5),
    onecycle(1.0, 0.3, 25.0, 1e4, "cosine"), onecycle(0.5, 0.6, 4.0, 8.0, "linear"),
    onecycle(2.0, 0.5, 10.0, 100.0, "cosine", steps=24),
    plateau("lower"), plateau("higher"), plateau("lower", "absolute", 2.0**-5),
    plateau("lower", cooldown=4), plateau("higher", patience=2, min=0.1875),
    plateau("lower", patience=1, factor=0.75),
]})
