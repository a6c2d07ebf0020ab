"""What a training step consists of: its sparse operations, how often each runs and how long, and the rest."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from gnntune._errors import InvalidArgument
from gnntune._problem import Problem
from gnntune.torch import _device
from gnntune.torch._features import SparseFeatures
from gnntune.torch._graph import Graph, forget_captured
from gnntune.torch._run import INPUTS, Numbers, Watcher, problem_of, run_unwatched, watchers
from gnntune.torch._time import time_us
from gnntune.torch._tune import as_before, features_of, step_of


@dataclass(frozen=True)
class StepCall:
    """A sparse operation of a step: the problem, the config that its plan has, runs a step, and the time of one."""

    problem: Problem
    graph: str
    config: str
    runs: int
    time_us: float


@dataclass(frozen=True)
class StepTime:
    """A step's time by its parts, in microseconds without what the host adds: `sparse_us` are the calls, each measured
    by itself, `dense_us` is the step with their results given."""

    calls: tuple[StepCall, ...]
    sparse_us: float
    dense_us: float

    @property
    def total_us(self) -> float:
        return self.sparse_us + self.dense_us


@contextlib.contextmanager
def _watching(watcher: Watcher) -> Iterator[None]:
    if watchers:
        raise InvalidArgument("a step's time cannot be taken inside another")
    watchers.append(watcher)
    _forget_calls()  # those that run in C
    try:
        yield
    finally:
        watchers.clear()
        _forget_calls()  # so that they are prepared for C again


def _forget_calls() -> None:
    for graph in _device.all_graphs():
        graph._fast.clear()
        graph._calls.clear()


def step_time(
    model: nn.Module | Callable[..., Any],
    graph: Graph,
    x: Tensor | SparseFeatures | None = None,
    *,
    step: Callable[[], object] | None = None,
) -> StepTime:
    """Takes a training step apart: what it runs is what it does, self loops, gradients that are needed, widths and all.

    The step is `step()`, or the sum of `model(x, graph)` forward and backward, as for tune(). What runs once for a
    graph, such as normalising it, is not counted. `total_us` predicts what the step takes where the host does not hold
    it up: as a CUDA graph. Nothing of the model changes unless `step` changes it. Not while other threads use gnntune.
    """
    with as_before(model):
        if step is None:
            step = step_of(model, features_of(model, graph) if x is None else x, graph)
        step()  # plans, norms
        seen: list[tuple[Graph, str, Numbers, tuple[Tensor | None, ...]]] = []
        given: list[tuple[Tensor, ...]] = []

        def note(g: Graph, op: str, numbers: Numbers, inputs: tuple[Tensor | None, ...]) -> tuple[Tensor, ...]:
            results = run_unwatched(g, op, numbers, *inputs)
            # Without their history, whose nodes would go on adding up gradients on this pass's stream.
            seen.append((g, op, numbers, tuple(None if t is None else t.detach() for t in inputs)))
            given.append(tuple(t.detach() for t in results))
            return results

        with _watching(note):
            step()
        calls: dict[Any, list[int]] = {}
        for place, (g, op, numbers, inputs) in enumerate(seen):
            shapes = tuple(None if t is None else (t.shape, t.dtype) for t in inputs)
            calls.setdefault((g.number, op, numbers, shapes), []).append(place)
        timed = [_timed(seen[places[0]], len(places)) for places in calls.values()]
        turn = 0

        def give(g: Graph, op: str, numbers: Numbers, inputs: tuple[Tensor | None, ...]) -> tuple[Tensor, ...]:
            nonlocal turn
            turn += 1
            # As new tensors: what a pass makes of one carries its history.
            return tuple(t.detach() for t in given[(turn - 1) % len(given)])

        def again() -> None:
            nonlocal turn
            turn = 0  # whatever became of the pass before
            step()

        with _watching(give):
            dense = time_us(graph.device, again)
    for g in {id(s[0]): s[0] for s in seen}.values():
        forget_captured(g)
    return StepTime(tuple(timed), sum(c.runs * c.time_us for c in timed), dense)


def _timed(call: tuple[Graph, str, Numbers, tuple[Tensor | None, ...]], runs: int) -> StepCall:
    graph, op, numbers, inputs = call
    with torch.no_grad():
        found = time_us(graph.device, lambda: run_unwatched(graph, op, numbers, *inputs))
    problem = problem_of(graph, op, numbers, dict(zip(INPUTS[op], inputs)))
    # Without a plan of its own it is computed in float32.
    config = graph.problems().get(problem) or graph.problems().get(replace(problem, dtype="f32"), "")
    return StepCall(problem, repr(graph), config, runs, found)
