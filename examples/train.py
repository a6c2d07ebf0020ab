#!/usr/bin/env python3
"""Trains a graph network on a labelled graph: gnntune's layers beside PyTorch Geometric's, the same seeds and splits.

    python3 train.py [GRAPH.npz] [--model GCN] [--seeds 10] [--epochs 200] [--sparse] [--budget SECONDS]

GRAPH.npz has features, labels and splits, and the graph NAME.mtx, .mtx.gz or .mtx.xz beside it (gnntune.models.load;
default: the repository's data/cora.npz). Needs torch, PyTorch Geometric and gnntune (docs/python.md); uses a GPU if
there is one. Prints accuracy on the test vertices, mean and standard deviation over seeds, the time of an epoch and the
peak memory of both; --csv FILE gets a row for each seed and side. Seed s begins with the same weights on both sides and
takes split s, modulo the number of splits. --sparse gives ours the features as they stand in the file, without zeros.
"""

import argparse
import csv
import statistics
import time
from pathlib import Path

import torch
import torch_geometric.nn as nn

import gnntune.models as models
import gnntune.pyg as gp
import gnntune.torch as gt

parser = argparse.ArgumentParser()
parser.add_argument("graph", nargs="?", default=str(Path(__file__).parents[1] / "data/cora.npz"))
parser.add_argument("--model", default="GCN", choices=list(models.MODELS))
parser.add_argument("--hidden", type=int, default=64)
parser.add_argument("--layers", type=int, default=2)
parser.add_argument("--seeds", type=int, default=10)
parser.add_argument("--epochs", type=int, default=200)
parser.add_argument("--budget", type=float, default=0, help="seconds for tuning first")
parser.add_argument("--sparse", action="store_true", help="sparse features for ours")
parser.add_argument("--csv", help="file for a row of each seed and side")
options = parser.parse_args()
device = "cuda" if torch.cuda.is_available() else "cpu"

data = models.load(options.graph, splits=options.seeds)
graph, x, y = data.graph(device), data.x(device), data.y(device)
edge_index = graph.edge_index
features = data.sparse_x(device) if options.sparse else x
if features is None:
    parser.error(f"--sparse: {options.graph} has dense features")
print(f"{data.name}: {graph}, {data.features} features, {data.classes} classes, splits: {data.split_rule}")


def make(seed, convs):
    torch.manual_seed(seed)
    sizes = {"hidden": options.hidden, "layers": options.layers}
    return models.build(options.model, data.features, data.classes, convs=convs, **sizes).to(device)


# ---- What is fastest for this step on this processor: measured once, then known to every program that asks ----
if options.budget:
    for row in gt.tune(make(0, gp), graph, features, budget=options.budget, progress=False):
        problem = row.problem
        print(f"{row.graph}: {problem.op} {problem.direction} k={problem.k}  {row.after}  ({row.source})")


def train(seed, convs, adjacency, x):
    """What fit() found, the median milliseconds of a training step, and the peak of memory in MiB (GPU only)."""
    model = make(seed, convs)
    fitted = models.fit(model, adjacency, x, y, data.split(seed, device), epochs=options.epochs)
    steps = models.Epochs(model, adjacency, x, y, data.split(seed, device))
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    times = []
    for _ in range(7):
        begin = time.perf_counter()
        steps.step()
        float(steps.loss)  # waits for the GPU
        times.append(1e3 * (time.perf_counter() - begin))
    peak = torch.cuda.max_memory_allocated() / 2**20 if device == "cuda" else None
    return fitted, statistics.median(times[2:]), peak


rows = []
for seed in range(options.seeds):
    for side, *given in (("PyTorch Geometric", nn, edge_index, x), ("gnntune", gp, graph, features)):
        fitted, milliseconds, peak = train(seed, *given)
        row = {"graph": data.name, "model": options.model, "side": side, "seed": seed, "test": fitted.test}
        row |= {"validation": fitted.validation, "loss": fitted.loss, "epoch_ms": milliseconds, "peak_mib": peak}
        rows.append(row)
if options.csv:
    with open(options.csv, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
for side in ("PyTorch Geometric", "gnntune"):
    mine = [row for row in rows if row["side"] == side]
    tests = [100 * row["test"] for row in mine]
    spread = statistics.stdev(tests) if len(tests) > 1 else 0.0
    epoch = statistics.median(row["epoch_ms"] for row in mine)
    memory = "" if mine[0]["peak_mib"] is None else f"  peak {max(row['peak_mib'] for row in mine):.0f} MiB"
    accuracy = f"test {statistics.mean(tests):.2f} +- {spread:.2f} %"
    print(f"{side:18} {accuracy}  loss {mine[-1]['loss']:.4f}  {epoch:.2f} ms an epoch{memory}")
