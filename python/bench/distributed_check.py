"""The part `check` of distributed.py: results and gradients of several ranks beside those of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from distributed_rank import Rank

import gnntune.torch as gt
import gnntune.torch.distributed as gd
from gnntune.torch.distributed._graph import DistributedGraph


def check(rank: Rank) -> None:
    """The worst difference from one rank's results and gradients, of their largest."""
    n, heads, k = 3001, 4, 24
    torch.manual_seed(4)
    index = torch.randint(0, n, (2, 50_000))
    index[1, :9000] = 7
    x, scores = torch.randn(n, heads, k), torch.randn(2, n, heads)
    parts = torch.randint(0, rank.ranks.size, (n,))
    graph = gt.Graph(index.to(rank.device), n)
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
            whole = [t.to(rank.device, dtype, copy=True).requires_grad_() for t in (x, scores[0], scores[1])]
            wanted = call(gt, graph, *whole)
            wanted.float().square().sum().backward()
            for layout in layouts:
                split = DistributedGraph(graph, rank.group, link=rank.link, **layout)
                own = [split.take(t.detach()).clone().requires_grad_() for t in whole]
                y = call(gd, split, *own)
                y.float().square().sum().backward()
                pairs = [(y, split.take(wanted.detach()))]
                pairs += [(a.grad, split.take(b.grad)) for a, b in zip(own, whole) if b.grad is not None]
                off = max([((a - b).abs().max() / b.abs().max()).item() for a, b in pairs if b.numel()], default=0.0)
                off = max(rank.ranks.gather_objects(off))
                form = ", ".join(f"{key} {v}" for key, v in layout.items() if key != "parts")
                form += ", parts" if "parts" in layout else ""
                row = {"part": "check", "graph": "random", "n": n, "m": graph.m, "ranks": rank.ranks.size}
                row["form"] = f"{what}, {str(dtype).removeprefix('torch.')}, {form}"
                rank.rows.add(**row, what="largest difference", value=off, unit="of the largest")
                if not off <= limit:
                    rank.wrong.append(f"{row['form']}: differs by {off:.2g} of the largest value from one rank's")
                    rank.rows.add(**row, what="wrong", note=f"expected {limit:.0e} at most")
