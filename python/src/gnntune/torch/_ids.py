"""Ids of vertices and lists of edges, before a graph is made of them: what they are, checked, copied and narrowed."""

from __future__ import annotations

import contextlib
import operator
from typing import Any, cast

import torch
from torch import Tensor

from gnntune import _native
from gnntune._errors import InvalidArgument, InvalidGraph
from gnntune.torch import _device

MOST = 2**31 - 2
TOO_LARGE = "sizes must fit int32; gnntune.torch.TiledGraph takes any number of edges"
ID_TYPES = (torch.int32, torch.int64)


def as_ids(values: Tensor) -> Tensor:
    """As the library takes them. A conversion to what they are already is asked for no longer than that."""
    if values.dtype is not torch.int32:
        values = values.to(torch.int32)
    return values if values.is_contiguous() else values.contiguous()


def lasting() -> Any:
    """For tensors that a graph keeps: in inference mode torch would make such as no gradient may use later."""
    inference = not torch.compiler.is_compiling() and torch.is_inference_mode_enabled()
    return torch.inference_mode(False) if inference else contextlib.nullcontext()


def plain_edges(edge_index: Any) -> Tensor:
    """An edge_index as a tensor of torch's own type."""
    if not isinstance(edge_index, Tensor) or edge_index.layout != torch.strided:
        raise InvalidArgument(
            f"expected edge_index, a tensor [2, m], not {words_of(edge_index)}; "
            "sparse matrices become graphs with Graph.from_sparse()"
        )
    if hasattr(edge_index, "as_tensor"):
        edge_index = edge_index.as_tensor()  # PyG's EdgeIndex, which has no memory of its own
    elif type(edge_index) is not Tensor:
        edge_index = edge_index.as_subclass(Tensor)
    shape = edge_index.shape
    if len(shape) != 2 or shape[0] != 2 or edge_index.dtype not in ID_TYPES:
        raise InvalidArgument(
            f"edge_index is of {edge_index.dtype} and has the shape {tuple(shape)}; expected [2, m] of int64 or int32"
        )
    return edge_index  # type: ignore[no-any-return]


def own_ids(ids: Tensor) -> Tensor:
    """int32, contiguous, in memory that is not the caller's, who may write to it."""
    return ids.to(torch.int32, copy=True, memory_format=torch.contiguous_format)


def has_ids_here(ids: Tensor) -> bool:
    """Whether looking at ids costs no wait: on a GPU it does, and a fake tensor has none."""
    return ids.is_cpu and type(ids) is Tensor


def sizes_of(num_nodes: Any) -> tuple[int, int]:
    """Numbers of sources and of targets, of one number or a pair."""
    pair = num_nodes if isinstance(num_nodes, tuple) else (num_nodes, num_nodes)
    try:
        n_cols, n_rows = (n if type(n) is int or isinstance(n, torch.SymInt) else operator.index(n) for n in pair)
    except (TypeError, ValueError):
        raise TypeError(f"expected a number of vertices, or (sources, targets), not {num_nodes!r}") from None
    if n_cols < 0 or n_rows < 0:
        raise InvalidArgument(f"expected a number of vertices that is not negative, not {num_nodes!r}")
    if n_cols > MOST or n_rows > MOST:
        raise InvalidGraph(f"{n_rows} x {n_cols} vertices: {TOO_LARGE}")
    return cast("tuple[int, int]", (n_cols, n_rows))


def check_edges(edges: Tensor, n_rows: int, n_cols: int) -> None:
    if n_rows == n_cols:
        check_ids(edges, n_rows, "vertex")
        return
    check_ids(edges[0], n_cols, "source")
    check_ids(edges[1], n_rows, "target")


def check_ids(ids: Tensor, n: int, what: str) -> None:
    if ids.numel() == 0:
        return
    low, high = (int(value) for value in torch.aminmax(ids))
    if low < 0 or high >= n:
        raise InvalidGraph(f"a {what} has the id {low if low < 0 else high}; expected ids from 0 to {n - 1}")


def words_of(thing: object) -> str:
    return f"a sparse tensor ({thing.layout})" if isinstance(thing, Tensor) else type(thing).__name__


def with_loops_behind(edges: Tensor, n: int) -> tuple[Tensor, bool]:
    """[2, m + n] int32: edges, behind them a loop of each vertex; whether one of the m is a loop. Waits for the GPU."""
    m, device = edges.shape[1], edges.device
    if m + n > MOST:
        raise InvalidGraph(f"{n} x {n} with {m} edges and {n} self loops: {TOO_LARGE}")
    if _device.capturing(device):
        raise RuntimeError(
            "self loops are waited for, which a CUDA graph's capture forbids: run one step on this stream before the "
            "capture, or give layers a Graph"
        )
    rows = edges if edges.stride(1) == 1 else edges.contiguous()
    made = _native.edge_list(_device.context_of(device).value, rows, n)
    if made is not None:
        return made
    loops = torch.arange(n, dtype=torch.int32, device=device).expand(2, -1)
    return torch.cat([edges.to(torch.int32), loops], dim=1), bool((edges[0] == edges[1]).any())
