"""Scores of GAT from vectors of attention, and their gradients, by the library. Without a gradient of their own."""

from __future__ import annotations

import torch
from torch import Tensor

from gnntune import _native
from gnntune._errors import InvalidArgument
from gnntune.torch import _device
from gnntune.torch._graph import Graph

_DTYPES = {torch.float32: _native.F32, torch.float16: _native.F16, torch.bfloat16: _native.BF16}
_ALIGNMENT = 256


def _shape(graph: Graph, x: Tensor, *by_head: Tensor) -> tuple[int, int, int, int, int, int]:
    """What calls begin with. `by_head`: vectors of attention, then gradients of scores."""
    if x.device != graph.device:
        raise InvalidArgument(f"gat: x is on {x.device}, the graph on {graph.device}; move one of them")
    sizes = (x.shape[1] * x.shape[2],) * 2 + (x.shape[0] * x.shape[1],) * 2
    for t, size in zip(by_head, sizes):
        if t.numel() != size or t.dtype != x.dtype or t.device != x.device or not t.is_contiguous():
            raise InvalidArgument(f"gat: expected {size} elements as those of x, not {tuple(t.shape)} of {t.dtype}")
    stream = _device.stream_of(graph.device)
    if stream:
        graph.note_stream(stream)
    n, heads, k = x.shape
    return _device.context_of(graph.device).value, n, heads, k, _DTYPES[x.dtype], stream


def head_scores(graph: Graph, x: Tensor, att_row: Tensor, att_col: Tensor) -> tuple[Tensor, Tensor]:
    """[n, heads] each: products of features [n, heads, k] with att_row and with att_col [1, heads, k].

    All are contiguous and of one type, on the graph's device.
    """
    row, col = x.new_empty(x.shape[:2]), x.new_empty(x.shape[:2])
    _native.head_scores(*_shape(graph, x, att_row, att_col), (x, att_row, att_col, row, col))
    return row, col


def add_score_gradients(
    graph: Graph,
    x: Tensor,
    att: tuple[Tensor, Tensor],
    grads: tuple[Tensor, Tensor],
    grad_x: Tensor | None,
    wanted: tuple[bool, bool],
) -> tuple[Tensor | None, Tensor | None]:
    """Gradients of att_row and att_col, as far as they are wanted, from those of both scores, [n, heads] each. Adds to
    `grad_x`, if that is given, what comes to x through the scores."""
    of_att = [torch.empty_like(a) if want else None for a, want in zip(att, wanted)]
    size = _native.head_scores_workspace(*x.shape)
    memory = torch.empty(size + _ALIGNMENT, dtype=torch.uint8, device=x.device)
    aligned = -(-memory.data_ptr() // _ALIGNMENT) * _ALIGNMENT
    _native.head_scores_grad(*_shape(graph, x, *att, *grads), (x, *att, *grads, grad_x, *of_att), aligned, size)
    return of_att[0], of_att[1]
