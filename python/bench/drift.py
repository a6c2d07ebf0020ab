#!/usr/bin/env python3
"""Why calls of the same kind take different times: one process a GPU, started by torchrun.

    NCCL_NVLS_ENABLE=0 PYTHONPATH=build/python torchrun --nproc-per-node 2 python/bench/drift.py \\
        --graph GRAPH.npz --out FOLDER [--k 256] [--parts load,host] [--seconds 60]

GRAPH.npz: as `gnntune generate` writes it. FOLDER gets drift_RANK.csv. Parts:

  load  a split sum for some seconds after a rest: each call, its first kernel, and the SM clock between calls, from how
        long the GPU takes to count cycles; power and reasons to throttle as the driver says them
  host  what the host takes for a split call with next to no data, over some seconds, and for its parts; with the
        collector off, and on one processor
"""

from __future__ import annotations

import argparse
import csv
import gc
import itertools
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from distributed_processes import bind
from distributed_rank import Rank, form_of, read
from placement import Clock

import gnntune.torch as gt
import gnntune.torch.distributed as gd
from gnntune.torch._operators import execute
from gnntune.torch._run import PLAIN_PAIR
from gnntune.torch.distributed import functional
from gnntune.torch.distributed._graph import DistributedGraph

COLUMNS = ("part", "rank", "form", "rest", "what", "ms", "us", "mhz", "watts", "why")
CYCLES = 100_000


