"""What the parts of distributed.py share on a rank: its group, times that are taken with the others, graphs, tuning."""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from distributed_rows import Rows, facts

import gnntune.torch as gt
import gnntune.torch.distributed as gd
from gnntune.torch.distributed import _timing
from gnntune.torch.distributed._graph import DistributedGraph
from gnntune.torch.distributed._ranks import Ranks

TIMEOUT_S = 240.0
TURN_US = 30_000  # of calls in a turn: a host takes turns with what else it does
MOST_CALLS = 150


class Rank:
    """A rank of the benchmark: its group, its clocks, and the rows that it has."""

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

    def in_turns_us(
        self,
        steps: dict[Any, tuple[Callable[[], object], float]],
        alone: Any,
        between: Callable[[], object] | None = None,
    ) -> dict[Any, list[float]]:
        """Times of calls that take about so long, the same on all ranks.

        Every turn begins with another of them, so that what slows a GPU down for a while, such as its power limit,
        does not meet the same one each time. `alone` exchanges nothing: every rank makes it, so that none rests, and
        the first one's time counts. `between` is called before each turn.
        """
        order = list(steps)
        taken: dict[Any, list[float]] = {key: [] for key in order}
        for turn in range(self.options.turns):
            if between is not None:
                between()
            first = turn * len(order) // self.options.turns
            for key in order[first:] + order[:first]:
                step, about_us = steps[key]
                calls = max(self.options.calls, min(MOST_CALLS, int(TURN_US / about_us)))
                found = _timing.by_rank_us(self.ranks, self.device, step, calls)
                taken[key].append(found[0] if key == alone else max(found))
        return taken

    def time_row(self, row: dict[str, Any], what: str, taken: list[float]) -> None:
        """The median of the turns, and all of them."""
        turns = "turns " + " ".join(f"{us:.6g}" for us in taken) + clock(self.device)
        self.rows.add(**row, what=what, value=statistics.median(taken), unit="us", note=turns)

    def host_rows(self, base: dict[str, Any], link: gd.Link) -> None:
        for what, taken in zip(("call", "slice", "block"), link.host):
            self.rows.add(**base, ranks=self.ranks.size, form="host", what=what, value=taken, unit="us")

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
