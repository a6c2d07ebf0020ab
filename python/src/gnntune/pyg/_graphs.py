"""Graphs from what PyTorch Geometric's layers are called with."""

from __future__ import annotations

import threading
import weakref
from typing import Any

import torch
from torch import Tensor

from gnntune.torch import Graph
from gnntune.torch._device import capturing

# An edge_index of one step is planned by its shape; one that comes back is worth asking the database for.
_LASTING_USES = 8

_known: dict[int, _Known] = {}
"""Of tensors that live, by their ids. torch's own dictionary of this kind costs as much as describing a graph."""
_lock = threading.RLock()  # a tensor may die, and be forgotten, within


class _Known:
    __slots__ = ("graph", "key", "memory", "sizes", "uses", "version")

    def __init__(self, key: Tensor, graph: Graph, sizes: tuple[int, int]) -> None:
        self.graph, self.version, self.sizes, self.uses = graph, key._version, sizes, 1
        self.memory = _memory_of(key)
        place = id(key)

        def forget(gone: Any) -> None:
            with _lock:
                known = _known.get(place)
                if known is not None and known.key is gone:  # else another tensor has the id by now
                    del _known[place]

        self.key = weakref.ref(key, forget)


def _memory_of(key: Tensor) -> int:
    """Where its numbers are: `key.data = ...` is no new version. A sparse matrix has no such place."""
    return key.data_ptr() if key.layout is torch.strided else 0


def graph_of(adjacency: Any, n_rows: int, n_cols: int, *, loops: bool = False) -> Graph | None:
    """The Graph of an edge_index or a sparse adjacency matrix (`adj_t`), kept as long as that lives unchanged.

    Its with_loops() is wanted next where `loops` says so. Sparse matrices of torch whose values are all one have no
    `edge_weight`. None for what is no graph of these sizes.
    """
    if isinstance(adjacency, Graph):
        return _of_sizes(adjacency, (n_rows, n_cols))
    if hasattr(adjacency, "as_tensor"):
        adjacency = adjacency.as_tensor()  # PyG's EdgeIndex, which has no memory of its own
    key: Any = adjacency
    if not isinstance(adjacency, Tensor):
        if not hasattr(adjacency, "storage") or not hasattr(adjacency, "csr"):
            return None
        key = adjacency.storage.col()  # torch_sparse's SparseTensor is no tensor, and cannot be a weak key
    elif adjacency.layout is torch.sparse_csr:
        key = adjacency.col_indices()
    elif adjacency.layout is torch.sparse_coo:
        if not adjacency.is_coalesced():
            return None
    elif adjacency.layout is not torch.strided and adjacency.layout is not torch.sparse_csc:
        return None
    sizes = (n_rows, n_cols)
    if key.is_inference():  # such a tensor does not say whether it was changed
        return _of_sizes(_make(adjacency, sizes, transient=True, loops=loops), sizes)
    with _lock:
        known = _known.get(id(key))
        living: Any = None if known is None else known.key()
        if (
            known is not None
            and living is key
            and known.version == key._version
            and known.sizes == sizes
            and known.memory == _memory_of(key)
        ):
            known.uses += 1
            if known.uses == _LASTING_USES and known.graph.transient:
                if capturing(known.graph.device):
                    known.uses -= 1
                else:
                    known.graph = _make(adjacency, sizes, transient=False, loops=loops)
            return known.graph
    graph = _of_sizes(_make(adjacency, sizes, transient=True, loops=loops), sizes)
    if graph is None:
        return None
    if type(graph.col if graph._list is None else graph._list) is not Tensor:  # a fake one, whose mode ends
        return graph
    with _lock:
        _known[id(key)] = _Known(key, graph, sizes)
    return graph


def _of_sizes(graph: Graph, sizes: tuple[int, int]) -> Graph | None:
    return graph if (graph.n_rows, graph.n_cols) == sizes else None


def _make(adjacency: Any, sizes: tuple[int, int], *, transient: bool, loops: bool) -> Graph:
    if isinstance(adjacency, Tensor) and adjacency.layout == torch.strided:
        if loops and transient and sizes[0] == sizes[1]:
            return Graph._with_room(adjacency, sizes[0])
        return Graph(adjacency, (sizes[1], sizes[0]), transient=transient)
    graph = Graph.from_sparse(adjacency, transient=transient)
    if graph.edge_weight is not None and bool((graph.edge_weight == 1).all()):
        graph.edge_weight = None
    return graph
