# SPDX-License-Identifier: MIT
# What manifests/fashion-mlp.json asks for, as one would write it with PyTorch; for
# ./dev bench words, which counts its lines and times its first record.
import argparse
import gzip
import json
import math
import os
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

DATA = "/usr/share/datasets/fashion-mnist/"
EPOCHS, BATCH, PATIENCE, LOG_EVERY = 10, 128, 3, 50


def read_idx(name, header):
    with gzip.open(DATA + name) as file:
        return torch.frombuffer(bytearray(file.read()), dtype=torch.uint8)[header:]


def load(split):
    images = read_idx(f"{split}-images-idx3-ubyte.gz", 16).reshape(-1, 784)
    labels = read_idx(f"{split}-labels-idx1-ubyte.gz", 8)
    return TensorDataset(images.float() / 255, labels.long())


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    loss = right = count = 0
    for x, y in loader:
        output = model(x)
        loss += nn.functional.cross_entropy(output, y, reduction="sum").item()
        right += (output.argmax(1) == y).sum().item()
        count += len(y)
    model.train()
    return {"loss": loss / count, "accuracy": right / count}


def save(path, **state):
    torch.save(state, path + ".new")
    os.replace(path + ".new", path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--run-dir", default="run")
    folder = parser.parse_args().run_dir
    os.makedirs(folder)
    torch.manual_seed(7)
    data = load("train")
    train = DataLoader(Subset(data, range(55000)), BATCH, shuffle=True)
    validation = DataLoader(Subset(data, range(55000, 60000)), BATCH)

    model = nn.Sequential(
        nn.Linear(784, 512), nn.ReLU(),
        nn.Linear(512, 256), nn.ReLU(),
        nn.Linear(256, 10))
    weights = [p for p in model.parameters() if p.ndim > 1]
    biases = [p for p in model.parameters() if p.ndim == 1]
    optimizer = torch.optim.AdamW([
        {"params": weights, "weight_decay": 0.01},
        {"params": biases, "weight_decay": 0.0}], lr=0.001)
    warmup, steps = len(train), EPOCHS * len(train)

    def factor(step):
        if step < warmup:
            return (step + 1) / warmup
        return (1 + math.cos(math.pi * (step - warmup) / (steps - warmup))) / 2

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
    metrics = open(os.path.join(folder, "metrics.jsonl"), "w")

    def record(split, values):
        line = json.dumps({"split": split, "epoch": epoch, "step": step, "metrics": values})
        print(line, flush=True)
        print(line, file=metrics, flush=True)

    step, best, bad_epochs = 0, 0, 0
    for epoch in range(1, EPOCHS + 1):
        loss = right = count = 0
        for x, y in train:
            optimizer.zero_grad()
            output = model(x)
            batch_loss = nn.functional.cross_entropy(output, y)
            batch_loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            step += 1
            loss += batch_loss.item() * len(y)
            right += (output.argmax(1) == y).sum().item()
            count += len(y)
            if not math.isfinite(loss):
                sys.exit("the loss is not finite")
            if step % LOG_EVERY == 0 or step % len(train) == 0:
                record("train", {"loss": loss / count, "accuracy": right / count})
                loss = right = count = 0
        values = evaluate(model, validation)
        record("validation", values)
        save(os.path.join(folder, "checkpoint.pt"), model=model.state_dict(),
             optimizer=optimizer.state_dict(), schedule=schedule.state_dict(),
             epoch=epoch, step=step, best=best, bad_epochs=bad_epochs)
        if values["accuracy"] > best:
            best, bad_epochs = values["accuracy"], 0
        else:
            bad_epochs += 1
            if bad_epochs == PATIENCE:
                break
    values = evaluate(model, DataLoader(load("t10k"), BATCH))
    record("test", values)
    if values["accuracy"] < 0.88:
        sys.exit("test accuracy is below 0.88")


if __name__ == "__main__":
    main()