class Drift(Rank):
    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__(options)
        self._writer = csv.DictWriter((options.out / f"drift_{self.ranks.rank}.csv").open("w", newline=""), COLUMNS)
        self._writer.writeheader()

    def row(self, **values: Any) -> None:
        self._writer.writerow({"rank": self.ranks.rank, **values})

    # ---- load ----

    def load(self) -> None:
        graph = read(str(self.options.graph)).to(self.device).graph
        k = self.options.k
        link = gd.Link(self.ranks.size, ((1, 1.0), (2, 2.0)), ((1, 1.0), (2, 2.0)), (0.0, 0.0, 0.0))
        torch.manual_seed(1)
        x = torch.randn(graph.n_cols, k).to(self.device)
        cuts = [((k // 4, k // 4), True), ((k // 8, k // 8, k // 4), True)]
        splits = {
            cut: DistributedGraph(graph, self.group, mode="features", slices=cut[0], tail=cut[1], link=link)
            for cut in cuts
        }
        splits[cuts[1]]._blocks = splits[cuts[0]]._blocks
        mine = splits[cuts[0]].take(x).clone()

        def everything() -> None:
            gt.spmm(graph, x)
            for split in splits.values():
                gd.spmm(split, mine)

        self.tune(graph, splits[cuts[0]], everything)
        everything()
        clock = Clock(self.device)
        for rest, (cut, split) in [(r, item) for r in (2.0, 0.4) for item in splits.items()]:
            self.loaded(form_of(*cut), rest, lambda split=split: gd.spmm(split, mine), clock, 300)
        for rest in (2.0, 0.4):
            if self.ranks.rank == 0:
                self.loaded("whole", rest, lambda: gt.spmm(graph, x), clock, 150)
            self.ranks.barrier()

    def loaded(self, form: str, rest: float, step: Callable[[], object], clock: Clock, calls: int) -> None:
        marks: list[list[Any]] = []
        kernels: list[Any] = []

        def watched(local: Any, op: str, numbers: Any, *inputs: Any) -> Any:
            if len(kernels) == len(marks):
                return execute(local, op, numbers, *inputs)
            pair = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
            pair[0].record()
            results = execute(local, op, numbers, *inputs)
            pair[1].record()
            kernels.append(pair)
            return results

        step()
        torch.cuda.synchronize(self.device)
        time.sleep(rest)
        if form != "whole":
            self.ranks.barrier()
        begin = time.perf_counter()
        functional.execute = watched  # type: ignore[assignment]
        for _ in range(calls):
            marks.append([torch.cuda.Event(enable_timing=True) for _ in range(3)])
            marks[-1][0].record()
            torch.cuda._sleep(CYCLES)
            marks[-1][1].record()
            step()
            marks[-1][2].record()
        torch.cuda.synchronize(self.device)
        functional.execute = execute  # type: ignore[assignment]
        end = time.perf_counter()
        base = {"part": "load", "form": form, "rest": rest}
        for number, (a, b, c) in enumerate(marks):
            mhz = CYCLES / (1e3 * a.elapsed_time(b))
            ms = marks[0][0].elapsed_time(b)
            self.row(**base, what="call", ms=f"{ms:.2f}", us=f"{1e3 * b.elapsed_time(c):.1f}", mhz=f"{mhz:.0f}")
            if number < len(kernels):
                d, e = kernels[number]
                self.row(**base, what="kernel", ms=f"{ms:.2f}", us=f"{1e3 * d.elapsed_time(e):.1f}", mhz=f"{mhz:.0f}")
        for when, mhz, watts, why in clock.seen:
            if begin <= when <= end:
                self.row(
                    **base, what="driver", ms=f"{1e3 * (when - begin):.2f}", mhz=mhz, watts=f"{watts:.0f}", why=hex(why)
                )

    # ---- host ----

    def host(self) -> None:
        ranks, n = self.ranks, 4 * self.ranks.size
        row_ptr = torch.arange(n + 1, dtype=torch.int32, device=self.device)
        graph = gt.Graph.from_csr(row_ptr, row_ptr[:n].clone(), n)
        split = DistributedGraph(graph, self.group, mode="features", slices=1, tail=False)
        x = torch.rand(split.n_local_cols, 3 * ranks.size, device=self.device)
        whole = torch.rand(n, 3, device=self.device)
        own = list(torch.rand(ranks.size, 64, device=self.device))
        ins = [t if q != ranks.rank else t[:0] for q, t in enumerate(own)]
        outs = [torch.empty_like(t) for t in ins]
        narrow = torch.empty(n, 1, device=self.device)
        here = torch.cuda.current_stream(self.device)
        side: Any = torch.cuda.Stream(self.device, priority=-1)

        def streams() -> None:
            side.wait_stream(here)
            with torch.cuda.stream(side):
                pass
            here.wait_stream(side)

        parts: dict[str, Callable[[], object]] = {
            "call": lambda: gd.spmm(split, x),
            "exchange": lambda: ranks.all_to_all(outs, ins).wait(),
            "exchange of torch": lambda: dist.all_to_all(outs, ins, group=self.group, async_op=True).wait(),
            "exchange of the group": lambda: self.group.alltoall(outs, ins).wait(),
            "kernel": lambda: execute(graph, "spmm", PLAIN_PAIR.bare, whole, None, None),
            "copy": lambda: narrow.copy_(whole[:, :1]),
            "streams": streams,
        }
        with torch.no_grad():
            for what, step in parts.items():
                self.hosted("parts", what, step, 0.25)
            seconds = 2.5
            self.hosted("as it is", "call", parts["call"], seconds)
            gc.disable()
            self.hosted("no collector", "call", parts["call"], seconds)
            gc.enable()
            allowed = os.sched_getaffinity(0)
            os.sched_setaffinity(0, {min(allowed)})
            self.hosted("one processor", "call", parts["call"], seconds)
            os.sched_setaffinity(0, allowed)
            self.hosted("as it is again", "call", parts["call"], seconds)

    def hosted(self, form: str, what: str, step: Callable[[], object], seconds: float) -> None:
        for _ in range(20):
            step()
        torch.cuda.synchronize(self.device)
        begin = time.perf_counter()
        step()
        torch.cuda.synchronize(self.device)
        once = time.perf_counter() - begin
        calls = max(self.ranks.gather_objects(int(seconds / max(once, 50e-6))))
        marks = [torch.cuda.Event(enable_timing=True) for _ in range(calls + 1)]
        whens = [time.perf_counter()]
        marks[0].record()
        for mark in marks[1:]:
            step()
            mark.record()
            whens.append(time.perf_counter())
        torch.cuda.synchronize(self.device)
        device = [1e3 * a.elapsed_time(b) for a, b in itertools.pairwise(marks)]
        host = [1e6 * (b - a) for a, b in itertools.pairwise(whens)]
        size = max(1, calls // 10)
        for kind, times in (("events", device), ("host", host)):
            tenths = [statistics.median(times[i : i + size]) for i in range(0, calls - size + 1, size)]
            text = " ".join(f"{t:.0f}" for t in tenths)
            self.row(part="host", form=form, what=f"{what}, {kind}", us=f"{statistics.median(times):.1f}", why=text)
            if self.ranks.rank == 0 or kind == "host":
                print(
                    f"rank {self.ranks.rank} {form}, {what}, {kind}: {statistics.median(times):.0f} us, tenths {text}",
                    flush=True,
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--k", type=int, default=256)
    parser.add_argument("--parts", type=lambda text: text.split(","), default=["load", "host"])
    parser.add_argument("--tune", type=float, default=1.0)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    options.backend, options.calls, options.deadline = "nccl", 10, 0.0
    bind(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
    drift = Drift(options)
    with torch.no_grad():
        for part in options.parts:
            (drift.load if part == "load" else drift.host)()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
