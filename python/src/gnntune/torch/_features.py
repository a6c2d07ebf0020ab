"""Features that are mostly zero: a sparse matrix that linear maps take in the place of a dense one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from gnntune._errors import InvalidArgument
from gnntune.torch._autograd import apply
from gnntune.torch._graph import Graph
from gnntune.torch._run import PLAIN
from gnntune.torch.functional import FLOATS, cast, edge_values


class SparseFeatures:
    """Features [n, width] of which most are zero, such as bags of words.

    Parameters
    ----------
    matrix
        What Graph.from_sparse() takes: torch's sparse CSR, CSC and COO tensors, torch_sparse's SparseTensor, SciPy's
        matrices; or a dense tensor [n, width], whose zeros are left out. A matrix without values has ones.
    device
        Where they go; by default where the matrix is.

    F.linear, F.dropout, nn.Linear, nn.Dropout, `@` and the layers of gnntune.pyg take them in the place of x. A linear
    map is then a sparse sum, forward and backward, of a row of the map for each value that is there: what is zero costs
    no time and no memory. A layer that cannot begin with a linear map gets to_dense().

    `graph` is the matrix as a Graph, from columns to rows. `values` [m] stand in its CSR order; they may want
    gradients, and may be replaced by others of their shape. Until then they are those of the matrix, not a copy, where
    that has floating-point numbers on `device`.
    """

    requires_grad = False  # as a whole: `values` may

    def __getitem__(self, key: Any) -> Any:
        raise TypeError("rows cannot be picked from SparseFeatures: make new ones of rows of the matrix, or to_dense()")

    def __init__(self, matrix: Any, *, device: str | torch.device | None = None) -> None:
        if isinstance(matrix, Tensor):
            if matrix.dim() != 2:
                raise InvalidArgument(f"features have the shape {tuple(matrix.shape)}; expected [n, width]")
            if matrix.layout == torch.strided:
                matrix = matrix.to_sparse_csr()
        graph = Graph.from_sparse(matrix, device=device)
        values, graph.edge_weight = graph.edge_weight, None
        if values is None:
            values = torch.ones(graph.m, device=graph.device)
        elif values.dim() != 1:
            raise InvalidArgument(f"the matrix has values of the shape {tuple(values.shape)}; expected one number each")
        elif values.is_complex():
            raise InvalidArgument(f"features are of {values.dtype}; expected real numbers")
        if not values.requires_grad:
            values = values.detach()  # a view of a sparse tensor, which torch.compile does not take
        self.graph, self.values = graph, values if values.is_floating_point() else values.float()

    def _with(self, values: Tensor, graph: Graph | None = None) -> SparseFeatures:
        made = object.__new__(type(self))
        made.graph, made.values = graph or self.graph, values
        return made

    @property
    def shape(self) -> torch.Size:
        return torch.Size((self.graph.n_rows, self.graph.n_cols))

    def size(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> int:
        return 2

    @property
    def dtype(self) -> torch.dtype:
        return self.values.dtype

    @property
    def device(self) -> torch.device:
        return self.values.device

    @property
    def is_cuda(self) -> bool:
        return self.values.is_cuda

    @property
    def is_cpu(self) -> bool:
        return self.values.is_cpu

    def __repr__(self) -> str:
        n, width = self.shape
        return f"SparseFeatures({n} x {width}, {self.graph.m} values, {self.dtype}, {self.device})"

    def to(self, *args: Any, **options: Any) -> SparseFeatures:
        """On another device or with values of another type, as Tensor.to(); themselves where nothing changes."""
        values, graph = self.values.to(*args, **options), self.graph
        if values is self.values:
            return self
        if values.device != graph.device:
            row_ptr, col = graph.row_ptr.to(values.device), graph.col.to(values.device)
            graph = Graph.from_csr(row_ptr, col, graph.n_cols)
        return self._with(values, graph)

    def linear(self, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        """x weight^T + bias: weight [out, width], bias [out] or None; returns [n, out]. Differentiable."""
        if weight.dim() != 2 or weight.shape[1] != self.graph.n_cols:
            raise InvalidArgument(
                f"weight has the shape {tuple(weight.shape)}; expected [out, {self.graph.n_cols}] for {self!r}"
            )
        rows = cast(weight).t().contiguous()
        if rows.dtype not in FLOATS:
            raise TypeError(
                f"weight is of {rows.dtype}; sparse features are mapped in float32, float16 or bfloat16: "
                "give it their to_dense()"
            )
        values = cast(self.values)
        if values.dtype is not rows.dtype:
            # As torch refuses dense ones.
            raise RuntimeError(
                f"expected features and weight to have the same dtype, but got: {values.dtype} != {rows.dtype}; "
                f"give {self!r}.to({rows.dtype}), or a map of their type"
            )
        values = edge_values(self.graph, values, rows.dtype, csr_order=True)
        # Not spmm(): a model's sums may be approximated, its maps are not.
        out = apply(self.graph, "spmm", PLAIN, rows, values, None)
        return out if bias is None else out + bias.to(out.dtype)

    def __matmul__(self, other: Tensor) -> Tensor:
        if not isinstance(other, Tensor):
            return NotImplemented
        if other.dim() != 2 or other.shape[0] != self.graph.n_cols:
            raise InvalidArgument(
                f"{self!r} @ a tensor of the shape {tuple(other.shape)}; expected [{self.graph.n_cols}, out]"
            )
        return self.linear(other.t())

    def dropout(self, p: float = 0.5, training: bool = True) -> SparseFeatures:
        """Each value zero with probability p, the others times 1 / (1 - p): zeros stay what they are."""
        if not training or p == 0.0:
            return self
        return self._with(F.dropout(self.values, p, training))

    def to_dense(self) -> Tensor:
        """[n, width], with the zeros. Values of one place that the matrix has twice are added up."""
        dense = torch.zeros(self.shape, dtype=self.dtype, device=self.device)
        return dense.index_put((self.graph.row, self.graph.col.long()), self.values, accumulate=True)

    @classmethod
    def __torch_function__(
        cls, function: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        does, options = _DOES.get(function), kwargs or {}
        if does is None or not isinstance(args[0] if args else options.get("input"), SparseFeatures):
            name = getattr(function, "__name__", str(function))
            raise TypeError(f"{name} does not take SparseFeatures: give it their to_dense(), or map them first")
        return does(*args, **options)


def _dropout(input: SparseFeatures, p: float = 0.5, training: bool = True, inplace: bool = False) -> SparseFeatures:
    return input.dropout(p, training)


def _linear(input: SparseFeatures, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    return input.linear(weight, bias)


_DOES: dict[Any, Callable[..., Any]] = {F.dropout: _dropout, F.linear: _linear}


def dense(x: Any) -> Any:
    """Features as a dense tensor; what they are already, else."""
    return x.to_dense() if isinstance(x, SparseFeatures) else x
