# SPDX-License-Identifier: MIT
"""kernels.json: every kernel's forward and backward, by torch's autograd.

The gradient that comes from above is an array of the same kind as the input: it makes
the loss sum(y * above).
"""
import torch
from torch.nn import functional

from golden import fill, numbers, save

SPECIAL = [0.0, -0.0, 2.0**-10, -(2.0**-10), 0.5, -0.5, -0.75, 3, -3, 6, -6, 20, -20]


def tensor(shape, span, seed):
    return torch.tensor(fill(shape, span, seed), requires_grad=True)


def linear(rows, width, out):
    """y = x . w^T; backward into an array that holds something already (add)."""
    x, w = tensor((rows, width), 2, 1), tensor((out, width), 1, 2)
    above, before = fill((rows, out), 1, 3), fill((out, width), 1, 4)
    y = functional.linear(x, w)
    (y * torch.tensor(above)).sum().backward()
    return {"rows": rows, "in": width, "out": out, "y": numbers(y.detach()),
            "dx": numbers(x.grad), "dw": numbers(w.grad),
            "dw_added": numbers(w.grad + torch.tensor(before))}


def activation(name, function):
    """y = f(x + bias), x and bias added in float32 as the kernel does."""
    rows, width = 4, len(SPECIAL)
    values = fill((rows, width), 4, 5)
    values[0] = SPECIAL
    bias = fill((width,), 1, 6)
    bias[:] = bias * (abs(bias) > 0.5)  # elsewhere the special values stay as they are
    x = torch.tensor(values, dtype=torch.float32)
    shift = torch.tensor(bias, dtype=torch.float32)
    inner = (x + shift).double().requires_grad_()
    y = function(inner)
    (y * torch.tensor(fill((rows, width), 1, 7))).sum().backward()
    return {"activation": name, "rows": rows, "width": width, "special": SPECIAL,
            "y": numbers(y.detach()), "d": numbers(inner.grad),
            "db": numbers(inner.grad.sum(0))}


def cross_entropy(rows, classes, span):
    z = tensor((rows, classes), span, 8)
    labels = [5 * row % classes for row in range(rows)]
    loss = functional.cross_entropy(z, torch.tensor(labels), reduction="sum")
    loss.backward()
    return {"rows": rows, "classes": classes, "span": span, "labels": labels,
            "loss": loss.item(), "d": numbers(z.grad)}


def squared_error(rows, width):
    """MSELoss(reduction="mean") of each row, summed over the rows."""
    y, t = tensor((rows, width), 2, 9), tensor((rows, width), 2, 10)
    loss = functional.mse_loss(y, t.detach(), reduction="mean") * rows
    loss.backward()
    return {"rows": rows, "width": width, "loss": loss.item(), "d": numbers(y.grad)}


save("kernels.json", {
    "linear": [linear(3, 2, 4), linear(1, 5, 1), linear(6, 24, 5)],
    "activation": [activation("relu", torch.relu), activation("tanh", torch.tanh),
                   activation("gelu", functional.gelu)],
    "cross_entropy": [cross_entropy(4, 3, 4), cross_entropy(3, 10, 8),
                      cross_entropy(6, 4, 64)],
    "squared_error": [squared_error(5, 1), squared_error(4, 3)],
})
