"""The gradient of every operation, as further operations; how they are run is the caller's business.

An operation is run through a `Runner`: on a Graph at once (autograd.Function in eager mode), or as an operator
registered with PyTorch (under torch.compile). Both have the same formulas, and so the same gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from gnntune.torch._run import PLAIN, PLAIN_REVERSED, Numbers, numbers_of

Tensors = Sequence["Tensor | None"]


class Runner(Protocol):
    """Runs an operation on a graph."""

    def run(self, op: str, numbers: Numbers, *inputs: Tensor | None) -> tuple[Tensor, ...]: ...


class Formula(NamedTuple):
    """How an operation is differentiated.

    save(numbers, needs, inputs, results): what backward wants to see again. `needs` says which inputs want gradients.
    backward(runner, numbers, needs, saved, grad): a gradient, or None, for every input.
    """

    save: Callable[[Numbers, Sequence[bool], Tensors, Tensors], Tensors]
    backward: Callable[[Runner, Numbers, Sequence[bool], Tensors, Tensor], Tensors]


def _some(tensor: Tensor | None) -> Tensor:
    assert tensor is not None
    return tensor


def _save_spmm(numbers: Numbers, needs: Sequence[bool], inputs: Tensors, results: Tensors) -> Tensors:
    x, weight, self_weight = inputs
    argmax = results[1] if len(results) > 1 else None
    # The gradient of a sum's features does not need the features, which are most of a training step's memory.
    features = x if needs[1] or needs[2] or numbers.reduce != "sum" else None
    return features, weight, self_weight, argmax


def _spmm(runner: Runner, numbers: Numbers, needs: Sequence[bool], saved: Tensors, grad: Tensor) -> Tensors:
    x, weight, self_weight, argmax = saved
    back = PLAIN if numbers.reversed else PLAIN_REVERSED
    if numbers.reduce == "sum" and not needs[1] and not needs[2]:
        return runner.run("spmm", back, grad, weight, self_weight)[0], None, None
    # The gradient of both in one run has no gradient of its own, and is of sums that go forward.
    if numbers.reduce == "sum" and (not needs[0] or numbers.reversed or torch.is_grad_enabled()):
        x = _some(x)
        heads = weight is not None and weight.dim() == 2 and weight.shape[1] > 1
        grad_weight = grad_self = None
        grad_x = runner.run("spmm", back, grad, weight, self_weight)[0] if needs[0] else None
        if needs[1]:
            targets, sources = (x, grad) if numbers.reversed else (grad, x)
            rows, cols = (targets, sources) if heads else (targets.flatten(1), sources.flatten(1))
            grad_weight = runner.run("sddmm", PLAIN, rows, cols)[0].view_as(_some(weight))
        if needs[2]:
            products = grad * x
            grad_self = (products.sum(-1) if heads else products.flatten(1).sum(1)).view_as(_some(self_weight))
        return grad_x, grad_weight, grad_self
    grads = runner.run("spmm_grad", numbers_of(*Numbers(reduce=numbers.reduce)), x, weight, self_weight, grad, argmax)
    rest = iter(grads[1:])
    grad_weight = next(rest) if weight is not None else None
    grad_self = next(rest) if self_weight is not None else None
    return grads[0], grad_weight, grad_self


def _save_nothing(numbers: Numbers, needs: Sequence[bool], inputs: Tensors, results: Tensors) -> Tensors:
    return ()


def _gcn(runner: Runner, numbers: Numbers, needs: Sequence[bool], saved: Tensors, grad: Tensor) -> Tensors:
    return runner.run("gcn", PLAIN if numbers.reversed else PLAIN_REVERSED, grad)


def _save_inputs(numbers: Numbers, needs: Sequence[bool], inputs: Tensors, results: Tensors) -> Tensors:
    return inputs


def _sddmm(runner: Runner, numbers: Numbers, needs: Sequence[bool], saved: Tensors, grad: Tensor) -> Tensors:
    x_row, x = _some(saved[0]), _some(saved[1])
    weight = grad if numbers.scale == 1.0 else grad * numbers.scale
    grad_row = runner.run("spmm", PLAIN, x, weight, None)[0] if needs[0] else None
    if x_row.shape[1:] != x.shape[1:]:  # heads and features may be one dimension of x_row, and two of x
        grad_row = None if grad_row is None else grad_row.view_as(x_row)
        x_row = x_row.reshape(x_row.shape[0], *x.shape[1:])
    grad_x = runner.run("spmm", PLAIN_REVERSED, x_row, weight, None)[0] if needs[1] else None
    return grad_row, grad_x


def _save_first_result(numbers: Numbers, needs: Sequence[bool], inputs: Tensors, results: Tensors) -> Tensors:
    return (results[0],)


def _edge_softmax(runner: Runner, numbers: Numbers, needs: Sequence[bool], saved: Tensors, grad: Tensor) -> Tensors:
    return runner.run("edge_softmax_grad", numbers, saved[0], grad)


def _save_attention(numbers: Numbers, needs: Sequence[bool], inputs: Tensors, results: Tensors) -> Tensors:
    return *inputs, results[0], results[1]


def _attention_like(op: str) -> Callable[[Runner, Numbers, Sequence[bool], Tensors, Tensor], Tensors]:
    def backward(runner: Runner, numbers: Numbers, needs: Sequence[bool], saved: Tensors, grad: Tensor) -> Tensors:
        # Three inputs with gradients, the seed of dropout where the operation has one, then y and lse.
        *inputs, y, lse = saved
        grads = runner.run(op, numbers, *inputs[:3], grad, y, lse, *inputs[3:])
        return *grads, *[None] * (len(inputs) - 3)

    return backward


FORMULAS = {
    "spmm": Formula(_save_spmm, _spmm),
    "gcn": Formula(_save_nothing, _gcn),
    "sddmm": Formula(_save_inputs, _sddmm),
    "edge_softmax": Formula(_save_first_result, _edge_softmax),
    "gat": Formula(_save_attention, _attention_like("gat_grad")),
    "agnn": Formula(_save_attention, _attention_like("agnn_grad")),
    "attention": Formula(_save_attention, _attention_like("attention_grad")),
}
