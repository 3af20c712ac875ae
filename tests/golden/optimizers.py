# SPDX-License-Identifier: MIT
"""optimizer-*.json: 200 updates by every optimizer in all its options.

torch.optim where it has the optimizer (sgd, adamw, rmsprop), the papers' formulas in
numpy where it has not (lion: arXiv 2302.06675, algorithm 2; lamb: arXiv 1904.00962,
algorithm 2). The gradient of update t is fill(count, span, 100 + t) * scale, its rate
lr * (1 + t % 4) / 4.
"""
import numpy
import torch

from golden import fill, numbers, save

STEPS, SHOWN = 200, (1, 2, 10, 200)


class Lion:
    def __init__(self, w, betas=(0.9, 0.99), weight_decay=0.0):
        self.w, self.betas, self.decay = w, betas, weight_decay
        self.slots = {"exp_avg": numpy.zeros_like(w)}

    def step(self, g, lr, _t):
        m = self.slots["exp_avg"]
        c = self.betas[0] * m + (1 - self.betas[0]) * g
        assert (abs(c) > 1e-5 * abs(g).max()).all(), "a sign that rounding could turn"
        self.w -= lr * (numpy.sign(c) + self.decay * self.w)
        m[:] = self.betas[1] * m + (1 - self.betas[1]) * g


class Lamb:
    def __init__(self, w, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.01, adapts=True):
        self.w, self.betas, self.eps, self.decay = w, betas, eps, weight_decay
        self.adapts = adapts
        self.slots = {"exp_avg": numpy.zeros_like(w), "exp_avg_sq": numpy.zeros_like(w)}

    def step(self, g, lr, t):
        (b1, b2), m, v = self.betas, *self.slots.values()
        m[:] = b1 * m + (1 - b1) * g
        v[:] = b2 * v + (1 - b2) * g * g
        r = m / (1 - b1**t) / (numpy.sqrt(v / (1 - b2**t)) + self.eps)
        u = r + self.decay * self.w
        norms = numpy.linalg.norm(self.w), numpy.linalg.norm(u)
        ratio = norms[0] / norms[1] if self.adapts and min(norms) > 0 else 1
        self.w -= lr * ratio * u


class Torch:
    """One of torch.optim's; `names` maps our slots to functions of its state."""

    def __init__(self, kind, names, w, **options):
        self.parameter = torch.nn.Parameter(torch.tensor(w))
        self.optimizer = kind([self.parameter], lr=1, **options)
        self.names = names

    def step(self, g, lr, _t):
        self.parameter.grad = torch.tensor(g)
        self.optimizer.param_groups[0]["lr"] = lr
        self.optimizer.step()

    w = property(lambda self: self.parameter.detach().numpy())

    @property
    def slots(self):
        state = self.optimizer.state[self.parameter]
        return {name: get(state) for name, get in self.names.items()}


def torch_state(*names):
    return {ours: (lambda state, key=theirs: state[key]) for ours, theirs in names}


def make(name, w, options, decays):
    known = dict(options)
    if not decays and name != "lamb":
        known["weight_decay"] = 0
    if name == "sgd":
        momentum = [("momentum", "momentum_buffer")] if "momentum" in known else []
        names = torch_state(*momentum)
        return Torch(torch.optim.SGD, names, w, **known)
    if name == "adamw":
        names = torch_state(("exp_avg", "exp_avg"), ("exp_avg_sq", "exp_avg_sq"))
        return Torch(torch.optim.AdamW, names, w, **known)
    if name == "rmsprop":
        names = torch_state(("square_avg", "square_avg"))
        if known.get("centered"):
            names = torch_state(("grad_avg", "grad_avg"))
            names["variance"] = lambda s: s["square_avg"] - s["grad_avg"] ** 2
        if "momentum" in known:
            names.update(torch_state(("momentum", "momentum_buffer")))
        return Torch(torch.optim.RMSprop, names, w, **known)
    if name == "lion":
        return Lion(w, **known)
    adapt = known.pop("adapt", "decaying")
    if not decays:
        known["weight_decay"] = 0
    return Lamb(w, adapts=decays or adapt == "all", **known)


def case(name, lr, options, count=8, shown=8, span=2, scale=0.25, decays=True):
    optimizer = make(name, fill((count,), 1, 1), options, decays)
    weights = {}
    for t in range(1, STEPS + 1):
        g = fill((count,), span, 100 + t) * scale
        optimizer.step(g, lr * (1 + t % 4) / 4, t)
        if t in SHOWN:
            weights[str(t)] = numbers(optimizer.w[:shown])
    return {"options": {"lr": lr, **options}, "count": count, "span": span,
            "scale": scale, "decays": decays, "weights": weights,
            "slots": {k: numbers(v[:shown]) for k, v in optimizer.slots.items()}}


def cases(name, *rest):
    save(f"optimizer-{name}.json", {"optimizer": name, "cases": list(rest)})


MOMENTUM = {"momentum": 0.9}


def main():
    cases("sgd",
          case("sgd", 0.125, {}),
          case("sgd", 0.125, {"weight_decay": 0.25}),
          case("sgd", 0.125, {"weight_decay": 0.25}, decays=False),
          case("sgd", 0.0625, MOMENTUM),
          case("sgd", 0.0625, {**MOMENTUM, "dampening": 0.5}),
          case("sgd", 0.0625, {**MOMENTUM, "weight_decay": 0.125}),
          case("sgd", 0.0625, {**MOMENTUM, "dampening": 0.25, "weight_decay": 0.125}),
          case("sgd", 0.0625, {**MOMENTUM, "nesterov": True}),
          case("sgd", 0.0625, {**MOMENTUM, "nesterov": True, "weight_decay": 0.125}))
    cases("adamw",
          case("adamw", 0.01, {}),
          case("adamw", 0.01, {"weight_decay": 0.5}),
          case("adamw", 0.01, {"weight_decay": 0.5}, decays=False),
          case("adamw", 0.01, {"betas": [0.5, 0.75], "eps": 0.25, "weight_decay": 0}),
          case("adamw", 0.01, {"betas": [0.0, 0.0], "eps": 0.25}),
          case("adamw", 0.01, {}, scale=2.0**-28))
    cases("rmsprop",
          case("rmsprop", 0.01, {}),
          case("rmsprop", 0.01, {"alpha": 0.75, "eps": 0.25, "weight_decay": 0.25}),
          case("rmsprop", 0.01, {"weight_decay": 0.25}, decays=False),
          case("rmsprop", 0.005, MOMENTUM),
          case("rmsprop", 0.01, {"centered": True}),
          case("rmsprop", 0.005, {**MOMENTUM, "centered": True, "weight_decay": 0.125}),
          case("rmsprop", 0.01, {}, scale=2.0**-28))
    cases("lion",
          case("lion", 0.01, {}),
          case("lion", 0.01, {"betas": [0.75, 0.5], "weight_decay": 0.5}),
          case("lion", 0.01, {"weight_decay": 0.5}, decays=False))
    cases("lamb",
          case("lamb", 0.01, {}, count=530),
          case("lamb", 0.01, {"betas": [0.5, 0.75], "eps": 0.25, "weight_decay": 0.5}),
          case("lamb", 0.01, {}, decays=False),
          case("lamb", 0.01, {"adapt": "all"}, decays=False),
          case("lamb", 0.01, {}, scale=2.0**-28))


if __name__ == "__main__":
    main()
