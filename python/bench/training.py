"""Training: epochs on whole graphs, steps on mini-batches, peak memory. Ours beside PyTorch Geometric's."""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch_geometric
import torch_geometric.nn as nn
from common import CLASSES, FEATURES, Bench, Source, in_one_thread, in_turns, say, summary

import gnntune.pyg as gp
import gnntune.torch as gt
from gnntune.torch._device import side_stream

BATCH, FANOUTS = 1024, (15, 10)
# Ways of a step without a CUDA graph: its backward on a thread of torch's, or on the one that calls it.
EAGER, ONE_THREAD = "eager", "eager, one thread"


class Stack(torch.nn.Module):
    """Layers with ReLU between them; `first` and `last` where the layers keep the width (AGNN)."""

    def __init__(
        self, layers: list[Any], first: torch.nn.Module | None = None, last: torch.nn.Module | None = None
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
    return Stack([nn.GCNConv(FEATURES, width, **options), nn.GCNConv(width, CLASSES, **options)])


def gat(**options: Any) -> Stack:
    return Stack([nn.GATConv(FEATURES, 8, heads=8, **options), nn.GATConv(64, CLASSES, heads=1, **options)])


def agnn(**options: Any) -> Stack:
    layers = [nn.AGNNConv(**options) for _ in range(4)]
    return Stack(layers, torch.nn.Linear(FEATURES, 32), torch.nn.Linear(32, CLASSES))


def sage(**options: Any) -> Stack:
    return Stack([nn.SAGEConv(FEATURES, 64), nn.SAGEConv(64, CLASSES)])


def transformer(**options: Any) -> Stack:
    return Stack([nn.TransformerConv(FEATURES, 16, heads=4), nn.TransformerConv(64, CLASSES)])


class Maps(torch.nn.Module):
    """The sum of linear maps of one input, the first with a bias."""

    def __init__(self, count: int, width: int, out: int) -> None:
        super().__init__()
        self.maps = torch.nn.ModuleList([torch.nn.Linear(width, out, bias=i == 0) for i in range(count)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.maps[0](x)
        for i in range(1, len(self.maps)):
            out = out + self.maps[i](x)
        return out


def linear_maps(model: Stack) -> Stack:
    """What is left of a model where a layer costs no more than its linear maps: what both sides share."""

    def bare(layer: Any) -> torch.nn.Module:
        if isinstance(layer, nn.AGNNConv):
            return torch.nn.Identity()
        out = getattr(layer, "heads", 1) * layer.out_channels
        count = 2 if isinstance(layer, nn.SAGEConv) else 4 if isinstance(layer, nn.TransformerConv) else 1
        return torch.nn.Linear(layer.in_channels, out) if count == 1 else Maps(count, layer.in_channels, out)

    class Alone(Stack):
        def forward(self, x: torch.Tensor, adjacency: Any) -> torch.Tensor:
            for i, layer in enumerate(self.layers):
                x = layer(x.relu() if i else x)
            return x

    layers = [bare(layer) for layer in model.layers]
    ends = [end for end in (model.first, model.last) if end is not None]
    return Alone([copy.deepcopy(end) for end in ends] if ends else layers)


# name: maker, and options of theirs that make it faster without changing results
MODELS: dict[str, tuple[Callable[..., Stack], dict[str, Any]]] = {
    "GCN-16": (lambda **options: gcn(16, **options), {"cached": True}),
    "GCN-64": (lambda **options: gcn(64, **options), {"cached": True}),
    "GCN-256": (lambda **options: gcn(256, **options), {"cached": True}),
    "GAT-8x8": (gat, {"add_self_loops": False}),
    "AGNN-4x32": (agnn, {"add_self_loops": False}),
    "SAGE-64": (sage, {}),
    "Transformer-4x16": (transformer, {}),
}


class Trainer:
    """A model with data and optimiser; step() is an epoch."""

    def __init__(self, bench: Bench, model: Any, x: torch.Tensor, adjacency: Any, y: torch.Tensor) -> None:
        self.model, self.x, self.adjacency, self.y = model, x, adjacency, y
        options = {"fused": True, "capturable": True} if bench.on_gpu else {}
        self.optimiser = torch.optim.Adam(model.parameters(), lr=0.01, **options)

    def step(self) -> None:
        self.optimiser.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(self.model(self.x, self.adjacency), self.y).backward()
        self.optimiser.step()

    def captured(self) -> Callable[[], None]:
        """A replay of the epoch as a CUDA graph. Holds this trainer: the replay reads its model and its data."""
        side, current = side_stream(self.x.device), torch.cuda.current_stream()
        side.wait_stream(current)
        with torch.cuda.stream(side):
            for _ in range(4):
                self.step()
            side.synchronize()
            # What waits for the GPU cannot be captured. Found out before: a capture that fails leaves torch's allocator
            # and generator in its middle, which harms what runs after it.
            torch.cuda.set_sync_debug_mode("error")
            try:
                self.step()
            finally:
                torch.cuda.set_sync_debug_mode("default")
                current.wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(self.graph):
                self.step()
        except Exception:
            torch.cuda.set_stream(current)  # torch leaves the stream of a capture that failed to be the current one
            raise
        return self.replay

    def replay(self) -> None:
        self.graph.replay()


def with_loops(index: torch.Tensor, n: int) -> torch.Tensor:
    index, _ = torch_geometric.utils.remove_self_loops(index)
    index, _ = torch_geometric.utils.add_self_loops(index, num_nodes=n)
    return index


def adj_t(index: torch.Tensor, n: int) -> torch.Tensor:
    """As torch_geometric.transforms.ToSparseTensor makes it without torch_sparse."""
    values = torch.ones(index.shape[1], device=index.device)
    return torch.sparse_coo_tensor(index.flip(0), values, (n, n)).coalesce().to_sparse_csr()


def forms(bench: Bench, name: str, data: Any, compiled: bool) -> dict[tuple[str, str], Trainer]:
    """What to run, by side and form: theirs as people write it and in its best forms, and ours."""
    x, index, y, n = data
    make, best = MODELS[name]
    plain = make().to(bench.device)
    found = {("theirs", "edge_index"): Trainer(bench, plain, x, index, y)}
    label, chosen = "edge_index", index
    if best:
        label += "".join(f", {key}={value}" for key, value in best.items())
        chosen = with_loops(index, n) if best.get("add_self_loops") is False else index
        found["theirs", label] = Trainer(bench, make(**best).to(bench.device), x, chosen, y)
    if name.startswith(("GCN", "SAGE")):
        form = label.replace("edge_index", "adj_t")
        found["theirs", form] = Trainer(bench, make(**best).to(bench.device), x, adj_t(index, n), y)
    ours = gp.convert(copy.deepcopy(plain))
    graph = gt.Graph(index, n)
    found["ours", "Graph"] = Trainer(bench, ours, x, graph, y)
    found["neither", "linear maps alone"] = Trainer(bench, linear_maps(plain).to(bench.device), x, None, y)
    if compiled:
        model = torch.compile(make(**best).to(bench.device))
        found["theirs", f"{label}, compiled"] = Trainer(bench, model, x, chosen, y)
        model = torch.compile(gp.convert(copy.deepcopy(plain)), fullgraph=True)
        found["ours", "Graph, compiled"] = Trainer(bench, model, x, graph, y)
    return found


def one(bench: Bench, source: Source, name: str, budget: float, options: Any) -> None:
    """Every form of one model on one graph, with every seed, and the ratios."""
    facts = {"part": "epochs", "graph": source.name, "n": source.n, "m": source.m, "model": name, "what": "epoch"}
    pooled: dict[tuple[str, str, str], list[float]] = {}
    notes: dict[tuple[str, str, str], str] = {}
    for seed in range(options.seeds):
        torch.manual_seed(seed)
        x = torch.randn(source.n, FEATURES, device=bench.device)
        y = torch.randint(0, CLASSES, (source.n,), device=bench.device)
        index = source.edge_index.to(bench.device)
        if options.tune and seed == 0:
            tuned = gp.convert(MODELS[name][0]().to(bench.device))
            gt.tune(tuned, gt.Graph(index, source.n), x, budget=options.tune, progress=False)
        trainers = forms(bench, name, (x, index, y, source.n), options.compiled and seed == 0)
        steps: dict[str, Callable[[], object]] = {}
        for (side, form), trainer in trainers.items():
            for how in (EAGER, ONE_THREAD, "captured")[: 2 + bench.on_gpu]:
                try:
                    if how != "captured":
                        step = trainer.step if how == EAGER else in_one_thread(trainer.step)
                        step()
                        steps[f"{side}|{form}|{how}"] = step
                    else:
                        twin = Trainer(bench, copy.deepcopy(trainer.model), trainer.x, trainer.adjacency, trainer.y)
                        steps[f"{side}|{form}|{how}"] = twin.captured()
                except Exception as error:  # what cannot run is a row too
                    bench.synchronize()
                    notes[side, form, how] = str(error).split("\n")[0][:120]
        for key, times in in_turns(bench, steps, options.epochs, budget / options.seeds).items():
            side, form, how = key.split("|")
            pooled.setdefault((side, form, how), []).extend(times)
        del trainers, steps
        gc.collect()
        gt.release_captured()
        if bench.left() < 1:
            break
    medians = {key: summary(times) for key, times in pooled.items()}
    for (side, form, how), (median, spread) in medians.items():
        repeats = len(pooled[side, form, how])
        bench.row(**facts, side=side, form=f"{form}, {how}", value=median, unit="ms", spread=spread, repeats=repeats)
    for (side, form, how), note in notes.items():
        bench.row(**facts, side=side, form=f"{form}, {how}", unit="ms", note=note)

    def times(of: str, ways: tuple[str, ...], compiled: bool) -> list[float]:
        return [
            value for (side, form, how), (value, _) in medians.items()
            if side == of and how in ways and (compiled or "compiled" not in form)
        ]  # fmt: skip

    # Captured, against whatever is their best; uncaptured, eager against eager: the faster way of each, and as torch
    # runs a backward by default.
    captured, theirs = times("ours", ("captured",), True), times("theirs", (EAGER, ONE_THREAD, "captured"), True)
    if captured and theirs:
        facts["what"] = "their best over ours"
        bench.row(**facts, side="ours", form="captured", value=min(theirs) / min(captured), unit="x")
    for ways, rest in (((EAGER, ONE_THREAD), ""), ((EAGER,), ", torch's threads")):
        theirs = times("theirs", ways, False)
        for side, what in (("ours", "ours"), ("neither", "linear maps alone")):
            found = times(side, ways, False)
            if found and theirs:
                facts["what"] = f"their best eager over {what}{rest}"
                bench.row(**facts, side=side, form="eager", value=min(theirs) / min(found), unit="x")


def epochs(bench: Bench, graphs: list[Source], options: Any) -> None:
    names = options.models or list(MODELS)
    jobs = [(source, name) for source in graphs for name in names]
    for place, (source, name) in enumerate(jobs):
        if bench.left() < 2:
            say(f"no time for {len(jobs) - place} of {len(jobs)} models and graphs")
            return
        say(f"{name} on {source.name}, {bench.left():.0f} s left")
        budget = max(1.0, min(options.seconds_each, bench.left() / (len(jobs) - place)))
        try:
            one(bench, source, name, budget, options)
        except torch.OutOfMemoryError as error:
            bench.row(part="epochs", graph=source.name, model=name, note=str(error).split("\n")[0][:120])
            gc.collect()
            torch.cuda.empty_cache()


# ---- Mini-batches ----


def sampled(
    row_ptr: Any, col: Any, seeds: Any, fanouts: tuple[int, ...], rng: Any
) -> tuple[torch.Tensor, torch.Tensor]:
    """Vertices and edge_index of a sampled neighbourhood, as NeighborLoader has them: seeds first, edges by target."""
    nodes = seeds.tolist()
    place = {v: i for i, v in enumerate(nodes)}
    sources, targets, front = [], [], list(nodes)
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
                targets.append(place[v])
        front = following
    return torch.tensor(nodes), torch.tensor([sources, targets])


def minibatch(bench: Bench, graphs: list[Source], options: Any) -> None:
    """Compute of a step, sampling left out. Each step has an edge_index that was not seen before."""
    source = next((g for g in graphs if "arxiv" in g.name), graphs[-1])
    order = torch.argsort(source.edge_index[1], stable=True)
    col = source.edge_index[0][order].numpy()
    counts = np.bincount(source.edge_index[1].numpy(), minlength=source.n)
    row_ptr = np.concatenate([[0], np.cumsum(counts)])
    rng = np.random.default_rng(1)
    features = torch.randn(source.n, FEATURES)
    labels = torch.randint(0, CLASSES, (source.n,))
    batches = []
    for _ in range(12):
        seeds = rng.choice(source.n, min(BATCH, source.n), replace=False)
        nodes, edges = sampled(row_ptr, col, seeds, FANOUTS, rng)
        batches.append([t.to(bench.device) for t in (features[nodes], edges, labels[nodes])])
    m = sum(b[1].shape[1] for b in batches) // len(batches)
    facts = {"part": "minibatch", "graph": source.name, "n": source.n, "m": m}
    for name in ("SAGE-64", "GAT-8x8"):
        torch.manual_seed(0)
        theirs = MODELS[name][0]().to(bench.device)
        steps: dict[str, Callable[[], object]] = {}
        ours, alone = gp.convert(copy.deepcopy(theirs)), linear_maps(theirs).to(bench.device)
        for side, model in (("theirs", theirs), ("ours", ours), ("neither", alone)):
            optimiser = torch.optim.Adam(model.parameters(), lr=0.01, **({"fused": True} if bench.on_gpu else {}))
            turn = iter(range(10**9))

            def step(model: Any = model, optimiser: Any = optimiser, turn: Any = turn) -> None:
                x, edges, y = batches[next(turn) % len(batches)]
                edges = edges.clone()  # a loader's edge_index is a new tensor
                optimiser.zero_grad(set_to_none=True)
                torch.nn.functional.cross_entropy(model(x, edges)[:BATCH], y[:BATCH]).backward()
                optimiser.step()

            steps[f"{side}|{EAGER}"], steps[f"{side}|{ONE_THREAD}"] = step, in_one_thread(step)
        medians = {}
        for key, times in in_turns(bench, steps, options.epochs, max(1.0, min(15.0, bench.left() / 8))).items():
            side, way = key.split("|")
            medians[side, way], spread = summary(times)
            row = {"value": medians[side, way], "unit": "ms", "spread": spread, "repeats": len(times)}
            bench.row(**facts, model=name, side=side, form=way, what="step", **row)
        for ways, rest in (((EAGER, ONE_THREAD), ""), ((EAGER,), ", torch's threads")):
            best = {side: min(medians[side, way] for way in ways) for side in ("theirs", "ours", "neither")}
            for side, what in (("ours", "theirs over ours"), ("neither", "theirs over linear maps alone")):
                value = best["theirs"] / best[side]
                bench.row(**facts, model=name, side=side, form="eager", what=what + rest, value=value, unit="x")


# ---- Memory, and an epoch of each model for compute-sanitizer ----


def memory(bench: Bench, graphs: list[Source], options: Any) -> None:
    if not bench.on_gpu:
        return
    for source in graphs:
        if bench.left() < 1:
            return
        x = torch.randn(source.n, FEATURES, device=bench.device)
        y = torch.randint(0, CLASSES, (source.n,), device=bench.device)
        index = source.edge_index.to(bench.device)
        peaks = {}
        for side in ("theirs", "ours"):
            model = gat().to(bench.device)
            gc.collect()
            torch.cuda.empty_cache()
            before = torch.cuda.memory_allocated()
            adjacency = gt.Graph(index, source.n) if side == "ours" else index
            trainer = Trainer(bench, gp.convert(model) if side == "ours" else model, x, adjacency, y)
            trainer.step()
            torch.cuda.synchronize()
            torch.cuda.reset_peak_memory_stats()
            for _ in range(3):
                trainer.step()
            torch.cuda.synchronize()
            peaks[side] = (torch.cuda.max_memory_allocated() - before) / 2**20
            del trainer, model, adjacency
        facts = {"part": "memory", "graph": source.name, "n": source.n, "m": source.m, "model": "GAT-8x8"}
        for side, peak in peaks.items():
            what = "peak of an epoch, with the graph's formats"
            bench.row(**facts, side=side, form="eager", what=what, value=peak, unit="MiB")
        bench.row(
            **facts, side="ours", form="eager", what="ours over theirs", value=peaks["ours"] / peaks["theirs"], unit="x"
        )


def once(bench: Bench, graphs: list[Source], options: Any) -> None:
    """One eager epoch of each of our models on the smallest graph."""
    source = min(graphs, key=lambda g: g.m)
    graph = gt.Graph(source.edge_index.to(bench.device), source.n)
    x = torch.randn(source.n, FEATURES, device=bench.device)
    y = torch.randint(0, CLASSES, (source.n,), device=bench.device)
    for name in options.models or MODELS:
        trainer = Trainer(bench, gp.convert(MODELS[name][0]().to(bench.device)), x, graph, y)
        trainer.step()
        bench.synchronize()
        finite = all(bool(p.isfinite().all()) for p in trainer.model.parameters())
        if not finite:
            raise RuntimeError(f"{name}: parameters are not finite after an epoch")
        bench.row(part="once", graph=source.name, n=source.n, m=source.m, model=name, side="ours", note="finite")
