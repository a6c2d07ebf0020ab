"""Training with accuracy, epochs and memory of whole models, what an epoch consists of, and a step's predicted time."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
import torch_geometric.nn as nn
from common import Source, in_one_thread
from study import SIDES, Study, build, with_loops

import gnntune.models as models
import gnntune.pyg as gp
import gnntune.torch as gt
from gnntune._errors import RunFailed
from gnntune.torch._device import side_stream

# Of TC-GNN's table 4: features and classes of its graphs. Ours are random, of these widths.
SIZES = {
    "citeseer": (3703, 6),
    "cora": (1433, 7),
    "pubmed": (500, 3),
    "standin/ppi": (50, 121),
    "proteins_full": (29, 2),
    "standin/ovcar_8h": (66, 2),
    "standin/yeast": (74, 2),
    "dd": (89, 2),
    "standin/yeast_h": (75, 2),
    "standin/amazon0505": (96, 22),
    "standin/artist": (100, 12),
    "standin/com_amazon": (96, 22),
    "standin/soc_blogcatalog": (128, 39),
    "standin/amazon0601": (96, 22),
    # Of the open benchmarks that these stand in for.
    "standin/ogbn_arxiv": (128, 40),
    "standin/ogbn_proteins": (8, 112),
    "standin/reddit": (602, 41),
}


def sizes_of(source: Source) -> tuple[int, int]:
    return SIZES.get(source.name, (128, 16))


# ---- Accuracy of training ----


def train(study: Study, data: models.Labelled, name: str, seeds: int, epochs: int) -> None:
    """A training on each side for each seed: the same weights to begin with, the same splits. A seed is a job."""
    same = {"part": "train", "graph": data.name, "model": name, "what": "test accuracy"}
    known = {row["seed"] for row in study.rows if all(row[key] == value for key, value in same.items())}
    missing = [seed for seed in range(seeds) if str(seed) not in known]
    if not missing:
        return
    graph, x, y = data.graph(study.device), data.x(study.device), data.y(study.device)
    facts = {"graph": data.name, "n": data.n, "m": data.m, "model": name}
    longest = 4.0 if study.on_gpu else 1.0
    for seed in missing:

        def work(add: Callable[..., None]) -> None:
            split = data.split(seed, study.device)
            for side in SIDES:
                form = "captured"
                for attempt in ("captured", "eager"):
                    torch.manual_seed(seed)
                    model, adjacency = build(name, side, graph, data.features, data.classes)
                    try:
                        capture = attempt == "captured" and study.on_gpu
                        fitted = models.fit(model, adjacency, x, y, split, epochs=epochs, capture=capture)
                        form = attempt if study.on_gpu else "eager"
                        break
                    except (RunFailed, torch.OutOfMemoryError):  # a capture holds memory of its own
                        if attempt == "eager":
                            raise
                    model = adjacency = None
                    study.free()
                row = {"side": side, "seed": seed, "form": form, "unit": "%", "note": f"splits: {data.split_rule}"}
                add(**facts, **row, what="test accuracy", value=100 * fitted.test)
                add(**facts, **row, what="validation accuracy", value=100 * fitted.validation)

        begin = time.monotonic()
        job = f"{data.name} {name}, seed {seed}"
        study.run("train", job, longest, work)
        longest = max(longest, time.monotonic() - begin)
        if ("train", job) not in study.done:  # no time for it, nor for another
            break


# ---- Time and memory of an epoch ----


class Step:
    """A training step: forward, backward, fused Adam. Classes are random."""

    def __init__(self, study: Study, model: torch.nn.Module, adjacency: Any, x: Any, y: torch.Tensor) -> None:
        self.model, self.adjacency, self.x, self.y = model, adjacency, x, y
        options = {"capturable": True, "fused": True} if study.on_gpu else {}
        self.optimiser = torch.optim.Adam(model.parameters(), lr=0.01, **options)

    def __call__(self) -> None:
        self.optimiser.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(self.model(self.x, self.adjacency), self.y).backward()
        self.optimiser.step()


def captured(step: Step) -> Callable[[], None]:
    side, current = side_stream(step.x.device), torch.cuda.current_stream()
    side.wait_stream(current)
    with torch.cuda.stream(side):
        step()
        step()
        side.synchronize()
        torch.cuda.set_sync_debug_mode("error")
        try:
            step()
        finally:
            torch.cuda.set_sync_debug_mode("default")
            current.wait_stream(side)
    recorded = torch.cuda.CUDAGraph()
    step.optimiser.zero_grad(set_to_none=True)
    with torch.cuda.graph(recorded):
        step()
    step.recorded = recorded  # type: ignore[attr-defined]  # it reads what the step holds
    return recorded.replay


def milliseconds(study: Study, step: Callable[[], Any], seconds: float, most: int = 100) -> list[float]:
    times: list[float] = []
    end = time.monotonic() + seconds
    step()
    study.synchronize()
    while len(times) < most and (len(times) < 3 or time.monotonic() < end):
        begin = time.perf_counter()
        step()
        study.synchronize()
        times.append(1e3 * (time.perf_counter() - begin))
    return times


def adj_t(index: torch.Tensor, n: int) -> torch.Tensor:
    values = torch.ones(index.shape[1], device=index.device)
    return torch.sparse_coo_tensor(index.flip(0), values, (n, n)).coalesce().to_sparse_csr()


# Layers of theirs that take a sparse CSR tensor for x.
_TAKE_SPARSE = ("GCN", "GAT", "AGNN", "Transformer")


def forms_of(side: str, name: str, x: torch.Tensor, sparse: gt.SparseFeatures | None) -> dict[str, tuple[str, Any]]:
    """Forms in which a side runs a model: name -> (kind of adjacency, features)."""
    kinds = ("edge_index", "adj_t") if side == "theirs" and name == "GCN" else ("best",)
    forms: dict[str, tuple[str, Any]] = {kind: (kind, x) for kind in kinds}
    if sparse is not None and (side == "ours" or name in _TAKE_SPARSE):
        features = sparse if side == "ours" else x.to_sparse_csr()
        forms |= {f"{kind}, sparse features": (kind, features) for kind in kinds}
    return forms


def epoch(
    study: Study,
    part: str,
    source: Source,
    name: str,
    seconds: float,
    options: dict[str, Any],
    label: str = "",
    data: models.Labelled | None = None,
) -> None:
    """Time of an epoch, eager and captured, and its peak memory, in every form of each side. Features are those of
    `data`, else random."""

    def work(add: Callable[..., None]) -> None:
        features, classes = sizes_of(source)
        if data is not None:
            features, classes = data.features, data.classes
        facts = {"graph": source.name, "n": source.n, "m": source.m, "model": label or name}
        torch.manual_seed(0)
        index = source.edge_index.to(study.device)
        graph = gt.Graph(index, source.n)
        x = torch.randn(source.n, features, device=study.device) if data is None else data.x(study.device)
        sparse = None if data is None else data.sparse_x(study.device)
        for side in SIDES:
            for form, (kind, given) in forms_of(side, name, x, sparse).items():
                row = {"side": side, "form": form}
                peak = 0.0
                step = model = adjacency = None  # else what the form before left is freed in the middle of this one's
                gc.collect()
                try:
                    out = int(options.get("out", classes))
                    y = torch.randint(out, (source.n,), device=study.device)
                    sizes = {k: v for k, v in options.items() if k != "out"}
                    torch.manual_seed(0)
                    model, adjacency = build(name, side, graph, features, out, dropout=0.0, **sizes)
                    if kind == "adj_t":
                        adjacency = adj_t(index, source.n)
                    if study.on_gpu:
                        torch.cuda.empty_cache()
                        before = torch.cuda.memory_allocated()
                        torch.cuda.reset_peak_memory_stats()
                    step = Step(study, model, adjacency, given, y)
                    step()
                    study.synchronize()
                    if study.on_gpu:
                        # What building and the first step leave behind counts, what they used meanwhile does not.
                        torch.cuda.reset_peak_memory_stats()
                        step()
                        torch.cuda.synchronize()
                        peak = (torch.cuda.max_memory_allocated() - before) / 2**20
                        add(**facts, **row, what="peak memory of an epoch", value=peak, unit="MiB")
                    timed = {"epoch, eager": step, "epoch, eager, one thread": in_one_thread(step)}
                    for what, eager in timed.items():
                        times = milliseconds(study, eager, seconds / 8)
                        add(**facts, **row, what=what, value=statistics.median(times), unit="ms", repeats=len(times))
                    # A capture keeps memory of its own beside that of eager steps; one that fails harms what follows.
                    if study.on_gpu and peak < torch.cuda.get_device_properties(study.device).total_memory / 2**20 / 3:
                        times = milliseconds(study, captured(step), seconds / 8)
                        add(
                            **facts,
                            **row,
                            what="epoch, captured",
                            value=statistics.median(times),
                            unit="ms",
                            repeats=len(times),
                        )
                    del step, model, adjacency
                except torch.OutOfMemoryError as error:
                    add(**facts, **row, what="out of memory", note=str(error).split("\n")[0][:120])
                    model = adjacency = step = None  # noqa: F841  let go of
                    torch.cuda.empty_cache()
                except RuntimeError as error:
                    study.synchronize()
                    add(**facts, **row, what="cannot be captured", note=str(error).split("\n")[0][:120])

    study.run(part, f"{source.name} {label or name}", seconds, work)


# ---- What an epoch of theirs consists of ----

_KINDS = (
    ("combination", ("gemm", "gemv", "cublas", "cutlass", "splitk", "xmma", "sm90", "nvjet")),
    ("aggregation", ("scatter", "index_select", "indexselect", "gather", "index_add", "indexfunc", "spmm", "csrmm")),
    ("aggregation", ("gnntune", "index_elementwise", "_scatter_gather")),
)


def kind_of(kernel: str) -> str:
    lower = kernel.lower()
    return next((kind for kind, words in _KINDS if any(word in lower for word in words)), "other")


def breakdown(study: Study, source: Source, hidden: int) -> None:
    """Shares of one layer's training step by kind of kernel, by torch's profiler; idle is the rest of the time."""

    def work(add: Callable[..., None]) -> None:
        features, _ = sizes_of(source)
        facts = {"graph": source.name, "n": source.n, "m": source.m, "model": f"GCN-{hidden}, one layer"}
        graph = gt.Graph(source.edge_index.to(study.device), source.n)
        x = torch.randn(source.n, features, device=study.device)
        y = torch.randint(hidden, (source.n,), device=study.device)
        for side in SIDES:
            torch.manual_seed(0)
            convs, adjacency = (gp, graph) if side == "ours" else (nn, graph.edge_index)
            model = models.build("GCN", features, hidden, layers=1, dropout=0.0, convs=convs).to(study.device)
            step = Step(study, model, adjacency, x, y)
            for _ in range(5):
                step()
            study.synchronize()
            activities = [torch.profiler.ProfilerActivity.CUDA if study.on_gpu else torch.profiler.ProfilerActivity.CPU]
            begin = time.perf_counter()
            with torch.profiler.profile(activities=activities) as profile:
                begin = time.perf_counter()
                for _ in range(20):
                    step()
                study.synchronize()
                wall = 1e6 * (time.perf_counter() - begin) / 20
            spent: dict[str, float] = {}
            kernels = 0
            for event in profile.events():
                if not study.on_gpu or str(event.device_type).endswith("CUDA"):
                    duration = event.time_range.elapsed_us() / 20
                    spent[kind_of(event.name)] = spent.get(kind_of(event.name), 0.0) + duration
                    kernels += 1
            busy = sum(spent.values())
            row = {"side": side, "form": "eager"}
            for kind, microseconds in sorted(spent.items()):
                add(**facts, **row, what=kind, value=microseconds, unit="us")
            add(**facts, **row, what="idle", value=max(0.0, wall - busy), unit="us")
            add(**facts, **row, what="step", value=wall, unit="us")
            add(**facts, **row, what="kernels a step", value=kernels / 20, unit="")

    study.run("breakdown", f"{source.name} GCN-{hidden}", 3, work)


# ---- A step's time, predicted and measured ----


def in_a_row(replay: Callable[[], Any], count: int = 20) -> list[float]:
    """Milliseconds of one of `count` replays that wait for each other on the device alone, as epochs do."""
    times = []
    replay()
    for _ in range(5):
        torch.cuda.synchronize()
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        for _ in range(count):
            replay()
        last.record()
        last.synchronize()
        times.append(first.elapsed_time(last) / count)
    return times


def predicted(study: Study, source: Source, name: str, budget: float) -> None:
    """The sum of a step's operations, each measured by itself, beside the whole step: loss and optimiser included."""

    def work(add: Callable[..., None]) -> None:
        features, classes = sizes_of(source)
        facts = {"graph": source.name, "n": source.n, "m": source.m, "model": name, "side": "ours"}
        graph = gt.Graph(source.edge_index.to(study.device), source.n)
        x = torch.randn(source.n, features, device=study.device)
        y = torch.randint(classes, (source.n,), device=study.device)
        torch.manual_seed(0)
        model = models.build(name, features, classes, dropout=0.0).to(study.device)
        step = Step(study, model, graph, x, y)
        tuned = gt.tune(model, graph, step=step, budget=budget, progress=False)
        found = gt.step_time(model, graph, step=step)
        add(**facts, what="operations of a step", value=float(sum(c.runs for c in found.calls)), unit="")
        add(**facts, what="sparse operations, predicted", value=found.sparse_us, unit="us")
        add(**facts, what="problems tuned", value=float(len(tuned)), unit="")
        add(**facts, what="dense operations, predicted", value=found.dense_us, unit="us")
        add(**facts, what="step, predicted", value=found.total_us, unit="us")
        if study.on_gpu:
            step = Step(study, model, graph, x, y)
            replay = captured(step)
            times = in_a_row(replay)
            row = {"low": 1e3 * min(times), "high": 1e3 * max(times), "repeats": len(times)}
            add(**facts, what="step, captured, in a row", value=1e3 * statistics.median(times), unit="us", **row)
            times = milliseconds(study, replay, 0.3)
            add(**facts, what="step, captured", value=1e3 * statistics.median(times), unit="us", repeats=len(times))
            names = [torch.profiler.ProfilerActivity.CUDA]
            with torch.profiler.profile(activities=names) as profile:
                for _ in range(20):
                    replay()
                torch.cuda.synchronize()
            events = [e for e in profile.events() if str(e.device_type).endswith("CUDA")]
            ours = sum(e.time_range.elapsed_us() for e in events if "gnntune" in e.name.lower()) / 20
            add(**facts, what="kernels of gnntune in a captured step", value=ours, unit="us")
            whole = sum(e.time_range.elapsed_us() for e in events) / 20
            add(**facts, what="all kernels of a captured step", value=whole, unit="us")
        times = milliseconds(study, step, 0.5)
        add(**facts, what="step, eager", value=1e3 * statistics.median(times), unit="us", repeats=len(times))

    study.run("step", f"{source.name} {name}", 3 + budget, work)


__all__ = ["breakdown", "epoch", "predicted", "train", "with_loops"]
