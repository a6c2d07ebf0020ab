"""Differentiable sparse operations on a Graph.

All of them compute in float32, float16 or bfloat16 (sums in float32), on the graph's device and torch's current stream,
and take part in autograd, autocast, torch.compile and CUDA graphs. Operands of other types than the features' are
converted to theirs. `h` stands for heads; where the features have no dimension for them there is one head, and
results have none either.

Raised everywhere: InvalidArgument (a ValueError) for shapes and devices that do not fit, TypeError for types, and
RuntimeError where a CUDA graph's capture meets an operation that was never run before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from gnntune import _native
from gnntune._errors import InvalidArgument
from gnntune.torch._autograd import apply, at_once
from gnntune.torch._operators import Traced, execute
from gnntune.torch._run import PLAIN, PLAIN_PAIR, Numbers, Pair, pair_of
from gnntune.torch._ways import current, run_way, scopes

if TYPE_CHECKING:
    from gnntune.torch._graph import Graph

FLOATS = (torch.float32, torch.float16, torch.bfloat16)
"""What these operations compute in."""
_REDUCTIONS = {reduce: pair_of(Numbers(reduce=reduce)) for reduce in ("sum", "mean", "max")}
# Numbers of attention by its features, with the default scale and no dropout.
_scaled: dict[int, Pair] = {}
# What is asked first is what a call without gradients costs: this answers in 25 ns, torch.compiler.is_compiling() in
# 70. torch.compile sees True; other tracers come with tensors of their own, which _native.apply() leaves alone.
_tracing = torch.compiler.is_dynamo_compiling
# As apply(), where that is a run or a run with its gradient and nothing else; else None.
_quick: Any = _native.apply


def spmm(
    graph: Graph,
    x: Tensor,
    weight: Tensor | None = None,
    self_weight: Tensor | None = None,
    *,
    reduce: str = "sum",
    csr_order: bool = False,
    max_error: float = 0.0,
    allow_sampling: bool = False,
    config: str = "",
) -> Tensor:
    """Sums over neighbours: y[i] = sum over the edges e = (j -> i) of weight[e] x[j], plus self_weight[i] x[i].

    x [n_cols, k] or [n_cols, h, k]; weight [m], or [m, h] for a weight of each head; self_weight [n_rows] or
    [n_rows, h]. Returns [n_rows, k] or [n_rows, h, k]. `reduce` is "sum", "mean" or "max" (of each feature by itself;
    with neither self_weight nor weights of each head); a target without edges gets 0. Of tied maxima the first edge has
    the gradient.

    `max_error` allows configs of reduced precision up to that error, as the database has measured it on this graph,
    and `allow_sampling` those that leave out edges by design; gradients stay exact. `config` names the config to run,
    such as "spmm.es_bucket{S=32}"; params that it leaves out have their defaults.
    """
    if scopes and not _tracing() and (found := current()) is not None:
        if weight is not None and not csr_order:
            weight = graph.to_csr_order(weight)
        return run_way(spmm, found, graph, x, weight, self_weight, reduce)
    pair = _REDUCTIONS.get(reduce)
    if pair is None:
        raise InvalidArgument(f"reduce is {reduce!r}; expected 'sum', 'mean' or 'max'")
    if max_error or allow_sampling or config:
        pair = _pair(Numbers(reduce=reduce, max_error=max_error, allow_sampling=allow_sampling, config=config))
    if not _tracing() and (weight is None or (graph.runs_in_csr_order if csr_order else graph.runs_in_edge_order)):
        result = _quick(graph, "spmm", pair, x, weight, self_weight)
        if result is not None:
            return result  # type: ignore[no-any-return]
    numbers = pair.full
    if weight is None and self_weight is None:
        return apply(graph, "spmm", numbers, cast(x), None, None)
    x = cast(x)
    weight = None if weight is None else edge_values(graph, weight, x.dtype, csr_order)
    if self_weight is not None:
        self_weight = self_weight.to(x.dtype)
        if weight is not None and weight.dim() == 2 and self_weight.dim() == 1:  # all heads share it
            self_weight = self_weight.unsqueeze(1).expand(-1, weight.shape[1])
        elif reduce != "max" and self_weight.dim() == 2 and (weight is None or weight.dim() == 1):
            shared = self_weight.new_ones(graph.m) if weight is None else weight
            weight = shared.unsqueeze(1).expand(-1, self_weight.shape[1])
    return apply(graph, "spmm", numbers, x, weight, self_weight)


def sddmm(graph: Graph, x_row: Tensor, x: Tensor, *, scale: float = 1.0, csr_order: bool = False) -> Tensor:
    """Products along edges: y[e] = scale <x_row[i], x[j]> for every edge e = (j -> i).

    x_row [n_rows, k] or [n_rows, h, k], x [n_cols, ...] likewise. Returns [m] or [m, h].
    """
    pair = PLAIN_PAIR if scale == 1.0 else _pair(Numbers(scale=scale))
    if not _tracing() and (graph.runs_in_csr_order if csr_order else graph.runs_in_edge_order):
        result = _quick(graph, "sddmm", pair, x_row, x)
        if result is not None:
            return result  # type: ignore[no-any-return]
    x_row, x = cast(x_row), cast(x)
    return _as_edges(graph, apply(graph, "sddmm", pair.full, x_row.to(x.dtype), x), csr_order)


def edge_softmax(graph: Graph, logits: Tensor, *, csr_order: bool = False) -> Tensor:
    """The softmax of each edge's logit among the edges of its target. logits [m] or [m, h]; returns the same shape."""
    if not _tracing() and (graph.runs_in_csr_order if csr_order else graph.runs_in_edge_order):
        result = _quick(graph, "edge_softmax", PLAIN_PAIR, logits)
        if result is not None:
            return result  # type: ignore[no-any-return]
    values = edge_values(graph, logits, _cast_type(logits), csr_order)
    return _as_edges(graph, apply(graph, "edge_softmax", PLAIN, values), csr_order)


