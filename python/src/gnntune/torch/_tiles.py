"""Graphs of more than 2^31 edges, or past the GPU's memory, for PyTorch."""

from __future__ import annotations

import contextlib
import threading
from typing import Any

import torch
from torch import Tensor

from gnntune import _native
from gnntune._errors import InvalidArgument, Unsupported
from gnntune._handle import Handle
from gnntune._problem import Problem
from gnntune._tiles import TiledMemory, tiling
from gnntune.torch import _device

_DTYPES = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16"}


class TiledGraph:
    """A graph of any number of edges on the host, cut into tiles of rows, whose sums are computed on `device`.

    Parameters
    ----------
    row_ptr
        [n_rows + 1] of int64 or int32, on the CPU: where the edges of each target begin.
    col
        [m] of int32 on the CPU: the source of each edge; int64 is narrowed each time that it is read. Both are
        borrowed: leave them unchanged. Page-locked memory (`pin_memory()`) is copied from where it lies.
    n_cols
        Number of sources; n_rows by default.
    device
        Where features and results are; default: the GPU if there is one.
    place
        "resident": all tiles lie on the device. "streamed": two buffers take turns while the ids stay on the host.
        "auto": resident where the ids take at most half of the memory that is free.
    tile_edges
        Most edges of a tile, below 2^31; by default chosen.
    pin
        Page-locks `col` where it lies, as long as the graph lives.
    host_limit, device_limit
        Bytes; what would take more raises OutOfMemory before anything is allocated. `memory` says what is taken.
    transposed
        The TiledGraph of the transposed matrix, for gradients of sums without weights.
    """

    def __init__(
        self,
        row_ptr: Tensor,
        col: Tensor,
        n_cols: int | None = None,
        *,
        device: str | torch.device | None = None,
        place: str = "auto",
        tile_edges: int | None = None,
        pin: bool = False,
        host_limit: int | None = None,
        device_limit: int | None = None,
        transposed: TiledGraph | None = None,
    ) -> None:
        for name, array in (("row_ptr", row_ptr), ("col", col)):
            if array.dim() != 1 or array.dtype not in (torch.int32, torch.int64) or array.device.type != "cpu":
                raise InvalidArgument(
                    f"{name} is of {array.dtype} on {array.device} and has {array.dim()} dimensions; expected one, of "
                    "int32 or int64, on the CPU"
                )
        if row_ptr.numel() < 1:
            raise InvalidArgument("expected row_ptr with n_rows + 1 offsets")
        if device is None:
            device = "cuda" if torch.cuda.is_available() else "cpu"
        self.device = _device.known_device(torch.device(device))
        self.n_rows = row_ptr.numel() - 1
        self.n_cols = self.n_rows if n_cols is None else n_cols
        self.m = col.numel()
        self.transposed = transposed
        if transposed is not None and (transposed.n_rows, transposed.n_cols, transposed.m) != (
            self.n_cols,
            self.n_rows,
            self.m,
        ):
            raise InvalidArgument("transposed has other sizes than the transposed graph")
        self._arrays = row_ptr.contiguous(), col.contiguous()
        rows, ids = self._arrays
        self._description = (
            rows.data_ptr(),
            rows.dtype == torch.int64,
            ids.data_ptr(),
            ids.dtype == torch.int64,
            self.n_rows,
            self.n_cols,
            self.m,
            False,
        )
        self._tiling = tiling(place, tile_edges, pin, host_limit, device_limit)
        self._context = _device.context_of(self.device)
        self.memory = TiledMemory(*_native.tiled_memory(self._context.value, self._description, self._tiling, None))
        self.streamed = self.memory.streamed
        with self._current():
            stream = _device.stream_of(self.device)
            handle = _native.tiled_graph(self._context.value, self._description, self._tiling, stream)
        self._handle = Handle(handle, self._ender(_native.tiled_graph_destroy))
        self._plans: dict[Problem, Handle] = {}
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return (
            f"TiledGraph({self.n_rows} x {self.n_cols}, {self.m} edges, {self.memory.tiles} tiles, "
            f"{'streamed' if self.streamed else 'resident'}, {self.device})"
        )

    @property
    def fingerprint(self) -> str:
        """Identity of the structure: that of gnntune.torch.Graph for the same edges."""
        return _native.tiled_graph_fingerprint(self._handle.value)

    def memory_with(self, k: int, **demands: Any) -> TiledMemory:
        """What the graph and one plan of `spmm` with k features take together."""
        wanted = Problem("spmm", k, **demands).native()
        return TiledMemory(*_native.tiled_memory(self._context.value, self._description, self._tiling, wanted))

    def explain(self) -> str:
        """Lines for people about every plan so far."""
        with self._lock:
            plans = list(self._plans.values())
        return "\n".join(_native.tiled_plan_explain(plan.value) for plan in plans)

    def spmm(self, x: Tensor, weight: Tensor | None = None, *, reduce: str = "sum") -> Tensor:
        """y[i] = sum (mean, max) over the edges j -> i of weight[e] x[j].

        x [n_cols, k] or [n_cols, heads, k] on the device. weight [m] or [m, heads], of x's type, in the order of `col`:
        on the CPU for a streamed graph, on the device for a resident one. Differentiable with respect to x where the
        graph has `transposed`, for sums without weights. The stream is torch's current one; of a streamed graph whose
        arrays are not page-locked it returns when they were read.
        """
        self._check(x, weight, reduce)
        if torch.is_grad_enabled() and (x.requires_grad or (weight is not None and weight.requires_grad)):
            if weight is not None or reduce != "sum" or self.transposed is None:
                raise Unsupported(
                    "a TiledGraph has gradients of sums without weights, and needs `transposed` for them; detach x and "
                    "weight, or make it with the TiledGraph of the transposed matrix"
                )
            y: Tensor = _Sum.apply(x, self, self.transposed)
            return y
        return self._run(x, weight, reduce)

    def _check(self, x: Tensor, weight: Tensor | None, reduce: str) -> None:
        if x.device != self.device or x.dim() not in (2, 3) or x.shape[0] != self.n_cols or x.dtype not in _DTYPES:
            raise InvalidArgument(
                f"x is of {x.dtype} on {x.device} and has the shape {tuple(x.shape)}; expected [{self.n_cols}, k] or "
                f"[{self.n_cols}, heads, k] of float32, float16 or bfloat16 on {self.device}"
            )
        if weight is None:
            return
        place = torch.device("cpu") if self.streamed else self.device
        heads = x.shape[1:2] if x.dim() == 3 and reduce != "max" else ()
        if weight.device != place or weight.shape != (self.m, *heads) or weight.dtype != x.dtype:
            raise InvalidArgument(
                f"weight is of {weight.dtype} on {weight.device} and has the shape {tuple(weight.shape)}; expected "
                f"{(self.m, *heads)} of {x.dtype} on {place}, where the ids are"
            )

    def _run(self, x: Tensor, weight: Tensor | None, reduce: str) -> Tensor:
        x = x.detach().contiguous()
        heads = x.shape[1] if x.dim() == 3 else 1
        problem = Problem(
            "spmm", x.shape[-1], heads=heads, dtype=_DTYPES[x.dtype], reduce=reduce, weighted=weight is not None
        )
        y = x.new_empty((self.n_rows, *x.shape[1:]))
        if y.numel() == 0:
            return y
        edges = None if weight is None else weight.detach().contiguous()
        with self._current():
            stream = _device.stream_of(self.device)
            plan = self._plan(problem, stream)
            _native.tiled_run(plan.value, stream, x, edges, y)
        return y

    def _plan(self, problem: Problem, stream: int) -> Handle:
        with self._lock:
            plan = self._plans.get(problem)
            if plan is None:
                made = _native.tiled_plan(self._handle.value, stream, problem.native())
                plan = self._plans[problem] = Handle(made, self._ender(_native.tiled_plan_destroy))
            return plan

    def _current(self) -> Any:
        return torch.cuda.device(self.device) if self.device.type == "cuda" else contextlib.nullcontext()

    def _ender(self, destroy: Any) -> Any:
        """Ends a handle when no run is on the device any more: its buffers go back to torch's allocator."""
        device = self.device

        def end(handle: int) -> None:
            if device.type == "cuda" and _device.usable():
                torch.cuda.synchronize(device)
            destroy(handle)

        return end


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, graph: TiledGraph, transposed: TiledGraph) -> Tensor:
        ctx.graphs = graph, transposed
        return graph._run(x, None, "sum")

    @staticmethod
    def backward(ctx: Any, grad_y: Tensor) -> tuple[Tensor, None, None]:
        graph, transposed = ctx.graphs
        return _Sum.apply(grad_y, transposed, graph), None, None
