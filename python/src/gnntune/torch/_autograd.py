"""From a call to a run: with or without gradients, at once or as an operator."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import Parameter

from gnntune import _native
from gnntune.torch._gradients import FORMULAS
from gnntune.torch._graph import Graph
from gnntune.torch._operators import Traced, execute
from gnntune.torch._run import Numbers, Pair, modes, pair_of, watchers

_PLAIN_TYPES = frozenset((Tensor, Parameter, type(None)))
_functorch_active: Any = getattr(torch._C, "_are_functorch_transforms_active", lambda: True)


class _Now:
    """Runs operations on a Graph at once."""

    __slots__ = ("graph",)

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def run(self, op: str, numbers: Numbers, *inputs: Tensor | None) -> tuple[Tensor, ...]:
        return execute(self.graph, op, numbers, *inputs)


class _Differentiable(torch.autograd.Function):
    """An operation with its gradient; double backward is refused by torch in words."""

    @staticmethod
    def forward(ctx: Any, graph: Graph, op: str, numbers: Numbers, *inputs: Tensor | None) -> Tensor:
        results = execute(graph, op, numbers, *inputs)
        ctx.state = (graph, op, numbers)
        saved = FORMULAS[op].save(numbers, ctx.needs_input_grad[3:], inputs, results)
        if saved:
            ctx.save_for_backward(*saved)
        return results[0]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        graph, op, numbers = ctx.state
        grads = FORMULAS[op].backward(_Now(graph), numbers, ctx.needs_input_grad[3:], ctx.saved_tensors, grad)
        return None, None, None, *grads


# autograd.Function.apply without what it does for torch.func, which does not come here, and for default arguments.
_apply: Any = super(torch.autograd.Function, _Differentiable).apply


def apply(graph: Graph, op: str, numbers: Numbers, *inputs: Tensor | None) -> Tensor:
    """The first result of an operation, differentiable where one of its inputs wants a gradient."""
    if torch.compiler.is_compiling() or not at_once(inputs):
        return Traced(graph.row_ptr, graph.col, graph.number, graph.n_cols).run(op, numbers, *inputs)[0]
    if torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in inputs):
        return differentiable(graph, op, numbers, *inputs)
    return execute(graph, op, pair_of(numbers).bare, *inputs)[0]


def quick(graph: Graph, op: str, numbers: Pair, *inputs: Tensor | None) -> Tensor | None:
    """As apply(), where that is a run and nothing else; else None. Not for code that torch.compile traces."""
    if watchers:
        return None
    result: Any = _native.apply(graph, op, *numbers, *inputs)
    return differentiable(graph, op, numbers.full, *inputs) if result is True else result


def differentiable(graph: Graph, op: str, numbers: Numbers, *inputs: Tensor | None) -> Tensor:
    """The first result of an operation whose inputs are plain tensors, one of which wants a gradient."""
    if _functorch_active():
        return _Differentiable.apply(graph, op, numbers, *inputs)  # type: ignore[no-any-return]
    return _apply(graph, op, numbers, *inputs)  # type: ignore[no-any-return]


def at_once(inputs: tuple[Tensor | None, ...]) -> bool:
    """Whether these are plain tensors that no mode looks at."""
    if modes():
        return False
    for t in inputs:  # noqa: SIM110  a generator costs more than all of the rest
        if type(t) not in _PLAIN_TYPES:
            return False
    return True