def gat(
    graph: Graph,
    x: Tensor,
    score_row: Tensor,
    score_col: Tensor,
    *,
    negative_slope: float = 0.2,
    dropout: float = 0.0,
    seed: Tensor | None = None,
) -> Tensor:
    """Graph attention (GAT): y[i, h] = sum over the edges j -> i of a[e, h] x[j, h].

    a is the softmax over the edges of i of leaky_relu(score_row[i, h] + score_col[j, h]). x [n_cols, h, k], score_row
    [n_rows, h], score_col [n_cols, h]; returns [n_rows, h, k]. The logits and the weights are never stored.

    `dropout` drops edges after the softmax with that probability and scales the others by 1 / (1 - dropout). Its mask
    comes from torch's generator of the device, or from `seed`, an int64 tensor of one element on the device. Both are
    drawn anew at every replay of a CUDA graph.
    """
    plain = negative_slope == 0.2 and dropout == 0.0
    pair = PLAIN_PAIR if plain else _dropping(negative_slope=negative_slope, dropout=dropout)
    if not dropout:
        seed = None
    elif seed is None:
        seed = new_seed(x.device)
    if not _tracing():
        result = _quick(graph, "gat", pair, x, score_row, score_col, seed)
        if result is not None:
            return result  # type: ignore[no-any-return]
    x = cast(x)
    return apply(graph, "gat", pair.full, x, score_row.to(x.dtype), score_col.to(x.dtype), seed)


def agnn(graph: Graph, x: Tensor, beta: Tensor, x_row: Tensor | None = None) -> Tensor:
    """Attention by cosine (AGNN): as gat() with the logits beta[h] cos(x_row[i, h], x[j, h]).

    x [n_cols, k] or [n_cols, h, k], x_row [n_rows, ...] likewise (default: x, of a square graph), beta [h]. Returns
    [n_rows, k] or [n_rows, h, k].
    """
    if not _tracing():
        result = _quick(graph, "agnn", PLAIN_PAIR, x, x if x_row is None else x_row, beta)
        if result is not None:
            return result  # type: ignore[no-any-return]
    x = cast(x)
    return apply(graph, "agnn", PLAIN, x, x if x_row is None else x_row.to(x.dtype), beta.to(x.dtype))


def attention(
    graph: Graph,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    scale: float | None = None,
    dropout: float = 0.0,
    seed: Tensor | None = None,
) -> Tensor:
    """Dot-product attention over edges: as gat() with the logits scale <query[i, h], key[j, h]>.

    query [n_rows, h, k], key and value [n_cols, h, k]; returns [n_rows, h, k]. `scale` is 1 / sqrt(k) by default;
    dropout and seed as in gat().
    """
    plain = scale is None and dropout == 0.0 and not _tracing()
    k = value.size(-1)  # a quarter of what shape costs
    pair = _scaled.get(k) if plain else None
    if pair is None:
        if scale is None and k == 0:
            raise InvalidArgument("attention: features of no columns have no scale of their own; give scale")
        pair = _dropping(scale=k**-0.5 if scale is None else scale, dropout=dropout)
        if plain:
            _scaled[k] = pair
    if plain:
        result = _quick(graph, "attention", pair, value, query, key, None)
        if result is not None:
            return result  # type: ignore[no-any-return]
    if not dropout:
        seed = None
    elif seed is None:
        seed = new_seed(value.device)
    if not _tracing():
        result = _quick(graph, "attention", pair, value, query, key, seed)
        if result is not None:
            return result  # type: ignore[no-any-return]
    value = cast(value)
    query, key = query.to(value.dtype), key.to(value.dtype)
    return apply(graph, "attention", pair.full, value, query, key, seed)


