#!/usr/bin/env python3
"""gnntune's layers beside PyTorch Geometric's, on one GPU: CSV on stdout, progress on stderr.

    PYTHONPATH=build/python python3 python/bench/bench.py GRAPH... [--parts LIST] [--seconds N] [--epochs N] [--seeds N]

GRAPH: files as the gnntune program reads them, or standin/NAME. Parts, in this order:

  overhead    host time of one call of an operation, above the time of gnntune_run itself
  describe    host time of describing and planning a transient graph, and whether it waits
  epochs      a training epoch (forward, backward, fused Adam) of GCN, GAT, AGNN, SAGE and Transformer on every GRAPH:
              ours eager and captured in a CUDA graph; theirs eager, captured, with adj_t, with the norm cached, with
              self loops added beforehand, and compiled (--compiled)
  minibatch   the compute of a step of SAGE and GAT on sampled batches of the first standin or the last GRAPH
  memory      peak memory of a GAT epoch

Rows are printed as they come, so a run that is cut short has said what it knew. Both sides of a comparison run in turns
in one process. A time is the median of its epochs; `spread` is the distance of their quartiles, in per cent of it.
"""

from __future__ import annotations

import argparse
import copy
import csv
import gc
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch_geometric
import torch_geometric.nn as nn

import gnntune
import gnntune.pyg as gp
import gnntune.torch as gt
from gnntune import _native

PARTS = ("overhead", "describe", "epochs", "minibatch", "memory")
COLUMNS = ("part", "graph", "n", "m", "model", "side", "form", "what", "value", "unit", "spread", "repeats", "note")
CLASSES = 16


class Out:
    """Rows of CSV, and the time that is left."""

    def __init__(self, seconds: float) -> None:
        self.writer = csv.DictWriter(sys.stdout, COLUMNS)
        self.writer.writeheader()
        self.deadline = time.monotonic() + seconds

    def row(self, **values: Any) -> None:
        self.writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in values.items()})
        sys.stdout.flush()

    def left(self) -> float:
        return self.deadline - time.monotonic()


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def read(argument: str, folder: Path) -> tuple[str, torch.Tensor, int]:
    """Name, edge_index and number of vertices of a square graph."""
    program = str(gnntune.program_path())
    path = folder / (Path(argument).name.split(".")[0] + ".npz")
    if argument.startswith("standin/"):
        made = folder / "standin.gnng"
        subprocess.run([program, "generate", argument, "-o", str(made), "-q"], check=True, stdout=subprocess.DEVNULL)
        argument = str(made)
    words = [program, "convert", argument, str(path), "--ignore-weights", "-q"]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    with np.load(path) as file:
        row_ptr, col = file["indptr"].astype(np.int64), file["indices"].astype(np.int64)
    row = np.repeat(np.arange(len(row_ptr) - 1), np.diff(row_ptr))
    return path.stem, torch.from_numpy(np.stack([col, row])), len(row_ptr) - 1


# ---- Models: what a form calls with an adjacency ----


class Stack(torch.nn.Module):
    """Layers with ReLU between them; `lin` before and after where the layers keep the width (AGNN)."""

    def __init__(
        self, layers: list[torch.nn.Module], first: torch.nn.Module | None, last: torch.nn.Module | None
    ) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(layers)
        self.first, self.last = first, last

    def forward(self, x: torch.Tensor, adjacency: Any) -> torch.Tensor:
        if self.first is not None:
            x = self.first(x).relu()
        for i, layer in enumerate(self.layers):
            if i and self.first is None:
                x = x.relu()
            x = layer(x, adjacency)
        return x if self.last is None else self.last(x)


def gcn(width: int, **options: Any) -> Stack:
    return Stack([nn.GCNConv(FEATURES, width, **options), nn.GCNConv(width, CLASSES, **options)], None, None)


def gat(**options: Any) -> Stack:
    return Stack([nn.GATConv(FEATURES, 8, heads=8, **options), nn.GATConv(64, CLASSES, heads=1, **options)], None, None)


def agnn(**options: Any) -> Stack:
    layers: list[torch.nn.Module] = [nn.AGNNConv(**options) for _ in range(4)]
    return Stack(layers, torch.nn.Linear(FEATURES, 32), torch.nn.Linear(32, CLASSES))


def sage() -> Stack:
    return Stack([nn.SAGEConv(FEATURES, 64), nn.SAGEConv(64, CLASSES)], None, None)


def transformer() -> Stack:
    return Stack([nn.TransformerConv(FEATURES, 16, heads=4), nn.TransformerConv(64, CLASSES)], None, None)


