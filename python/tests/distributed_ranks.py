"""The checks of test_distributed.py that need several ranks: runs them in processes of its own, on the CPU with gloo.

    python3 distributed_ranks.py RESULTS.json

torch is imported once; the ranks are children of fork. RESULTS: for each number of ranks, for each of them, for each
check: "ok", or how it failed.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import time
import traceback
from datetime import timedelta
from pathlib import Path
from unittest import mock

import reference
import torch
import torch.distributed as dist

import gnntune
import gnntune.torch as gt
import gnntune.torch.distributed as gd
from gnntune.torch.distributed._split import offsets, whole_vectors
from gnntune.torch.distributed._timing import HostCalls

SIZES = (2, 3, 5)
TIMEOUT_S = 60  # of an exchange, on a machine that does other things too
LOST_TIMEOUT_S = 5
NEVER_S = 3600  # longer than anybody waits for a check: what only this ends has failed
TOLERANCE = {torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}


def graph_of(name):
    index, (n_cols, n_rows) = reference.edges(name)
    return gt.Graph(index, (n_cols, n_rows))


def close(found, wanted, dtype=torch.float32):
    limit = TOLERANCE[dtype]
    assert found.shape == wanted.shape, (found.shape, wanted.shape)
    worst = (found.float() - wanted.float()).abs().max().item() if found.numel() else 0.0
    scale = wanted.float().abs().max().item() if wanted.numel() else 1.0
    assert worst <= limit * max(scale, 1.0), f"off by {worst}, of {scale}"


def random_parts(n, size, empty=None):
    """A partition in no order; the part `empty` gets nothing."""
    parts = torch.randint(0, size, (n,), generator=torch.Generator().manual_seed(3))
    return parts if empty is None else torch.where(parts == empty, (empty + 1) % size, parts)


def layouts(graph, size):
    """Ways to split, as keywords of DistributedGraph: all of them over two ranks, some over more."""
    square = graph.n_rows == graph.n_cols
    if size != 5:
        yield {"mode": "features", "slices": 3}
        yield {"mode": "features", "slices": 2, "tail": True}
    if size != 3:
        yield {"mode": "features"}
        yield {"mode": "one"}
    if size == 2 and square:
        yield {"mode": "rows"}
    if square:
        yield {"mode": "rows", "parts": random_parts(graph.n_rows, size, empty=size - 1)}


def rows_of(split, whole, counts=None):
    """This rank's rows, as an independent copy that wants a gradient."""
    if split.mode == "rows":
        return whole[split.ids].clone().requires_grad_()
    starts = offsets(counts if counts is not None else split.row_counts)
    return whole[starts[split.rank] : starts[split.rank + 1]].clone().requires_grad_()


def summed(t):
    t = t.clone()
    dist.all_reduce(t)
    return t


# ---- Checks ----


def spmm_and_its_gradients(size):
    for name in ("random", "square", "wide", "tall", "no_edges", "hub")[: 6 if size == 2 else 4]:
        graph = graph_of(name)
        generator = torch.Generator().manual_seed(5)
        edge_weight = torch.randn(graph.m, generator=generator)
        for options in layouts(graph, size):
            split = gd.DistributedGraph(graph, **options)
            for k in (1, 7, 33) if name == "random" and size == 2 else (7,):
                x = torch.randn(graph.n_cols, k, generator=generator)
                grad = torch.randn(graph.n_rows, k, generator=generator)
                for reduce, weighted in (("sum", False), ("sum", True), ("mean", True), ("max", False)):
                    one = x.clone().requires_grad_()
                    w_one = edge_weight.clone().requires_grad_() if weighted else None
                    wanted = gt.spmm(graph, one, w_one, reduce=reduce, csr_order=True)
                    wanted.backward(grad)
                    mine = rows_of(split, x, split.col_counts)
                    w_mine = edge_weight.clone().requires_grad_() if weighted else None
                    y = gd.spmm(split, mine, None if w_mine is None else split.edge_values(w_mine), reduce=reduce)
                    y.backward(rows_of(split, grad).detach())
                    close(y, rows_of(split, wanted))
                    close(mine.grad, rows_of(split, one.grad, split.col_counts))
                    if weighted:
                        # Of "rows" and "one" some ranks may not have touched it.
                        own = torch.zeros_like(edge_weight) if w_mine.grad is None else w_mine.grad
                        close(summed(own), w_one.grad)