def gcn(graph: Graph, x: Tensor) -> Tensor:
    """The sum of a GCN: D^-1/2 (A + I) D^-1/2 x, where every vertex has one edge to itself whatever the graph has.

    x [n, k]; returns the same shape. Square graphs. The normalisation is computed once for a graph and kept.
    """
    if not _tracing():
        loopless = graph.without_loops()
        if scopes and current() is not None:
            return spmm(loopless, x, *loopless.norm(x.dtype), csr_order=True)
        result = _quick(loopless, "spmm", PLAIN_PAIR, x, *loopless.norm(x.dtype))
        if result is not None:
            return result  # type: ignore[no-any-return]
    return apply(graph, "gcn", PLAIN, cast(x))


def gcn_norm(graph: Graph, weight: Tensor | None = None, *, csr_order: bool = False) -> tuple[Tensor, Tensor]:
    """The symmetric normalisation of a GCN with self loops of weight 1: (edge weights [m], self weights [n]).

    y[e] = weight[e] / sqrt(d[i] d[j]) and y_self[i] = 1 / d[i], where d[i] = 1 + the sum of the weights of the edges of
    i. Square graphs; weights are not negative, and get no gradient. Without weights the result is kept in the graph.
    """
    if weight is None:
        edges, loops = _gcn_norm(graph, None) if torch.compiler.is_compiling() else graph.norm()
        return _as_edges(graph, edges, csr_order), loops
    if weight.requires_grad and torch.is_grad_enabled():
        raise InvalidArgument("gcn_norm has no gradient for the weights: detach them, or normalise with torch")
    edges, loops = _gcn_norm(graph, edge_values(graph, weight, _cast_type(weight), csr_order))
    return _as_edges(graph, edges, csr_order), loops


def new_seed(device: torch.device) -> Tensor:
    """A seed for dropout, drawn from torch's generator of the device: an int64 tensor of one element."""
    return torch.randint(-(2**63), 2**63 - 1, (1,), dtype=torch.int64, device=device)


def _gcn_norm(graph: Graph, weight: Tensor | None) -> tuple[Tensor, Tensor]:
    if torch.compiler.is_compiling() or not at_once((weight,)):
        edges, loops = Traced(graph.row_ptr, graph.col, graph.number, graph.n_cols).run("gcn_norm", PLAIN, weight)
    else:
        edges, loops = execute(graph, "gcn_norm", PLAIN, weight)
    return edges, loops


def dropping(device: torch.device, dropout: float, *, negative_slope: float = 0.2) -> tuple[Pair, Tensor | None]:
    """Numbers and seed of a run of gat(); not for code that torch.compile traces."""
    if dropout == 0.0:
        return (PLAIN_PAIR if negative_slope == 0.2 else _dropping(negative_slope=negative_slope)), None
    return _dropping(negative_slope=negative_slope, dropout=dropout), new_seed(device)


def _dropping(*, scale: float = 1.0, negative_slope: float = 0.2, dropout: float = 0.0) -> Pair:
    if not 0.0 <= dropout < 1.0:
        raise InvalidArgument(f"dropout is {dropout}; expected 0 <= dropout < 1")
    return _pair(Numbers(scale=scale, negative_slope=negative_slope, dropout=dropout))


def _pair(numbers: Numbers) -> Pair:
    # torch.compile does not look into caches, and has no use for objects that are one.
    return Pair(numbers, numbers) if _tracing() else pair_of(numbers)


def _cast_type(t: Tensor) -> torch.dtype:
    if not isinstance(t, Tensor):
        raise TypeError(f"expected a tensor, not {type(t).__name__}")
    device_type = t.device.type
    if torch.is_autocast_enabled(device_type) and t.dtype in FLOATS:
        return torch.get_autocast_dtype(device_type)
    return t.dtype


def cast(t: Tensor) -> Tensor:
    """As autocast wants it: these operations are of the kind that runs in 16 bits."""
    dtype = _cast_type(t)
    return t if t.dtype is dtype else t.to(dtype)


def edge_values(graph: Graph, values: Tensor, dtype: torch.dtype, csr_order: bool) -> Tensor:
    """Values of edges in the order in which runs take them, of the type."""
    values = values if values.dtype is dtype else values.to(dtype)
    if csr_order:
        return values if graph.runs_in_csr_order else graph.to_edge_order(values)
    return values if graph.runs_in_edge_order else graph.to_csr_order(values)


def _as_edges(graph: Graph, values: Tensor, csr_order: bool) -> Tensor:
    """Values as runs give them, in the order in which they are wanted."""
    if csr_order:
        return values if graph.runs_in_csr_order else graph.to_csr_order(values)
    return values if graph.runs_in_edge_order else graph.to_edge_order(values)
