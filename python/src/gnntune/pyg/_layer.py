"""What the layers have in common: when PyTorch Geometric's own code has to do it, and how it is asked to."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch_geometric.nn import MessagePassing

from gnntune import _native
from gnntune._errors import InvalidArgument
from gnntune.pyg._graphs import graph_of
from gnntune.torch import Graph, SparseFeatures
from gnntune.torch._autograd import functorch_active
from gnntune.torch.functional import FLOATS

HOOKS = (
    "_propagate_forward_pre_hooks",
    "_propagate_forward_hooks",
    "_message_forward_pre_hooks",
    "_message_forward_hooks",
    "_aggregate_forward_pre_hooks",
    "_aggregate_forward_hooks",
    "_message_and_aggregate_forward_pre_hooks",
    "_message_and_aggregate_forward_hooks",
    "_edge_update_forward_pre_hooks",
    "_edge_update_forward_hooks",
)
STEPS = ("propagate", "message", "message_and_aggregate", "aggregate", "update", "edge_update", "edge_updater")
"""Methods of message passing that a subclass, or an object, may have of its own."""
_tracing = torch.compiler.is_dynamo_compiling
_jit_traces: Any = torch._C._is_tracing
_forward_names = vars(torch.autograd.forward_ad)
_warned: set[tuple[str, str]] = set()


class Refused(Exception):
    """Why a layer's call is left to PyTorch Geometric."""


class Layer:
    """What every layer of ours does beside its parent."""

    _own_steps: tuple[str, ...] = ()  # of message passing, that a subclass of ours has: its parent's forward calls them

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        kinds = cls.__mro__[: next(i for i, kind in enumerate(cls.__mro__) if Layer in kind.__bases__)]
        cls._own_steps = tuple(name for name in STEPS if any(name in vars(kind) for kind in kinds))
        if cls._own_steps:
            # What PyTorch Geometric wrote for the parent calls the parent's steps.
            for name in {"propagate", "edge_updater"}.difference(cls._own_steps):
                setattr(cls, name, getattr(MessagePassing, name))

    def _set_jittable_templates(self, raise_on_error: bool = False) -> None:
        """PyTorch Geometric writes code for each class from the source of its forward, which is not the one here."""


def pair(x: Any) -> tuple[Tensor, Tensor | None]:
    """Features of sources and targets."""
    if not isinstance(x, (tuple, list)):
        return x, x
    source, target = x
    return source, target


def prepare(
    layer: Any,
    x: Any,
    adjacency: Any,
    size: Any = None,
    aggregations: tuple[str, ...] = ("add", "sum"),
    loops: bool = False,
) -> Graph:
    """The graph of a call, whose with_loops() is wanted next where `loops` says so.

    Raises Refused for what only PyTorch Geometric's own code does.
    """
    known = layer.__dict__
    if layer._own_steps:
        raise Refused(f"{', '.join(layer._own_steps)} of a subclass")
    if size is None and not _tracing():
        there = _native.layer_graph(known, x, adjacency, aggregations)
        if there:
            return adjacency  # type: ignore[no-any-return]
        if there is None and type(adjacency) is Tensor:
            graph = graph_of(adjacency, x.shape[0], x.shape[0], loops=loops)
            if graph is not None:
                return graph
    source, target = pair(x)
    if layer.flow != "source_to_target":
        raise Refused(f"flow={layer.flow!r}")
    if layer.aggr not in aggregations:
        raise Refused(f"aggr={layer.aggr!r}")
    if known["_decomposed_layers"] != 1:
        raise Refused("decomposed_layers")
    if known["_explain"]:
        raise Refused("explanations")
    if any(map(known.get, HOOKS)):
        raise Refused("hooks of message passing")
    if any(map(known.get, STEPS)):
        raise Refused("a step of message passing that is the layer's own")
    if not _tracing():
        _refuse_transforms()
    for features in (source,) if target is source or target is None else (source, target):
        if features.dim() != 2:
            raise Refused(f"features of {features.dim()} dimensions")
        if features.shape[1] == 0:
            raise Refused("features of no columns")
        if features.dtype not in FLOATS:
            raise Refused(f"features of {features.dtype}")
    if not (source.is_cpu or source.is_cuda):
        raise Refused(f"the device {source.device}")
    if size is not None:
        n_cols, n_rows = size
    elif target is source:
        n_cols = n_rows = source.shape[0]
    elif target is None:
        raise Refused("targets without features and without size")
    else:
        n_cols, n_rows = source.shape[0], target.shape[0]
    if isinstance(adjacency, Graph):
        if adjacency.n_rows == n_rows and adjacency.n_cols == n_cols:
            return adjacency
        raise InvalidArgument(
            f"{adjacency!r} has {adjacency.n_cols} sources and {adjacency.n_rows} targets, the features are of "
            f"{n_cols} and {n_rows}"
        )
    if torch.compiler.is_compiling():
        raise Refused("torch.compile of an edge_index: give it a gnntune.torch.Graph instead")
    graph = graph_of(adjacency, n_rows, n_cols, loops=loops)
    if graph is None:
        raise Refused(f"a graph given as {_words(adjacency)} for {n_cols} sources and {n_rows} targets")
    return graph


def _refuse_transforms() -> None:
    """Refuses what has to see, or to change, each operator of torch that is called."""
    if functorch_active():
        raise Refused("a transform of torch.func")
    if _jit_traces():
        raise Refused("torch.jit.trace")
    if _forward_names["_current_level"] >= 0:
        raise Refused("forward-mode differentiation")


def refuse_unknown_edges() -> None:
    """Refuses, under torch.compile, what has values for the edges of a graph whose self loops were replaced."""
    if torch.compiler.is_compiling():
        raise Refused("torch.compile, which would have to know how many self loops there are")


def or_theirs(parent: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A layer's forward that leaves what it refuses to `parent`'s, with a warning the first time for each reason."""

    def decorate(forward: Callable[..., Any]) -> Callable[..., Any]:
        names = list(inspect.signature(forward).parameters)[1:]

        @functools.wraps(forward)
        def either(layer: Any, *values: Any, **options: Any) -> Any:
            try:
                return forward(layer, *values, **options)
            except Refused as why:
                reason = why.args[0]
            name = type(layer).__name__
            if not torch.compiler.is_compiling() and (name, reason) not in _warned:
                _warned.add((name, reason))
                warnings.warn(f"gnntune: {name} runs PyTorch Geometric's own code, because of {reason}", stacklevel=2)
            arguments = {**dict(zip(names, values)), **options}
            if isinstance(arguments["edge_index"], Graph):
                arguments["edge_index"] = arguments["edge_index"].edge_index
            if isinstance(arguments["x"], SparseFeatures):
                arguments["x"] = arguments["x"].to_dense()
            return parent.forward(layer, **arguments)

        return either

    return decorate


def _words(adjacency: Any) -> str:
    if isinstance(adjacency, Graph):
        return repr(adjacency)
    if isinstance(adjacency, Tensor):
        return f"{adjacency.layout} of shape {tuple(adjacency.shape)}"
    return type(adjacency).__name__
