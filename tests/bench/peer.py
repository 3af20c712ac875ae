# SPDX-License-Identifier: MIT
"""The other side of ./dev bench mlp: PyTorch, as fast as it goes on this machine.

Started by peer.c, with the environment that it sets, and told what to do on a pipe, one line
each; it answers every line with one, and ends with the pipe:

    tune NAME BATCH          finds out whether `foreach` is faster, keeps it, and says so
    NAME BATCH gather STEPS  trains STEPS steps on samples gathered at random: seconds
    NAME BATCH slice STEPS   the same on samples as they lie in memory: seconds

NAME is sgd or adamw. Model, loss and options are those of mlp.c."""
import ctypes
import gc
import gzip
import signal
import sys
import time

try:
    import torch
except ImportError:
    sys.exit(69)
from torch.nn import Linear, ReLU, Sequential
from torch.nn.functional import cross_entropy

WARM_UP = 5  # steps that bring the caches back, as in session.c
PR_SET_PDEATHSIG = 1


def read_idx(path, header):
    """The values of a file, u8, without its header."""
    with gzip.open(path) as file:
        return torch.frombuffer(bytearray(file.read()), dtype=torch.uint8)[header:]


class Contender:
    """One model with its optimizer, and a place in its shuffled data."""

    def __init__(self, images, labels, name, batch, foreach):
        torch.manual_seed(7)
        self.images, self.labels, self.batch = images, labels, batch
        self.model = Sequential(
            Linear(784, 512), ReLU(inplace=True),
            Linear(512, 256), ReLU(inplace=True), Linear(256, 10))
        parameters = self.model.parameters()
        if name == "sgd":
            self.optimizer = torch.optim.SGD(
                parameters, lr=0.01, momentum=0.9, foreach=foreach)
        else:
            self.optimizer = torch.optim.AdamW(
                parameters, lr=1e-3, weight_decay=0.01, foreach=foreach)
        self.shuffle()

    def shuffle(self):
        self.order = torch.randperm(len(self.labels))
        self.at = 0

    def step(self, gather):
        if self.at + self.batch > len(self.order):
            self.shuffle()
        rows = slice(self.at, self.at + self.batch)
        self.at += self.batch
        if gather:
            indices = self.order[rows]
            x = self.images.index_select(0, indices)
            y = self.labels.index_select(0, indices)
        else:
            x, y = self.images[rows], self.labels[rows]
        self.optimizer.zero_grad(set_to_none=True)
        cross_entropy(self.model(x), y).backward()
        self.optimizer.step()

    def time(self, gather, steps):
        for _ in range(WARM_UP):
            self.step(gather)
        begin = time.perf_counter()
        for _ in range(steps):
            self.step(gather)
        return time.perf_counter() - begin


def tune(make):
    """Both ways in turns; the one whose best turn is faster."""
    both = [make(False), make(True)]
    best = [min(seconds) for seconds in zip(
        *[[contender.time(True, 40) for contender in both] for _ in range(6)])]
    chosen = best[1] < best[0]
    return both[chosen], "foreach" if chosen else "no foreach"


def main():
    threads, folder = int(sys.argv[1]), sys.argv[2]
    # It may be stopped when the bench ends; this reaches it all the same.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    torch.set_flush_denormal(True)  # threads to come inherit it
    torch.set_num_threads(threads)
    images = read_idx(folder + "train-images-idx3-ubyte.gz", 16)
    images = images.reshape(-1, 784).float() / 255
    labels = read_idx(folder + "train-labels-idx1-ubyte.gz", 8).long()
    capability = torch.__config__.show().split("CPU capability usage: ")[1].split()[0]
    blas = ctypes.CDLL("libopenblas.so.0")
    blas.openblas_get_corename.restype = ctypes.c_char_p
    print(f"PyTorch {torch.__version__}, {capability},"
          f" OpenBLAS {blas.openblas_get_corename().decode()}", flush=True)
    contenders = {}
    gc.freeze()
    for line in sys.stdin:
        words = line.split()
        if words[0] == "tune":
            key = tuple(words[1:])
            contenders[key], answer = tune(
                lambda foreach: Contender(images, labels, key[0], int(key[1]), foreach))
        else:
            contender = contenders[tuple(words[:2])]
            answer = contender.time(words[2] == "gather", int(words[3]))
        print(answer, flush=True)


main()