def fewer_vertices_than_ranks(size):
    for n in (1, 2):
        graph = gt.Graph(torch.tensor([[0, 0, n - 1], [0, n - 1, 0]]), n)
        x = torch.randn(n, 5, generator=torch.Generator().manual_seed(n))
        one = x.clone().requires_grad_()
        gt.spmm(graph, one).sum().backward()
        for options in layouts(graph, size):
            split = gd.DistributedGraph(graph, **options)
            mine = rows_of(split, x, split.col_counts)
            gd.spmm(split, mine).sum().backward()  # whose gradient is one number
            close(mine.grad, rows_of(split, one.grad, split.col_counts))


def weights_of_heads(size):
    graph = graph_of("random")
    heads, k = 5, 6
    x, weight = torch.randn(graph.n_cols, heads, k), torch.randn(graph.m, heads)
    grad = torch.randn(graph.n_rows, heads, k)
    for t in (x, weight, grad):
        dist.broadcast(t, 0)
    one, w_one = x.clone().requires_grad_(), weight.clone().requires_grad_()
    wanted = gt.spmm(graph, one, w_one, csr_order=True)
    wanted.backward(grad)
    for options in layouts(graph, size):
        split = gd.DistributedGraph(graph, **options)
        mine, w_mine = rows_of(split, x), weight.clone().requires_grad_()
        y = gd.spmm(split, mine, split.edge_values(w_mine))
        y.backward(rows_of(split, grad).detach())
        close(y, rows_of(split, wanted))
        close(mine.grad, rows_of(split, one.grad))
        close(summed(torch.zeros_like(weight) if w_mine.grad is None else w_mine.grad), w_one.grad)


def types(size):
    graph = graph_of("random")
    for dtype in TOLERANCE:
        x = torch.randn(graph.n_cols, 40, generator=torch.Generator().manual_seed(1)).to(dtype)
        one = x.clone().requires_grad_()
        wanted = gt.gcn(graph, one)
        wanted.float().square().sum().backward()
        for options in layouts(graph, size):
            split = gd.DistributedGraph(graph, **options)
            mine = rows_of(split, x)
            y = gd.gcn(split, mine)
            assert y.dtype == dtype
            y.float().square().sum().backward()
            close(y, rows_of(split, wanted), dtype)
            close(mine.grad, rows_of(split, one.grad), dtype)


def bits_are_those_of_a_run_of_that_width(size):
    torch.use_deterministic_algorithms(True)
    try:
        graph = graph_of("hub")
        k = 50
        x = torch.randn(graph.n_cols, k, generator=torch.Generator().manual_seed(2))
        split = gd.DistributedGraph(graph, mode="features", slices=2)
        mine = rows_of(split, x)
        y = gd.spmm(split, mine)
        y.backward(torch.ones_like(y))
        again = rows_of(split, x)
        z = gd.spmm(split, again)
        z.backward(torch.ones_like(z))
        assert torch.equal(y, z) and torch.equal(mine.grad, again.grad)
        whole = whole_vectors(k, size, 4)
        assert whole == 52
        parts, _ = split.split(whole, x.dtype)
        x = torch.nn.functional.pad(x, (0, whole - k))
        wanted = torch.empty(graph.n_rows, whole)
        for part in parts:
            for first, last in part.by_rank:
                if last > first:
                    wanted[:, first:last] = gt.spmm(graph, x[:, first:last].contiguous())
        assert torch.equal(y, rows_of(split, wanted[:, :k]))
    finally:
        torch.use_deterministic_algorithms(False)