FEATURES = 128
# name, maker, options of "their best": what PyTorch Geometric's documentation offers for speed without changing results
MODELS: dict[str, tuple[Callable[..., Stack], dict[str, Any]]] = {
    "GCN-16": (lambda **o: gcn(16, **o), {"cached": True}),
    "GCN-64": (lambda **o: gcn(64, **o), {"cached": True}),
    "GCN-256": (lambda **o: gcn(256, **o), {"cached": True}),
    "GAT-8x8": (gat, {"add_self_loops": False}),
    "AGNN-4x32": (agnn, {"add_self_loops": False}),
    "SAGE-64": (sage, {}),
    "Transformer-4x16": (transformer, {}),
}


class Trainer:
    """A model with data and optimiser; step() is an epoch."""

    def __init__(self, model: torch.nn.Module, x: torch.Tensor, adjacency: Any, y: torch.Tensor) -> None:
        self.model, self.x, self.adjacency, self.y = model, x, adjacency, y
        self.optimiser = torch.optim.Adam(model.parameters(), lr=0.01, fused=True, capturable=True)
        self.loss = torch.zeros((), device=x.device)

    def step(self) -> None:
        self.optimiser.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(self.model(self.x, self.adjacency), self.y)
        loss.backward()
        self.optimiser.step()
        self.loss = loss.detach()

    def captured(self) -> Callable[[], None]:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(4):
                self.step()
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.step()
        return self.graph.replay


def measured(forms: dict[str, Callable[[], None]], epochs: int, seconds: float) -> dict[str, list[float]]:
    """Milliseconds of each epoch of each form: warmed up, then in turns of ten."""
    times: dict[str, list[float]] = {form: [] for form in forms}
    for step in forms.values():
        for _ in range(5):
            step()
    torch.cuda.synchronize()
    end = time.monotonic() + seconds
    while any(len(t) < epochs for t in times.values()):
        for form, step in forms.items():
            for _ in range(10):
                begin = time.perf_counter()
                step()
                torch.cuda.synchronize()
                times[form].append(1e3 * (time.perf_counter() - begin))
        if time.monotonic() > end:
            break
    return times


def summary(times: list[float]) -> tuple[float, float]:
    """Median, and the distance of the quartiles in per cent of it."""
    median = statistics.median(times)
    low, _, high = statistics.quantiles(times, n=4) if len(times) > 1 else (median,) * 3
    return median, 100 * (high - low) / median


def with_loops(index: torch.Tensor, n: int) -> torch.Tensor:
    index, _ = torch_geometric.utils.remove_self_loops(index)
    index, _ = torch_geometric.utils.add_self_loops(index, num_nodes=n)
    return index


def sparse(index: torch.Tensor, n: int) -> torch.Tensor:
    """adj_t, as torch_geometric.transforms.ToSparseTensor makes it without torch_sparse."""
    values = torch.ones(index.shape[1], device=index.device)
    return torch.sparse_coo_tensor(index.flip(0), values, (n, n)).coalesce().to_sparse_csr()


def their_forms(
    name: str, make: Callable[..., Stack], best: dict[str, Any], data: Any, compiled: bool
) -> dict[str, Trainer]:
    """What to run of theirs, by the name of the form."""
    x, index, y, n = data
    forms = {"edge_index": Trainer(make().cuda(), x, index, y)}
    if best:
        label = "edge_index, " + ", ".join(f"{k}={v}" for k, v in best.items())
        chosen = with_loops(index, n) if best.get("add_self_loops") is False else index
        forms[label] = Trainer(make(**best).cuda(), x, chosen, y)
    if name.startswith(("GCN", "SAGE")):
        forms["adj_t" + (", cached=True" if best else "")] = Trainer(make(**best).cuda(), x, sparse(index, n), y)
    if compiled:
        last = list(forms.values())[1 if best else 0]
        model = torch.compile(copy.deepcopy(last.model))
        forms["compiled"] = Trainer(model, x, last.adjacency, y)
    return forms


