"""tune, explain, best and info: the program's verbs as Python calls."""

from __future__ import annotations

import contextlib
import os
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Union

import numpy as np

from gnntune._errors import InvalidArgument
from gnntune._program import Report, run_json, tqdm_report
from gnntune._results import Best, Candidate, Explanation, GraphInfo, Table, Tuned, row_of, table_of

if TYPE_CHECKING:
    from scipy.sparse import sparray, spmatrix


class HasCsr(Protocol):
    """A graph that can say what it is: gnntune.torch.Graph."""

    def to_csr(self) -> tuple[Any, Any, int]:
        """row_ptr [n_rows + 1] and col_idx [m] as NumPy arrays, and n_cols."""


GraphLike = Union[str, "os.PathLike[str]", "spmatrix", "sparray", HasCsr]
"""A file, a folder or `standin/NAME`, as the program takes them; a SciPy sparse matrix; a gnntune.torch.Graph."""

_INCOMPLETE = 7


@contextlib.contextmanager
def _graph_file(graph: GraphLike, name: str | None) -> Iterator[str]:
    """The graph as an argument of the program; in a file that lives as long as the block, if it is none."""
    if isinstance(graph, (str, os.PathLike)):
        if name is not None:
            raise InvalidArgument("name is for graphs in memory: a file has its own")
        yield os.fspath(graph)
        return
    if hasattr(graph, "to_csr") and not hasattr(graph, "tocsr"):
        row_ptr, col_idx, n_cols = graph.to_csr()
    elif hasattr(graph, "tocsr"):
        matrix: Any = graph.tocsr()
        row_ptr, col_idx, n_cols = matrix.indptr, matrix.indices, matrix.shape[1]
    else:
        raise InvalidArgument(
            f"expected a file's name, a SciPy sparse matrix or a gnntune.torch.Graph, not {type(graph).__name__}"
        )
    if name is not None and (not name or "/" in name or name.startswith(".")):
        raise InvalidArgument(f"name is {name!r}; expected one that a file can have")
    with tempfile.TemporaryDirectory(prefix="gnntune-") as folder:
        path = Path(folder) / f"{name or 'graph'}.npz"
        np.savez(
            path,
            format=np.array(b"csr"),
            shape=np.array([len(row_ptr) - 1, n_cols], np.int64),
            indptr=np.asarray(row_ptr),
            indices=np.asarray(col_idx),
        )
        yield str(path)


def _list(values: object) -> str:
    if isinstance(values, (str, os.PathLike)) or not isinstance(values, Iterable):
        return os.fspath(values) if isinstance(values, os.PathLike) else str(values)
    return ",".join(str(value) for value in values)


# Arguments whose options have another name, those that are a choice of yes and no, and those that are no options.
_NAMES = {"k": "dim", "weighted": "weights", "workspace_limit_bytes": "workspace-limit"}
_CHOICES = ("weighted", "self_loop")
_NO_OPTIONS = ("graph", "name", "progress")


def _options(arguments: dict[str, Any]) -> list[str]:
    """`max_error=0.1` as `--max-error 0.1`; True as a flag; None and False are left out."""
    words: list[str] = []
    for name, value in arguments.items():
        if name in _CHOICES and isinstance(value, bool):
            value = "yes" if value else "no"
        if name in _NO_OPTIONS or value is None or value is False:
            continue
        words.append("--" + _NAMES.get(name, name).replace("_", "-"))
        if value is not True:
            words.append(_list(value))
    return words


