"""Tuning what a model does on a graph."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from gnntune import _native
from gnntune._errors import DatabaseError, InvalidArgument
from gnntune._handle import Handle
from gnntune._program import tqdm_report
from gnntune._results import Table
from gnntune.torch import _device
from gnntune.torch._features import SparseFeatures
from gnntune.torch._graph import Graph

if TYPE_CHECKING:
    import os

    from gnntune._problem import Problem


@dataclass(frozen=True)
class TunedStep:
    """One problem of a step: the config before and after, where the latter comes from, and what measuring it took."""

    problem: Problem
    graph: str
    before: str
    after: str
    source: str
    seconds: float


def tune(
    model: nn.Module | Callable[..., Any],
    graph: Graph,
    x: Tensor | SparseFeatures | None = None,
    *,
    step: Callable[[], object] | None = None,
    budget: float = 60.0,
    db: str | os.PathLike[str] | None = None,
    progress: bool = True,
) -> Table[TunedStep]:
    """Measures the operations of a model's training step on a graph, and stores what is fastest.

    Runs one step: `step()`, or the sum of `model(x, graph)` forward and backward. `x` is random, as wide as the model's
    first layer, where it is not given; maps of SparseFeatures are tuned with the rest. Parameters, gradients, buffers
    and torch's generators are as before afterwards. Then every operation that was seen, backward ones among them, is
    measured for its share of `budget` seconds, on the graph itself and in this process. The rows are stored in `db`
    (default: that of configure(), else the user's), and the next step uses them: here, and wherever that database is
    opened. What it knew already is not measured again.

    Progress is shown with tqdm where that is installed. After KeyboardInterrupt what was measured is stored and used.
    Plans are made anew: not while a CUDA graph that was captured with the graph is still replayed.
    """
    if not isinstance(graph, Graph):
        raise TypeError(
            f"expected a gnntune.torch.Graph, not {type(graph).__name__}; Graph(edge_index, num_nodes) makes one"
        )
    if graph.transient:
        raise InvalidArgument("a transient graph is planned by its shape; tune one that lasts")
    if not 0 < budget < inf:
        raise InvalidArgument(f"budget is {budget}; expected seconds")
    if db is not None:
        _device.configure(db)
    with as_before(model):
        if step is None:
            step = step_of(model, features_of(model, graph) if x is None else x, graph)
        step()
    of_features = x.graph if isinstance(x, SparseFeatures) else None
    known = [g for g in (graph, graph._looped, graph._bare, of_features) if g is not None]
    jobs = [(g, problem, before) for g in dict.fromkeys(known) for problem, before in g.problems().items()]
    rows: list[TunedStep] = []
    report, close = tqdm_report("gnntune") if progress else (None, lambda: None)
    budget_us = max(1, int(1e6 * budget / max(1, len(jobs))))
    context = _device.open_context(graph.device, sources="tune_on_miss", tune_budget_us=budget_us)
    try:
        for done, (g, problem, before) in enumerate(jobs):
            if report:
                report(done, len(jobs), f"{problem.op} k={problem.k}")
            begin = time.perf_counter()
            after, source = _measure(g, context, problem)
            rows.append(TunedStep(problem, repr(g), before, after, source, time.perf_counter() - begin))
    finally:
        close()
        _device.reopen()
    return Table(rows, device=str(graph.device))


def _measure(graph: Graph, context: Handle, problem: Problem) -> tuple[str, str]:
    described = graph.describe(context)
    native: Any = _native.plan_create
    stream = _device.stream_of(graph.device)
    plan = Handle(native(context.value, described.value, stream, *problem.native()), _native.plan_destroy)
    config, source, *_ = _native.plan_facts(plan.value)
    lost = re.search("not stored: .*", _native.plan_explain(plan.value))
    if lost:  # what would come next would be lost too
        raise DatabaseError(f"{problem.op} k={problem.k} was measured, but {lost[0]}")
    return config, source


def features_of(model: object, graph: Graph) -> Tensor:
    width = None
    for module in model.modules() if isinstance(model, nn.Module) else ():
        width = getattr(module, "in_channels", None) or getattr(module, "in_features", None)
        if isinstance(width, int) and width > 0:
            break
    if not isinstance(width, int) or width <= 0:
        raise InvalidArgument("how wide the model's features are cannot be seen: give x, or step")
    return torch.randn(graph.n_cols, width, device=graph.device)


def step_of(model: Callable[..., Any], x: Tensor | SparseFeatures, graph: Graph) -> Callable[[], object]:
    def step() -> None:
        result = model(x, graph)
        first = result[0] if isinstance(result, (tuple, list)) else result
        if first.requires_grad:
            first.float().sum().backward()

    return step


@contextlib.contextmanager
def as_before(model: object) -> Iterator[None]:
    """What the block does to the model's gradients and buffers, and to torch's generators, is undone."""
    parameters = list(model.parameters()) if isinstance(model, nn.Module) else []
    buffers = list(model.buffers()) if isinstance(model, nn.Module) else []
    grads = [p.grad for p in parameters]
    for p in parameters:
        p.grad = None
    values = [b.clone() for b in buffers]
    devices = range(torch.cuda.device_count()) if torch.cuda.is_available() else ()
    try:
        with torch.random.fork_rng(devices=devices):
            yield
    finally:
        for p, grad in zip(parameters, grads):
            p.grad = grad
        with torch.no_grad():
            for b, value in zip(buffers, values):
                b.copy_(value)