def attention(size):
    for name in ("random", "wide", "loops", "no_edges"):
        graph = graph_of(name)
        generator = torch.Generator().manual_seed(7)
        for heads, k in ((8, 4), (5, 1), (1, 9), (2, 3)) if name == "random" else ((5, 1), (2, 3)):
            x = torch.randn(graph.n_cols, heads, k, generator=generator)
            row = torch.randn(graph.n_rows, heads, generator=generator)
            col = torch.randn(graph.n_cols, heads, generator=generator)
            grad = torch.randn(graph.n_rows, heads, k, generator=generator)
            for loops in {"random": (False, True), "loops": (True,)}.get(name, (False,)):
                inputs = [t.clone().requires_grad_() for t in (x, row, col)]
                wanted = gt.gat(graph.with_loops() if loops else graph, *inputs, negative_slope=0.1)
                wanted.backward(grad)
                for options in layouts(graph, size):
                    split = gd.DistributedGraph(graph, **options)
                    counts = (split.col_counts, split.row_counts, split.col_counts)
                    mine = [rows_of(split, t, c) for t, c in zip((x, row, col), counts)]
                    y = gd.gat(split, *mine, negative_slope=0.1, loops=loops)
                    y.backward(rows_of(split, grad).detach())
                    close(y, rows_of(split, wanted))
                    for own, whole, c in zip(mine, inputs, counts):
                        close(own.grad, rows_of(split, whole.grad, c))


def dropout(size):
    graph = graph_of("random")
    split = gd.DistributedGraph(graph, mode="features", slices=1)
    for heads in (6, 1):
        x, row, col = torch.ones(301, heads, 5), torch.zeros(301, heads), torch.zeros(301, heads)
        mine = [rows_of(split, t) for t in (x, row, col)]
        seed = torch.tensor([11])
        y, z = (gd.gat(split, *mine, dropout=0.5, seed=seed) for _ in range(2))
        assert torch.equal(y, z)
        other = gd.gat(split, *mine, dropout=0.5)
        assert not torch.equal(y, other) and not torch.equal(other, gd.gat(split, *mine, dropout=0.5))
        whole = split.collect(y)
        if heads == 1:  # every rank has the same mask, whatever its columns
            close(whole, gt.gat(graph, x, row, col, dropout=0.5, seed=seed))
            assert torch.equal(whole[..., :1].expand_as(whole), whole)
        else:
            same = [(a, b) for a in range(heads) for b in range(a) if torch.equal(whole[:, a], whole[:, b])]
            assert not same, f"heads with one mask: {same}"
        has_edges = graph.row_ptr.diff() > 0
        mean = whole[has_edges].mean().item()
        assert abs(mean - 1) < 0.1, mean
        # Forward and backward have one mask: of ones, the gradient of x sums to y's sum.
        mine[0].grad = None
        y.sum().backward()
        assert abs(summed(mine[0].grad.sum()).item() - whole.sum().item()) < 1e-2 * whole.sum().item()


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(
            [gd.GCNConv(12, 20), gd.SAGEConv(20, 9), gd.SAGEConv(9, 9, aggr="max"), gd.GATConv(9, 4, heads=3),
             gd.GATConv(12, 5, heads=1, concat=False), gd.GCNConv(5, 4)]
        )  # fmt: skip

    def forward(self, x, graph):
        for layer in self.layers:
            x = torch.tanh(layer(x, graph))
        return x


def train(split, x, labels, n, group, steps=4):
    torch.manual_seed(0)
    model = Model()
    optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
    losses, gradients = [], []
    for _ in range(steps):
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x, split), labels, reduction="sum") / n
        loss.backward()
        gd.sum_gradients(model, group)
        gradients = gradients or [p.grad.clone() for p in model.parameters()]
        optimiser.step()
        total = loss.detach().clone()
        dist.all_reduce(total, group=group)
        losses.append(total.item())
    return losses, gradients


