#!/usr/bin/env python3
"""Why the same slices take different times: one process a GPU, started by torchrun.

    NCCL_NVLS_ENABLE=0 PYTHONPATH=build/python torchrun --nproc-per-node 2 python/bench/placement.py \\
        --graph GRAPH.npz --out FOLDER [--k 256] [--seconds 120]

GRAPH.npz: as `gnntune generate` writes it. FOLDER gets placement_RANK.csv, a row for each time: of what, where its
tensors lay, and what the clock and the power were meanwhile. What is asked, the most telling first:

  turns    every pattern of slices in the benchmark's order, and in the reversed one, with each slice's kernel timed
           apart: does a time belong to a pattern, to its place in the order, to its tensors' places, or to a kernel?
  long     one pattern for some seconds: does it get slower as the GPU gets warm?
  x, y     a kernel with x (or y) in eight allocations that are all alive, each timed in three rounds: does a time
           come back with the place?
  offset   x at several offsets of 2 MiB, and of 4 KiB, in one allocation: is it the address, or what is behind it?
  beside   what an exchange adds to a kernel, several times
"""

from __future__ import annotations

import argparse
import csv
import itertools
import os
import statistics
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from distributed_processes import bind
from distributed_rank import Rank, form_of, read

import gnntune.torch as gt
import gnntune.torch.distributed as gd
from gnntune.torch._operators import execute
from gnntune.torch._run import PLAIN_PAIR
from gnntune.torch.distributed import _timing, functional
from gnntune.torch.distributed._graph import DistributedGraph
from gnntune.torch.distributed._split import columns, patterns

PLACES, ROUNDS, CALLS = 8, 3, 6
COLUMNS = ("part", "rank", "round", "form", "what", "us", "least", "most", "mhz", "watts", "why", "places")


class Clock(threading.Thread):
    """SM clock, power and reasons to throttle, as NVML has them every few milliseconds."""

    def __init__(self, device: torch.device) -> None:
        super().__init__(daemon=True)
        self.seen: list[tuple[float, int, float, int]] = []
        self._ends = False
        try:
            import pynvml

            self._nvml, self._handle = pynvml, torch.cuda._get_pynvml_handler(device)  # type: ignore[attr-defined]
            self.start()
        except Exception as error:
            print(f"no NVML: {error}", flush=True)

    def run(self) -> None:
        nvml, handle = self._nvml, self._handle
        while not self._ends:
            try:
                mhz = nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM)
                watts = nvml.nvmlDeviceGetPowerUsage(handle) / 1e3
                why = nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle)
                self.seen.append((time.perf_counter(), mhz, watts, why))
            except Exception as error:
                print(f"NVML: {error}", flush=True)
                return
            time.sleep(0.004)

    def during(self, begin: float, end: float) -> dict[str, Any]:
        some = [row for row in self.seen if begin <= row[0] <= end] or self.seen[-1:]
        if not some:
            return {}
        why = 0
        for row in some:
            why |= row[3]
        return {
            "mhz": f"{statistics.mean(row[1] for row in some):.0f}",
            "watts": f"{statistics.mean(row[2] for row in some):.0f}",
            "why": hex(why),
        }


