"""Forward passes whose sums run otherwise than exactly: which config, in which type, for each sum of a model.

A sum is a call of spmm() or gcn(); its place is its turn in one forward pass. Nothing here knows what that costs a
model: gnntune.torch.accuracy() measures it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from gnntune._errors import InvalidArgument

if TYPE_CHECKING:
    from gnntune.torch._graph import Graph

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


class Way(NamedTuple):
    """How a sum runs: a config ("": chosen as always) and the storage type of its features and weights."""

    config: str = ""
    dtype: str = "f32"


EXACT = Way()


class Sum(NamedTuple):
    """A sum that a forward pass did: its graph and operands, weights in CSR order."""

    graph: Graph
    x: Tensor
    weight: Tensor | None
    self_weight: Tensor | None
    reduce: str


class Scope:
    """The ways of one forward pass, and what it did."""

    def __init__(self, ways: Sequence[Way] | None, keep: bool = False) -> None:
        self.ways, self.count = ways, 0
        self.sums: list[Sum] | None = [] if keep else None

    def next_way(self) -> Way:
        place = self.count
        self.count += 1
        if self.ways is None:
            return EXACT
        if place >= len(self.ways):
            raise InvalidArgument(f"the model has more than the {len(self.ways)} sums that ways were given for")
        return self.ways[place]


scopes: dict[int, Scope] = {}
"""The scope of each thread that is in one: what spmm() and gcn() ask first, and nearly always find empty."""


def current() -> Scope | None:
    return scopes.get(threading.get_ident())


@contextlib.contextmanager
def scope(ways: Sequence[Way] | None, keep: bool = False) -> Iterator[Scope]:
    """Sums of this thread inside the block run in these ways, in their order; with none exactly."""
    thread = threading.get_ident()
    if thread in scopes:
        raise InvalidArgument("a model that runs in other ways may not run inside another that does")
    scopes[thread] = made = Scope(ways, keep)
    try:
        yield made
    finally:
        del scopes[thread]


def run_way(
    spmm: Any, found: Scope, graph: Graph, x: Tensor, weight: Tensor | None, self_weight: Tensor | None, reduce: str
) -> Tensor:
    """One sum of a scope, by spmm() itself; weights are in CSR order."""
    thread = threading.get_ident()
    way = found.next_way()
    if found.sums is not None:
        found.sums.append(Sum(graph, x, weight, self_weight, reduce))
    del scopes[thread]
    try:
        dtype = DTYPES[way.dtype]
        weights = [t if t is None else t.to(dtype) for t in (weight, self_weight)]
        result: Tensor = spmm(graph, x.to(dtype), *weights, reduce=reduce, csr_order=True, config=way.config)
        return result.to(x.dtype)
    finally:
        scopes[thread] = found