def training_steps_have_the_losses_of_one_rank(size):
    graph = graph_of("random")
    generator = torch.Generator().manual_seed(9)
    x = torch.randn(graph.n_rows, 12, generator=generator)
    labels = torch.randint(0, 4, (graph.n_rows,), generator=generator)
    alone = [dist.new_group([rank]) for rank in range(size)][dist.get_rank()]
    single = gd.DistributedGraph(graph, alone)
    assert single.mode == "one" and single.reason == "one rank"
    wanted, first = train(single, x, labels, graph.n_rows, alone)
    assert wanted[-1] < wanted[0]
    for options in layouts(graph, size):
        split = gd.DistributedGraph(graph, **options)
        losses, gradients = train(split, split.take(x), split.take(labels), graph.n_rows, None)
        for a, b in zip(losses, wanted):
            assert abs(a - b) < 1e-5 * abs(b), (options, losses, wanted)
        # Of the first step: Adam makes much of a gradient that is next to nothing.
        for a, b in zip(gradients, first):
            close(a, b)


def what_a_graph_says(size):
    graph = graph_of("random")
    x = torch.randn(graph.n_rows, 3, generator=torch.Generator().manual_seed(1))
    for options in layouts(graph, size):
        split = gd.DistributedGraph(graph, **options)
        own = split.take(x)
        assert own.shape[0] == split.n_local == split.ids.numel() and torch.equal(own, x[split.ids])
        assert torch.equal(split.collect(own), x)
        assert split.mode in repr(split) and f"rank {split.rank} of {size}" in split.explain()
    assert "fetched" in gd.DistributedGraph(graph, mode="rows").explain()
    wide = gd.DistributedGraph(graph_of("wide"), mode="features")
    for n in (wide.n_rows, wide.n_cols):
        assert torch.equal(wide.collect(wide.take(x[:n])), x[:n])


def the_forecast_is_one_for_all_and_is_followed(size):
    graph = graph_of("random")
    split = gd.DistributedGraph(graph, widths=(16, 8))
    # So small a graph is a loss on any CPU.
    assert split.mode == "one" and "forecast" in split.reason, split.reason
    found = split.forecast(16)
    everyone = split.ranks.gather_objects((found, split.link))
    assert all(theirs == everyone[0] for theirs in everyone)
    assert found.size == size and found.expected_us > found.one_us > 0 and split.link.gbps > 0
    assert f"{found.speed_up:.2f}x" in split.explain()
    # Renewed, it has the host as it is now, on all ranks; what was chosen stays.
    with mock.patch.object(HostCalls, "now", return_value=(9e5, 1e5, 0.0)):
        slow = split.forecast(16, renew=True)
    host_us = 9e5 + len(found.pattern) * 1e5
    assert slow == found._replace(split_us=host_us, host_us=host_us, tried_us=None), slow
    renewed = split.forecast(16, renew=True)
    assert 0 < renewed.host_us < host_us and renewed.split_us == max(renewed.host_us, found.device_us), renewed
    assert all(theirs == renewed for theirs in split.ranks.gather_objects(renewed))
    assert split.forecast(16) == found
    # With a link that costs nothing and kernels that do it is the other way round.
    free = gd.Link(size, ((1, 0.0), (2, 0.0)), ((1, 0.0), (2, 0.0)), (0.0, 0.0, 0.0))
    large = gt.Graph(torch.randint(0, 3000, (2, 400_000), generator=torch.Generator().manual_seed(1)), 3000)
    eager = gd.DistributedGraph(large, widths=(64 * size,), link=free, tries=0)
    assert eager.mode == "features", eager.reason
    assert eager.forecast(64 * size).tried_us is None
    assert eager.forecast(64 * size, renew=True).host_us > 0 == eager.forecast(64 * size).host_us
    y = gd.spmm(eager, eager.take(torch.ones(3000, 64 * size)))
    close(y, large.row_ptr.diff()[eager.ids].float().unsqueeze(1).expand_as(y))


