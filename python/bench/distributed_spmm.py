"""The part `spmm` of distributed.py: a sum over one GPU and over all, in every way, beside what the model said."""

from __future__ import annotations

import statistics
from functools import partial
from typing import Any

import torch
from distributed_rank import Rank, form_of, with_gradient

import gnntune.torch as gt
import gnntune.torch.distributed as gd
from gnntune.torch.distributed import _model, _timing
from gnntune.torch.distributed._graph import DistributedGraph
from gnntune.torch.distributed._split import columns, patterns, whole_vectors

FORECAST_RANKS = (4, 8)
HOST_BINDS = 0.5


def spmm(rank: Rank, name: str, graph: gt.Graph, k: int) -> None:
    assert rank.link is not None
    ranks, size = rank.ranks, rank.ranks.size
    torch.manual_seed(1)
    x = torch.randn(graph.n_cols, k).to(rank.device)
    base = {"part": "spmm", "graph": name, "n": graph.n_rows, "m": graph.m, "k": k}
    widest = max(columns(whole_vectors(k, size, 4), size, 4))
    cuts = [(p, tail) for p in patterns(widest, 4) for tail in (False, True)]
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

    host = _timing.HostCalls(ranks, rank.device)
    kernels = _timing.spmm_times(graph, ranks, k, torch.float32, [size, *FORECAST_RANKS], blocks, host.moment)
    link = rank.link._replace(host=host.found())
    rank.host_rows(base, link)
    for width, kernel in kernels.items():
        form = f"{width} columns"
        rank.rows.add(**base, ranks=1, form=form, what="kernel", value=kernel.us, unit="us")
        rank.rows.add(**base, ranks=size, form=form, what="an exchange adds", value=kernel.beside_us, unit="us")
        if kernel.blocks_us is not None:
            rank.rows.add(**base, ranks=size, form=form, what="kernel by blocks", value=kernel.blocks_us, unit="us")
    ways = _model.ranked(link, graph.n_rows, k, size, 4, kernels, True)
    said = {(way.pattern, way.tail): way.split_us for way in ways}

    # What a caller gets: with a link and a host that were measured for it.
    auto = DistributedGraph(graph, rank.group, widths=(k,))
    chosen = auto.forecast(k)
    if auto.mode == "features":
        splits[chosen.pattern, chosen.tail] = auto
    with torch.no_grad():
        wanted = gt.spmm(graph, x)
        for cut, split in splits.items():
            y = split.collect(gd.spmm(split, own[cut]))
            off = ((y - wanted).abs().max() / wanted.abs().max()).item()
            row = {**base, "ranks": size, "form": form_of(*cut)}
            rank.rows.add(**row, what="largest difference", value=off, unit="of the largest")
            del y
        del wanted
        steps: dict[Any, Any] = {"whole": (lambda: gt.spmm(graph, x), chosen.one_us)}
        for cut, split in splits.items():
            steps[cut] = (partial(gd.spmm, split, own[cut]), said[cut])
        # The host drifts. Where it binds, the forecast is renewed before each turn.
        renewed: list[float] = []
        binds = chosen.host_us > HOST_BINDS * chosen.split_us
        if binds:
            auto.forecast(k, renew=True)  # the first one also makes what it calls

        def renew() -> None:
            renewed.append(auto.forecast(k, renew=True).split_us)

        taken = rank.in_turns_us(steps, "whole", renew if binds else None)
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
    if renewed:
        note = "turns " + " ".join(f"{us:.6g}" for us in renewed)
        us = statistics.median(renewed)
        rank.rows.add(**row, what="chosen: forecast, host meanwhile", value=us, unit="us", note=note)
    if chosen.tried_us is not None:
        rank.rows.add(**row, what="chosen: tried", value=chosen.tried_us, unit="us")
    steps = {
        "whole": (with_gradient(gt.spmm, graph, x), 2 * chosen.one_us),
        "split": (with_gradient(gd.spmm, split, own[chosen.pattern, chosen.tail]), 2 * chosen.split_us),
    }
    taken = rank.in_turns_us(steps, "whole")
    rank.time_row({**base, "ranks": 1, "form": "whole"}, "time with gradient", taken["whole"])
    rank.time_row(row, "time with gradient", taken["split"])
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
