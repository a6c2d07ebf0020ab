#!/usr/bin/env python3
"""Trains a graph network with PyTorch Geometric's layers, and with gnntune's, on the same graph.

    python3 train.py [GRAPH] [--model GCN|GraphSAGE|GAT|GIN] [--epochs N] [--budget SECONDS]

GRAPH is a file that the gnntune program reads (default: the repository's data/cora.mtx.gz). Needs torch, PyTorch
Geometric and gnntune (docs/python.md); uses a GPU if there is one. Features and labels are made up, so that only times
and losses mean something: both runs start from the same weights and end at the same loss.
"""

import argparse
import copy
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
import torch_geometric.nn as nn

import gnntune
import gnntune.pyg as gp
import gnntune.torch as gt

parser = argparse.ArgumentParser()
parser.add_argument("graph", nargs="?", default=str(Path(__file__).parents[1] / "data/cora.mtx.gz"))
parser.add_argument("--model", default="GCN", choices=["GCN", "GraphSAGE", "GAT", "GIN"])
parser.add_argument("--epochs", type=int, default=20)
parser.add_argument("--budget", type=float, default=10, help="seconds for tuning")
options = parser.parse_args()
device = "cuda" if torch.cuda.is_available() else "cpu"

# ---- A graph: the program that comes with the package reads many formats, and writes SciPy's ----
with tempfile.TemporaryDirectory() as folder:
    path = f"{folder}/graph.npz"
    subprocess.run([gnntune.program_path(), "convert", options.graph, path, "--ignore-weights", "-q"], check=True)
    with np.load(path) as file:
        row_ptr, col = torch.from_numpy(file["indptr"]), torch.from_numpy(file["indices"])
graph = gt.Graph.from_csr(row_ptr.to(device), col.to(device))
edge_index = graph.edge_index
print(graph)

# ---- Features, labels, and a model of PyTorch Geometric's ----
torch.manual_seed(0)
x = torch.randn(graph.num_nodes, 64, device=device)
y = torch.randint(7, (graph.num_nodes,), device=device)
theirs = getattr(nn, options.model)(64, 64, 2, 7).to(device)
# The same weights in gnntune's layers. convert() changes a model in place; the copy is for comparing.
ours = gp.convert(copy.deepcopy(theirs))

# ---- What is fastest for this step on this processor: measured once, then known to every program that asks ----
for row in gt.tune(ours, graph, x, budget=options.budget, progress=False):
    print(f"{row.problem.op:12} k={row.problem.k:<4} {row.after}  ({row.source})")


def train(model: torch.nn.Module, adjacency: object) -> tuple[float, float]:
    """The last loss, and the median of an epoch's milliseconds."""
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    times = []
    for _ in range(options.epochs):
        begin = time.perf_counter()
        optimiser.zero_grad()
        loss = F.cross_entropy(model(x, adjacency), y)
        loss.backward()
        optimiser.step()
        last = loss.item()  # waits for the GPU
        times.append(1e3 * (time.perf_counter() - begin))
    return last, statistics.median(times)


for name, model, adjacency in (("PyTorch Geometric", theirs, edge_index), ("gnntune", ours, graph)):
    loss, milliseconds = train(model, adjacency)
    print(f"{name:18} loss {loss:.4f}  {milliseconds:.2f} ms an epoch")