def epochs(out: Out, graphs: list[tuple[str, torch.Tensor, int]], options: argparse.Namespace) -> None:
    jobs = [(g, name) for name in MODELS for g in graphs if not options.models or name in options.models]
    for place, ((graph, index, n), name) in enumerate(jobs):
        if out.left() < 2:
            say(f"no time for {len(jobs) - place} of {len(jobs)} models and graphs")
            return
        budget = max(1.0, min(options.seconds_each, out.left() / (len(jobs) - place)))
        make, best = MODELS[name]
        say(f"{name} on {graph}")
        facts = {"part": "epochs", "graph": graph, "n": n, "m": index.shape[1], "model": name, "what": "epoch"}
        pooled: dict[tuple[str, str], list[float]] = {}
        notes: dict[tuple[str, str], str] = {}
        for seed in range(options.seeds):
            torch.manual_seed(seed)
            x = torch.randn(n, FEATURES, device="cuda")
            y = torch.randint(0, CLASSES, (n,), device="cuda")
            device_index = index.cuda()
            trainers: dict[tuple[str, str], Trainer] = {}
            theirs = their_forms(name, make, best, (x, device_index, y, n), options.compiled)
            for form, trainer in theirs.items():
                trainers[("theirs", form)] = trainer
            model = gp.convert(copy.deepcopy(next(iter(theirs.values())).model))
            trainers[("ours", "Graph")] = Trainer(model, x, gt.Graph(device_index, n), y)
            steps: dict[str, Callable[[], None]] = {}
            for (side, form), trainer in trainers.items():
                key = f"{side}|{form}"
                try:
                    trainer.step()
                    steps[key + ", eager"] = trainer.step
                    twin = Trainer(copy.deepcopy(trainer.model), trainer.x, trainer.adjacency, trainer.y)
                    steps[key + ", captured"] = twin.captured()
                except Exception as error:  # what cannot run is a row too
                    torch.cuda.synchronize()
                    notes[(side, form + (", captured" if key + ", eager" in steps else ", eager"))] = str(error).split(
                        "\n"
                    )[0][:120]
            for key, values in measured(steps, options.epochs, budget / options.seeds).items():
                pooled.setdefault(tuple(key.split("|")), []).extend(values)  # type: ignore[arg-type]
            del trainers, steps, theirs
            gc.collect()
            gt.release_captured()
            if out.left() < 1:
                break
        for (side, form), values in pooled.items():
            median, spread = summary(values)
            out.row(**facts, side=side, form=form, value=median, unit="ms", spread=spread, repeats=len(values))
        for (side, form), note in notes.items():
            out.row(**facts, side=side, form=form, unit="ms", note=note)
        for how in ("eager", "captured"):
            ours = [summary(v)[0] for (side, form), v in pooled.items() if side == "ours" and form.endswith(how)]
            theirs_all = [summary(v)[0] for (side, form), v in pooled.items() if side == "theirs"]
            alike = [summary(v)[0] for (side, form), v in pooled.items() if side == "theirs" and form.endswith("eager")]
            against = theirs_all if how == "captured" else alike
            if ours and against:
                what = "ratio of their best" + ("" if how == "captured" else " eager")
                out.row(**{**facts, "what": what}, side="ours", form=how, value=min(against) / ours[0], unit="x")


# ---- Host time ----


def host_us(function: Callable[[], object], calls: int = 100, rounds: int = 30) -> float:
    """The fastest of many rounds, with the GPU's queue never full."""
    function()
    best = float("inf")
    for _ in range(rounds):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(calls):
            function()
        best = min(best, time.perf_counter() - begin)
    torch.cuda.synchronize()
    return 1e6 * best / calls


def overhead(out: Out, graphs: list[tuple[str, torch.Tensor, int]], options: argparse.Namespace) -> None:
    graph, index, n = min(graphs, key=lambda g: g[1].shape[1])
    g = gt.Graph(index.cuda(), n)
    x = torch.randn(n, 64, device="cuda")
    heads, scores = x.view(n, 8, 8), torch.randn(n, 8, device="cuda")
    facts = {"part": "overhead", "graph": graph, "n": n, "m": index.shape[1], "side": "ours", "unit": "us"}
    for name, call in (("torch.add", lambda: torch.add(x, x)), ("torch.empty_like", lambda: torch.empty_like(x))):
        out.row(**{**facts, "side": "torch"}, model=name, what="host time", value=host_us(call))
    stream = torch.cuda.current_stream().cuda_stream
    ops: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], torch.Tensor, tuple[Any, ...]]] = {
        "spmm": (lambda t: gt.spmm(g, t), x, (x,)),
        "gcn": (lambda t: gt.gcn(g, t), x, ()),
        "gat": (lambda t: gt.gat(g, t, scores, scores), heads, (heads, scores, scores)),
        "agnn": (lambda t: gt.agnn(g, t, torch.ones(1, device="cuda")), x, ()),
        "attention": (lambda t: gt.attention(g, t, t, t), heads, (heads, heads, heads)),
    }
    for name, (call, t, arrays) in ops.items():
        with torch.no_grad():
            call(t)
            alone = None
            if arrays:
                # The call that was prepared: its inputs, then one result, since no gradient follows.
                prepared = [c for k, c in g._calls.items() if k[0] == name and not k[1].optional]
                prepared = prepared or [c for k, c in g._calls.items() if k[0] == name]
                results = [torch.empty(s, dtype=d, device="cuda") for s, d in prepared[0].outputs]
                workspace = torch.empty(max(1, prepared[0].workspace_bytes), dtype=torch.uint8, device="cuda")
                alone = min(
                    1e4 * _native.repeat(prepared[0].code, stream, workspace, 100, *arrays, *results) for _ in range(30)
                )
                torch.cuda.synchronize()
                out.row(**facts, model=name, what="gnntune_run alone", value=alone)
            plain = host_us(lambda: call(t))
        grad = t.detach().clone().requires_grad_()
        with_grad = host_us(lambda: call(grad))
        out.row(**facts, model=name, what="host time, no gradient", value=plain)
        out.row(**facts, model=name, what="host time, with gradient", value=with_grad)
        if alone is not None:
            out.row(**facts, model=name, what="above gnntune_run, no gradient", value=plain - alone)
            out.row(**facts, model=name, what="above gnntune_run, with gradient", value=with_grad - alone)


