"""Host time: of one call of an operation, and of describing and planning a transient graph."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
from common import Bench, Source, in_one_thread, summary

import gnntune.torch as gt
from gnntune import _native

ALIGNMENT = 256
SECONDS = 2.0  # most time of one figure
REPEATS = 50
CYCLES = 10_000_000  # of a GPU that is kept busy: about 5 ms
WAIT_US = 2000.0  # what takes so much longer beside them waited for them


def host_us(bench: Bench, function: Callable[[], object], calls: int = 100, rounds: int = 30) -> float:
    """The fastest of many rounds, with the GPU's queue never full."""
    function()
    best = float("inf")
    end = time.monotonic() + SECONDS
    for round_ in range(rounds):
        if round_ and time.monotonic() > end:
            break
        bench.synchronize()
        begin = time.perf_counter()
        for _ in range(calls):
            function()
        best = min(best, time.perf_counter() - begin)
    bench.synchronize()
    return 1e6 * best / calls


def alone_us(bench: Bench, graph: gt.Graph, op: str, arrays: tuple[torch.Tensor, ...]) -> float:
    """gnntune_run by itself, for the call without gradients that was made last."""
    prepared = [call for key, call in graph._calls.items() if key[0] == op]
    bare = [call for key, call in graph._calls.items() if key[0] == op and not key[1].optional]
    call = (bare or prepared)[-1]
    results = [torch.empty(shape, dtype=dtype, device=bench.device) for shape, dtype in call.outputs]
    memory = torch.empty(call.workspace_bytes + ALIGNMENT, dtype=torch.uint8, device=bench.device)
    workspace = -(-memory.data_ptr() // ALIGNMENT) * ALIGNMENT
    stream = torch.cuda.current_stream().cuda_stream if bench.on_gpu else 0
    best = float("inf")
    for _ in range(30):
        bench.synchronize()
        best = min(best, 1e4 * _native.repeat(call.code, stream, workspace, 100, *arrays, *results))
    bench.synchronize()
    return best


def overhead(bench: Bench, graphs: list[Source]) -> None:
    """Above gnntune_run, with and without gradients; beside torch's own calls. Less what the functions here take."""
    source = min(graphs, key=lambda g: g.m)
    n, device = source.n, bench.device
    g = gt.Graph(source.edge_index.to(device), n)
    x = torch.randn(n, 64, device=device)
    heads, scores, beta = x.view(n, 8, 8), torch.randn(n, 8, device=device), torch.ones(1, device=device)
    facts = {"part": "overhead", "graph": source.name, "n": n, "m": source.m, "side": "ours", "unit": "us"}

    def nothing(t: torch.Tensor) -> torch.Tensor:
        return t

    once_us, twice_us = host_us(bench, lambda: x), host_us(bench, lambda: nothing(x))
    for name, plain in (("torch.add", lambda: torch.add(x, x)), ("torch.empty_like", lambda: torch.empty_like(x))):
        bench.row(**{**facts, "side": "torch"}, model=name, what="host time", value=host_us(bench, plain) - once_us)
    ops: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], torch.Tensor, tuple[torch.Tensor, ...]]] = {
        "spmm": (lambda t: gt.spmm(g, t), x, (x,)),
        "gat": (lambda t: gt.gat(g, t, scores, scores), heads, (heads, scores, scores)),
        "agnn": (lambda t: gt.agnn(g, t, beta), x, (x, x, beta)),
        "attention": (lambda t: gt.attention(g, t, t, t), heads, (heads, heads, heads)),
    }
    for name, (call, t, arrays) in ops.items():
        wants = t.detach().clone().requires_grad_()
        with torch.no_grad():
            call(t)
            alone = alone_us(bench, g, name, arrays)
            plain_us = host_us(bench, lambda: call(t))
        grad_us = host_us(bench, lambda: call(wants))
        bench.row(**facts, model=name, what="gnntune_run alone", value=alone)
        bench.row(**facts, model=name, what="above gnntune_run, no gradient", value=plain_us - twice_us - alone)
        bench.row(**facts, model=name, what="above gnntune_run, with gradient", value=grad_us - twice_us - alone)


def describe(bench: Bench, graphs: list[Source]) -> None:
    """A transient graph: host time where the GPU is idle, and whether it waits for a GPU that is busy for long."""
    for m in (10_556, 100_000, 1_000_000):
        if bench.left() < 1:
            return
        n, device = m // 5, bench.device
        index = torch.randint(0, n, (2, m), device=device)
        target, order = torch.sort(index[1])
        row_ptr = torch._convert_indices_from_coo_to_csr(target, n, out_int32=True)
        col = index[0][order].to(torch.int32)
        x = torch.randn(n, 64, device=device)
        wants = x.clone().requires_grad_()
        facts: dict[str, Any] = {"part": "describe", "graph": "uniform", "n": n, "m": m, "side": "ours", "unit": "us"}

        def described(row_ptr: Any = row_ptr, col: Any = col, n: int = n) -> gt.Graph:
            return gt.Graph.from_csr(row_ptr, col, n, transient=True)

        def listed(index: Any = index, n: int = n) -> gt.Graph:
            return gt.Graph(index, n, transient=True)

        def trained(make: Callable[[], gt.Graph] = described, wants: Any = wants) -> gt.Graph:
            graph = make()
            wants.grad = None
            gt.spmm(graph, wants).sum().backward()
            return graph

        def of_torch(wants: Any = wants) -> None:
            wants.grad = None
            (wants * 1.0).sum().backward()

        makers: dict[str, Callable[[], object]] = {
            "CSR: described": lambda described=described: described().handle(),
            "edge_index: described": lambda listed=listed: listed().handle(),
            "CSR: described, planned, run": lambda described=described, x=x: gt.spmm(described(), x),
            "CSR: described, planned, run, backward": trained,
            "edge_index: described, planned, run": lambda listed=listed, x=x: gt.spmm(listed(), x),
            "edge_index: described, planned, run, backward": lambda trained=trained, listed=listed: trained(listed),
            "torch alone: a product, its sum, backward": of_torch,
        }
        for what in [what for what in makers if what.endswith("backward")]:
            makers[f"{what}, one thread"] = in_one_thread(makers[what])
        runs: dict[str, float] = {}
        for what, make in makers.items():
            for _ in range(5):
                make()
            median, spread = summary(times_us(bench, make, 0))
            note = ""
            if bench.on_gpu:
                busy, _ = summary(times_us(bench, make, CYCLES))
                note = "waits for the GPU" if busy - median > WAIT_US else "does not wait"
            bench.row(**facts, what=what, value=median, spread=spread, repeats=REPEATS, note=note)
            runs[what] = median
        # The same run on a graph that is planned: what is left is describing and planning.
        again = described()
        with torch.no_grad():
            gt.spmm(again, x)
            alone = host_us(bench, lambda again=again, x=x: gt.spmm(again, x), calls=20, rounds=10)
        planned = runs["CSR: described, planned, run"] - alone
        bench.row(**facts, what="CSR: described and planned", value=planned, note="the difference of two")
        graph = trained()
        configs = "; ".join(f"{problem.op} {problem.direction}: {c}" for problem, c in graph.problems().items())
        bench.row(**facts, what="configs", note=configs)


def times_us(bench: Bench, make: Callable[[], object], cycles: int) -> list[float]:
    """Host times, each with a GPU that has so many clock cycles of work before it."""
    times = []
    for _ in range(REPEATS):
        bench.synchronize()
        if cycles:
            torch.cuda._sleep(cycles)
        begin = time.perf_counter()
        kept = make()
        times.append(1e6 * (time.perf_counter() - begin))
        del kept
    return times
