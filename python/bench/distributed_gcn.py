"""The part `gcn` of distributed.py: training steps of one GPU beside those of all, with their losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from distributed_rank import TURN_US, Rank
from distributed_rows import STEPS

import gnntune.torch as gt
import gnntune.torch.distributed as gd
from gnntune.torch.distributed._graph import DistributedGraph

FEATURES, HIDDEN, CLASSES = 128, 128, 41


def gcn(rank: Rank, name: str, graph: gt.Graph, k: int) -> None:
    torch.manual_seed(2)
    x = torch.randn(graph.n_rows, FEATURES)
    y = torch.randint(0, CLASSES, (graph.n_rows,))
    base = {"part": "gcn", "graph": name, "n": graph.n_rows, "m": graph.m, "k": k}
    single = DistributedGraph(graph, rank.alone, mode="one")
    split = DistributedGraph(graph, rank.group, mode="features", link=rank.link)
    for width in (HIDDEN, CLASSES):
        rank.rows.add(**base, ranks=rank.ranks.size, form="step", what="slices", note=split.forecast(width).words())

    def both() -> None:
        trainer(rank, single, rank.alone, x, y)()
        trainer(rank, split, rank.group, x, y)()

    rank.tune(graph, split, both)
    both()

    one, split_step = trainer(rank, single, rank.alone, x, y), trainer(rank, split, rank.group, x, y)
    losses, mine = train(single, rank.alone, one), train(split, rank.group, split_step)
    losses = rank.ranks.gather_objects(losses)[0]
    taken = rank.in_turns_us({1: (one, TURN_US), rank.ranks.size: (split_step, TURN_US)}, 1)
    for size, times in taken.items():
        rank.time_row({**base, "ranks": size, "form": "step"}, "time", times)
    for number, (a, b) in enumerate(zip(losses, mine)):
        rank.rows.add(**base, ranks=1, form=f"step {number}", what="loss", value=f"{a:.8g}")
        rank.rows.add(**base, ranks=rank.ranks.size, form=f"step {number}", what="loss", value=f"{b:.8g}")
    off = max(abs(a - b) / abs(a) for a, b in zip(losses, mine))
    rank.rows.add(
        **base, ranks=rank.ranks.size, form="losses", what="largest difference", value=off, unit="of the loss"
    )


def trainer(
    rank: Rank, split: DistributedGraph, group: Any, x: torch.Tensor, y: torch.Tensor
) -> Callable[[], torch.Tensor]:
    torch.manual_seed(3)
    layers = torch.nn.ModuleList([gd.GCNConv(FEATURES, HIDDEN), gd.GCNConv(HIDDEN, CLASSES)]).to(rank.device)
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


def train(split: DistributedGraph, group: Any, step: Callable[[], torch.Tensor]) -> list[float]:
    """The losses of some steps."""
    losses = []
    for _ in range(STEPS):
        total = step().clone()
        if split.size > 1:
            dist.all_reduce(total, group=group)
        losses.append(total.item())
    return losses
