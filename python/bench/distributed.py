#!/usr/bin/env python3
"""One graph over the GPUs of this host, one GPU beside it in the same run: rows of CSV, a short table last.

    PYTHONPATH=build/python python3 python/bench/distributed.py standin/reddit standin/com_amazon standin/ogbn_arxiv \\
        --out FOLDER [--ranks 2] [--dims 64,128,256] [--seconds 420]

GRAPH: files as the gnntune program reads them, or standin/NAME. FOLDER gets distributed.csv and each rank's log. A call
goes on where one before it in the same folder was cut short: what has rows is not measured again. Parts:

  check  sums, GCN and attention with their gradients on a random graph, split in every way, beside one rank's
  link   the exchanges of the group by their size, the packing of columns, the host's calls
  spmm   for each graph and width: what the model says of every pattern of slices, with and without the last slice by
         blocks of rows, and which one is taken when the first of them were tried; then one GPU, and split by each of
         them; the one that is taken with gradients; results compared; the model's forecast for 4 and 8 GPUs
  gcn    for each graph: steps of a GCN of two layers, the losses of one GPU beside those of all

A time is the median of turns, each of them the median of calls by events on the slowest rank. Both sides are tuned
first, --tune seconds a plan. Each rank is bound to its share of the processors: one that moves among them takes up to
twice as long to start what the GPU does.
With --backend gloo it runs on the CPU, to try it.
"""

from __future__ import annotations

import argparse
import csv
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from common import say

import gnntune
import gnntune.torch as gt
import gnntune.torch.distributed as gd
from gnntune.torch.distributed import _model
from gnntune.torch.distributed._graph import DistributedGraph
from gnntune.torch.distributed._ranks import Ranks
from gnntune.torch.distributed._split import columns, patterns

COLUMNS = (
    *("part", "graph", "n", "m", "k", "ranks", "form", "what", "value", "unit", "note"),
    *("device", "torch", "nccl", "gnntune", "commit", "date"),
)
PARTS = ("check", "link", "spmm", "gcn")
FEATURES, HIDDEN, CLASSES, STEPS = 128, 128, 41, 10
FORECAST_RANKS = (4, 8)
TIMEOUT_S = 240.0
TURN_US = 60_000  # of calls in a turn: a host takes turns with what else it does
MOST_CALLS = 150


class Rows:
    """The CSV of the folder: what is there, and rows as they come. One rank writes."""

    def __init__(self, path: Path, facts: dict[str, str], writes: bool) -> None:
        self.there: list[dict[str, str]] = []
        if path.exists():
            with path.open(newline="") as file:
                self.there = list(csv.DictReader(file))
        self._facts, self._writer = facts, None
        if writes:
            self._file = path.open("a", newline="")
            self._writer = csv.DictWriter(self._file, COLUMNS)
            if not self.there:
                self._writer.writeheader()
        self._waiting: list[dict[str, Any]] = []

    def has(self, part: str, graph: str = "", k: int | str = "") -> bool:
        wanted = (part, graph, str(k))
        return any((row["part"], row["graph"], row["k"]) == wanted for row in self.there)

    def add(self, **values: Any) -> None:
        """A row of the unit that is measured now."""
        self._waiting.append({name: f"{v:.6g}" if isinstance(v, float) else v for name, v in values.items()})

    def done(self) -> None:
        """The unit is measured: all of its rows are written, so that none is there in part."""
        if self._writer is not None:
            self._writer.writerows([{**row, **self._facts} for row in self._waiting])
            self._file.flush()
        self._waiting.clear()


