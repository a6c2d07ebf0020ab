"""From a call to a run: with or without gradients, at once or as an operator."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import Parameter

from gnntune.torch._gradients import FORMULAS
from gnntune.torch._graph import Graph
from gnntune.torch._operators import Traced, execute
from gnntune.torch._run import Numbers

_PLAIN_TYPES = frozenset((Tensor, Parameter, type(None)))
_modes: Any = getattr(torch._C, "_len_torch_dispatch_stack", lambda: 0)


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
        ctx.graph, ctx.op, ctx.numbers = graph, op, numbers
        ctx.save_for_backward(*FORMULAS[op].save(numbers, ctx.needs_input_grad[3:], inputs, results))
        return results[0]

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, grad: Tensor) -> Any:
        backward = FORMULAS[ctx.op].backward
        grads = backward(_Now(ctx.graph), ctx.numbers, ctx.needs_input_grad[3:], ctx.saved_tensors, grad)
        return None, None, None, *grads


def apply(graph: Graph, op: str, numbers: Numbers, *inputs: Tensor | None) -> Tensor:
    """The first result of an operation, differentiable where one of its inputs wants a gradient."""
    if torch.compiler.is_compiling() or not at_once(inputs):
        return Traced(graph.row_ptr, graph.col, graph.number, graph.n_cols).run(op, numbers, *inputs)[0]
    if torch.is_grad_enabled():
        for t in inputs:
            if t is not None and t.requires_grad:
                result: Tensor = _Differentiable.apply(graph, op, numbers._replace(optional=True), *inputs)
                return result
    return execute(graph, op, numbers._replace(optional=False), *inputs)[0]


def at_once(inputs: tuple[Tensor | None, ...]) -> bool:
    """Whether these are plain tensors that no mode looks at."""
    return not _modes() and all(type(t) in _PLAIN_TYPES for t in inputs)
