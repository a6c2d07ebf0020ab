"""A graph for PyTorch: a sparse matrix on one device, with the plans that were made on it."""

from __future__ import annotations

import itertools
import threading
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor

from gnntune import _native
from gnntune._errors import InvalidArgument, InvalidGraph, Unsupported
from gnntune._handle import Handle
from gnntune.torch import _device
from gnntune.torch._ids import (
    ID_TYPES,
    MOST,
    TOO_LARGE,
    as_ids,
    check_edges,
    check_ids,
    has_ids_here,
    lasting,
    own_ids,
    plain_edges,
    sizes_of,
    with_loops_behind,
    words_of,
)
from gnntune.torch._run import PLAIN, Call, Numbers, run

if TYPE_CHECKING:
    from gnntune._problem import Problem

_ids = itertools.count(1)

# Graphs that a CUDA graph was captured with. Replays read their formats, so they stay until release_captured().
_captured: set[Graph] = set()


class Graph:
    """A graph of `n_rows` targets and `n_cols` sources with `m` edges, on one device.

    Parameters
    ----------
    edge_index
        [2, m], int64 or int32: `edge_index[0]` are the sources, `edge_index[1]` the targets, as in PyTorch Geometric.
        Other forms have constructors of their own: from_csr(), from_sparse(), from_data().
    num_nodes
        Number of vertices; for a bipartite graph (number of sources, number of targets). Default: the largest id and
        those below it, which waits for the GPU.
    self_loops
        "keep"; "remove" drops edges from a vertex to itself; "add" drops them and gives every vertex one, behind the
        other edges: what attention layers want.
    transient
        The graph lives for a step or two, as a sampled mini-batch does. It is planned by its shape: no fingerprint, no
        database, and on a GPU its ids are trusted. With num_nodes and without self_loops nothing about it waits for the
        GPU, and its edges are sorted where an operation needs it, by the library.

    What has one value per edge is in the order of edge_index (without the self loops that were dropped, and with those
    that were added behind it), unless a function is told that it stands in CSR order (`csr_order=True`): sorted by
    target, `perm` naming the edge of each place.

    The graph is described to the library, and planned, when an operation first needs it. All of that may be used by
    any number of threads. A graph whose operations were captured in a CUDA graph is kept until release_captured().
    """

    row_ptr: Tensor
    """[n_rows + 1] int32: where the edges of each target begin."""
    col: Tensor
    """[m] int32: the source of each edge, in CSR order."""
    perm: Tensor | None
    """[m] int32: the place in edge_index of each edge in CSR order; None where both orders are one."""
    edge_weight: Tensor | None = None
    """[m]: values of the sparse matrix that the graph was made from, in its order of edges; else None."""
    _list: Tensor | None = (
        None  # [2, m] int32, sources and targets: of a graph that the library gets as a list of edges
    )
    _behind: tuple[Tensor, bool] | None = None  # of a list: with_loops_behind() it, where that was made with it
    _sizes: tuple[int, int, int] | None = None  # of a transient graph: what _native matches inputs with
    _longest_row: int | None = None
    _settled: frozenset[Any] = frozenset()  # what operators ran on streams of their own, see _operators
    _handle: Handle | None = None
    _context: Handle | None = None  # that _handle belongs to
    _inverse: Tensor | None = None
    _row: Tensor | None = None
    _norms: tuple[tuple[torch.dtype, tuple[Tensor, Tensor]], ...] = ()
    _looped: Graph | None = None
    _bare: Graph | None = None
    kept: Tensor | None = None
    """Of a graph that dropped self loops: the places in edge_index of the edges that are left; else None."""

    def __init__(
        self,
        edge_index: Tensor,
        num_nodes: int | tuple[int, int] | None = None,
        *,
        self_loops: str = "keep",
        transient: bool = False,
    ) -> None:
        edge_index = plain_edges(edge_index)
        if self_loops not in ("keep", "remove", "add"):
            raise InvalidArgument(f"self_loops is {self_loops!r}; expected 'keep', 'remove' or 'add'")
        if transient and num_nodes is not None and self_loops == "keep":
            n_cols, n_rows = sizes_of(num_nodes)
            with lasting():
                edges = own_ids(edge_index)
            if has_ids_here(edges):
                check_edges(edge_index, n_rows, n_cols)  # before they were narrowed
            self._set_list(edges, n_rows, n_cols)
            return
        if not torch.compiler.is_compiling() and torch.is_inference_mode_enabled():
            with lasting():
                self.__init__(edge_index, num_nodes, self_loops=self_loops, transient=transient)  # type: ignore[misc]
            return
        source, target = edge_index[0], edge_index[1]
        if num_nodes is None:
            n_cols = n_rows = int(edge_index.max()) + 1 if edge_index.numel() else 0
        else:
            n_cols, n_rows = sizes_of(num_nodes)
        if not transient or has_ids_here(edge_index):
            check_ids(source, n_cols, "source")
            check_ids(target, n_rows, "target")
        kept = None
        if self_loops != "keep":
            kept = (source != target).nonzero().view(-1)
            source, target = source[kept], target[kept]
        if self_loops == "add":
            loops = torch.arange(min(n_rows, n_cols), dtype=source.dtype, device=source.device)
            source, target = torch.cat([source, loops]), torch.cat([target, loops])
        sorted_target, perm = torch.sort(target, stable=True)
        row_ptr = torch._convert_indices_from_coo_to_csr(sorted_target, n_rows, out_int32=True)
        # Whether they were sorted: to ask waits for the GPU.
        if not transient and bool((sorted_target == target).all()):
            col, place = own_ids(source), None
        else:
            col, place = source.to(torch.int32)[perm], perm.to(torch.int32)
        self._set(row_ptr, col, n_cols, place, transient=transient)
        self.kept = kept

    @classmethod
    def _with_room(cls, edge_index: Tensor, n: int) -> Graph:
        """A transient graph of n vertices whose with_loops() is wanted next: one pass makes the edges of both."""
        edge_index = plain_edges(edge_index)
        sizes_of(n)
        _device.known_device(edge_index.device)
        if has_ids_here(edge_index):
            check_ids(edge_index, n, "vertex")
        with lasting():
            behind = with_loops_behind(edge_index, n)
            edges = behind[0].narrow(1, 0, edge_index.shape[1])
        graph = cls.__new__(cls)
        graph._behind = behind
        graph._set_list(edges, n, n)
        return graph

    @classmethod
    def from_csr(
        cls,
        row_ptr: Tensor,
        col: Tensor,
        n_cols: int | None = None,
        *,
        edge_weight: Tensor | None = None,
        transient: bool = False,
        longest_row: int | None = None,
    ) -> Graph:
        """A graph of row_ptr [n_rows + 1] and col [m], int32 or int64: row i has the sources of target i.

        int32 arrays are borrowed: leave them unchanged. `n_cols` is n_rows by default. The edges' order is that of
        `col`. `longest_row`, of a transient graph, is the number of edges of the longest row where that is known: a
        guess costs speed, not answers.
        """
        for name, array in (("row_ptr", row_ptr), ("col", col)):
            if not isinstance(array, Tensor):
                raise TypeError(f"{name} is a {type(array).__name__}; expected a tensor")
            if array.dim() != 1 or array.dtype not in ID_TYPES:
                raise InvalidArgument(
                    f"{name} is of {array.dtype} and has {array.dim()} dimensions; expected one, of int32 or int64"
                )
        if row_ptr.numel() < 1 or row_ptr.device != col.device:
            raise InvalidArgument("expected row_ptr with n_rows + 1 offsets, on the device of col")
        graph = cls.__new__(cls)
        n_rows = row_ptr.numel() - 1
        if isinstance(n_cols, tuple):
            raise TypeError(f"expected a number of sources, not {n_cols!r}")
        n_cols, _ = sizes_of(n_rows if n_cols is None else n_cols)
        if edge_weight is not None and edge_weight.shape[:1] != col.shape:
            raise InvalidArgument(
                f"edge_weight has the shape {tuple(edge_weight.shape)}; expected a value for each of "
                f"{col.numel()} edges"
            )
        if not transient or has_ids_here(col):
            check_ids(col, n_cols, "source")
            lengths = row_ptr.diff()
            if int(row_ptr[0]) != 0 or int(row_ptr[-1]) != col.numel() or bool((lengths < 0).any()):
                raise InvalidGraph(f"row_ptr does not rise from 0 to {col.numel()}, the number of edges")
        graph._set(
            as_ids(row_ptr),
            as_ids(col),
            n_cols,
            None,
            edge_weight=edge_weight,
            transient=transient,
            longest_row=longest_row,
        )
        return graph

    @classmethod
    def from_sparse(cls, matrix: Any, *, device: str | torch.device | None = None, transient: bool = False) -> Graph:
        """The graph of a sparse matrix A: entry (i, j) is the edge j -> i, as in PyG's `adj_t`.

        Takes torch's sparse CSR, CSC and COO tensors, torch_sparse's SparseTensor and SciPy's matrices. Values become
        `edge_weight`, in the matrix's memory where they lie there as CSR; its indices are copied. The edges' order is
        that of the matrix as CSR.
        """
        if isinstance(matrix, Tensor):
            if matrix.layout in (torch.sparse_bsr, torch.sparse_bsc):
                raise InvalidArgument(f"expected a sparse matrix in CSR, CSC or COO, not {words_of(matrix)}")
            if matrix.layout != torch.sparse_csr:
                if matrix.layout == torch.sparse_coo:
                    matrix = matrix.coalesce()
                matrix = matrix.to_sparse_csr()
            row_ptr, col, values = matrix.crow_indices(), matrix.col_indices(), matrix.values()
            n_cols = matrix.shape[1]
        elif hasattr(matrix, "csr") and hasattr(matrix, "sparse_size"):
            row_ptr, col, values = matrix.csr()
            n_cols = matrix.sparse_size(1)
        elif hasattr(matrix, "tocsr"):
            a = matrix.tocsr()
            row_ptr, col, values = (torch.from_numpy(part) for part in (a.indptr, a.indices, a.data))
            n_cols = a.shape[1]
        else:
            raise InvalidArgument(f"expected a sparse matrix of torch, torch_sparse or SciPy, not {words_of(matrix)}")
        if device is not None:
            row_ptr, col = row_ptr.to(device), col.to(device)
            values = values if values is None else values.to(device)
        # int64 becomes another array anyway.
        row_ptr, col = (own_ids(part) if part.dtype == torch.int32 else part for part in (row_ptr, col))
        return cls.from_csr(row_ptr, col, n_cols, edge_weight=values, transient=transient)

    @classmethod
    def from_data(cls, data: Any, **options: Any) -> Graph:
        """The graph of a PyG Data object: its `adj_t` if it has one, else its `edge_index`. Options as in Graph()."""
        adjacency = getattr(data, "adj_t", None)
        if adjacency is not None:
            return cls.from_sparse(adjacency, **options)
        return cls(data.edge_index, data.num_nodes, **options)

    def __deepcopy__(self, memo: Any) -> Graph:
        """Itself, with its plans: nothing of it changes."""
        return self

    def __reduce__(self) -> Any:
        """What it is, without plans: they are made anew where it is unpickled."""
        arrays = (self.row_ptr, self.col, self.perm) if self._list is None else (self._list.contiguous(),)
        rest = (self.edge_weight, self.kept, self.transient, self._longest_row)
        return _unpickled, (arrays, self.n_rows, self.n_cols, *rest)

    def _set_list(self, edges: Tensor, n_rows: int, n_cols: int) -> None:
        """A transient graph that the library gets as a list of edges: sources and targets, int32."""
        self._list = edges if edges.stride(1) == 1 else edges.contiguous()
        self._set_sizes(n_rows, n_cols, edges.shape[1], edges.device, transient=True)

    def _sort(self) -> None:
        """Makes row_ptr, col and perm of a graph that is a list of edges."""
        assert self._list is not None
        with lasting():
            source, target = self._list[0], self._list[1]
            sorted_target, perm = torch.sort(target, stable=True)
            self.col, self.perm = source[perm], perm.to(torch.int32)
            self.row_ptr = torch._convert_indices_from_coo_to_csr(sorted_target, self.n_rows, out_int32=True)

    def __getattr__(self, name: str) -> Any:
        # Only for what is not there: the arrays of a list that nobody has asked for yet.
        if name in ("row_ptr", "col", "perm") and self.__dict__.get("_list") is not None:
            self._sort()
            return self.__dict__[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _set(
        self,
        row_ptr: Tensor,
        col: Tensor,
        n_cols: int,
        perm: Tensor | None,
        *,
        edge_weight: Tensor | None = None,
        transient: bool = False,
        longest_row: int | None = None,
    ) -> None:
        self.row_ptr, self.col, self.perm, self.edge_weight = row_ptr, col, perm, edge_weight
        self._longest_row = longest_row
        self._set_sizes(row_ptr.numel() - 1, n_cols, col.numel(), row_ptr.device, transient=transient)

    def _set_sizes(self, n_rows: int, n_cols: int, m: int, device: torch.device, *, transient: bool) -> None:
        self.n_rows, self.n_cols, self.m = n_rows, n_cols, m
        if n_rows > MOST or n_cols > MOST or m > MOST:
            raise InvalidGraph(f"{n_rows} x {n_cols} with {m} edges: {TOO_LARGE}")
        self.device = _device.known_device(device)
        self.transient = transient
        self._sizes = (n_rows, n_cols, m) if transient else None
        # Whether values of edges are in their order, and in CSR order, when the library gets them as they are.
        listed = self._list is not None
        self.runs_in_csr_order = not listed
        self.runs_in_edge_order = listed or self.perm is None
        # Even: the number behind it is the same graph with loops.
        self.number = 2 * next(_ids)
        self._calls: dict[Any, Call] = {}
        self._fast: dict[tuple[str, int, bool], tuple[Numbers, list[Any]]] = {}
        self._plans: dict[Any, Handle] = {}
        self._lock = threading.RLock()
        self._streams: set[int] = set()
        _device.enter(self.number, self)

    # ---- What it is ----

    @property
    def num_nodes(self) -> int:
        """Vertices of a square graph; targets of another."""
        return self.n_rows

    @property
    def is_square(self) -> bool:
        return self.n_rows == self.n_cols

    @property
    def fingerprint(self) -> str:
        """Identity of the structure, under which databases file it. Waits for the GPU."""
        return _native.graph_fingerprint(self.handle().value, _device.stream_of(self.device))

    def to_csr(self) -> tuple[Any, Any, int]:
        """row_ptr and col as NumPy arrays, and n_cols."""
        return self.row_ptr.cpu().numpy(), self.col.cpu().numpy(), self.n_cols

    def __repr__(self) -> str:
        kind = ", transient" if self.transient else ""
        return f"Graph({self.n_rows} x {self.n_cols}, {self.m} edges, {self.device}{kind})"

    @property
    def row(self) -> Tensor:
        """[m] int64: the target of each edge, in CSR order."""
        if self._row is None:
            with lasting():
                rows = torch.arange(self.n_rows, device=self.device)
                self._row = rows.repeat_interleave(self.row_ptr.diff().long(), output_size=self.m)
        return self._row

    @property
    def inverse(self) -> Tensor | None:
        """[m] int32: the place in CSR order of each edge of edge_index; None where both orders are one."""
        if self.perm is None:
            return None
        if self._inverse is None:
            with lasting():
                places = torch.arange(self.m, dtype=torch.int32, device=self.device)
                self._inverse = torch.empty_like(self.perm).scatter_(0, self.perm.long(), places)
        return self._inverse

    @property
    def edge_index(self) -> Tensor:
        """[2, m] int64: the sources and targets of the edges, in their order."""
        if self._list is not None:
            return self._list.long()
        edges = torch.stack([self.col.long(), self.row])
        return edges if self.perm is None else edges[:, self.inverse]

    def to_csr_order(self, values: Tensor) -> Tensor:
        """Values of the edges [m, ...], from the edges' order to CSR order. Differentiable."""
        if values.dim() == 0 or values.shape[0] != self.m:
            raise InvalidArgument(f"values of edges have the shape {tuple(values.shape)}; expected {self.m} of them")
        if self.perm is None:
            return values
        return _reordered(values, self.perm, self.inverse)

    def to_edge_order(self, values: Tensor) -> Tensor:
        """Values of the edges [m, ...], from CSR order to the edges' order. Differentiable."""
        if self.perm is None:
            return values
        return _reordered(values, self.inverse, self.perm)

    def with_loops(self) -> Graph:
        """The same graph with exactly one edge from every vertex to itself; kept. Waits for the GPU the first time.

        While torch.compile traces, it is a stand-in that only operations with values per vertex take.
        """
        if torch.compiler.is_compiling():
            return cast("Graph", Looped(self))
        if self._looped is None:
            if self._list is not None and self.is_square:
                with lasting():
                    looped = self._looped = self._list_with_loops()
                self._behind = None
                return looped
            edges = torch.stack([self.col.long(), self.row])
            self._looped = Graph(edges, (self.n_cols, self.n_rows), self_loops="add", transient=self.transient)
        return self._looped

    def _list_with_loops(self) -> Graph:
        assert self._list is not None
        edges, has_loops = self._behind or with_loops_behind(self._list, self.n_rows)
        if has_loops:
            kept = edges[0] != edges[1]
            kept[self.m :] = True
            edges = edges.index_select(1, kept.nonzero().view(-1))
        looped = Graph.__new__(Graph)
        looped._set_list(edges, self.n_rows, self.n_cols)
        return looped

    def without_loops(self) -> Graph:
        """The same graph without edges from a vertex to itself, kept. Its `kept` names places in this CSR order."""
        if self._bare is None:
            edges = torch.stack([self.col.long(), self.row])
            bare = Graph(edges, (self.n_cols, self.n_rows), self_loops="remove", transient=self.transient)
            self._bare = self if bare.m == self.m else bare
        return self._bare

    def norm(self, dtype: torch.dtype = torch.float32) -> tuple[Tensor, Tensor]:
        """gcn_norm() without weights, as runs take them; kept for each type."""
        for known, kept in self._norms:
            if known is dtype:
                return kept
        with lasting():
            if dtype == torch.float32:
                edges, loops = run(self, "gcn_norm", PLAIN, None)
            else:
                edges, loops = (t.to(dtype) for t in self.norm())
        self._norms = (*self._norms, (dtype, (edges, loops)))
        return edges, loops

    # ---- Handles and plans ----

    def handle(self) -> Handle:
        """The library's graph, described at first need."""
        with self._lock:
            if self._handle is None:
                self._context = _device.context_of(self.device)
                self._handle = self.describe(self._context)
            return self._handle

    def describe(self, context: Handle) -> Handle:
        """Describes the graph to a context of its device. The caller keeps this graph alive beside the handle."""
        device, edges, m = self.device, self._list, self.m
        on_gpu = device.type == "cuda"
        if edges is not None:
            columns = edges.data_ptr()
            # Without edges there may be no memory, and nothing is a place in it.
            row_ptr, rows, longest = 0, columns + 4 * edges.stride(0) if m else columns, -1
        else:
            columns, row_ptr, rows = self.col.data_ptr(), self.row_ptr.data_ptr(), 0
            known = self._longest_row
            # Of a transient graph on a GPU to know it would be to wait: four times the mean stands for it.
            guess = self.transient and on_gpu and self.n_rows > 0
            longest = known if known is not None else min(m, 4 * -(-m // self.n_rows)) if guess else -1
        return Handle(
            _native.graph(
                context.value,
                _native.DEVICE if on_gpu else _native.HOST,
                row_ptr,
                rows,
                False,
                columns,
                False,
                self.n_rows,
                self.n_cols,
                m,
                True,
                self.transient,
                longest,
                _device.stream_of(device) if on_gpu else 0,
            ),
            _native.graph_destroy,
        )

    def plan(self, problem: Problem) -> Handle:
        """The plan for a problem, made at first need. Raises RuntimeError while the stream is being captured."""
        stream = _device.stream_of(self.device)
        with self._lock:
            plan = self._plans.get(problem) or self._plans.get((problem, stream))
            if plan is not None:
                return plan
            if _device.capturing(self.device):
                raise RuntimeError(
                    f"{problem.op} has no plan on {self} yet, and planning allocates and waits, which a CUDA graph's "
                    "capture forbids: run one step on this stream before the capture"
                )
            if stream:
                self.note_stream(stream)
            context, graph = _device.context_of(self.device), self.handle()
            native: Any = _native.plan_create
            plan = Handle(native(context.value, graph.value, stream, *problem.native()), _native.plan_destroy)
            self._plans[problem if _native.plan_is_shared(plan.value) else (problem, stream)] = plan
            return plan

    def planned(self, problem: Problem, native: tuple[Any, ...]) -> Handle | None:
        """The plan of a transient graph; None where Python has to look into it. `native` is problem.native()."""
        plan = self._plans.get(problem)
        if plan is not None:
            return plan
        if _device.stream_of(self.device) or (problem.self_loop and not self.is_square):
            try:
                return self.plan(problem)
            except Unsupported:
                return None
        with self._lock:
            graph = self._handle or self.handle()
            context: Any = self._context
            try:
                value = _native.plan_create(context.value, graph.value, 0, *native)
            except Unsupported:
                return None
            plan = Handle(value, _native.plan_destroy)
            if not _native.plan_is_shared(value):
                return self.plan(problem)
            self._plans[problem] = plan
            return plan

    def plan_is_shared(self, problem: Problem) -> bool:
        """Whether every stream may use the problem's plan."""
        return problem in self._plans

    def problems(self) -> dict[Problem, str]:
        """What was planned on this graph, with the configs that were chosen."""
        with self._lock:
            plans = {key[0] if isinstance(key, tuple) else key: plan for key, plan in self._plans.items()}
            return {problem: _native.plan_facts(plan.value)[0] for problem, plan in plans.items()}

    def explain(self) -> str:
        """For every operation that ran, with other self loops too: its config, where that comes from, and why."""
        with self._lock:
            texts = [_native.plan_explain(plan.value).rstrip() for plan in self._plans.values()]
        texts += [g.explain() for g in (self._bare, self._looped) if g is not None and g is not self]
        return "\n\n".join(text for text in texts if text)

    @property
    def format_bytes(self) -> int:
        """Bytes that formats of the graph hold now, beside its own arrays."""
        return 0 if self._handle is None else _native.graph_format_bytes(self._handle.value)

    def forget_plans(self) -> None:
        """Drops plans and formats, which are made anew when they are next needed. Waits for the GPU."""
        with self._lock:
            self._wait()
            self._calls.clear()
            self._fast.clear()
            self._settled = frozenset()
            for plan in self._plans.values():
                plan.close()
            self._plans.clear()
            if self._handle is not None:
                self._handle.close()
                self._handle = self._context = None

    def note_stream(self, stream: int) -> None:
        """Remembers that something of the graph was enqueued on a stream that is not the default one, or captured."""
        self._streams.add(stream)
        if torch.cuda.is_current_stream_capturing():
            _captured.add(self)

    def _wait(self) -> None:
        # Memory goes back to the stream that it was taken on: what other streams still do with it has to end first.
        if self._streams:
            torch.cuda.synchronize(self.device)
            self._streams.clear()

    def __del__(self, _leave: Any = _device.leave) -> None:
        known = self.__dict__
        if "number" not in known:  # refused before it was a graph
            return
        if known["_streams"] and _device.usable():
            if torch.cuda.is_current_stream_capturing():
                _captured.add(self)  # to wait would end the capture
                return
            self._wait()
        _leave(known["number"])


class Looped:
    """A graph's with_loops() while it is traced: the operators that are called with it make the graph when they run."""

    def __init__(self, graph: Graph) -> None:
        self.row_ptr, self.col, self.n_cols = graph.row_ptr, graph.col, graph.n_cols
        self.number = graph.number + 1


class _Reordered(torch.autograd.Function):
    """values[order]; its gradient is grad[inverse], which torch's own would sum with atomics."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, order: Tensor, inverse: Tensor) -> Tensor:
        ctx.save_for_backward(order, inverse)
        return values.index_select(0, order)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        order, inverse = ctx.saved_tensors
        return _Reordered.apply(grad, inverse, order), None, None


def _reordered(values: Tensor, order: Tensor | None, inverse: Tensor | None) -> Tensor:
    # The backend "eager" of torch.compile takes the gradient of a Function for a constant where it is differentiated.
    if torch.compiler.is_compiling():
        return torch.ops.gnntune.reordered(values, order, inverse)  # type: ignore[no-any-return]
    result: Tensor = _Reordered.apply(values, order, inverse)
    return result


def forget_captured(graph: Graph) -> None:
    """Lets go of one graph: the CUDA graphs that were captured with it are gone."""
    _captured.discard(graph)


def release_captured() -> None:
    """Lets go of the graphs that CUDA graphs were captured with: call it when none of those is replayed any more."""
    _captured.clear()


def _unpickled(
    arrays: tuple[Any, ...],
    n_rows: int,
    n_cols: int,
    edge_weight: Tensor | None,
    kept: Tensor | None,
    transient: bool,
    longest_row: int | None,
) -> Graph:
    graph = Graph.__new__(Graph)
    if len(arrays) == 1:
        graph._set_list(arrays[0], n_rows, n_cols)
    else:
        row_ptr, col, perm = arrays
        graph._set(row_ptr, col, n_cols, perm, transient=transient, longest_row=longest_row)
    graph.edge_weight, graph.kept = edge_weight, kept
    return graph
