"""The operations in double precision, edge by edge, differentiated by torch: what the results are compared with."""

from __future__ import annotations

import torch
from torch import Tensor

# name: (sources, targets, number of sources, number of targets)
GRAPHS: dict[str, tuple[list[int], list[int], int, int]] = {
    "square": ([0, 1, 2, 3, 4, 1, 2, 0, 3, 5], [1, 0, 1, 2, 3, 4, 4, 4, 0, 2], 6, 6),  # rows 5 has no edges
    "loops": ([0, 0, 1, 2, 2, 3, 3], [0, 1, 1, 0, 2, 3, 1], 4, 4),
    "duplicates": ([0, 0, 1, 2, 2, 2], [1, 1, 0, 0, 0, 1], 3, 3),
    "wide": ([0, 5, 2, 7, 7, 1], [2, 0, 1, 0, 2, 2], 9, 4),
    "tall": ([0, 1, 1, 0, 2], [6, 0, 5, 5, 3], 3, 8),
    "no_edges": ([], [], 4, 4),
}


def edges(name: str, device: str = "cpu") -> tuple[Tensor, tuple[int, int]]:
    """edge_index and (number of sources, number of targets). "random" and "hub" are larger."""
    if name in GRAPHS:
        source, target, n_cols, n_rows = GRAPHS[name]
        return torch.tensor([source, target], dtype=torch.int64, device=device).view(2, -1), (n_cols, n_rows)
    generator = torch.Generator().manual_seed(1)
    n, m = 301, 4000
    index = torch.randint(0, n, (2, m), generator=generator)
    if name == "hub":
        index[1, : m // 2] = 7
    return index.to(device), (n, n)


ALL_GRAPHS = [*GRAPHS, "random", "hub"]


def _sum(values: Tensor, target: Tensor, n: int) -> Tensor:
    return values.new_zeros(n, *values.shape[1:]).index_add(0, target, values)


def spmm(index: Tensor, n: int, x: Tensor, w: Tensor | None, sw: Tensor | None, reduce: str = "sum") -> Tensor:
    source, target = index
    messages = x[source]
    if w is not None:
        messages = messages * w.view(*w.shape, *[1] * (messages.dim() - w.dim()))
    if reduce == "max":
        y = x.new_zeros(n, *x.shape[1:])
        at = target.view(-1, *[1] * (x.dim() - 1)).expand_as(messages)
        return y.scatter_reduce(0, at, messages, "amax", include_self=False)
    y = _sum(messages, target, n)
    if sw is not None:
        y = y + x * sw.view(*sw.shape, *[1] * (x.dim() - sw.dim()))
    if reduce == "mean":
        count = _sum(torch.ones_like(source, dtype=x.dtype), target, n) + (0 if sw is None else 1)
        y = y / count.clamp(min=1).view(-1, *[1] * (x.dim() - 1))
    return y


def softmax(index: Tensor, n: int, logits: Tensor) -> Tensor:
    target = index[1]
    at = target.view(-1, *[1] * (logits.dim() - 1)).expand_as(logits)
    top = logits.new_full((n, *logits.shape[1:]), -torch.inf).scatter_reduce(0, at, logits, "amax").detach()
    e = (logits - top[target]).exp()
    return e / _sum(e, target, n)[target]


def sddmm(index: Tensor, x_row: Tensor, x: Tensor) -> Tensor:
    return (x_row[index[1]] * x[index[0]]).sum(-1)


def attend(index: Tensor, n: int, x: Tensor, logits: Tensor) -> Tensor:
    return spmm(index, n, x, softmax(index, n, logits), None)


def gat(index: Tensor, n: int, x: Tensor, score_row: Tensor, score_col: Tensor, slope: float) -> Tensor:
    logits = torch.nn.functional.leaky_relu(score_row[index[1]] + score_col[index[0]], slope)
    return attend(index, n, x, logits)


def agnn(index: Tensor, n: int, x: Tensor, x_row: Tensor, beta: Tensor) -> Tensor:
    unit, unit_row = (torch.nn.functional.normalize(t, dim=-1) for t in (x, x_row))
    logits = beta * sddmm(index, unit_row, unit)
    return attend(index, n, x, logits)


def attention(index: Tensor, n: int, query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
    return attend(index, n, value, scale * sddmm(index, query, key))


def gcn_norm(index: Tensor, n: int, w: Tensor | None) -> tuple[Tensor, Tensor]:
    source, target = index
    weight = torch.ones_like(source, dtype=torch.float64) if w is None else w
    degree = 1 + _sum(weight, target, n)
    return weight / (degree[source] * degree[target]).sqrt(), 1 / degree