class Run:
    """A rank of the benchmark."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        on_gpu = options.backend == "nccl"
        self.device = torch.device("cuda", rank) if on_gpu else torch.device("cpu")
        if on_gpu:
            torch.cuda.set_device(self.device)
        dist.init_process_group(options.backend, rank=rank, world_size=size, timeout=timedelta(seconds=TIMEOUT_S))
        self.group = gd.new_group(TIMEOUT_S)
        self.alone = [dist.new_group([r]) for r in range(size)][rank]
        self.ranks = Ranks(self.group, self.device)
        gt.configure(str(options.out / "distributed.db"))
        self.rows = Rows(options.out / "distributed.csv", facts(self.device), rank == 0)
        self.deadline = options.deadline
        self.wrong: list[str] = []
        self.link: gd.Link | None = None

    def time_left(self) -> bool:
        """Whether all ranks go on; the first one's clock counts."""
        return bool(self.ranks.gather_objects(time.time() < self.deadline)[0])

    def synchronize(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def together_us(self, step: Callable[[], object], about_us: float = TURN_US) -> float:
        """about_us: what a call takes, the same on all ranks; of short ones there are more."""
        calls = max(self.options.calls, min(MOST_CALLS, int(TURN_US / about_us)))
        return _model._together_us(self.ranks, self.device, step, calls)

    def first_alone_us(self, step: Callable[[], object]) -> float:
        """The time of the first rank, while the others wait."""
        found = 0.0
        if self.ranks.rank == 0:
            for _ in range(3):
                step()
            found = _model.time_us(self.device, step, 2.0, self.options.calls)
        return float(self.ranks.gather_objects(found)[0])

    def time_row(self, row: dict[str, Any], what: str, taken: list[float]) -> None:
        """The median of the turns, and all of them."""
        turns = "turns " + " ".join(f"{us:.6g}" for us in taken) + clock(self.device)
        self.rows.add(**row, what=what, value=statistics.median(taken), unit="us", note=turns)

    def run(self) -> None:
        begin = time.perf_counter()
        self.link = gd.measure_link(self.ranks, self.device)
        if not self.rows.has("link"):
            for kind, points in (("exchange", self.link.exchange), ("packing", self.link.copy)):
                for size, taken in points:
                    self.rows.add(part="link", ranks=self.ranks.size, form=kind, what=str(size), value=taken, unit="us")
            self.host_rows({"part": "link"}, self.link)
            rate = self.link.gbps
            self.rows.add(part="link", ranks=self.ranks.size, form="exchange", what="rate", value=rate, unit="GB/s")
            self.rows.done()
        say(f"link: {self.link.words()}, {time.perf_counter() - begin:.1f} s")
        if "check" in self.options.parts and not self.rows.has("check", "random"):
            self.check()
            self.rows.done()
        for name, path in self.options.files.items():
            units = [("spmm", k) for k in self.options.dims] + [("gcn", HIDDEN)]
            units = [unit for unit in units if unit[0] in self.options.parts]
            units = [(part, k) for part, k in units if not self.rows.has(part, name, k)]
            if not units or not self.time_left():
                continue
            graph = read(path).to(self.device)
            say(f"{name}: {graph.graph}, {self.deadline - time.time():.0f} s left")
            for part, k in units:
                if not self.time_left():
                    say(f"no time for {part} of {name}, k = {k}")
                    continue
                begin = time.perf_counter()
                (self.spmm if part == "spmm" else self.gcn)(name, graph.graph, k)
                self.rows.done()
                say(f"{part} of {name}, k = {k}: {time.perf_counter() - begin:.1f} s")
            del graph
            if self.device.type == "cuda":
                torch.cuda.empty_cache()

    def host_rows(self, base: dict[str, Any], link: gd.Link) -> None:
        for what, taken in zip(("call", "slice", "block"), link.host):
            self.rows.add(**base, ranks=self.ranks.size, form="host", what=what, value=taken, unit="us")

    # ---- check ----

    def check(self) -> None:
        """The worst difference from one rank's results and gradients, of their largest."""
        n, heads, k = 3001, 4, 24
        torch.manual_seed(4)
        index = torch.randint(0, n, (2, 50_000))
        index[1, :9000] = 7
        x, scores = torch.randn(n, heads, k), torch.randn(2, n, heads)
        parts = torch.randint(0, self.ranks.size, (n,))
        graph = gt.Graph(index.to(self.device), n)
        layouts: list[dict[str, Any]] = [{"mode": "features", "slices": s, "tail": s > 1} for s in (1, 3)]
        layouts += [{"mode": "one"}, {"mode": "rows"}, {"mode": "rows", "parts": parts}]
        calls: dict[str, Callable[..., torch.Tensor]] = {
            "spmm": lambda m, g, t, row, col: m.spmm(g, t),
            "mean": lambda m, g, t, row, col: m.spmm(g, t, reduce="mean"),
            "gcn": lambda m, g, t, row, col: m.gcn(g, t.flatten(1)),
            "gat": lambda m, g, t, row, col: m.gat(g, t, row, col),
            "gat, one head": lambda m, g, t, row, col: m.gat(g, t[:, :1], row[:, :1], col[:, :1]),
        }
        for dtype, limit in ((torch.float32, 1e-5), (torch.float16, 1e-2), (torch.bfloat16, 6e-2)):
            for what, call in calls.items():
                whole = [t.to(self.device, dtype, copy=True).requires_grad_() for t in (x, scores[0], scores[1])]
                wanted = call(gt, graph, *whole)
                wanted.float().square().sum().backward()
                for layout in layouts:
                    split = DistributedGraph(graph, self.group, link=self.link, **layout)
                    own = [split.take(t.detach()).clone().requires_grad_() for t in whole]
                    y = call(gd, split, *own)
                    y.float().square().sum().backward()
                    pairs = [(y, split.take(wanted.detach()))]
                    pairs += [(a.grad, split.take(b.grad)) for a, b in zip(own, whole) if b.grad is not None]
                    off = max(
                        [((a - b).abs().max() / b.abs().max()).item() for a, b in pairs if b.numel()], default=0.0
                    )
                    off = max(self.ranks.gather_objects(off))
                    form = ", ".join(f"{key} {v}" for key, v in layout.items() if key != "parts")
                    form += ", parts" if "parts" in layout else ""
                    row = {"part": "check", "graph": "random", "n": n, "m": graph.m, "ranks": self.ranks.size}
                    row["form"] = f"{what}, {str(dtype).removeprefix('torch.')}, {form}"
                    self.rows.add(**row, what="largest difference", value=off, unit="of the largest")
                    if not off <= limit:
                        self.wrong.append(f"{row['form']}: differs by {off:.2g} of the largest value from one rank's")
                        self.rows.add(**row, what="wrong", note=f"expected {limit:.0e} at most")

    # ---- spmm ----

    def tune(self, graph: gt.Graph, split: DistributedGraph, step: Callable[[], object]) -> None:
        """Measures the plans that a step uses, on this rank's device, and opens the database anew on all."""
        seconds = self.options.tune
        if not seconds:
            return
        step()  # so that every plan is there
        blocks = [block.graph for found in split._blocks.values() for block in found]
        for job in dict.fromkeys([graph, *blocks]):
            known = [g for g in (job, job._bare, job._looped) if g is not None]
            count = sum(len(g.problems()) for g in dict.fromkeys(known))
            # The whole graph is the same on every rank: one rank is enough.
            if count and (job is not graph or self.ranks.rank == 0):
                gt.tune(lambda *_: None, job, step=lambda: None, budget=seconds * count, progress=False)
        self.ranks.barrier()
        gt.configure(str(self.options.out / "distributed.db"))

    def spmm(self, name: str, graph: gt.Graph, k: int) -> None:
        assert self.link is not None
        ranks, size = self.ranks, self.ranks.size
        torch.manual_seed(1)
        x = torch.randn(graph.n_cols, k).to(self.device)
        base = {"part": "spmm", "graph": name, "n": graph.n_rows, "m": graph.m, "k": k}
        cuts = [(p, tail) for p in patterns(max(columns(k, size, 4)), 4) for tail in (False, True)]
        splits = {
            cut: DistributedGraph(graph, self.group, mode="features", slices=cut[0], tail=cut[1], link=self.link)
            for cut in cuts
        }
        for split in list(splits.values())[1:]:  # one copy of the blocks for all
            split._blocks = next(iter(splits.values()))._blocks
        own = {cut: split.take(x) for cut, split in splits.items()}
        widths = sorted({k, *(w for p, _ in cuts for w in p)})

        def everything() -> None:
            for width in widths:
                gt.spmm(graph, torch.ones(graph.n_cols, width, device=self.device))
            with_gradient(gt.spmm, graph, x)()
            for cut, split in splits.items():
                with_gradient(gd.spmm, split, own[cut])()

        self.tune(graph, next(iter(splits.values())), everything)
        everything()
        for problem, config in graph.problems().items():
            if problem.op == "spmm" and problem.k in widths and problem.direction == "forward" and not problem.weighted:
                self.rows.add(**base, ranks=1, form=f"{problem.k} columns", what="config", note=config)

        blocks = [block.graph for block in next(iter(splits.values())).blocks("spmm", False)]
        for number, block in enumerate(blocks):
            for problem, config in block.problems().items():
                if problem.op == "spmm" and problem.direction == "forward":
                    form = f"{problem.k} columns, block {number}"
                    self.rows.add(**base, ranks=size, form=form, what="config", note=config)

        # The host's time drifts: as it is now.
        link = self.link._replace(host=_model.measure_host(ranks, self.device))
        self.host_rows(base, link)
        kernels = _model.spmm_times(graph, ranks, k, torch.float32, [size, *FORECAST_RANKS], blocks)
        for width, kernel in kernels.items():
            form = f"{width} columns"
            self.rows.add(**base, ranks=1, form=form, what="kernel", value=kernel.us, unit="us")
            self.rows.add(**base, ranks=size, form=form, what="an exchange adds", value=kernel.beside_us, unit="us")
            if kernel.blocks_us is not None:
                self.rows.add(**base, ranks=size, form=form, what="kernel by blocks", value=kernel.blocks_us, unit="us")
        said = {cut: _model.expected_us(link, graph.n_rows, size, cut[0], kernels, 4, cut[1]) for cut in cuts}

        # What a caller gets.
        auto = DistributedGraph(graph, self.group, widths=(k,), link=link)
        chosen = auto.forecast(k)
        auto._blocks.clear()
        with torch.no_grad():
            wanted = gt.spmm(graph, x)
            for cut, split in splits.items():
                y = split.collect(gd.spmm(split, own[cut]))
                off = ((y - wanted).abs().max() / wanted.abs().max()).item()
                row = {**base, "ranks": size, "form": form_of(*cut)}
                self.rows.add(**row, what="largest difference", value=off, unit="of the largest")
                del y
            del wanted
            # In turns, and each turn in other memory: where x lies decides what the cache can hold of it.
            taken: dict[Any, list[float]] = {}
            for _ in range(self.options.turns):
                if self.device.type == "cuda":
                    torch.cuda.empty_cache()
                again = x.clone()
                taken.setdefault("whole", []).append(self.first_alone_us(lambda: gt.spmm(graph, again)))
                for cut, split in splits.items():
                    mine = split.take(again).clone()
                    taken.setdefault(cut, []).append(self.together_us(lambda: gd.spmm(split, mine), said[cut]))
        self.time_row({**base, "ranks": 1, "form": "whole"}, "time", taken["whole"])
        for cut in cuts:
            row = {**base, "ranks": size, "form": form_of(*cut)}
            self.time_row(row, "time", taken[cut])
            self.rows.add(**row, what="forecast", value=said[cut], unit="us")

        split = splits[chosen.pattern, chosen.tail]
        row = {**base, "ranks": size, "form": form_of(chosen.pattern, chosen.tail)}
        self.rows.add(**row, what="chosen", note=f"{auto.mode}: {auto.reason}")
        self.rows.add(**row, what="chosen: forecast", value=chosen.split_us, unit="us")
        self.rows.add(**row, what="chosen: forecast of one", value=chosen.one_us, unit="us")
        if chosen.tried_us is not None:
            self.rows.add(**row, what="chosen: tried", value=chosen.tried_us, unit="us")
        one, both = [], []
        for _ in range(self.options.turns):
            again = x.clone()
            one.append(self.first_alone_us(with_gradient(gt.spmm, graph, again)))
            step = with_gradient(gd.spmm, split, split.take(again).clone())
            both.append(self.together_us(step, 2 * chosen.split_us))
        self.time_row({**base, "ranks": 1, "form": "whole"}, "time with gradient", one)
        self.time_row(row, "time with gradient", both)
        for count in FORECAST_RANKS:
            far = _model.choose(link, graph.n_rows, k, count, 4, kernels, False)
            self.rows.add(
                **base,
                ranks=count,
                form=form_of(far.pattern, far.tail),
                what="forecast only",
                value=far.split_us,
                unit="us",
            )

    # ---- A training step ----

    def gcn(self, name: str, graph: gt.Graph, k: int) -> None:
        torch.manual_seed(2)
        x = torch.randn(graph.n_rows, FEATURES)
        y = torch.randint(0, CLASSES, (graph.n_rows,))
        base = {"part": "gcn", "graph": name, "n": graph.n_rows, "m": graph.m, "k": k}
        single = DistributedGraph(graph, self.alone, mode="one")
        split = DistributedGraph(graph, self.group, mode="features", link=self.link)
        for width in (HIDDEN, CLASSES):
            self.rows.add(**base, ranks=self.ranks.size, form="step", what="slices", note=split.forecast(width).words())

        def both() -> None:
            self.trainer(single, self.alone, x, y)()
            self.trainer(split, self.group, x, y)()

        self.tune(graph, split, both)
        both()

        def alone() -> tuple[list[float], float]:
            def timed(step: Callable[[], object]) -> float:
                return _model.time_us(self.device, step, 2.0, self.options.calls)

            return self.train(single, self.alone, x, y, timed)

        # The first rank alone, the others wait.
        losses, taken = self.ranks.gather_objects(alone() if self.ranks.rank == 0 else ([], 0.0))[0]
        self.rows.add(**base, ranks=1, form="step", what="time", value=taken, unit="us")
        mine, taken = self.train(split, self.group, x, y, self.together_us)
        self.rows.add(**base, ranks=self.ranks.size, form="step", what="time", value=taken, unit="us")
        for number, (a, b) in enumerate(zip(losses, mine)):
            self.rows.add(**base, ranks=1, form=f"step {number}", what="loss", value=f"{a:.8g}")
            self.rows.add(**base, ranks=self.ranks.size, form=f"step {number}", what="loss", value=f"{b:.8g}")
        off = max(abs(a - b) / abs(a) for a, b in zip(losses, mine))
        self.rows.add(
            **base, ranks=self.ranks.size, form="losses", what="largest difference", value=off, unit="of the loss"
        )

    def trainer(
        self, split: DistributedGraph, group: Any, x: torch.Tensor, y: torch.Tensor
    ) -> Callable[[], torch.Tensor]:
        torch.manual_seed(3)
        layers = torch.nn.ModuleList([gd.GCNConv(FEATURES, HIDDEN), gd.GCNConv(HIDDEN, CLASSES)]).to(self.device)
        optimiser = torch.optim.Adam(layers.parameters(), lr=0.01)
        own, labels, n = split.take(x), split.take(y), x.shape[0]

        def step() -> torch.Tensor:
            optimiser.zero_grad(set_to_none=True)
            out = layers[1](torch.relu(layers[0](own, split)), split)
            loss = torch.nn.functional.cross_entropy(out, labels, reduction="sum") / n
            loss.backward()
            gd.sum_gradients(layers, group)
            optimiser.step()
            return loss.detach()

        return step

    def train(
        self, split: DistributedGraph, group: Any, x: torch.Tensor, y: torch.Tensor, timed: Callable[..., float]
    ) -> tuple[list[float], float]:
        """The losses of some steps, and the time of one."""
        step = self.trainer(split, group, x, y)
        losses = []
        for _ in range(STEPS):
            total = step().clone()
            if split.size > 1:
                dist.all_reduce(total, group=group)
            losses.append(total.item())
        return losses, timed(step)


def with_gradient(call: Callable[..., torch.Tensor], graph: Any, x: torch.Tensor) -> Callable[[], None]:
    wants = x.clone().requires_grad_()
    grad = torch.randn_like(wants)

    def step() -> None:
        wants.grad = None
        call(graph, wants).backward(grad)

    return step


def clock(device: torch.device) -> str:
    """The SM clock as it is now, where that can be asked."""
    try:
        return f", {torch.cuda.clock_rate(device)} MHz" if device.type == "cuda" else ""
    except Exception:  # it needs a package of NVIDIA's
        return ""


def form_of(pattern: tuple[int, ...], tail: bool) -> str:
    return "+".join(map(str, pattern)) + (" by blocks" if tail else "")


class read:
    """The graph of a file that the parent wrote."""

    def __init__(self, path: str) -> None:
        with np.load(path) as file:
            self._row_ptr = torch.from_numpy(file["indptr"].astype(np.int32))
            self._col = torch.from_numpy(file["indices"].astype(np.int32))
            self._n_cols = int(file["shape"][1])

    def to(self, device: torch.device) -> read:
        self.graph = gt.Graph.from_csr(self._row_ptr.to(device), self._col.to(device), self._n_cols)
        return self


def bind(rank: int, size: int) -> None:
    """This process, and the threads that it will have, to its share of the processors."""
    here = sorted(os.sched_getaffinity(0))
    share = len(here) // size
    if share >= 2:
        os.sched_setaffinity(0, here[rank * share : (rank + 1) * share])


def facts(device: torch.device) -> dict[str, str]:
    version = subprocess.run([gnntune.program_path(), "--version"], capture_output=True, text=True, check=True).stdout
    on_gpu = device.type == "cuda"
    return {
        "device": torch.cuda.get_device_name(device) if on_gpu else "cpu",
        "torch": torch.__version__,
        "nccl": ".".join(map(str, torch.cuda.nccl.version())) if on_gpu else "",
        "gnntune": gnntune.__version__,
        "commit": os.environ.get("GNNTUNE_COMMIT") or version.partition("(")[2].partition(")")[0],
        "date": time.strftime("%Y-%m-%d"),
    }


# ---- The parent ----


def files_of(graphs: list[str], scratch: Path) -> dict[str, str]:
    """Each graph as an .npz of the scratch folder, by its name."""
    program = str(gnntune.program_path())
    found = {}
    for argument in graphs:
        name = argument if argument.startswith("standin/") else Path(argument).name.split(".")[0]
        path = scratch / f"{name.replace('/', '_')}.npz"
        if not path.exists():
            begin = time.perf_counter()
            half = scratch / f"half_{path.name}"
            words = [program, "generate", argument, "-o", str(half), "-q"]
            if not argument.startswith("standin/"):
                words = [program, "convert", argument, str(half), "--ignore-weights", "-q"]
            subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
            half.rename(path)
            say(f"{name}: made in {time.perf_counter() - begin:.0f} s")
        found[name] = str(path)
    return found


def numbers(rows: list[dict[str, str]], **same: Any) -> Iterator[tuple[dict[str, str], float]]:
    for row in rows:
        if all(row[key] == str(value) for key, value in same.items()):
            yield row, float(row["value"] or "nan")


def table(rows: list[dict[str, str]]) -> str:
    """What the two sides took, and what the model said."""
    lines = [
        f"{'graph':20} {'k':>4} {'one us':>9} {'split us':>9} {'x':>5} {'forecast':>9} {'off':>6} {'tried':>9} "
        f"{'mode':>9} {'best x':>6} {'grad x':>6}  slices"
    ]
    for row, said in numbers(rows, part="spmm", what="chosen: forecast"):
        key = {"part": "spmm", "graph": row["graph"], "k": row["k"]}
        one = next(v for _, v in numbers(rows, **key, what="time", form="whole"))
        split = next(v for _, v in numbers(rows, **key, what="time", form=row["form"]))
        mode = next(r["note"].partition(":")[0] for r, _ in numbers(rows, **key, what="chosen"))
        tried = next((f"{v:.1f}" for _, v in numbers(rows, **key, what="chosen: tried")), "")
        best = min(v for r, v in numbers(rows, **key, what="time") if r["ranks"] != "1")
        grads = {r["ranks"] == "1": v for r, v in numbers(rows, **key, what="time with gradient")}
        ratio = grads[True] / grads[False]
        lines.append(
            f"{row['graph']:20} {row['k']:>4} {one:9.1f} {split:9.1f} {one / split:5.2f} {said:9.1f} "
            f"{100 * (said / split - 1):5.1f}% {tried:>9} {mode:>9} {one / best:6.2f} {ratio:6.2f}  {row['form']}"
        )
    for row, off in numbers(rows, part="gcn", what="largest difference"):
        steps = {r["ranks"] == "1": v for r, v in numbers(rows, part="gcn", graph=row["graph"], what="time")}
        lines.append(
            f"{row['graph']:20} GCN step: one {steps[True]:.0f} us, split {steps[False]:.0f} us, "
            f"{steps[True] / steps[False]:.2f}x; losses of {STEPS} steps differ by {off:.1e} of the loss at most"
        )
    checks = [(off, row["form"]) for row, off in numbers(rows, part="check", what="largest difference")]
    if checks:
        wrong = sum(1 for _ in numbers(rows, part="check", what="wrong"))
        worst = max(checks)
        lines.append(f"checks: {len(checks)}, {wrong} wrong; the largest difference is {worst[0]:.1e} ({worst[1]})")
    for _, rate in numbers(rows, part="link", what="rate"):
        lines.append(f"link: {rate:.1f} GB/s")
    return "\n".join(lines)


def parent(options: argparse.Namespace) -> int:
    options.out.mkdir(parents=True, exist_ok=True)
    scratch = options.scratch or options.out / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    deadline = time.time() + options.seconds
    files = files_of(options.graphs, scratch)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    children, logs = [], []
    for rank in range(options.ranks):
        settings = {
            # Off unless it is asked for: what it shares among GPUs outlives a process that is killed.
            "NCCL_NVLS_ENABLE": "0",
            **os.environ,
            "RANK": str(rank),
            "WORLD_SIZE": str(options.ranks),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port),
            "OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 1) // options.ranks)),
        }
        log = (options.out / f"rank_{rank}.log").open("a")
        words = [sys.executable, "-W", "ignore", __file__, *sys.argv[1:], "--deadline", str(deadline)]
        words += [f"--file={name}={path}" for name, path in files.items()]
        children.append(subprocess.Popen(words, env=settings, stdout=log, stderr=subprocess.STDOUT))
        logs.append(log)
    failed = 0
    while children:
        time.sleep(0.2)
        for child in list(children):
            if child.poll() is None:
                continue
            children.remove(child)
            if child.returncode:
                failed = 1
                for other in children:  # they would wait for it until the timeout
                    other.terminate()
    for log in logs:
        log.close()
    if failed:
        for rank in range(options.ranks):
            print("".join((options.out / f"rank_{rank}.log").read_text().splitlines(keepends=True)[-15:]))
    path = options.out / "distributed.csv"
    if path.exists():
        with path.open(newline="") as file:
            print(table(list(csv.DictReader(file))))
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="+", metavar="GRAPH")
    parser.add_argument("--out", type=Path, required=True, help="folder for the rows and logs")
    parser.add_argument("--scratch", type=Path, help="folder for the graphs (default: one in --out)")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--backend", choices=["nccl", "gloo"], default="nccl")
    parser.add_argument("--dims", type=lambda text: [int(word) for word in text.split(",")], default=[64, 128, 256])
    parser.add_argument("--parts", type=lambda text: text.split(","), default=list(PARTS))
    parser.add_argument("--calls", type=int, default=10, help="calls of each time, at least")
    parser.add_argument("--turns", type=int, default=5, help="times of each form, in turns with the others'")
    parser.add_argument("--tune", type=float, default=1.0, help="seconds of tuning of each plan; 0: none")
    parser.add_argument("--seconds", type=float, default=420, help="begin no part after this time")
    parser.add_argument("--deadline", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--file", action="append", default=[], help=argparse.SUPPRESS)
    options = parser.parse_args()
    for part in options.parts:
        if part not in PARTS:
            parser.error(f"--parts: {part!r} is none of {', '.join(PARTS)}")
    if options.deadline is None:
        return parent(options)
    bind(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
    options.files = dict(text.split("=", 1) for text in options.file)
    run = Run(options)
    run.run()
    dist.destroy_process_group()
    for text in run.wrong:
        say(text)
    return 1 if run.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
