"""What the parts of the study of models share: rows that stay when a run is cut short, jobs, graphs, timing."""

from __future__ import annotations

import csv
import gc
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch_geometric
import torch_geometric.nn as nn
from common import say

import gnntune.models as models
import gnntune.pyg as gp
import gnntune.torch as gt

COLUMNS = (
    *("part", "job", "graph", "n", "m", "model", "side", "form", "seed", "way", "what", "value", "unit", "repeats"),
    *("low", "high", "note", "device", "torch", "pyg", "gnntune", "commit", "date"),
)
SIDES = ("theirs", "ours")


class Study:
    """Rows of CSV by jobs: a job's rows are written when it is done, and a job that the file has is not done again."""

    def __init__(self, path: str, seconds: float, device: str, facts: dict[str, str]) -> None:
        self.path, self.facts = Path(path), facts
        self.device = torch.device(device)
        self.on_gpu = device == "cuda"
        self.deadline = time.monotonic() + seconds
        self.rows: list[dict[str, Any]] = []
        self.failed = 0
        if self.path.exists():
            with self.path.open(newline="") as file:
                self.rows = list(csv.DictReader(file))
        # What failed is tried again.
        failed = {(row["part"], row["job"]) for row in self.rows if row["what"] == "failed"}
        self.rows = [row for row in self.rows if (row["part"], row["job"]) not in failed]
        with self.path.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(self.rows)
        self.done = {(row["part"], row["job"]) for row in self.rows}

    def left(self) -> float:
        return self.deadline - time.monotonic()

    def synchronize(self) -> None:
        if self.on_gpu:
            torch.cuda.synchronize()

    def free(self) -> None:
        """Gives back what nothing holds any more."""
        gc.collect()
        gt.release_captured()
        gc.collect()
        if self.on_gpu:
            torch.cuda.empty_cache()

    def run(self, part: str, job: str, seconds: float, work: Callable[[Callable[..., None]], None]) -> None:
        """Does a job if it is not done and there is time for about `seconds`. Its rows go to the file together."""
        if (part, job) in self.done:
            return
        if self.left() < seconds:
            say(f"{part}, {job}: no time, {self.left():.0f} of about {seconds:.0f} s are left")
            return
        rows: list[dict[str, Any]] = []

        def add(**values: Any) -> None:
            texts = {k: f"{v:.6g}" if isinstance(v, float) else v for k, v in values.items() if v is not None}
            rows.append({"part": part, "job": job, **texts, **self.facts})

        begin = time.monotonic()
        try:
            work(add)
            self.synchronize()
        except torch.OutOfMemoryError as error:
            add(what="out of memory", note=str(error).split("\n")[0][:400])  # it says who holds how much at its end
        except Exception as error:  # the other jobs are worth having
            self.failed += 1
            say(f"{part}, {job} failed: {error!r}")
            add(what="failed", note=repr(error).split("\n")[0][:200])
        self.free()
        add(what="seconds", value=time.monotonic() - begin, unit="s")
        with self.path.open("a", newline="") as file:
            csv.DictWriter(file, COLUMNS).writerows(rows)
        self.rows += [{name: str(row.get(name, "")) for name in COLUMNS} for row in rows]
        self.done.add((part, job))
        say(f"{part}, {job}: {time.monotonic() - begin:.1f} s, {self.left():.0f} s left")


def with_loops(index: torch.Tensor, n: int) -> torch.Tensor:
    index, _ = torch_geometric.utils.remove_self_loops(index)
    index, _ = torch_geometric.utils.add_self_loops(index, num_nodes=n)
    return index


# Options of theirs that make it faster without changing results: the norm computed once, self loops added beforehand.
THEIR_BEST: dict[str, dict[str, Any]] = {"GCN": {"cached": True}, "GAT": {"add_self_loops": False}}
THEIR_BEST["AGNN"] = THEIR_BEST["GAT"]


def build(name: str, side: str, graph: gt.Graph, *sizes: int, **options: Any) -> tuple[torch.nn.Module, Any]:
    """A model of one side, in its fastest form, and the graph as it takes it."""
    if side == "ours":
        return models.build(name, *sizes, convs=gp, **options).to(graph.device), graph
    best = THEIR_BEST.get(name, {})
    index = graph.edge_index
    if best.get("add_self_loops") is False:
        index = with_loops(index, graph.n_rows)
    return models.build(name, *sizes, convs=nn, **options, **best).to(graph.device), index