def the_fastest_of_those_that_were_tried_is_taken(size):
    graph = graph_of("random")
    k = 128 * size
    taken = []

    def tried(ranks, device, ways):
        for _, call in ways:
            call()
        taken.extend(way for way, _ in ways)
        return [way._replace(tried_us=us) for (way, _), us in zip(ways, (30.0, 10.0, 20.0))]

    module = "gnntune.torch.distributed._graph"
    with mock.patch(f"{module}.tried", tried), mock.patch(f"{module}.worth_a_try", return_value=True):
        split = gd.DistributedGraph(graph, mode="features")
        found = split.forecast(k)
    assert len(taken) == 3 and found == taken[1]._replace(tried_us=10.0), (found, taken)
    parts, tail = split.split(k, torch.float32)
    assert [b - a for a, b in (part.by_rank[split.rank] for part in parts)] == list(found.pattern)
    assert tail == found.tail and found.speed_up == found.one_us / 10
    x = torch.randn(graph.n_cols, k, generator=torch.Generator().manual_seed(2))
    close(gd.spmm(split, rows_of(split, x, split.col_counts)), rows_of(split, gt.spmm(graph, x)))


def rows_where_memory_demands_it(size):
    graph = graph_of("random")
    x = torch.ones(graph.n_cols, 4)
    # On one rank there is little memory: that is enough for all.
    little = [None, 50_000][dist.get_rank() == 0]
    with mock.patch("gnntune.torch.distributed._graph.free_bytes", return_value=little):
        split = gd.DistributedGraph(graph, widths=(64,))
    assert split.mode == "rows" and "do not fit" in split.reason, split.reason
    close(gd.spmm(split, split.take(x)), gt.spmm(graph, x)[split.ids])
    with mock.patch("gnntune.torch.distributed._graph.free_bytes", return_value=10**9):
        assert gd.DistributedGraph(graph, widths=(64,)).mode != "rows"


def partitions(size):
    graph = graph_of("hub")
    rows = gd.DistributedGraph(graph, mode="rows")
    edges = rows.ranks.gather_objects(rows.halo.graph.m)
    longest = int(graph.row_ptr.diff().max())
    assert sum(edges) == graph.m and max(edges) <= graph.m / size + longest
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "graph.part")
        parts = random_parts(graph.n_rows, size)
        path.write_text("".join(f"{part}\n" for part in parts.tolist()))
        split = gd.DistributedGraph(graph, parts=path)
        assert split.mode == "rows" and torch.equal(split.ids, (parts == split.rank).nonzero().view(-1))
        for text, words in (("0\n", "has 1 parts"), ("x\n" * 301, "expected one part a line"),
                            (f"{size}\n" * 301, f"expected 0 to {size - 1}"), ("99999999999\n" * 301, "graph.part has"),
                            ("9" * 40, "graph.part: "), ("\u00e9\n", "graph.part: ")):  # fmt: skip
            path.write_text(text, encoding="utf-8")
            raises(gnntune.InvalidArgument, words, gd.DistributedGraph, graph, parts=path)
    # Numbers that a narrower type would make legal ones of.
    raises(gnntune.InvalidArgument, "expected integers", gd.DistributedGraph, graph, parts=parts / 2)
    raises(gnntune.InvalidArgument, "4294967296", gd.DistributedGraph, graph, parts=parts.long() + 2**32)
    # Ranks that draw partitions of their own would compute wrong sums.
    other = (parts + dist.get_rank()) % size
    raises(gnntune.InvalidArgument, "rank 1 was given parts=", gd.DistributedGraph, graph, parts=other)


def raises(kind, words, function, *arguments, **options):
    try:
        function(*arguments, **options)
    except kind as error:
        assert words in str(error), error
        return
    raise AssertionError(f"no {kind.__name__} that says {words!r}")