def describe(out: Out, graphs: list[tuple[str, torch.Tensor, int]], options: argparse.Namespace) -> None:
    for m in (10_556, 100_000, 1_000_000):
        n = m // 5
        index = torch.randint(0, n, (2, m), device="cuda")
        target, order = torch.sort(index[1])
        row_ptr = torch._convert_indices_from_coo_to_csr(target, n, out_int32=True)
        col = index[0][order].to(torch.int32)
        x = torch.randn(n, 64, device="cuda")
        facts = {"part": "describe", "graph": "uniform", "n": n, "m": m, "side": "ours", "unit": "us", "repeats": 50}
        for what, make in (
            ("CSR: described", lambda: gt.Graph.from_csr(row_ptr, col, n, transient=True).handle()),
            ("edge_index: described", lambda: gt.Graph(index, n, transient=True).handle()),
            ("CSR: described, planned, run", lambda: gt.spmm(gt.Graph.from_csr(row_ptr, col, n, transient=True), x)),
        ):
            for _ in range(5):
                make()
            times = []
            for _ in range(50):
                torch.cuda.synchronize()
                torch.cuda._sleep(2_000_000)  # what waits for the GPU waits for this: about a millisecond
                begin = time.perf_counter()
                kept = make()
                times.append(1e6 * (time.perf_counter() - begin))
                del kept
            median, spread = summary(times)
            note = "waits for the GPU" if median > 500 else "does not wait"
            out.row(**facts, what=what, value=median, spread=spread, note=note)


# ---- Mini-batches and memory ----


