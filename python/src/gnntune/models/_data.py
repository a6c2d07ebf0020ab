"""Labelled graphs: topology from a file that the program reads, features, labels and splits from an .npz beside it.

The arrays of NAME.npz: `labels` int [n], -1 for none; features as CSR (`feat_indptr`, `feat_indices`, `feat_data`,
`feat_shape`) or `feat_dense` [n, width]; `train_mask`, `val_mask`, `test_mask` [splits, n] where the source has splits;
`feat_available` [n] where features of some vertices are lost. The graph is NAME.mtx, .mtx.gz or .mtx.xz.

Files of gnn-benchmark (Amazon, Coauthor, CoraFull) have all in one: `adj_data`, `adj_indices`, `adj_indptr` and
`adj_shape`, and features whose names begin with `attr_`.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from gnntune._errors import InvalidArgument, InvalidGraph
from gnntune._program import program_path
from gnntune.torch import Graph, SparseFeatures

TRAIN, VALIDATION = 20, 30
"""Vertices of each class in a split that is made here; the rest are for testing."""


class Split(NamedTuple):
    """Ids of the vertices to train on, to choose by, and to test on."""

    train: Tensor
    validation: Tensor
    test: Tensor


@dataclass(frozen=True)
class Labelled:
    """A labelled graph on the host; its methods put parts of it on a device.

    `splits` has the three masks of each split, [3, n]; `split_rule` says where they come from.
    """

    name: str
    row_ptr: npt.NDArray[Any]
    col: npt.NDArray[Any]
    labels: npt.NDArray[Any]
    splits: list[npt.NDArray[Any]]
    split_rule: str
    features: int
    classes: int
    _x: tuple[Tensor, ...]

    @property
    def n(self) -> int:
        return len(self.row_ptr) - 1

    @property
    def m(self) -> int:
        return len(self.col)

    def graph(self, device: str | torch.device = "cpu") -> Graph:
        """The graph for gnntune's layers; its edge_index is what PyTorch Geometric's take."""
        row_ptr, col = torch.from_numpy(self.row_ptr), torch.from_numpy(self.col)
        return Graph.from_csr(row_ptr.to(device), col.to(device), self.n)

    def x(self, device: str | torch.device = "cpu") -> Tensor:
        """Features, dense [n, features]: rows of counts that add up to one, or columns of mean 0 and deviation 1."""
        if len(self._x) == 1:
            return self._x[0].to(device)
        row, column, value = (part.to(device) for part in self._x)
        dense = torch.zeros(self.n, self.features, device=device)
        return dense.index_put_((row, column), value, accumulate=True)

    def sparse_x(self, device: str | torch.device = "cpu") -> SparseFeatures | None:
        """The same features as SparseFeatures; None where the file has dense ones."""
        if len(self._x) == 1:
            return None
        row, column, value = self._x
        ids, shape = torch.stack([row, column]), (self.n, self.features)
        matrix = torch.sparse_coo_tensor(ids, value, shape, check_invariants=False)  # load() looked at the ids
        return SparseFeatures(matrix, device=device)

    def y(self, device: str | torch.device = "cpu") -> Tensor:
        """Labels [n], -1 for none."""
        return torch.from_numpy(self.labels).long().to(device)

    def split(self, number: int = 0, device: str | torch.device = "cpu") -> Split:
        """One of the splits. Split `number` of a graph with fewer is split `number` modulo their count."""
        masks = self.splits[number % len(self.splits)]
        return Split(*(torch.from_numpy(np.flatnonzero(mask)).to(device) for mask in masks))


_OF_CSR = ("indices", "indptr", "shape")
# What is read of a file, and its name here.
_NAMES = {
    **{name: name for name in ("labels", "labels_multihot", "train_mask", "val_mask", "test_mask", "feat_available")},
    **{f"adj_{part}": f"adj_{part}" for part in _OF_CSR},
    **{f"{kind}_{part}": f"feat_{part}" for kind in ("feat", "attr") for part in ("data", *_OF_CSR)},
    "feat_dense": "feat_dense",
    "attr_matrix": "feat_dense",
}


def load(path: str | os.PathLike[str], *, splits: int = 10) -> Labelled:
    """Reads NAME.npz and the graph NAME.mtx* beside it.

    Where none is, the .npz has the graph as gnn-benchmark has it, `adj_*`. It is read as PyTorch Geometric does: in
    both directions, without self loops.

    A graph that has no splits gets `splits` of them, seeded by their number: 20 vertices of each class to train on, 30
    to choose by, the rest to test on (`numpy.random.RandomState(number)`). Raises InvalidGraph where features or labels
    are missing: accuracy on such a graph would mean nothing.
    """
    file = Path(path)
    topology = next((p for p in (file.with_suffix(s) for s in (".mtx", ".mtx.gz", ".mtx.xz")) if p.exists()), None)
    with np.load(file) as archive:
        # Others may be of objects (names of vertices), which nothing here asks for.
        arrays = {_NAMES[name]: archive[name] for name in archive.files if name in _NAMES}
    if topology is None and "adj_indptr" not in arrays:
        raise InvalidArgument(
            f"{file}: its graph, {file.stem}.mtx, .mtx.gz or .mtx.xz, is not beside it, nor has it adj_indptr"
        )
    if "labels" not in arrays:
        what = "several labels for each vertex" if "labels_multihot" in arrays else "no labels"
        raise InvalidGraph(f"{file}: has {what}; expected `labels` with one class for each vertex")
    labels = arrays["labels"]
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or labels.max(initial=-1) >= max(1, len(labels)):
        raise InvalidGraph(
            f"{file}: labels are {labels.dtype} {list(labels.shape)}; expected one whole number for each vertex, -1 "
            "for none and less than the number of vertices"
        )
    labels = labels.astype(np.int64)
    available = arrays.get("feat_available")
    if available is not None and not available.all():
        raise InvalidGraph(
            f"{file}: has features of {np.count_nonzero(available):,} of {len(labels):,} vertices only; what a model "
            "learns from them is no accuracy of this graph"
        )
    row_ptr, col, n_cols = _read(topology) if topology else _adjacency(file, arrays)
    n = len(row_ptr) - 1
    if n != n_cols or n != len(labels):
        where = topology or f"{file}: adj_shape"
        raise InvalidGraph(f"{where}: {n} x {n_cols}; expected {len(labels)} vertices, as {file} has labels")
    x, width = _features(file, arrays, n)
    if labels.max(initial=-1) < 0:
        raise InvalidGraph(f"{file}: no vertex has a label")
    made, rule = _splits(file, arrays, labels, splits)
    return Labelled(file.stem, row_ptr, col, labels, made, rule, width, int(labels.max()) + 1, x)


def _read(path: Path) -> tuple[npt.NDArray[Any], npt.NDArray[Any], int]:
    with tempfile.TemporaryDirectory(prefix="gnntune-") as folder:
        made = Path(folder) / "graph.npz"
        words = [program_path(), "convert", path, made, "--ignore-weights", "-q"]
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
        if done.returncode != 0:
            raise InvalidGraph(done.stderr.strip() or f"{path}: cannot be read")
        with np.load(made) as file:
            shape = file["shape"]
            return file["indptr"].astype(np.int32), file["indices"].astype(np.int32), int(shape[1])


def _adjacency(file: Path, arrays: dict[str, npt.NDArray[Any]]) -> tuple[npt.NDArray[Any], npt.NDArray[Any], int]:
    """The graph of a file of gnn-benchmark, both directions of each edge once, without self loops."""
    row_ptr, col, n, n_cols = _csr(file, arrays, "adj")
    if n != n_cols:
        return row_ptr, col, n_cols  # the caller says what it expected
    row = np.repeat(np.arange(n), np.diff(row_ptr))
    edges = np.unique(np.concatenate([row * n + col, col * n + row]))
    edges = edges[edges // n != edges % n]
    offsets = np.searchsorted(edges, np.arange(n + 1) * n)
    return offsets.astype(np.int32), (edges % n).astype(np.int32), n


def _csr(
    file: Path, arrays: dict[str, npt.NDArray[Any]], kind: str
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], int, int]:
    """Offsets, ids of columns, rows and columns of a matrix, which is whole."""
    for part in _OF_CSR:
        array = arrays.get(f"{kind}_{part}")
        if array is None:
            raise InvalidGraph(f"{file}: has {kind}_indptr and no {kind}_{part}; expected the arrays of a CSR matrix")
        if array.ndim != 1 or (array.size > 0 and array.dtype.kind not in "iu"):
            raise InvalidGraph(f"{file}: {kind}_{part} is {array.dtype} {list(array.shape)}; expected whole numbers")
    col, row_ptr, shape = (arrays[f"{kind}_{part}"] for part in _OF_CSR)
    if len(shape) != 2 or shape.min() < 0:
        raise InvalidGraph(f"{file}: {kind}_shape is {shape.tolist()}; expected rows and columns")
    n, n_cols = (int(size) for size in shape)
    row_ptr, col = row_ptr.astype(np.int64), col.astype(np.int64)
    whole = len(row_ptr) == n + 1 and row_ptr[0] == 0 and row_ptr[-1] == len(col) and (np.diff(row_ptr) >= 0).all()
    if not whole:
        raise InvalidGraph(
            f"{file}: {kind}_indptr is no {n + 1} rising offsets from 0 to the {len(col)} of {kind}_indices"
        )
    if col.min(initial=0) < 0 or col.max(initial=-1) >= n_cols:
        raise InvalidGraph(f"{file}: {kind}_indices has columns outside of 0 to {n_cols - 1}")
    return row_ptr, col, n, n_cols


def _finite(file: Path, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if values.dtype.kind not in "biuf" or not np.isfinite(values).all():
        raise InvalidGraph(f"{file}: has features that are no finite real numbers")
    return values.astype(np.float32)


def _features(file: Path, arrays: dict[str, npt.NDArray[Any]], n: int) -> tuple[tuple[Tensor, ...], int]:
    """Dense features, or row, column and value of sparse ones, and their width."""
    if "feat_dense" in arrays:
        dense: npt.NDArray[Any] = _finite(file, arrays["feat_dense"])
        if dense.ndim != 2 or dense.shape[0] != n:
            raise InvalidGraph(f"{file}: features of the shape {list(dense.shape)}; expected {n} rows")
        deviation: npt.NDArray[Any] = dense.std(axis=0)
        scaled = (dense - dense.mean(axis=0)) / np.where(deviation > 0, deviation, 1)
        return (torch.from_numpy(scaled.astype(np.float32)),), dense.shape[1]
    if "feat_indptr" not in arrays:
        raise InvalidGraph(
            f"{file}: has no features: neither feat_indptr nor feat_dense, nor as gnn-benchmark has them"
        )
    value = _finite(file, arrays["feat_data"]) if "feat_data" in arrays else None
    row_ptr, column, rows, width = _csr(file, arrays, "feat")
    if rows != n or value is None or value.shape != column.shape:
        what = "no values" if value is None else f"{value.size} values"
        raise InvalidGraph(
            f"{file}: features of {rows} rows, {len(column)} ids and {what}; expected {n} rows, a value each"
        )
    row = np.repeat(np.arange(n), np.diff(row_ptr))
    total = np.zeros(n, np.float32)
    np.add.at(total, row, np.abs(value))
    value = (value / np.where(total > 0, total, 1)[row]).astype(np.float32)
    return tuple(torch.from_numpy(part) for part in (row, column, value)), width


def _splits(
    file: Path, arrays: dict[str, npt.NDArray[Any]], labels: npt.NDArray[Any], count: int
) -> tuple[list[npt.NDArray[Any]], str]:
    if all(name in arrays for name in ("train_mask", "val_mask", "test_mask")):
        masks = [np.atleast_2d(arrays[name]).astype(bool) for name in ("train_mask", "val_mask", "test_mask")]
        shapes = {mask.shape for mask in masks}
        if len(shapes) > 1 or masks[0].shape[1:] != labels.shape or len(masks[0]) == 0:
            raise InvalidGraph(f"{file}: masks are {sorted(shapes)}; expected splits of {len(labels)} vertices each")
        return [np.stack(split) for split in zip(*masks)], f"{len(masks[0])} of the file"
    made = []
    for seed in range(count):
        random = np.random.RandomState(seed)
        masks = [np.zeros(len(labels), bool) for _ in range(3)]
        for label in range(labels.max() + 1):
            members = random.permutation(np.flatnonzero(labels == label))
            masks[0][members[:TRAIN]] = True
            masks[1][members[TRAIN : TRAIN + VALIDATION]] = True
            masks[2][members[TRAIN + VALIDATION :]] = True
        made.append(np.stack(masks))
    return made, f"{count} made here: {TRAIN} and {VALIDATION} of each class, the rest"