def errors_say_what_to_do(size):
    graph = graph_of("random")
    wrong = graph if dist.get_rank() != 1 else graph_of("hub")
    raises(gnntune.InvalidArgument, "rank 1 has another graph than rank 0", gd.DistributedGraph, wrong, mode="features")
    for name, mine in {"mode": "rows", "slices": 2, "tail": True, "widths": (16,), "dtype": torch.float16}.items():
        options = {name: mine} if dist.get_rank() == 1 else {}
        raises(gnntune.InvalidArgument, f"rank 1 was given {name}=", gd.DistributedGraph, graph, **options)
    for slices in (0, -1, (), (33, -1)):
        raises(gnntune.InvalidArgument, "slices is", gd.DistributedGraph, graph, mode="features", slices=slices)
    raises(gnntune.InvalidArgument, "expected one of auto", gd.DistributedGraph, graph, mode="columns")
    raises(gnntune.InvalidArgument, "for mode='rows'", gd.DistributedGraph, graph, mode="one", parts=torch.zeros(301))
    raises(gnntune.InvalidArgument, "square graphs", gd.DistributedGraph, graph_of("wide"), mode="rows")
    batch = gt.Graph(torch.zeros(2, 3, dtype=torch.int64), 2, transient=True)
    raises(gnntune.InvalidArgument, "one that lasts", gd.DistributedGraph, batch)
    split = gd.DistributedGraph(graph, mode="features")
    raises(gnntune.InvalidArgument, "graph.take() picks them", gd.spmm, split, torch.ones(301, 4))
    raises(gnntune.InvalidArgument, "the ranks have", split.collect, torch.ones(split.n_local + 1, 4))
    raises(gnntune.InvalidArgument, "expected 'sum'", gd.spmm, split, split.take(torch.ones(301, 4)), reduce="min")
    wide = gd.DistributedGraph(graph_of("wide"), mode="one")
    raises(gnntune.InvalidArgument, "square", gd.gcn, wide, torch.ones(9, 2))
    raises(gnntune.InvalidArgument, "4 heads and x", gd.spmm, split, split.take(torch.ones(301, 4)), torch.ones(1, 4))


def other_widths_and_types_are_refused_on_every_rank(size):
    graph = graph_of("random")
    last = size - 1
    f32, bf16 = torch.float32, torch.bfloat16
    calls = {
        "spmm": gd.spmm,
        "gcn": gd.gcn,
        "gat": lambda split, x: gd.gat(split, x, x.sum(-1), x.sum(-1)),
        "collect": lambda split, x: split.collect(x),
    }
    # Rows of the others, and those of the last rank.
    cases = [
        *[("spmm", (16,), f32, *own) for own in (((8,), f32), ((17,), f32), ((16,), bf16))],
        *[("spmm", (2, 8), f32, *own) for own in (((2, 9), f32), ((4, 4), f32))],
        *[("gcn", (16,), f32, *own) for own in (((7,), f32), ((16,), bf16))],
        *[("gat", (2, 8), f32, *own) for own in (((2, 9), f32), ((3, 8), f32), ((2, 8), bf16))],
        ("collect", (16,), f32, (8,), f32),
    ]
    for options in layouts(graph, size):
        split = gd.DistributedGraph(graph, **options)
        for op, *theirs, shape, dtype in cases:
            if split.mode == "one" and op != "collect":  # which exchanges nothing
                continue
            words = f"rank {last} gave {op} rows of the shape {list(shape)} of {dtype}, and rank 0 {op} rows of the "
            words += f"shape {list(theirs[0])} of {theirs[1]};"
            mine = (shape, dtype) if split.rank == last else theirs
            x = split.take(torch.ones(301, *mine[0], dtype=mine[1]))
            raises(gnntune.InvalidArgument, words, calls[op], split, x)
        # What was refused harms nothing, and what was agreed on is not asked about again.
        x = torch.randn(301, 8, generator=torch.Generator().manual_seed(4))
        close(gd.spmm(split, split.take(x)), rows_of(split, gt.spmm(graph, x)))
        with mock.patch.object(split.ranks, "gather_objects", side_effect=AssertionError("asked again")):
            close(gd.spmm(split, split.take(x)), rows_of(split, gt.spmm(graph, x)))