def tune(
    graph: GraphLike,
    *,
    op: str | Iterable[str] = "spmm",
    k: int | Iterable[int] = (16, 32, 64, 128, 256),
    heads: int | Iterable[int] | None = None,
    weighted: bool | str = True,
    direction: str | None = None,
    dtype: str | Iterable[str] | None = None,
    reduce: str | Iterable[str] | None = None,
    self_loop: bool | str | None = None,
    policy: str | None = None,
    deterministic: bool = False,
    expected_calls: float | None = None,
    max_error: float | None = None,
    allow_sampling: bool = False,
    workspace_limit_bytes: int | None = None,
    variant: str | Iterable[str] | None = None,
    exhaustive: bool = False,
    again: bool = False,
    budget: str | float | None = None,
    db: str | os.PathLike[str] | None = None,
    device: str | None = None,
    name: str | None = None,
    progress: bool = True,
) -> Table[Tuned]:
    """Measures the promising configs of every variant on a graph, and stores them with the choice for each problem.

    What the database has is not measured again. Contexts that are opened afterwards use it, in this process or another.
    The arguments are the options of `gnntune tune` (docs/commands.md): `op`, `k`, `heads`, `dtype` and `reduce` take
    one value or several; `weighted` and `self_loop` True, False or "both"; `direction` "forward", "reversed" or "both";
    `budget` seconds or "30s", "5m". `name` is what the database calls a graph that is no file.

    Progress is shown with tqdm where that is installed. KeyboardInterrupt (Ctrl-C) ends the measuring in order: what
    was measured is stored, and the same call goes on.

    Returns a row for each problem; `complete` is False where the budget ended first. Raises InvalidArgument,
    InvalidGraph, NoDevice, DatabaseError, or ProgramFailed with the program's exit code.
    """
    words = _options(locals())
    report: Report | None = None
    close = _nothing
    if progress:
        report, close = tqdm_report("gnntune")
    try:
        with _graph_file(graph, name) as argument:
            whole, code = run_json(["tune", argument, *words], report=report, accepted=(_INCOMPLETE,))
    finally:
        close()
    for text in whole["warnings"]:
        warnings.warn(text, stacklevel=2)
    return table_of(Tuned, whole, complete=code == 0)


def explain(
    graph: GraphLike,
    *,
    op: str = "spmm",
    k: int = 64,
    heads: int | None = None,
    weighted: bool = True,
    direction: str | None = None,
    dtype: str | None = None,
    reduce: str | None = None,
    self_loop: bool | None = None,
    policy: str | None = None,
    deterministic: bool = False,
    expected_calls: float | None = None,
    max_error: float | None = None,
    allow_sampling: bool = False,
    workspace_limit_bytes: int | None = None,
    db: str | os.PathLike[str] | None = None,
    device: str | None = None,
) -> Explanation:
    """Which config is chosen for a problem and why, from what the database has. Measures and runs nothing.

    `graph` may also be the name or the first digits of the fingerprint of a graph in the database. Arguments as those
    of `tune`, one value each. Raises NotMeasured where there is neither a measurement nor a model.
    """
    words = _options(locals())
    with _graph_file(graph, None) as argument:
        whole, _ = run_json(["explain", argument, *words])
    return row_of(Explanation, {**whole["subject"], "candidates": table_of(Candidate, whole)})


def best(*, db: str | os.PathLike[str] | None = None, graph: str | None = None) -> Table[Best]:
    """The fastest exact config of every graph, problem, device, policy and clock in a database, or of one `graph`."""
    whole, _ = run_json(["db", "ls", "best", *_options({"db": db})])
    whole["data"] = [row for row in whole["data"] if graph is None or row["graph"] == graph]
    return table_of(Best, whole)


def info(graph: GraphLike, *, sampling: bool = False, device: str | None = None) -> GraphInfo:
    """Sizes, degrees, features and fingerprint of a graph. `sampling` adds what a sample of S edges a row keeps."""
    with _graph_file(graph, None) as argument:
        whole, _ = run_json(["info", argument, *_options({"sampling": sampling, "device": device})])
    if len(whole["data"]) != 1:
        raise InvalidArgument(f"{len(whole['data'])} graphs: expected one")
    data = whole["data"][0]
    return row_of(GraphInfo, {**data, "features": data})


def _nothing() -> None:
    pass
