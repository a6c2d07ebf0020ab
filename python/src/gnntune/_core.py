"""Contexts, graphs and plans over NumPy arrays: the library without any framework."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gnntune import _native
from gnntune._errors import InvalidArgument, Unsupported
from gnntune._handle import Handle
from gnntune._problem import SOURCES, Array, Problem
from gnntune._tiles import TiledGraph, TiledMemory, tiling

if TYPE_CHECKING:
    from scipy.sparse import sparray, spmatrix

    Sparse: TypeAlias = spmatrix | sparray

_BACKENDS = {"auto": _native.BACKEND_AUTO, "cpu": _native.BACKEND_CPU, "cuda": _native.BACKEND_CUDA}
_DTYPE_NAMES = {"f32": "float32", "f16": "float16", "bf16": "bfloat16", "int32": "int32"}
_ALIGNMENT = 16
_WORKSPACE_ALIGNMENT = 256


def parse_device(device: str) -> tuple[int, int]:
    """Backend and ordinal of "auto", "cpu", "cuda" (the current device) or "cuda:1"."""
    name, _, ordinal = device.partition(":")
    if name not in _BACKENDS or (ordinal and (name != "cuda" or not ordinal.isdigit())):
        raise InvalidArgument(f"device is {device!r}; expected 'auto', 'cpu', 'cuda' or 'cuda:N'")
    return _BACKENDS[name], int(ordinal) if ordinal else -1


class Context:
    """One processor, and what is known about it: the library's `gnntune_open`.

    Parameters
    ----------
    db
        Database file; default `$GNNTUNE_DB`, else `$XDG_DATA_HOME/gnntune/user.db`, else
        `~/.local/share/gnntune/user.db`. What is tuned later is seen by contexts that are opened later.
    device
        "auto" (a CUDA device if one is usable, else the CPU), "cpu", "cuda" (the current one) or "cuda:N".
    require_database
        A database that is missing or cannot be read is an error; otherwise defaults are used.
    sources
        "db_then_model", "db_only" or "tune_on_miss"; default `$GNNTUNE_SOURCES`, else "db_then_model".
    tune_budget_us
        Of "tune_on_miss": most time for measuring for one plan, in microseconds; default 200 ms.
    format_limit_bytes
        Most memory of the formats of all graphs together, in bytes; default: no limit.

    Raises NoDevice, DatabaseError or InvalidArgument. May be used by any number of threads.
    """

    def __init__(
        self,
        db: str | os.PathLike[str] | None = None,
        *,
        device: str = "auto",
        require_database: bool = False,
        sources: str | None = None,
        tune_budget_us: int | None = None,
        format_limit_bytes: int | None = None,
    ) -> None:
        backend, ordinal = parse_device(device)
        if sources not in SOURCES:
            raise InvalidArgument(f"sources is {sources!r}; expected db_then_model, db_only or tune_on_miss")
        if format_limit_bytes is not None and format_limit_bytes < 0:
            raise InvalidArgument(f"format_limit_bytes is {format_limit_bytes}; expected zero or more")
        self._handle = Handle(
            _native.open(
                None if db is None else os.fspath(db),
                backend,
                ordinal,
                SOURCES[sources],
                require_database,
                -1 if tune_budget_us is None else tune_budget_us,
                -1 if format_limit_bytes is None else format_limit_bytes,
                None,
                None,
                False,
            ),
            _native.close,
        )

    @property
    def backend(self) -> str:
        """ "cpu" or "cuda"."""
        return "cuda" if _native.context_backend(self._handle.value) == _native.BACKEND_CUDA else "cpu"

    def describe(self) -> str:
        """Lines for people: version, device, the database and what was found in it."""
        return _native.context_describe(self._handle.value)

    def graph(self, matrix: Sparse, *, transient: bool = False) -> Graph:
        """The graph of a SciPy sparse matrix: entry (i, j) is the edge j -> i. Values are not looked at.

        CSR keeps the order of its entries, COO too; other layouts become CSR. Entries that stand twice are two edges.
        """
        layout = getattr(matrix, "format", None)
        if layout is None:
            raise InvalidArgument(f"expected a SciPy sparse matrix, not {type(matrix).__name__}")
        n_rows, n_cols = matrix.shape
        if layout == "coo":
            a: Any = matrix
            return self.graph_from_coo(a.row, a.col, n_rows, n_cols, transient=transient)
        a = matrix if layout == "csr" else matrix.tocsr()
        return self.graph_from_csr(a.indptr, a.indices, n_cols, transient=transient)

    def graph_from_csr(
        self, row_ptr: npt.ArrayLike, col_idx: npt.ArrayLike, n_cols: int, *, transient: bool = False
    ) -> Graph:
        """A graph of len(row_ptr) - 1 targets by n_cols sources.

        row_ptr [n_rows + 1] and col_idx [m], int32 or int64. int32 arrays are borrowed on the cpu backend: leave them
        unchanged. The order of col_idx is the order of everything that has a value per edge.
        """
        ptr, idx = _ids("row_ptr", row_ptr), _ids("col_idx", col_idx)
        if ptr.size < 1:
            raise InvalidArgument("row_ptr is empty; expected n_rows + 1 offsets")
        return self._graph(ptr.ctypes.data, 0, (ptr, idx), ptr.size - 1, n_cols, transient)

    def graph_from_coo(
        self, row: npt.ArrayLike, col: npt.ArrayLike, n_rows: int, n_cols: int, *, transient: bool = False
    ) -> Graph:
        """A graph of the edges col[e] -> row[e], int32 or int64 ids in any order, which stays that of the edges."""
        rows, cols = _ids("row", row), _ids("col", col)
        if rows.size != cols.size:
            raise InvalidArgument(f"row has {rows.size} ids, col {cols.size}; expected one of each for every edge")
        if rows.dtype != cols.dtype:
            rows, cols = rows.astype(np.int64), cols.astype(np.int64)
        return self._graph(0, rows.ctypes.data, (rows, cols), n_rows, n_cols, transient)

    def tiled_graph(
        self,
        row_ptr: npt.ArrayLike,
        col_idx: npt.ArrayLike,
        n_cols: int,
        *,
        place: str = "auto",
        tile_edges: int | None = None,
        pin: bool = False,
        host_limit: int | None = None,
        backend_limit: int | None = None,
    ) -> TiledGraph:
        """A graph of any number of edges, cut into tiles of rows, each of fewer than 2^31.

        row_ptr [n_rows + 1] of int64 or int32 and col_idx [m] of int32, or of int64, which is narrowed each time that
        it is read: both are borrowed, leave them unchanged. `place` is "resident", "streamed" (a tile at a time comes
        through two buffers, for graphs past the device's memory) or "auto". `tile_edges` are the most edges of a tile,
        `pin` page-locks col_idx for a CUDA device. What would take more bytes than `host_limit` or `backend_limit`
        raises OutOfMemory before anything is allocated; tiled_memory() says what that is.
        """
        description, sizes, arrays = _description(row_ptr, col_idx, n_cols)
        tiles = tiling(place, tile_edges, pin, host_limit, backend_limit)
        return TiledGraph(self, description, tiles, sizes, arrays)

    def tiled_memory(
        self,
        row_ptr: npt.ArrayLike,
        col_idx: npt.ArrayLike,
        n_cols: int,
        problem: Problem | None = None,
        *,
        place: str = "auto",
        tile_edges: int | None = None,
    ) -> TiledMemory:
        """What tiled_graph(), and a plan of `problem` if there is one, would take. Nothing is allocated."""
        description, _, _ = _description(row_ptr, col_idx, n_cols)
        wanted = None if problem is None else problem.native()
        tiles = tiling(place, tile_edges, False, None, None)
        return TiledMemory(*_native.tiled_memory(self._handle.value, description, tiles, wanted))

    def _graph(
        self,
        row_ptr: int,
        row_idx: int,
        arrays: tuple[npt.NDArray[Any], npt.NDArray[Any]],
        n_rows: int,
        n_cols: int,
        transient: bool,
    ) -> Graph:
        rows, cols = arrays
        handle = _native.graph(
            self._handle.value,
            _native.HOST,
            row_ptr,
            row_idx,
            rows.dtype == np.int64,
            cols.ctypes.data,
            cols.dtype == np.int64,
            n_rows,
            n_cols,
            cols.size,
            False,
            transient,
            -1,
            0,
        )
        return Graph(self, handle, n_rows, n_cols, cols.size, arrays)


class Graph:
    """A graph of a context: n_rows targets, n_cols sources, m edges. Made by Context.graph() and its siblings."""

    def __init__(self, context: Context, handle: int, n_rows: int, n_cols: int, m: int, arrays: object) -> None:
        self.context = context
        self.n_rows = n_rows
        self.n_cols = n_cols
        self.m = m
        self._handle = Handle(handle, _native.graph_destroy)
        self._arrays = arrays  # borrowed by the library

    @property
    def fingerprint(self) -> str:
        """Identity of the structure, under which databases file it: 32 hexadecimal digits."""
        return _native.graph_fingerprint(self._handle.value, 0)

    @property
    def format_bytes(self) -> int:
        """Bytes that formats of the graph hold now."""
        return _native.graph_format_bytes(self._handle.value)

    def release_formats(self) -> None:
        """Forgets the formats that plans have built. Plans keep those they use; a later plan builds anew."""
        _native.graph_release_formats(self._handle.value)

    def plan(self, problem: Problem | str, k: int = 1, **demands: Any) -> Plan:
        """Chooses a config for an operation and builds what it needs.

        `plan("spmm", 64, weighted=True)` is short for `plan(Problem("spmm", 64, weighted=True))`. Raises Unsupported
        with every variant's reason where none can do it.
        """
        if isinstance(problem, str):
            problem = Problem(problem, k, **demands)
        handle: Any = _native.plan_create
        return Plan(self, problem, handle(self.context._handle.value, self._handle.value, 0, *problem.native()))

    def spmm(self, x: npt.ArrayLike, weight: npt.ArrayLike | None = None, *, reduce: str = "sum") -> npt.NDArray[Any]:
        """y[i] = sum (mean, max) over the edges j -> i of weight[e] x[j]. x [n_cols, k], weight [m]; y [n_rows, k]."""
        features = np.asarray(x)
        if features.ndim != 2:
            raise InvalidArgument(f"x has the shape {features.shape}; expected [{self.n_cols}, k]")
        dtype = next((name for name, numpy in _DTYPE_NAMES.items() if numpy == features.dtype.name), "f32")
        plan = self.plan("spmm", features.shape[1], weighted=weight is not None, reduce=reduce, dtype=dtype)
        return plan.run(x=features, edge_weight=weight)["y"]


class Plan:
    """A config bound to a graph and a problem. Made by Graph.plan(). May run in any number of threads at once."""

    def __init__(self, graph: Graph, problem: Problem, handle: int) -> None:
        self.graph = graph
        self.problem = problem
        self._handle = Handle(handle, _native.plan_destroy)
        facts = _native.plan_facts(handle)
        self.config, self.source, self.workspace_bytes, self.format_bytes, self.own_bytes, self.prepare_us = facts
        forward = problem.direction == "forward"
        n_rows, n_cols = (graph.n_rows, graph.n_cols) if forward else (graph.n_cols, graph.n_rows)
        self._sizes = {"n_rows": n_rows, "n_cols": n_cols, "m": graph.m, "heads": problem.heads, "k": problem.k}
        self._sizes |= {"n_rows + 1": n_rows + 1, "n_cols + 1": n_cols + 1}

    def explain(self) -> str:
        """Lines for people: the config, its source, what was measured or expected, the runner-up, what was rejected."""
        return _native.plan_explain(self._handle.value)

    def run(
        self,
        *,
        negative_slope: float = 0.2,
        scale: float = 1.0,
        dropout: float = 0.0,
        seed: int = 0,
        **inputs: npt.ArrayLike | None,
    ) -> dict[str, npt.NDArray[Any]]:
        """Runs on NumPy arrays and returns the results by their names in gnntune_operands (y, lse, grad_x, ...).

        Inputs are named likewise: x, x_row, key, edge_weight, self_weight, score_row, score_col, beta, grad_y, y_saved,
        lse_saved, argmax_saved. `problem.inputs()` lists them with their shapes; [n, 1, k] may be given as [n, k]. They
        are converted to the problem's type if they are not of it. For the cpu backend only.
        """
        if self.graph.context.backend != "cpu":
            raise Unsupported(
                "NumPy arrays lie in host memory: open the context with device='cpu', or use gnntune.torch"
            )
        wanted = self.problem.inputs()
        for name, value in inputs.items():
            if value is not None and name not in wanted:
                raise InvalidArgument(f"{self.problem.op} has no {name} here; it takes {', '.join(wanted) or 'none'}")
        arrays: dict[str, npt.NDArray[Any]] = {}
        for name, array in wanted.items():
            if inputs.get(name) is None:
                raise InvalidArgument(f"{name} is missing; expected an array of {self._shape(array)}")
            arrays[name] = self._input(name, inputs[name], array)
        results = {name: np.empty(self._shape(a), self._dtype(a)) for name, a in self.problem.outputs().items()}
        arrays |= results
        workspace = np.empty(self.workspace_bytes + _WORKSPACE_ALIGNMENT, np.uint8)
        address = -(-workspace.ctypes.data // _WORKSPACE_ALIGNMENT) * _WORKSPACE_ALIGNMENT
        call = _native.prepare(
            self._handle.value, tuple(arrays), _native.NO_ACTIVATION, scale, negative_slope, dropout, seed
        )
        if not _native.run(call, 0, address, *(a.ctypes.data for a in arrays.values())):
            raise InvalidArgument(f"NumPy gave memory that is not aligned to {_ALIGNMENT} bytes")
        return results

    def _shape(self, array: Array) -> tuple[int, ...]:
        shape = tuple(self._sizes[name] for name in array.shape)
        return shape[::2] if array.shape[1:] == ("heads", "k") and self.problem.heads == 1 else shape

    def _dtype(self, array: Array) -> np.dtype[Any]:
        name = _DTYPE_NAMES[array.dtype or self.problem.dtype]
        if name == "bfloat16":
            try:
                import ml_dtypes
            except ImportError:
                raise Unsupported("NumPy has no bfloat16: install ml_dtypes, or use gnntune.torch") from None
            bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
            return bfloat16
        return np.dtype(name)

    def _input(self, name: str, value: npt.ArrayLike | None, array: Array) -> npt.NDArray[Any]:
        given = np.asarray(value)
        shape, full = self._shape(array), tuple(self._sizes[size] for size in array.shape)
        squeezed = full[:-1] if full[1:] == (1,) else full
        if given.shape not in (shape, full, squeezed):
            raise InvalidArgument(f"{name} has the shape {given.shape}; expected {shape}")
        if given.dtype.kind == "c":
            raise InvalidArgument(f"{name} is of {given.dtype}; expected real numbers")
        made = np.ascontiguousarray(given, dtype=self._dtype(array))
        return made if made.ctypes.data % _ALIGNMENT == 0 else made.copy()


def _description(
    row_ptr: npt.ArrayLike, col_idx: npt.ArrayLike, n_cols: int
) -> tuple[tuple[object, ...], tuple[int, int, int], object]:
    """The tuple of _native.tiled_graph that describes a graph; its sizes; the arrays that are borrowed."""
    ptr, idx = _ids("row_ptr", row_ptr), _ids("col_idx", col_idx)
    if ptr.size < 1:
        raise InvalidArgument("row_ptr is empty; expected n_rows + 1 offsets")
    n_rows = ptr.size - 1
    wide = ptr.dtype == np.int64, idx.dtype == np.int64
    description = (ptr.ctypes.data, wide[0], idx.ctypes.data, wide[1], n_rows, n_cols, idx.size, False)
    return description, (n_rows, n_cols, idx.size), (ptr, idx)


def _ids(name: str, values: npt.ArrayLike) -> npt.NDArray[Any]:
    array = np.asarray(values)
    if array.ndim != 1:
        raise InvalidArgument(f"{name} has {array.ndim} dimensions; expected one")
    if array.size == 0 and array.dtype.kind == "f":
        array = array.astype(np.int32)  # an empty list
    if array.dtype.kind not in "iu":
        raise InvalidArgument(f"{name} is of {array.dtype}; expected int32 or int64")
    if array.dtype not in (np.int32, np.int64):
        array = array.astype(np.int64)
    return np.ascontiguousarray(array)
