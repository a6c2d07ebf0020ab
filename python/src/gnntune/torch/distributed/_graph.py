"""A graph over the ranks of a group: who has which rows, and how its operations are split."""

from __future__ import annotations

import itertools
import os
import zlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from gnntune._errors import InvalidArgument
from gnntune.torch import _device
from gnntune.torch._graph import Graph
from gnntune.torch.distributed._model import Forecast, Link, ranked, worth_a_try
from gnntune.torch.distributed._ranks import Ranks
from gnntune.torch.distributed._rows import Halo, blocks_by_edges, check_parts, read_parts
from gnntune.torch.distributed._split import Slice, columns, even, offsets, patterns, slices_of, whole_vectors
from gnntune.torch.distributed._timing import HostCalls, measure_link, spmm_times, tried

MODES = ("auto", "features", "rows", "one")
_MIX = 0x9E3779B97F4A7C15
_MOST_MEMORY = 0.9
_BLOCK_BYTES = 16  # an edge, in both copies that blocks and their formats may need


class Block(NamedTuple):
    """The edges to the targets of one rank, or in the reversed direction those from its sources."""

    graph: Graph
    weight: Tensor | None


class DistributedGraph:
    """A graph whose vertices' features are split by rows among the ranks of a group.

    Parameters
    ----------
    graph
        The whole graph, the same on every rank, on the host or on this rank's device.
    group
        A group of torch.distributed (default: all ranks); new_group() makes one as the exchanges like it.
    mode
        "features": every rank holds the graph, and computes with its part of the columns of all rows. "rows": every
        rank holds the edges of its own rows, and fetches what they need. "one": the first rank has all rows, and
        computes as if it were alone. "auto": "one" where the forecast says that splitting loses, "rows" where the
        graph and its features do not fit otherwise, else "features".
    parts
        Of "rows": the rank of each vertex, as a tensor or as a file with a number a line. Default: contiguous blocks
        with about as many edges each.
    widths
        Of "auto": the widths of x that the operations will have.
    dtype
        Of "auto": the type of x.
    device
        Where operations run. Default: the graph's device.
    slices
        Of "features": slices of columns that are exchanged and computed one after the other, so that exchanges are
        hidden behind kernels. A number, or widths that add up to the widest rank's columns. Default: what the
        forecast found best, else as many as leave rows of a cache line, four at most.
    tail
        Of "features": the last slice's sums are made by blocks of rows, so that its way out is hidden too; "auto" as
        the forecast says. Costs the memory of a second copy of the graph.
    tries
        Of forecasts: how many of the patterns of slices that the model has first are tried, a few calls each, before
        the fastest is taken. 0: the model's first.

    `mode`, `rank`, `size`, `n_local` (own rows) and `ids` (their numbers) say what came of it. Rows are contiguous
    blocks, but with `parts`.
    """

    def __init__(
        self,
        graph: Graph,
        group: Any = None,
        *,
        mode: str = "auto",
        parts: Tensor | str | os.PathLike[str] | None = None,
        widths: tuple[int, ...] = (128,),
        dtype: torch.dtype = torch.float32,
        device: str | torch.device | None = None,
        slices: int | tuple[int, ...] | None = None,
        tail: bool | str = "auto",
        tries: int = 3,
        link: Link | None = None,
    ) -> None:
        if mode not in MODES:
            raise InvalidArgument(f"mode is {mode!r}; expected one of {', '.join(MODES)}")
        if parts is not None and mode in ("features", "one"):
            raise InvalidArgument(f"mode is {mode!r} and parts are given; a partition is for mode='rows'")
        if graph.transient:
            raise InvalidArgument("a transient graph lives for a step; make one that lasts")
        if tail not in (True, False, "auto"):
            raise InvalidArgument(f"tail is {tail!r}; expected True, False or 'auto'")
        if tries < 0:
            raise InvalidArgument(f"tries is {tries}; expected 0 or more")
        if isinstance(slices, int) and slices < 1:
            raise InvalidArgument(f"slices is {slices}; expected 1 or more, or the widths of all")
        if isinstance(slices, tuple) and min(slices, default=-1) < 0:
            raise InvalidArgument(f"slices is {slices}; expected widths of 0 or more")
        self.device = _device.known_device(torch.device(device)) if device is not None else graph.device
        self.ranks = Ranks(group, self.device)
        self.rank, self.size = self.ranks.rank, self.ranks.size
        self.n_rows, self.n_cols, self.m = graph.n_rows, graph.n_cols, graph.m
        self._slices, self._tail, self._tries = slices, tail, tries
        self._blocks: dict[Any, list[Block]] = {}
        self._looped_weight: Tensor | None = None
        self._forecasts: dict[tuple[int, torch.dtype], Forecast] = {}
        self._known: dict[tuple[int, torch.dtype], Forecast] = {}  # by the columns that there are then
        self._splits: dict[tuple[int, torch.dtype, int | None], tuple[list[Slice], bool]] = {}
        self._agreed: set[tuple[str, torch.Size, torch.dtype]] = set()
        self._calls = 0
        if parts is not None:
            parts = self._part_of_each(graph, parts)
        settings = {"mode": mode, "slices": slices, "tail": tail, "tries": tries, "widths": tuple(widths)}
        self._check_same(graph, {**settings, "dtype": dtype, "link": link, "parts": _digest(parts)})
        self.link, self._host_is_given = link, link is not None
        self._host: HostCalls | None = None
        self.mode = mode
        self.graph: Graph | None = None
        self.halo: Halo | None = None
        self.reason = "asked for"
        if mode == "auto" and self._too_large(graph, max(widths, default=1), dtype):
            mode, self.reason = "rows", "the graph and its features do not fit on one device"
        if mode == "rows" or parts is not None:
            mode = "rows"
            self._set_rows(graph, parts)
        else:
            self.graph = graph if graph.device == self.device else _moved(graph, self.device)
            if mode == "auto":
                mode = self._decided(widths, dtype)
            if mode == "one":
                self._blocks.clear()
            self._set_counts(mode)
        self.mode = mode
        self._looped_halo: Halo | None = None

    # ---- Set-up ----

    def _check_same(self, graph: Graph, settings: dict[str, Any]) -> None:
        # A fingerprint would need the whole graph on the device; sizes and sums tell graphs apart that are mixed up.
        sums = [int(array.sum(dtype=torch.int64)) for array in (graph.row_ptr, graph.col)]
        mine = (graph.n_rows, graph.n_cols, graph.m, *sums)
        seed = int(torch.randint(0, 2**62, (1,)))
        everyone = self.ranks.gather_objects((mine, settings, seed))
        first, asked, self._seed = everyone[0]
        for rank, (theirs, given, _) in enumerate(everyone):
            if theirs != first:
                raise InvalidArgument(
                    f"rank {rank} has another graph than rank 0: {theirs[0]} x {theirs[1]} with {theirs[2]} edges, not "
                    f"{first[0]} x {first[1]} with {first[2]}, or other ends of them; every rank gives the whole graph"
                )
            for name, value in given.items():
                if value != asked[name]:
                    raise InvalidArgument(
                        f"rank {rank} was given {name}={value!r}, and rank 0 {asked[name]!r}; every rank gives the same"
                    )

    def _too_large(self, graph: Graph, k: int, dtype: torch.dtype) -> bool:
        """Whether any rank lacks the memory for the graph in both directions and two layers of columns."""
        if graph.n_rows != graph.n_cols or self.size == 1:
            return False
        free = free_bytes(self.device)
        columns_bytes = 4 * graph.n_rows * -(-k // self.size) * dtype.itemsize
        rows_bytes = 4 * -(-graph.n_rows // self.size) * k * dtype.itemsize
        there = graph.m * 4 if graph.device == self.device else 0
        needed = graph.m * 16 + columns_bytes + rows_bytes - there
        return any(self.ranks.gather_objects(free is not None and needed > _MOST_MEMORY * free))

    def _part_of_each(self, graph: Graph, parts: Any) -> Tensor:
        if isinstance(parts, Tensor):
            return check_parts(parts, graph.n_rows, self.size, "parts")
        return read_parts(parts, graph.n_rows, self.size)

    def _set_rows(self, graph: Graph, parts: Tensor | None) -> None:
        if graph.n_rows != graph.n_cols:
            raise InvalidArgument(f"mode='rows' is for square graphs, not {graph!r}; mode='features' takes both")
        found = blocks_by_edges(graph.row_ptr, self.size) if parts is None else parts
        self._source, self._parts = graph, found
        self.halo = Halo(graph, found, self.ranks, self.device)
        self.row_counts = self.col_counts = self.halo.counts
        self.ids = self.halo.ids

    def _set_counts(self, mode: str) -> None:
        def counts(n: int) -> list[int]:
            return [n] + [0] * (self.size - 1) if mode == "one" else even(n, self.size)

        self.row_counts, self.col_counts = counts(self.n_rows), counts(self.n_cols)
        first = offsets(self.row_counts)[self.rank]
        self.ids = torch.arange(first, first + self.n_local, device=self.device)

    def _decided(self, widths: tuple[int, ...], dtype: torch.dtype) -> str:
        if self.size == 1:
            self.reason = "one rank"
            return "one"
        found = [self.forecast(k, dtype) for k in widths]
        one, split = sum(f.one_us for f in found), sum(f.expected_us for f in found)
        how = "forecast, tried" if all(f.tried_us is not None for f in found) else "forecast"
        self.reason = f"{how}: one rank {one:.0f} us, split {split:.0f} us"
        return "one" if split >= one else "features"

    # ---- What it is ----

    @property
    def n_local(self) -> int:
        """Rows of this rank."""
        return int(self.row_counts[self.rank])

    @property
    def n_local_cols(self) -> int:
        """Rows of x of this rank: n_local, but for a graph that is not square."""
        return int(self.col_counts[self.rank])

    def __repr__(self) -> str:
        return (
            f"DistributedGraph({self.n_rows} x {self.n_cols}, {self.m} edges, rank {self.rank} of {self.size} with "
            f"{self.n_local} rows, {self.mode}: {self.reason})"
        )

    def take(self, values: Tensor) -> Tensor:
        """This rank's rows of what has one row per vertex: features, labels, masks. On the graph's device."""
        if values.shape[0] not in (self.n_rows, self.n_cols):
            raise InvalidArgument(f"expected a row for each of the {self.n_cols} vertices, not {tuple(values.shape)}")
        if self.mode == "rows":
            return values[self.ids.to(values.device)].to(self.device)
        counts = self.row_counts if values.shape[0] == self.n_rows else self.col_counts
        starts = offsets(counts)
        return values[starts[self.rank] : starts[self.rank + 1]].to(self.device)

    def agree(self, op: str, x: Tensor) -> None:
        """Raises InvalidArgument, on every rank, where they give an operation rows of other widths or types.

        Exchanges of them would not fit each other: gloo ends the process then. The ranks ask one another at the first
        call of an operation with this rank's width and type.
        """
        key = op, x.shape[1:], x.dtype
        if key in self._agreed or self.mode == "one":
            return
        _require_same_columns(self.ranks.gather_objects(key))
        self._agreed.add(key)

    def collect(self, values: Tensor) -> Tensor:
        """All rows of what the ranks have split, as results are or as x is, on every rank. No gradient; for looking at
        results."""
        values = values.detach().contiguous()
        everyone = self.ranks.gather_objects((values.shape[0], "collect", values.shape[1:], values.dtype))
        counts = [count for count, *_ in everyone]
        if counts not in (self.row_counts, self.col_counts):
            raise InvalidArgument(
                f"the ranks have {counts} rows; expected {self.row_counts}, as results have, or {self.col_counts}, as x"
            )
        _require_same_columns([columns for _, *columns in everyone])
        flat = values.view(-1, 1) if values.dim() == 1 else values.flatten(1)
        pieces = [flat.new_empty(count, flat.shape[1]) for count in counts]
        self.ranks.all_to_all(pieces, [flat] * self.size).wait()
        whole = torch.cat(pieces)
        if self.mode == "rows":
            order = torch.argsort(self._parts, stable=True).to(self.device)
            whole = torch.empty_like(whole).index_copy_(0, order, whole)
        return whole.view(whole.shape[0], *values.shape[1:])

    def edge_values(self, values: Tensor) -> Tensor:
        """Of values of all edges in CSR order, those that this rank's operations take as weights."""
        return values[self.halo.edges.to(values.device)].to(self.device) if self.halo is not None else values

    def forecast(self, k: int, dtype: torch.dtype = torch.float32, *, renew: bool = False) -> Forecast:
        """What an spmm of width k takes on one rank and split: measured parts, a modelled whole, and the first of the
        patterns tried. All ranks call it.

        The host's time drifts within seconds, so that a forecast of what is bound by it ages. `renew` times the host's
        calls once more, which takes some hundredths of a second, and returns the forecast with that. What was chosen
        by the first one stays."""
        found = self._forecasts.get((k, dtype))
        if found is None:
            if self.graph is None:
                raise InvalidArgument("a forecast is for graphs that every rank holds; this one is split by rows")
            if self.link is None:
                self.link = measure_link(self.ranks, self.device)
            found = self._forecasts[k, dtype] = self._best(self.graph, self.link, k, dtype)
            self._known[whole_vectors(k, self.size, dtype.itemsize), dtype] = found
            self._splits.clear()
        if renew:
            assert self.link is not None
            if self._host is None:
                self._host = HostCalls(self.ranks, self.device)
                self._host.moment()  # the first calls take longer
            found = found.with_host(self.link._replace(host=self._host.now()))
        return found

    def _best(self, graph: Graph, link: Link, k: int, dtype: torch.dtype) -> Forecast:
        tails = (False, True) if self._tail == "auto" else (bool(self._tail),)
        blocks = self._blocks if self.mode == "features" else {}
        key = ("spmm", False)
        if True in tails and self.size > 1:
            if self._blocks_fit(graph):
                blocks = {key: blocks.get(key) or _cut(graph, None, even(self.n_rows, self.size), False)}
            elif self._tail == "auto":
                tails = (False,)
        host = self._host = None if self._host_is_given else HostCalls(self.ranks, self.device)
        between = host.moment if host is not None else lambda: None
        parts = [block.graph for block in blocks.get(key, ())]
        kernels_of = spmm_times(graph, self.ranks, k, dtype, [self.size], parts, between)
        if host is not None:
            link = self.link = link._replace(host=host.found())
        n = max(graph.n_rows, graph.n_cols)
        ways = ranked(link, n, k, self.size, dtype.itemsize, kernels_of, True, tails)
        some = [f for f in ways[: self._tries] if worth_a_try(f)]
        if self.size == 1 or graph.m == 0 or not some:
            return ways[0]
        x = torch.rand(even(self.n_cols, self.size)[self.rank], k, device=self.device).to(dtype)
        with torch.no_grad():
            found = tried(self.ranks, self.device, [(f, self._call(graph, link, f, x, blocks)) for f in some])
        best = min(found, key=lambda f: f.expected_us)
        if best.tail and self.mode != "one":
            self._blocks.update(blocks)  # they have their plans already
        return best

    def _call(
        self, graph: Graph, link: Link, way: Forecast, x: Tensor, blocks: dict[Any, list[Block]]
    ) -> Callable[[], object]:
        """A sum that is split so."""
        from gnntune.torch.distributed.functional import spmm  # which imports this

        split = DistributedGraph(
            graph, self.ranks.group, mode="features", slices=way.pattern, tail=way.tail, link=link, tries=0
        )
        split._blocks = blocks
        return lambda: spmm(split, x)

    def _blocks_fit(self, graph: Graph) -> bool:
        free = free_bytes(self.device)
        return all(self.ranks.gather_objects(free is None or _BLOCK_BYTES * graph.m < _MOST_MEMORY * free))

    def explain(self) -> str:
        """How the graph is split and why, and what its plans are."""
        local = self.graph if self.graph is not None else self.halo.graph if self.halo is not None else None
        lines = [repr(self), *[f.words() for f in self._forecasts.values()]]
        if self.halo is not None:
            lines.append(f"{self.halo.n_halo} rows are fetched from others, for {self.halo.graph.m} edges")
        text = local.explain() if local is not None else ""
        return "\n".join([*lines, text] if text else lines)

    def new_seed(self) -> Tensor:
        """A seed for dropout, the same on every rank that has made the same calls."""
        self._calls += 1
        return self.seed_of(self._calls * _MIX)

    def seed_of(self, number: int) -> Tensor:
        return torch.tensor([wrapped(self._seed + number)], dtype=torch.int64, device=self.device)

    # ---- Slices ----

    def split(self, k: int, dtype: torch.dtype, unit: int | None = None) -> tuple[list[Slice], bool]:
        """The slices of k columns, and whether the last one is made by blocks. unit: of a head, which stays whole."""
        found = self._splits.get((k, dtype, unit))
        if found is None:
            found = self._splits[k, dtype, unit] = self._split(k, dtype, unit)
        return found

    def _split(self, k: int, dtype: torch.dtype, unit: int | None) -> tuple[list[Slice], bool]:
        sizes = (
            columns(k, self.size, dtype.itemsize)
            if unit is None
            else [unit * size for size in even(k // unit, self.size)]
        )
        one, widest = unit or 1, max(sizes)
        known = self._known.get((k, dtype)) if unit is None else None
        if isinstance(self._slices, tuple) and sum(self._slices) == widest and unit is None:
            pattern = self._slices
        elif isinstance(self._slices, int):
            count = max(1, min(self._slices, widest // one))
            pattern = tuple(one * size for size in even(widest // one, count))
        elif known is not None:
            pattern = known.pattern
        else:
            pattern = max((p for p in patterns(widest, dtype.itemsize, one) if p[0] == max(p)), key=len)
        tail = self._tail if isinstance(self._tail, bool) else known is not None and known.tail
        return slices_of(sizes, pattern, one), tail

    def blocks(self, kind: str, reverse: bool) -> list[Block]:
        """The graph cut by each rank's targets (reversed: its sources), with the weights of a GCN or without."""
        found = self._blocks.get((kind, reverse))
        if found is None:
            assert self.graph is not None
            graph, weight = self.graph, None
            if kind == "gcn":
                graph = self.graph.with_loops()
                weight = looped_norm(graph)
            counts = self.col_counts if reverse else self.row_counts
            found = self._blocks[kind, reverse] = _cut(graph, weight, counts, reverse)
        return found

    def looped_halo(self) -> tuple[Halo, Tensor]:
        """Of "rows": the part of the graph with one loop at each vertex, and the weights of a GCN for its edges."""
        if self._looped_halo is None:
            looped = self._source.with_loops()
            self._looped_halo = Halo(looped, self._parts, self.ranks, self.device)
            self._looped_weight = looped_norm(looped)[self._looped_halo.edges.to(looped.device)].to(self.device)
        assert self._looped_weight is not None
        return self._looped_halo, self._looped_weight


def _require_same_columns(everyone: Sequence[Any]) -> None:
    """Of what every rank gave: the operation, the shape of a row, the type."""

    def words(op: str, shape: torch.Size, dtype: torch.dtype) -> str:
        return f"{op} rows of the shape {list(shape)} of {dtype}"

    for rank, theirs in enumerate(everyone):
        if theirs != everyone[0]:
            raise InvalidArgument(
                f"rank {rank} gave {words(*theirs)}, and rank 0 {words(*everyone[0])}; every rank makes the same "
                "calls, with as many columns of one type"
            )


def _digest(parts: Tensor | None) -> str | None:
    return None if parts is None else f"{parts.numel()} with the checksum {zlib.crc32(parts.numpy().tobytes()):08x}"


def wrapped(number: int) -> int:
    """The number as int64 has it."""
    return (number + 2**63) % 2**64 - 2**63


def free_bytes(device: torch.device) -> int | None:
    """Memory of a GPU that is free; None for the host's, which is not asked."""
    return torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else None


def looped_norm(looped: Graph) -> Tensor:
    """Weights of a GCN for a graph that has one loop at each vertex, in CSR order: 1 / sqrt(d_i d_j)."""
    degree = looped.row_ptr.diff().float()
    root = degree.rsqrt()
    return root[looped.row] * root[looped.col.long()]


def _moved(graph: Graph, device: torch.device) -> Graph:
    return Graph.from_csr(graph.row_ptr.to(device), graph.col.to(device), graph.n_cols)


def _cut(graph: Graph, weight: Tensor | None, counts: list[int], reverse: bool) -> list[Block]:
    part = _columns_of if reverse else _rows_of
    return [part(graph, weight, a, b) for a, b in itertools.pairwise(offsets(counts))]


def _rows_of(graph: Graph, weight: Tensor | None, begin: int, end: int) -> Block:
    first, last = int(graph.row_ptr[begin]), int(graph.row_ptr[end])
    part = Graph.from_csr(graph.row_ptr[begin : end + 1] - first, graph.col[first:last].clone(), graph.n_cols)
    return Block(part, None if weight is None else weight[first:last].clone())


def _columns_of(graph: Graph, weight: Tensor | None, begin: int, end: int) -> Block:
    kept = ((graph.col >= begin) & (graph.col < end)).nonzero().view(-1)
    row_ptr = torch.searchsorted(kept, graph.row_ptr.long())
    part = Graph.from_csr(row_ptr, graph.col[kept] - begin, end - begin)
    return Block(part, None if weight is None else weight[kept])


def norm_of(graph: Graph, dtype: torch.dtype) -> tuple[Graph, Tensor, Tensor]:
    """The graph without loops, and the weights of a GCN for its edges and its vertices."""
    bare = graph.without_loops()
    edges, loops = bare.norm(dtype)
    return bare, edges, loops
