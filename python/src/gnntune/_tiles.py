"""Graphs of more than 2^31 edges, or past a device's memory: rows in tiles, over NumPy arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gnntune import _native
from gnntune._errors import InvalidArgument, Unsupported
from gnntune._handle import Handle
from gnntune._problem import Problem

if TYPE_CHECKING:
    from gnntune._core import Context

_PLACES = {"auto": _native.TILES_AUTO, "resident": _native.TILES_RESIDENT, "streamed": _native.TILES_STREAMED}
_ALIGNMENT = 16


class TiledMemory(NamedTuple):
    """What a tiled graph takes: at most so many bytes beside the caller's arrays, features and results."""

    host_bytes: int
    backend_bytes: int
    """Of the device; 0 on the cpu backend, where all is host memory."""
    tiles: int
    streamed: bool


def tiling(
    place: str, tile_edges: int | None, pin: bool, host_limit: int | None, backend_limit: int | None
) -> tuple[object, ...]:
    """The tuple of _native.tiled_graph that says how a graph is cut and where it lies."""
    if place not in _PLACES:
        raise InvalidArgument(f"place is {place!r}; expected 'auto', 'resident' or 'streamed'")
    for name, limit in (("host_limit", host_limit), ("the limit of the device", backend_limit)):
        if limit is not None and limit < 0:
            raise InvalidArgument(f"{name} is {limit}; expected bytes, or None for no limit")
    return (
        _PLACES[place],
        pin,
        0 if tile_edges is None else tile_edges,
        -1 if host_limit is None else host_limit,
        -1 if backend_limit is None else backend_limit,
    )


class TiledGraph:
    """A graph of a context, cut into tiles of rows. Made by Context.tiled_graph().

    Computes sums, means and maxima over neighbours, tile by tile. `memory` says what the graph takes.
    """

    def __init__(
        self,
        context: Context,
        description: tuple[object, ...],
        tiles: tuple[object, ...],
        sizes: tuple[int, int, int],
        arrays: object,
    ) -> None:
        self.context = context
        self.n_rows, self.n_cols, self.m = sizes
        self.memory = TiledMemory(*_native.tiled_memory(context._handle.value, description, tiles, None))
        self._handle = Handle(
            _native.tiled_graph(context._handle.value, description, tiles, 0), _native.tiled_graph_destroy
        )
        self._arrays = arrays  # borrowed by the library

    @property
    def fingerprint(self) -> str:
        """Identity of the structure, however it is cut: that of the same graph in one piece."""
        return _native.tiled_graph_fingerprint(self._handle.value)

    def plan(self, problem: Problem | str, k: int = 1, **demands: Any) -> TiledPlan:
        """Plans spmm on every tile; see Graph.plan(). Raises Unsupported for other operations."""
        if isinstance(problem, str):
            problem = Problem(problem, k, **demands)
        handle = _native.tiled_plan(self._handle.value, 0, problem.native())
        return TiledPlan(self, problem, handle)

    def spmm(self, x: npt.ArrayLike, weight: npt.ArrayLike | None = None, *, reduce: str = "sum") -> npt.NDArray[Any]:
        """y[i] = sum (mean, max) over the edges j -> i of weight[e] x[j]. x [n_cols, k], weight [m]; y [n_rows, k]."""
        features = np.asarray(x)
        if features.ndim != 2:
            raise InvalidArgument(f"x has the shape {features.shape}; expected [{self.n_cols}, k]")
        dtype = "f16" if features.dtype == np.float16 else "f32"
        plan = self.plan("spmm", features.shape[1], weighted=weight is not None, reduce=reduce, dtype=dtype)
        return plan.run(features, weight)


class TiledPlan:
    """A plan of every tile. Made by TiledGraph.plan(). Any number of threads may run it; they take turns."""

    def __init__(self, graph: TiledGraph, problem: Problem, handle: int) -> None:
        self.graph = graph
        self.problem = problem
        self._handle = Handle(handle, _native.tiled_plan_destroy)

    def explain(self) -> str:
        """Lines for people: tiles, memory, configs and how many tiles have them, and the first tile's choice."""
        return _native.tiled_plan_explain(self._handle.value)

    def run(self, x: npt.ArrayLike, weight: npt.ArrayLike | None = None) -> npt.NDArray[Any]:
        """y of x [n_cols, k] or [n_cols, heads, k], and weight [m] or [m, heads]. For the cpu backend only."""
        if self.graph.context.backend != "cpu":
            raise Unsupported(
                "NumPy arrays lie in host memory: open the context with device='cpu', or use gnntune.torch.TiledGraph"
            )
        problem, graph = self.problem, self.graph
        if problem.dtype == "bf16":
            raise Unsupported("NumPy has no bfloat16: use gnntune.torch.TiledGraph")
        dtype = np.dtype(np.float16 if problem.dtype == "f16" else np.float32)
        row = (problem.k,) if problem.heads == 1 else (problem.heads, problem.k)
        features = _array("x", x, (graph.n_cols, *row), dtype)
        edges = None
        if problem.weighted:
            heads = () if problem.heads == 1 or problem.reduce == "max" else (problem.heads,)
            if weight is None:
                raise InvalidArgument(f"weight is missing; expected an array of {(graph.m, *heads)}")
            edges = _array("weight", weight, (graph.m, *heads), dtype)
        elif weight is not None:
            raise InvalidArgument("the plan is not weighted; make it with weighted=True")
        y = np.empty((graph.n_rows, *row), dtype)
        _native.tiled_run(
            self._handle.value,
            0,
            features.ctypes.data,
            None if edges is None else edges.ctypes.data,
            y.ctypes.data,
        )
        return y


def _array(name: str, values: npt.ArrayLike, shape: tuple[int, ...], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    given = np.asarray(values)
    if given.shape != shape:
        raise InvalidArgument(f"{name} has the shape {given.shape}; expected {shape}")
    made = np.ascontiguousarray(given, dtype=dtype)
    return made if made.ctypes.data % _ALIGNMENT == 0 else made.copy()
