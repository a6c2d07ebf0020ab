#!/usr/bin/env python3
"""Why calls of the same kind take different times: the clock under load, the places of tensors, the host.

    NCCL_NVLS_ENABLE=0 PYTHONPATH=build/python torchrun --nproc-per-node 2 python/bench/drift.py \\
        --graph GRAPH.npz --out FOLDER [--k 256] [--parts load,places,host]
    python3 python/bench/drift.py --out FOLDER --summary CSV

GRAPH.npz: as `gnntune generate` writes it. FOLDER gets what each rank saw; the second call sums it up, on any machine.

  load    a split sum, and one GPU's, for two seconds after a rest: each call, and the SM clock between calls, from how
          long the GPU takes to count cycles; power and reasons to slow down as the driver says them
  places  a kernel with x, or its result, in eight allocations that are all alive, and with x at several offsets of one:
          does a time come back with the place?
  host    what the host takes for a split call with next to no data, for some seconds, and for its parts
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import os
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
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
from gnntune.torch.distributed._graph import DistributedGraph

COLUMNS = ("part", "rank", "form", "rest", "round", "what", "ms", "us", "mhz", "watts", "why")
SUMMARY = (
    "part",
    "rank",
    "form",
    "rest",
    "what",
    "ms",
    "us",
    "most",
    "mhz",
    "watts",
    "why",
    "device",
    "commit",
    "date",
)
CYCLES = 100_000
PLACES, ROUNDS, CALLS = 8, 3, 6
OFFSETS_KIB = (0, 4, 64, 1024, 2048, 4096, 6144, 8192, 12288, 16384, 24576, 32768)
ALIGNED = 1 << 25
BUCKET_MS = 50


# ---- What was seen, in few rows ----


def summarise(folder: Path, path: Path) -> None:
    facts = json.loads((folder / "facts.json").read_text())
    rows = []
    for file in sorted(folder.glob("drift_*.csv")):
        with file.open(newline="") as text:
            rows += list(csv.DictReader(text))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, SUMMARY, lineterminator="\n")
        writer.writeheader()
        for row in [*summary_of_load(rows), *summary_of_places(rows), *summary_of_host(rows)]:
            writer.writerow({**row, **facts})


def groups(rows: list[dict[str, str]], *names: str) -> dict[tuple[str, ...], list[dict[str, str]]]:
    found: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in names), []).append(row)
    return found


def summary_of_load(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """A row for each BUCKET_MS: the median call and clock; the driver's mean power, and all of its reasons."""
    found = []
    load = [row for row in rows if row["part"] == "load"]
    for (rank, form, rest), some in groups(load, "rank", "form", "rest").items():
        calls: dict[int, list[dict[str, str]]] = {}
        said: dict[int, list[dict[str, str]]] = {}
        for row in some:
            if row["what"] in ("call", "driver"):
                kind = calls if row["what"] == "call" else said
                kind.setdefault(int(float(row["ms"]) // BUCKET_MS), []).append(row)
        for bucket, same in sorted(calls.items()):
            heard = said.get(bucket, [])
            why = 0
            for row in heard:
                why |= int(row["why"], 16)
            found.append(
                {
                    "part": "load",
                    "rank": rank,
                    "form": form,
                    "rest": rest,
                    "what": "call",
                    "ms": str(bucket * BUCKET_MS),
                    "us": f"{statistics.median(float(row['us']) for row in same):.1f}",
                    "most": f"{max(float(row['us']) for row in same):.1f}",
                    "mhz": f"{statistics.median(float(row['mhz']) for row in same):.0f}",
                    "watts": f"{statistics.mean(float(row['watts']) for row in heard):.0f}" if heard else "",
                    "why": hex(why) if heard else "",
                }
            )
    return found


def summary_of_places(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """A row for each place: the median round, and the longest."""
    found = []
    some = [row for row in rows if row["part"] in ("x", "y", "offset")]
    for (rank, part, form, what), same in groups(some, "rank", "part", "form", "what").items():
        times = [float(row["us"]) for row in same]
        base = {"part": part, "rank": rank, "form": form, "what": what}
        found.append({**base, "us": f"{statistics.median(times):.1f}", "most": f"{max(times):.1f}"})
    return found


def summary_of_host(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """A row for each tenth of a part's time."""
    found = []
    for row in rows:
        if row["part"] == "host" and row["what"].endswith(", host"):
            base = {"part": "host", "rank": row["rank"], "form": row["form"], "what": row["what"].partition(",")[0]}
            found += [{**base, "ms": str(number), "us": us} for number, us in enumerate(row["why"].split())]
    return found


# ---- On the GPUs ----


class Drift(Rank):
    """A rank that writes down each call."""

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__(options)
        if self.ranks.rank == 0:
            facts = {name: self.rows._facts[name] for name in ("device", "commit", "date")}
            (options.out / "facts.json").write_text(json.dumps(facts))
        self._file = (options.out / f"drift_{self.ranks.rank}.csv").open("w", newline="")
        self._writer = csv.DictWriter(self._file, COLUMNS)
        self._writer.writeheader()

    def row(self, **values: Any) -> None:
        self._writer.writerow({"rank": self.ranks.rank, **values})

    def run(self, parts: Sequence[str], k: int) -> None:
        if "load" in parts or "places" in parts:
            self.graph = read(str(self.options.graph)).to(self.device).graph
        if "load" in parts:
            self.load(k)
        if "places" in parts:
            for width in (k // 8, k // 4, k // 2):
                self.places(width)
        if "host" in parts:
            self.host()
        self._file.close()

    # ---- load ----

    def load(self, k: int) -> None:
        clock, graph, size = Clock(self.device), self.graph, self.ranks.size
        width = k // size
        link = gd.Link(size, ((1, 1.0), (2, 2.0)), ((1, 1.0), (2, 2.0)), (0.0, 0.0, 0.0))
        x = torch.randn(graph.n_cols, k).to(self.device)
        splits = {
            form_of(p, True): DistributedGraph(graph, self.group, mode="features", slices=p, tail=True, link=link)
            for p in ((width // 2, width // 2), (width // 4, width // 4, width // 2))
        }
        first, *others = splits.values()
        for split in others:
            split._blocks = first._blocks
        mine = first.take(x).clone()

        def everything() -> None:
            gt.spmm(graph, x)
            for split in splits.values():
                gd.spmm(split, mine)

        self.tune(graph, first, everything)
        everything()
        for rest in (2.0, 0.4):
            for form, split in splits.items():
                self.loaded(clock, form, rest, partial(gd.spmm, split, mine), 300)
            if self.ranks.rank == 0:
                self.loaded(clock, "whole", rest, partial(gt.spmm, graph, x), 150)
            self.ranks.barrier()

    def loaded(self, clock: Clock, form: str, rest: float, step: Callable[[], object], calls: int) -> None:
        step()
        torch.cuda.synchronize(self.device)
        time.sleep(rest)
        if form != "whole":
            self.ranks.barrier()
        begin = time.perf_counter()
        sleep: Any = torch.cuda._sleep
        marks = []
        for _ in range(calls):
            marks.append((event(), event(), event()))
            marks[-1][0].record()
            sleep(CYCLES)
            marks[-1][1].record()
            step()
            marks[-1][2].record()
        torch.cuda.synchronize(self.device)
        end = time.perf_counter()
        base = {"part": "load", "form": form, "rest": rest}
        for a, b, c in marks:
            ms, mhz = marks[0][0].elapsed_time(b), CYCLES / (1e3 * a.elapsed_time(b))
            self.row(**base, what="call", ms=f"{ms:.2f}", us=f"{1e3 * b.elapsed_time(c):.1f}", mhz=f"{mhz:.0f}")
        for when, said, watts, why in clock.seen:
            if begin <= when <= end:
                ms = 1e3 * (when - begin)
                self.row(**base, what="driver", ms=f"{ms:.2f}", mhz=said, watts=f"{watts:.0f}", why=hex(why))

    # ---- places ----

    def places(self, width: int) -> None:
        n, form = self.graph.n_cols, f"{width} columns"
        torch.cuda.empty_cache()
        held: list[Any] = [torch.rand(n, width, device=self.device) for _ in range(PLACES)]
        for number, (place, x) in itertools.product(range(ROUNDS), enumerate(held)):
            self.place(x, part="x", round=number, form=form, what=f"place {place}")
        x = torch.rand(n, width, device=self.device)
        for number, place in itertools.product(range(ROUNDS), range(PLACES)):
            held[place] = None  # the only block of that size that is free: the result lies there
            self.place(x, part="y", round=number, form=form, what=f"place {place}")
            held[place] = torch.empty(n, width, device=self.device)
        held.clear()
        room = torch.empty(n * width + (ALIGNED + (max(OFFSETS_KIB) << 10)) // 4, device=self.device)
        first = -room.data_ptr() % ALIGNED // 4
        for number, kib in itertools.product(range(2), OFFSETS_KIB):
            begin = first + (kib << 10) // 4
            x = room[begin : begin + n * width].view(n, width).uniform_()
            self.place(x, part="offset", round=number, form=form, what=f"{kib} KiB")

    def place(self, x: torch.Tensor, **where: Any) -> None:
        def step() -> None:
            execute(self.graph, "spmm", PLAIN_PAIR.bare, x, None, None)

        for _ in range(2):
            step()
        marks = [event() for _ in range(CALLS + 1)]
        marks[0].record()
        for mark in marks[1:]:
            step()
            mark.record()
        torch.cuda.synchronize(self.device)
        us = statistics.median(1e3 * a.elapsed_time(b) for a, b in itertools.pairwise(marks))
        self.row(**where, us=f"{us:.1f}")

    # ---- host ----

    def host(self) -> None:
        ranks, device, n = self.ranks, self.device, 4 * self.ranks.size
        row_ptr = torch.arange(n + 1, dtype=torch.int32, device=device)
        tiny = gt.Graph.from_csr(row_ptr, row_ptr[:n].clone(), n)
        split = DistributedGraph(tiny, self.group, mode="features", slices=1, tail=False)
        x, whole = torch.rand(split.n_local_cols, 3 * ranks.size, device=device), torch.rand(n, 3, device=device)
        narrow = torch.empty(n, 1, device=device)
        ins = [torch.rand(0 if q == ranks.rank else 64, device=device) for q in range(ranks.size)]
        outs = [torch.empty_like(t) for t in ins]
        parts: dict[str, Callable[[], object]] = {
            "call": partial(gd.spmm, split, x),
            "exchange": lambda: ranks.all_to_all(outs, ins).wait(),
            "kernel": lambda: execute(tiny, "spmm", PLAIN_PAIR.bare, whole, None, None),
            "copy": lambda: narrow.copy_(whole[:, :1]),
        }
        for what, step in parts.items():
            self.hosted("parts", what, step, 0.25)
        self.hosted("as it is", "call", parts["call"], 2.5)

    def hosted(self, form: str, what: str, step: Callable[[], object], seconds: float) -> None:
        for _ in range(20):
            step()
        torch.cuda.synchronize(self.device)
        begin = time.perf_counter()
        step()
        torch.cuda.synchronize(self.device)
        once = time.perf_counter() - begin
        calls = max(self.ranks.gather_objects(int(seconds / max(once, 50e-6))))
        whens = [time.perf_counter()]
        for _ in range(calls):
            step()
            whens.append(time.perf_counter())
        torch.cuda.synchronize(self.device)
        times = [1e6 * (b - a) for a, b in itertools.pairwise(whens)]
        size = max(1, calls // 10)
        tenths = [statistics.median(times[i : i + size]) for i in range(0, calls - size + 1, size)]
        text = " ".join(f"{us:.0f}" for us in tenths)
        self.row(part="host", form=form, what=f"{what}, host", us=f"{statistics.median(times):.1f}", why=text)


def event() -> Any:
    return torch.cuda.Event(enable_timing=True)


class Clock(threading.Thread):
    """SM clock, power and reasons to slow down, as the driver has them every few milliseconds."""

    def __init__(self, device: torch.device) -> None:
        super().__init__(daemon=True)
        self.seen: list[tuple[float, int, float, int]] = []
        try:
            import pynvml
        except ImportError:
            print("no pynvml: the driver is not asked", flush=True)
            return
        self._nvml, self._handle = pynvml, torch.cuda._get_pynvml_handler(device)  # type: ignore[attr-defined]
        self.start()

    def run(self) -> None:
        nvml, handle = self._nvml, self._handle
        while True:
            mhz = nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM)
            watts = nvml.nvmlDeviceGetPowerUsage(handle) / 1e3
            why = nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle)
            self.seen.append((time.perf_counter(), mhz, watts, why))
            time.sleep(0.004)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--k", type=int, default=256)
    parser.add_argument("--parts", type=lambda text: text.split(","), default=["load", "places", "host"])
    parser.add_argument("--tune", type=float, default=1.0, help="seconds of tuning of each plan; 0: none")
    parser.add_argument("--summary", type=Path, help="writes this file from what is in --out")
    options = parser.parse_args()
    if options.summary:
        summarise(options.out, options.summary)
        return
    options.out.mkdir(parents=True, exist_ok=True)
    options.backend, options.calls, options.deadline = "nccl", CALLS, 0.0
    bind(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
    with torch.no_grad():
        Drift(options).run(options.parts, options.k)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
