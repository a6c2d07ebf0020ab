"""From a call to a run: with or without gradients, at once or as an operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter

from gnntune import _native
from gnntune._errors import Unsupported
from gnntune.torch._gradients import FORMULAS
from gnntune.torch._graph import Graph
from gnntune.torch._operators import NO_SECOND, Now, Traced, execute
from gnntune.torch._run import PLAIN_REVERSED, Numbers, modes, pair_of, watchers

PLAIN_TYPES = frozenset((Tensor, Parameter, type(None)))
functorch_active: Any = getattr(torch._C, "_are_functorch_transforms_active", lambda: True)
_grad_enabled = torch.is_grad_enabled
_unpack_dual: Any = torch.autograd.forward_ad.unpack_dual


def once(backward: Callable[..., Any]) -> Callable[..., Any]:
    """A backward that refuses to be differentiated, before it is: with create_graph=True.

    torch's once_differentiable() refuses later, and not always. What a product hands on depends on the other factor,
    and where the gradient that comes in has no history that part is left out without a word.
    """

    def either(ctx: Any, *grads: Tensor) -> Any:
        if _grad_enabled():
            raise Unsupported(NO_SECOND)
        return backward(ctx, *grads)

    return either


def quick_apply(function: type[torch.autograd.Function]) -> Callable[..., Any]:
    """Its apply() without what that does for torch.func and for default arguments, where neither comes.

    What torch calls in a backward becomes its backward() too, without the functions that look for it first.
    """
    node: Any = getattr(function, "_backward_cls", None)
    if node is not None and callable(getattr(node, "apply", None)):
        node.apply = function.backward
    parent: Any = super(torch.autograd.Function, function)
    return parent.apply  # type: ignore[no-any-return]


# What a plain sum saves, which is nothing: torch is not asked to.
_NOTHING = (None,) * 4


class _Differentiable(torch.autograd.Function):
    """An operation with its gradient. Where a gradient of that is asked for, it is made of operators.

    Its forward is forward() of _native, which runs what was prepared, or execute(), and saves what find_saves() names.
    Its arguments are (graph, op, numbers, needs, inputs) in one, and those of the inputs that want a gradient.
    What torch calls for a gradient is in _native too; it leaves to backward() what is no single run.
    """

    forward = staticmethod(_native.forward)

    @staticmethod
    def backward(ctx: Any, grad: Tensor, saved: Any = None) -> Any:
        graph, op, numbers, needs = ctx.state
        saved = (ctx.saved_tensors if saved is None else saved) or _NOTHING
        runner = _traced(graph) if _grad_enabled() else Now(graph)
        grads = FORMULAS[op].backward(runner, numbers, needs, saved, grad)
        return None, *[one for one, wanted in zip(grads, needs) if wanted]


_apply = quick_apply(_Differentiable)

_saves: dict[Any, tuple[Numbers, tuple[int | None, ...]]] = {}
_MOST_SAVES = 1024


def _find_saves(key: Any, op: str, numbers: Numbers, needs: tuple[bool, ...], results: int) -> tuple[int | None, ...]:
    """Which tensors the formula saves: indices of inputs, -1 - i for result i. Asked once for each kind of call."""
    inputs: Any = range(len(needs))
    outputs: Any = range(-1, -1 - results, -1)
    found: Any = tuple(FORMULAS[op].save(numbers, needs, inputs, outputs))
    if len(_saves) >= _MOST_SAVES:
        _saves.clear()
    _saves[key] = (numbers, found)  # the numbers stay alive beside their id
    return found  # type: ignore[no-any-return]


_native.set_autograd(_apply, _saves, _find_saves, execute, _Differentiable.backward, watchers, PLAIN_REVERSED)
_node: Any = getattr(_Differentiable, "_backward_cls", None)
if _node is not None and callable(getattr(_node, "apply", None)):
    _node.apply = _native.backward_of(_node)


def apply(graph: Graph, op: str, numbers: Numbers, *inputs: Tensor | None) -> Tensor:
    """The first result of an operation, differentiable where one of its inputs wants a gradient."""
    compiling = torch.compiler.is_compiling()
    if compiling or not at_once(inputs):
        if not compiling and any(t is not None and _unpack_dual(t).tangent is not None for t in inputs):
            raise Unsupported(f"{op}: forward-mode differentiation; expected a backward, or a layer of gnntune.pyg")
        return _traced(graph).run(op, numbers, *inputs)[0]
    if _grad_enabled() and any(t is not None and t.requires_grad for t in inputs):
        return differentiable(graph, op, numbers, *inputs)
    return execute(graph, op, pair_of(numbers).bare, *inputs)[0]


def _traced(graph: Graph) -> Traced:
    return Traced(graph.row_ptr, graph.col, graph.number, graph.n_cols)


def differentiable(graph: Graph, op: str, numbers: Numbers, *inputs: Tensor | None) -> Tensor:
    """The first result of an operation whose inputs are plain tensors, one of which wants a gradient."""
    needs = tuple(t is not None and t.requires_grad for t in inputs)
    what = (graph, op, numbers, needs, inputs)
    wanting = [t for t, wants in zip(inputs, needs) if wants]
    call: Any = _Differentiable.apply if functorch_active() else _apply
    return call(what, *wanting)  # type: ignore[no-any-return]


def at_once(inputs: tuple[Tensor | None, ...]) -> bool:
    """Whether these are plain tensors that no mode looks at."""
    if modes():
        return False
    for t in inputs:  # noqa: SIM110  a generator costs more than all of the rest
        if type(t) not in PLAIN_TYPES:
            return False
    return True
