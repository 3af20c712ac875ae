# SPDX-License-Identifier: MIT
"""mlp-*.json: 50 steps of a small network from given weights, by torch in float64.

Each file holds a whole experiment, as lathe runs it, the loss of every step and the
weights after the last. Data, first weights and the order of samples are formulas that
test_mlp.c has too: inputs are fill(…, 1, 1), numbers to predict fill(…, 1, 2), weights
and biases of layer i fill(…, 0.5, 20 + 2i) and fill(…, 0.5, 21 + 2i), and the sample at
position p of epoch e is (7p + 31e) mod 120.
"""
import math

import torch
from torch.nn import functional

from golden import fill, numbers, save
from optimizers import Lamb

STEPS, SAMPLES, FEATURES, CLASSES, TARGETS = 50, 120, 16, 3, 2
INPUTS = torch.tensor(fill((SAMPLES, FEATURES), 1, 1))
TEACHER = torch.tensor(fill((FEATURES, CLASSES), 1, 3))
LABELS = [int(best) for best in (INPUTS @ TEACHER).argmax(1)]
NUMBERS = torch.tensor(fill((SAMPLES, TARGETS), 1, 2))


class EachLamb:
    """Lamb for every parameter on its own."""

    def __init__(self, parameters, options):
        self.parts = []
        for p in parameters:
            decays = p.ndim > 1
            decay = options.get("weight_decay", 0.01) if decays else 0
            known = {**options, "weight_decay": decay}
            self.parts.append((p, Lamb(p.detach().numpy(), adapts=decays, **known)))

    def step(self, lr, t):
        for p, lamb in self.parts:
            lamb.step(p.grad.numpy(), lr, t)


class Torch:
    """torch.optim's; biases do not decay."""

    def __init__(self, kind, parameters, options):
        plain = [p for p in parameters if p.ndim == 1]
        groups = [{"params": [p for p in parameters if p.ndim > 1]},
                  {"params": plain, "weight_decay": 0}]
        self.optimizer = kind(groups, lr=1, **options)

    def step(self, lr, _t):
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        self.optimizer.step()


def make_optimizer(spec, parameters):
    options = {k: v for k, v in spec.items() if k not in ("use", "lr")}
    if spec["use"] == "lamb":
        return EachLamb(parameters, options)
    kinds = {"sgd": torch.optim.SGD, "adamw": torch.optim.AdamW,
             "rmsprop": torch.optim.RMSprop}
    return Torch(kinds[spec["use"]], parameters, options)


def factor(spec, step):
    """The two schedules used here; schedules.py proves them."""
    warmup = int(spec.get("warmup", "0step")[:-4])
    if not spec:
        return 1
    if step < warmup:
        return (step + 1) / warmup
    t = (step - warmup) / (STEPS - warmup)
    return (1 + math.cos(math.pi * t)) / 2 if spec["use"] == "cosine" else 1 - t


def windows(train):
    """The samples of each step: of an epoch, as many as there are."""
    size, epoch = train["batch"] * train.get("accumulate", 1), 0
    while True:
        epoch += 1
        order = [(7 * p + 31 * epoch) % SAMPLES for p in range(SAMPLES)]
        yield from (order[first:first + size] for first in range(0, SAMPLES, size))


def train(experiment):
    model, is_classifier = experiment["model"], "labels" in experiment["data"]["train"]
    widths = [FEATURES, *model["hidden"], CLASSES if is_classifier else TARGETS]
    shapes = [s for i, o in zip(widths, widths[1:]) for s in ((o, i), (o,))]
    parameters = [torch.tensor(fill(shape, 0.5, 20 + i), requires_grad=True)
                  for i, shape in enumerate(shapes)]
    function = {"relu": torch.relu, "gelu": functional.gelu, "tanh": torch.tanh}
    optimizer = make_optimizer(experiment["optimizer"], parameters)
    losses, nearest = [], math.inf
    for step, rows in zip(range(STEPS), windows(experiment["train"])):
        x = INPUTS[rows]
        for i in range(0, len(parameters), 2):
            if i:
                nearest = min(nearest, abs(x).min().item())
                x = function[model["activation"]](x)
            x = functional.linear(x, parameters[i], parameters[i + 1])
        loss = (functional.cross_entropy(x, torch.tensor([LABELS[r] for r in rows]))
                if is_classifier else functional.mse_loss(x, NUMBERS[rows]))
        for p in parameters:
            p.grad = None
        loss.backward()
        clip(parameters, experiment["train"].get("clip_norm", 0))
        rate = factor(experiment.get("schedule", {}), step)
        optimizer.step(rate * experiment["optimizer"]["lr"], step + 1)
        losses.append(loss.item())
    if model["activation"] == "relu":
        assert nearest > 2e-6, "a kink that rounding could cross"
    names = [f"layers.{i // 2}.{'bias' if i % 2 else 'weight'}"
             for i in range(len(shapes))]
    return losses, {n: numbers(p.detach()) for n, p in zip(names, parameters)}


def clip(parameters, most):
    norm = math.sqrt(sum((p.grad**2).sum().item() for p in parameters))
    if most and norm > most:
        for p in parameters:
            p.grad *= most / norm


def golden(name, model, optimizer, train_options, classifies=True, **more):
    data = {"use": "golden"}
    if classifies:
        data["labels"] = LABELS
    experiment = {"lathe": 1, "name": name, "seed": 1, "data": {"train": data},
                  "model": {"use": "mlp", **model}, "optimizer": optimizer, **more,
                  "train": {"until": f"{STEPS}step", "log": "1step", **train_options}}
    losses, weights = train(experiment)
    assert losses[-1] < losses[0]
    save(f"mlp-{name}.json", {"experiment": experiment, "losses": numbers(losses),
                              "weights": weights})


golden("sgd", {"hidden": [12, 8], "activation": "relu"},
       {"use": "sgd", "lr": 0.125, "momentum": 0.9, "nesterov": True,
        "weight_decay": 0.0078125}, {"batch": 120})
golden("adamw", {"hidden": [10, 6], "activation": "gelu"},
       {"use": "adamw", "lr": 0.03125, "weight_decay": 0.125}, {"batch": 16},
       schedule={"use": "cosine", "warmup": "5step"})
golden("rmsprop", {"hidden": [10], "activation": "tanh"},
       {"use": "rmsprop", "lr": 0.0078125, "alpha": 0.9, "centered": True,
        "momentum": 0.5},
       {"batch": 16, "accumulate": 2, "clip_norm": 0.25}, classifies=False)
golden("lamb", {"hidden": [10, 6], "activation": "relu"},
       {"use": "lamb", "lr": 0.0625}, {"batch": 40},
       schedule={"use": "linear"})