def what_the_page_shows_runs(size):
    page = Path(__file__).parents[2] / "docs/scaling.md"
    if not page.exists():  # the tests run beside a packed package
        return
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.M | re.S)
    (block,) = [block for block in blocks if "gnntune.torch.distributed" in block]
    said = []
    names = {"print": said.append}
    with mock.patch.object(dist, "init_process_group"), mock.patch.dict(os.environ, CUDA_VISIBLE_DEVICES=""):
        exec(block, names)
    assert names["loss"].isfinite() and f"of {size}" in said[0] and "forecast" in said[0], said


CHECKS = [
    spmm_and_its_gradients,
    fewer_vertices_than_ranks,
    weights_of_heads,
    types,
    bits_are_those_of_a_run_of_that_width,
    attention,
    dropout,
    training_steps_have_the_losses_of_one_rank,
    what_a_graph_says,
    the_forecast_is_one_for_all_and_is_followed,
    the_fastest_of_those_that_were_tried_is_taken,
    rows_where_memory_demands_it,
    partitions,
    errors_say_what_to_do,
    other_widths_and_types_are_refused_on_every_rank,
    what_the_page_shows_runs,
]


def a_rank_dies(size):
    """The others are told so, whichever exchange they are in."""
    lost(size, lambda: os._exit(9))


def a_rank_does_not_come(size):
    """The others are told so when the timeout of their group is over: until then this one waits, however long."""
    lost(size, until_the_others_end)


ends = (-1, -1)  # of a pipe that all ranks hold open


def until_the_others_end():
    os.close(ends[1])
    os.read(ends[0], 1)


def lost(size, last_rank_does):
    split = gd.DistributedGraph(graph_of("random"), gd.new_group(LOST_TIMEOUT_S), mode="features")
    x = split.take(torch.ones(301, 8))
    gd.spmm(split, x)
    if split.rank == size - 1:
        last_rank_does()
        return
    raises(gnntune.RunFailed, "start all ranks anew", gd.spmm, split, x)


LOST = [(3, a_rank_dies), (2, a_rank_does_not_come)]


def run(check, size, found):
    begin = time.process_time()
    try:
        check(size)
        found[check.__name__] = "ok"
    except BaseException:
        found[check.__name__] = traceback.format_exc()
    seconds = time.process_time() - begin
    print(f"{size} ranks: {check.__name__} {seconds:.1f} s of rank {dist.get_rank()}", file=sys.stderr)
    return found[check.__name__] == "ok"


def rank_of(folder, rank, size, checks, timeout_s):
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", init_method=f"file://{folder}/store", rank=rank, world_size=size, timeout=timedelta(seconds=timeout_s)
    )
    found = {}
    try:
        for check in checks:
            if not run(check, size, found):
                break  # the others wait for this rank in vain
    finally:
        Path(folder, f"{rank}.json").write_text(json.dumps(found))
    sys.stderr.flush()
    os._exit(0)


def together(size, checks, timeout_s):
    """What every rank of a group found, by its number; nothing of one that wrote nothing."""
    global ends
    ends = os.pipe()
    with tempfile.TemporaryDirectory() as folder:
        children = []
        for rank in range(size):
            pid = os.fork()
            if pid == 0:
                try:
                    rank_of(folder, rank, size, checks, timeout_s)
                finally:
                    os._exit(1)
            children.append(pid)
        for end in ends:
            os.close(end)
        for pid in children:
            os.waitpid(pid, 0)
        files = {rank: Path(folder, f"{rank}.json") for rank in range(size)}
        return {rank: json.loads(path.read_text()) for rank, path in files.items() if path.exists()}


def main(path):
    torch.use_deterministic_algorithms(False)  # imports what every child would import otherwise
    results = {str(size): together(size, CHECKS, TIMEOUT_S) for size in SIZES}
    for size, check in LOST:
        results[check.__name__] = together(size, [check], NEVER_S)
    Path(path).write_text(json.dumps(results))


if __name__ == "__main__":
    main(sys.argv[1])