class Probe(Rank):
    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__(options)
        self._file = (options.out / f"placement_{self.ranks.rank}.csv").open("w", newline="")
        self._writer = csv.DictWriter(self._file, COLUMNS)
        self._writer.writeheader()
        self.clock = Clock(self.device)

    def row(self, begin: float, times: list[float], **values: Any) -> None:
        found = {"us": f"{statistics.median(times):.1f}", "least": f"{min(times):.1f}", "most": f"{max(times):.1f}"}
        found |= self.clock.during(begin, time.perf_counter())
        self._writer.writerow({"rank": self.ranks.rank, **found, **values})
        self._file.flush()

    def times(self, step: Callable[[], object], calls: int = CALLS, warm: int = 2) -> list[float]:
        for _ in range(warm):
            step()
        marks = [torch.cuda.Event(enable_timing=True) for _ in range(calls + 1)]
        marks[0].record()
        for mark in marks[1:]:
            step()
            mark.record()
        torch.cuda.synchronize(self.device)
        return [1e3 * a.elapsed_time(b) for a, b in itertools.pairwise(marks)]

    # ---- Split calls ----

    def prepare(self, graph: gt.Graph, k: int) -> None:
        self.graph, self.k, size = graph, k, self.ranks.size
        self.link = gd.Link(size, ((1, 1.0), (2, 2.0)), ((1, 1.0), (2, 2.0)), (0.0, 0.0, 0.0))
        self.cuts = [(p, tail) for p in patterns(max(columns(k, size, 4)), 4) for tail in (False, True)]
        self.splits = {
            cut: DistributedGraph(graph, self.group, mode="features", slices=cut[0], tail=cut[1], link=self.link)
            for cut in self.cuts
        }
        first = next(iter(self.splits.values()))
        for split in self.splits.values():
            split._blocks = first._blocks
        x = torch.randn(graph.n_cols, k).to(self.device)

        def everything() -> None:
            for width in sorted({k, *(w for p, _ in self.cuts for w in p)}):
                gt.spmm(graph, torch.ones(graph.n_cols, width, device=self.device))
            for split in self.splits.values():
                gd.spmm(split, split.take(x))

        self.tune(graph, first, everything)
        everything()
        self.x = x
        self.kernels: list[tuple[int, int, int, Any, Any]] | None = None

        def watched(local: Any, op: str, numbers: Any, *inputs: Any) -> Any:
            if self.kernels is None:
                return execute(local, op, numbers, *inputs)
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            results = execute(local, op, numbers, *inputs)
            end.record()
            self.kernels.append((inputs[0].shape[1], inputs[0].data_ptr(), results[0].data_ptr(), begin, end))
            return results

        functional.execute = watched  # type: ignore[assignment]

    def split_call(self, cut: Any, mine: torch.Tensor, part: str, round: int, calls: int = CALLS) -> None:
        split = self.splits[cut]
        self.kernels = None
        for _ in range(3):
            gd.spmm(split, mine)
        torch.cuda.synchronize(self.device)
        self.ranks.barrier()
        self.kernels = []
        begin = time.perf_counter()
        taken = self.times(lambda: gd.spmm(split, mine), calls, 0)
        kernels, self.kernels = self.kernels, None
        form = form_of(*cut)
        base = {"part": part, "round": round, "form": form}
        self.row(begin, taken, **base, what="call", places=hex(mine.data_ptr()))
        count = len(kernels) // calls
        for number in range(count):
            same = kernels[number::count]
            us = [1e3 * a.elapsed_time(b) for *_, a, b in same]
            places = " ".join(sorted({f"{x:x}:{y:x}" for _, x, y, _, _ in same}))
            self.row(begin, us, **base, what=f"kernel {number}, {same[0][0]} columns", places=places)

    def turns(self) -> None:
        for number, order in enumerate((self.cuts, self.cuts, self.cuts[::-1], self.cuts[::-1])):
            torch.cuda.empty_cache()
            again = self.x.clone()
            begin = time.perf_counter()
            if self.ranks.rank == 0:
                whole = self.times(lambda: gt.spmm(self.graph, again), 10)
                self.row(
                    begin, whole, part="turns", round=number, form="whole", what="call", places=hex(again.data_ptr())
                )
            self.ranks.barrier()
            for cut in order:
                mine = self.splits[cut].take(again).clone()
                self.split_call(cut, mine, "turns", number)

    def long(self) -> None:
        for cut in (self.cuts[-1], self.cuts[3]):
            mine = self.splits[cut].take(self.x).clone()
            for number in range(12):
                self.split_call(cut, mine, "long", number, 20)

    # ---- Kernels ----

    def places(self, width: int) -> None:
        n, graph = self.graph.n_cols, self.graph

        def step(x: torch.Tensor) -> None:
            execute(graph, "spmm", PLAIN_PAIR.bare, x, None, None)

        torch.cuda.empty_cache()
        xs = [torch.rand(n, width, device=self.device) for _ in range(PLACES)]
        for round in range(ROUNDS):
            for number, x in enumerate(xs):
                begin = time.perf_counter()
                taken = self.times(lambda x=x: step(x))
                self.row(
                    begin,
                    taken,
                    part="x",
                    round=round,
                    form=f"{width} columns",
                    what=f"place {number}",
                    places=hex(x.data_ptr()),
                )
        x = xs[0]
        ys: list[torch.Tensor | None] = list(xs)
        ys[0] = torch.empty_like(x)
        del xs
        for round in range(ROUNDS):
            for number in range(PLACES):
                place = ys[number]
                where = hex(place.data_ptr()) if place is not None else ""
                del place
                # The only block of that size that is free: the result lies there.
                ys[number] = None
                y = execute(graph, "spmm", PLAIN_PAIR.bare, x, None, None)[0]
                there = hex(y.data_ptr())
                del y
                begin = time.perf_counter()
                taken = self.times(lambda: step(x))
                self.row(
                    begin,
                    taken,
                    part="y",
                    round=round,
                    form=f"{width} columns",
                    what=f"place {number}",
                    places=f"{where} {there}",
                )
                ys[number] = torch.empty(n, width, device=self.device)
        del ys, x
        torch.cuda.empty_cache()
        room = torch.empty(2 * n * width + (64 << 20), device=self.device)
        base = -(-room.data_ptr() // (1 << 25)) * (1 << 25) - room.data_ptr()
        base = base // 4
        for round in range(2):
            for offset in (
                0,
                4 << 10,
                64 << 10,
                1 << 20,
                2 << 20,
                4 << 20,
                6 << 20,
                8 << 20,
                12 << 20,
                16 << 20,
                24 << 20,
                32 << 20,
            ):
                x = room[base + offset // 4 : base + offset // 4 + n * width].view(n, width).uniform_()
                begin = time.perf_counter()
                taken = self.times(lambda x=x: step(x))
                self.row(
                    begin,
                    taken,
                    part="offset",
                    round=round,
                    form=f"{width} columns",
                    what=f"{offset >> 10} KiB",
                    places=hex(x.data_ptr()),
                )

    def beside(self, width: int) -> None:
        for round in range(4):
            if round % 2 == 0:
                torch.cuda.empty_cache()
            begin = time.perf_counter()
            found = _timing._kernel(self.graph, self.ranks, width, torch.float32, ())
            self.row(begin, [found.us], part="beside", round=round, form=f"{width} columns", what="kernel")
            self.row(
                begin, [found.beside_us], part="beside", round=round, form=f"{width} columns", what="an exchange adds"
            )

    def run(self) -> None:
        begin = time.perf_counter()
        graph = read(str(self.options.graph)).to(self.device).graph
        self.prepare(graph, self.options.k)
        self.say(begin, "prepared")
        jobs = [self.turns, lambda: self.beside(128), lambda: self.places(64), self.long, lambda: self.places(128)]
        jobs += [lambda: self.beside(64), lambda: self.places(32), self.turns]
        with torch.no_grad():
            for number, job in enumerate(jobs):
                if not self.time_left():
                    break
                job()
                self.say(begin, f"job {number}")

    def say(self, begin: float, text: str) -> None:
        print(f"rank {self.ranks.rank}: {text} at {time.perf_counter() - begin:.1f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--k", type=int, default=256)
    parser.add_argument("--tune", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=120)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    options.backend, options.calls, options.deadline = "nccl", CALLS, time.time() + options.seconds
    bind(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
    Probe(options).run()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