def sampled(
    row_ptr: np.ndarray, col: np.ndarray, seeds: np.ndarray, fanouts: list[int], rng: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and edge_index of a sampled neighbourhood, as NeighborLoader has them: seeds first, edges by target."""
    nodes = list(seeds)
    place = {int(v): i for i, v in enumerate(seeds)}
    sources: list[int] = []
    targets: list[int] = []
    front = list(seeds)
    for fanout in fanouts:
        following = []
        for v in front:
            neighbours = col[row_ptr[v] : row_ptr[v + 1]]
            if len(neighbours) > fanout:
                neighbours = rng.choice(neighbours, fanout, replace=False)
            for u in neighbours.tolist():
                if u not in place:
                    place[u] = len(nodes)
                    nodes.append(u)
                    following.append(u)
                sources.append(place[u])
                targets.append(place[int(v)])
        front = following
    return np.array(nodes), np.array([sources, targets], np.int64).reshape(2, -1)


def minibatch(out: Out, graphs: list[tuple[str, torch.Tensor, int]], options: argparse.Namespace) -> None:
    graph, index, n = next((g for g in graphs if "arxiv" in g[0] or g[0] == "standin"), graphs[-1])
    order = np.argsort(index[1].numpy(), kind="stable")
    col = index[0].numpy()[order]
    row_ptr = np.concatenate([[0], np.cumsum(np.bincount(index[1].numpy(), minlength=n))])
    rng = np.random.default_rng(1)
    features = torch.randn(n, FEATURES)
    labels = torch.randint(0, CLASSES, (n,))
    batches = []
    for _ in range(12):
        nodes, edges = sampled(row_ptr, col, rng.choice(n, min(1024, n), replace=False), [15, 10], rng)
        kept = torch.from_numpy(nodes)
        batches.append((features[kept].cuda(), torch.from_numpy(edges).cuda(), labels[kept].cuda()))
    edges_mean = sum(b[1].shape[1] for b in batches) // len(batches)
    for name in ("SAGE-64", "GAT-8x8"):
        torch.manual_seed(0)
        theirs = MODELS[name][0]().cuda()
        results = {}
        steps: dict[str, Callable[[], None]] = {}
        for side, model in (("theirs", theirs), ("ours", gp.convert(copy.deepcopy(theirs)))):
            optimiser = torch.optim.Adam(model.parameters(), lr=0.01, fused=True)
            turn = iter(range(10**9))

            def step(model: Any = model, optimiser: Any = optimiser, turn: Any = turn) -> None:
                x, edges, y = batches[next(turn) % len(batches)]
                edges = edges.clone()  # a loader's edge_index is a new tensor
                optimiser.zero_grad(set_to_none=True)
                torch.nn.functional.cross_entropy(model(x, edges)[:1024], y[:1024]).backward()
                optimiser.step()

            steps[side] = step
        for side, values in measured(steps, options.epochs, max(1.0, min(10.0, out.left() / 2))).items():
            results[side], spread = summary(values)
            out.row(
                part="minibatch",
                graph=graph,
                n=n,
                m=edges_mean,
                model=name,
                side=side,
                form="eager",
                what="step",
                value=results[side],
                unit="ms",
                spread=spread,
                repeats=len(values),
            )
        out.row(
            part="minibatch",
            graph=graph,
            n=n,
            m=edges_mean,
            model=name,
            side="ours",
            form="eager",
            what="ratio of theirs",
            value=results["theirs"] / results["ours"],
            unit="x",
        )


def memory(out: Out, graphs: list[tuple[str, torch.Tensor, int]], options: argparse.Namespace) -> None:
    for graph, index, n in graphs:
        if out.left() < 1:
            return
        x = torch.randn(n, FEATURES, device="cuda")
        y = torch.randint(0, CLASSES, (n,), device="cuda")
        device_index = index.cuda()
        peaks = {}
        for side in ("theirs", "ours"):
            model = gat().cuda()
            gc.collect()
            torch.cuda.empty_cache()
            before = torch.cuda.memory_allocated()
            adjacency = gt.Graph(device_index, n) if side == "ours" else device_index
            trainer = Trainer(gp.convert(model) if side == "ours" else model, x, adjacency, y)
            torch.cuda.reset_peak_memory_stats()
            for _ in range(3):
                trainer.step()
            torch.cuda.synchronize()
            peaks[side] = (torch.cuda.max_memory_allocated() - before) / 2**20
            del trainer, model, adjacency
        for side, peak in peaks.items():
            out.row(
                part="memory",
                graph=graph,
                n=n,
                m=index.shape[1],
                model="GAT-8x8",
                side=side,
                form="eager",
                what="peak of an epoch, formats of the graph among it",
                value=peak,
                unit="MiB",
            )
        out.row(
            part="memory",
            graph=graph,
            n=n,
            m=index.shape[1],
            model="GAT-8x8",
            side="ours",
            form="eager",
            what="share of theirs",
            value=peaks["ours"] / peaks["theirs"],
            unit="x",
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="+", metavar="GRAPH")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--models", type=lambda text: text.split(","), help="of epochs: " + ",".join(MODELS))
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after this time")
    parser.add_argument("--seconds-each", type=float, default=30, help="most time of one model on one graph")
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--compiled", action="store_true", help="torch.compile of theirs too, which takes minutes")
    parser.add_argument("--db", help="database of measurements; default as for the library")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.db:
        gt.configure(options.db)
    say(f"torch {torch.__version__}, PyG {torch_geometric.__version__}, {torch.cuda.get_device_name()}")
    say(gt.describe("cuda"))
    out = Out(options.seconds)
    parts = options.parts.split(",")
    with tempfile.TemporaryDirectory() as folder:
        graphs = [read(argument, Path(folder)) for argument in options.graphs]
    for part, function in zip(PARTS, (overhead, describe, epochs, minibatch, memory)):
        if part in parts and out.left() > 0:
            say(f"== {part}, {out.left():.0f} s left")
            try:
                function(out, graphs, options)
            except Exception as error:  # the other parts are worth having
                say(f"{part} failed: {error!r}")
                out.row(part=part, note=repr(error)[:200])


if __name__ == "__main__":
    main()
