"""The part `spmm` of distributed.py: a sum over one GPU and over all, in every way, beside what the model said."""

from __future__ import annotations

from typing import Any

import torch
from distributed_rank import Rank, form_of, with_gradient

import gnntune.torch as gt
import gnntune.torch.distributed as gd
from gnntune.torch.distributed import _model
from gnntune.torch.distributed._graph import DistributedGraph
from gnntune.torch.distributed._split import columns, patterns

FORECAST_RANKS = (4, 8)


def spmm(rank: Rank, name: str, graph: gt.Graph, k: int) -> None:
    assert rank.link is not None
    ranks, size = rank.ranks, rank.ranks.size
    torch.manual_seed(1)
    x = torch.randn(graph.n_cols, k).to(rank.device)
    base = {"part": "spmm", "graph": name, "n": graph.n_rows, "m": graph.m, "k": k}
    cuts = [(p, tail) for p in patterns(max(columns(k, size, 4)), 4) for tail in (False, True)]
    splits = {
        cut: DistributedGraph(graph, rank.group, mode="features", slices=cut[0], tail=cut[1], link=rank.link)
        for cut in cuts
    }
    for split in list(splits.values())[1:]:  # one copy of the blocks for all
        split._blocks = next(iter(splits.values()))._blocks
    own = {cut: split.take(x) for cut, split in splits.items()}
    widths = sorted({k, *(w for p, _ in cuts for w in p)})

    def everything() -> None:
        for width in widths:
            gt.spmm(graph, torch.ones(graph.n_cols, width, device=rank.device))
        with_gradient(gt.spmm, graph, x)()
        for cut, split in splits.items():
            with_gradient(gd.spmm, split, own[cut])()

    rank.tune(graph, next(iter(splits.values())), everything)
    everything()
    for problem, config in graph.problems().items():
        if problem.op == "spmm" and problem.k in widths and problem.direction == "forward" and not problem.weighted:
            rank.rows.add(**base, ranks=1, form=f"{problem.k} columns", what="config", note=config)

    blocks = [block.graph for block in next(iter(splits.values())).blocks("spmm", False)]
    for number, block in enumerate(blocks):
        for problem, config in block.problems().items():
            if problem.op == "spmm" and problem.direction == "forward":
                form = f"{problem.k} columns, block {number}"
                rank.rows.add(**base, ranks=size, form=form, what="config", note=config)

    # The host's time drifts: as it is now.
    link = rank.link._replace(host=_model.measure_host(ranks, rank.device))
    rank.host_rows(base, link)
    kernels = _model.spmm_times(graph, ranks, k, torch.float32, [size, *FORECAST_RANKS], blocks)
    for width, kernel in kernels.items():
        form = f"{width} columns"
        rank.rows.add(**base, ranks=1, form=form, what="kernel", value=kernel.us, unit="us")
        rank.rows.add(**base, ranks=size, form=form, what="an exchange adds", value=kernel.beside_us, unit="us")
        if kernel.blocks_us is not None:
            rank.rows.add(**base, ranks=size, form=form, what="kernel by blocks", value=kernel.blocks_us, unit="us")
    said = {cut: _model.expected_us(link, graph.n_rows, size, cut[0], kernels, 4, cut[1]) for cut in cuts}

    # What a caller gets.
    auto = DistributedGraph(graph, rank.group, widths=(k,), link=link)
    chosen = auto.forecast(k)
    auto._blocks.clear()
    with torch.no_grad():
        wanted = gt.spmm(graph, x)
        for cut, split in splits.items():
            y = split.collect(gd.spmm(split, own[cut]))
            off = ((y - wanted).abs().max() / wanted.abs().max()).item()
            row = {**base, "ranks": size, "form": form_of(*cut)}
            rank.rows.add(**row, what="largest difference", value=off, unit="of the largest")
            del y
        del wanted
        # In turns, and each turn in other memory: where x lies decides what the cache can hold of it.
        taken: dict[Any, list[float]] = {}
        for _ in range(rank.options.turns):
            if rank.device.type == "cuda":
                torch.cuda.empty_cache()
            again = x.clone()
            taken.setdefault("whole", []).append(rank.first_alone_us(lambda: gt.spmm(graph, again)))
            for cut, split in splits.items():
                mine = split.take(again).clone()
                taken.setdefault(cut, []).append(rank.together_us(lambda: gd.spmm(split, mine), said[cut]))
    rank.time_row({**base, "ranks": 1, "form": "whole"}, "time", taken["whole"])
    for cut in cuts:
        row = {**base, "ranks": size, "form": form_of(*cut)}
        rank.time_row(row, "time", taken[cut])
        rank.rows.add(**row, what="forecast", value=said[cut], unit="us")

    split = splits[chosen.pattern, chosen.tail]
    row = {**base, "ranks": size, "form": form_of(chosen.pattern, chosen.tail)}
    rank.rows.add(**row, what="chosen", note=f"{auto.mode}: {auto.reason}")
    rank.rows.add(**row, what="chosen: forecast", value=chosen.split_us, unit="us")
    rank.rows.add(**row, what="chosen: forecast of one", value=chosen.one_us, unit="us")
    if chosen.tried_us is not None:
        rank.rows.add(**row, what="chosen: tried", value=chosen.tried_us, unit="us")
    one, both = [], []
    for _ in range(rank.options.turns):
        again = x.clone()
        one.append(rank.first_alone_us(with_gradient(gt.spmm, graph, again)))
        step = with_gradient(gd.spmm, split, split.take(again).clone())
        both.append(rank.together_us(step, 2 * chosen.split_us))
    rank.time_row({**base, "ranks": 1, "form": "whole"}, "time with gradient", one)
    rank.time_row(row, "time with gradient", both)
    for count in FORECAST_RANKS:
        far = _model.choose(link, graph.n_rows, k, count, 4, kernels, False)
        rank.rows.add(
            **base,
            ranks=count,
            form=form_of(far.pattern, far.tail),
            what="forecast only",
            value=far.split_us,
            unit="us",
        )
