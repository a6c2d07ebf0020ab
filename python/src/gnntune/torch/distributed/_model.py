"""What splitting costs and saves: rates that are measured, and a pipeline of exchanges and kernels that is computed.

A spmm of width k on one rank is timed, and so is one of each width of a slice, alone, beside an exchange, and by blocks
of rows. The link of the group, the packing of columns and the host's calls are timed, too. What a split call takes
follows: two queues, kernels and exchanges, in the order in which _exchange.by_columns() fills them; or what the host
takes for it, if that is more. The patterns of slices that are the fastest by that are then tried.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from gnntune.torch._graph import Graph
from gnntune.torch._operators import execute
from gnntune.torch._run import PLAIN_PAIR
from gnntune.torch.distributed._ranks import Ranks
from gnntune.torch.distributed._split import columns, even, patterns, whole_vectors

Points = tuple[tuple[int, float], ...]
"""Pairs of bytes and microseconds, ascending."""

_LINK_BYTES = {"cuda": (1 << 12, 1 << 18, 1 << 22, 1 << 24, 1 << 26), "cpu": (1 << 12, 1 << 16, 1 << 20)}
_COPY_BYTES = {"cuda": (1 << 12, 1 << 20, 1 << 24, 1 << 26), "cpu": (1 << 12, 1 << 16, 1 << 20)}
_COPY_WIDTH = 32
_AHEAD_CYCLES = 400_000  # of a call that the host enqueues: 200 us
_HOST_KINDS = ((1, False), (3, False), (1, True))  # slices, and whether the last one is made by blocks
_ROUNDS = 3
_TRY_US = 30_000  # of a round, if that is enough for some calls
_WORTH_A_TRY = 2.0  # times what one rank takes; or a call that is over soon
_SOON_US = 5_000


class Link(NamedTuple):
    """What the exchanges of a group take, and the packing of columns on one device."""

    size: int
    exchange: Points
    """By the bytes that a rank sends to all others."""
    copy: Points
    """By the bytes of the columns that are copied."""
    host: tuple[float, float, float]
    """Microseconds of the host: for a call, for each slice of it, and for each block but the first of the last one."""

    def exchange_us(self, size: float) -> float:
        return _at(self.exchange, size)

    def copy_us(self, size: float) -> float:
        return _at(self.copy, size)

    def host_us(self, slices: int, more_blocks: int = 0) -> float:
        call, each, block = self.host
        return call + slices * each + more_blocks * block

    @property
    def gbps(self) -> float:
        """Bytes that a rank sends in a large exchange, and as many that it receives, per nanosecond."""
        return self.exchange[-1][0] / self.exchange[-1][1] / 1e3

    def words(self) -> str:
        return (
            f"{self.gbps:.1f} GB/s from each of {self.size} ranks, {self.exchange[0][1]:.0f} us for the smallest "
            f"exchange, {self.host_us(1):.0f} us of the host for a call"
        )


def _at(points: Points, size: float) -> float:
    """Linear between points, and beyond the last as between the last two."""
    if size <= points[0][0]:
        return points[0][1]
    for (a, t), (b, u) in itertools.pairwise(points):
        if size <= b or b == points[-1][0]:
            return max(t, t + (u - t) * (size - a) / (b - a))
    return points[-1][1]


class Forecast(NamedTuple):
    """A spmm of width k on one rank, and split over `size` of them."""

    k: int
    size: int
    one_us: float
    split_us: float
    pattern: tuple[int, ...]
    tail: bool
    kernels_us: float
    """Of split_us: kernels; the rest is exchanges and packing that nothing hides."""
    measured: bool
    """False where the group has another number of ranks: link and kernels are then taken to be as here."""
    host_us: float = 0.0
    """What the host takes for it: split_us is no less."""
    tried_us: float | None = None
    """What it took when it was tried."""

    @property
    def expected_us(self) -> float:
        """What a call takes: as it was tried, else as it was computed."""
        return self.split_us if self.tried_us is None else self.tried_us

    @property
    def speed_up(self) -> float:
        return self.one_us / self.expected_us

    def words(self) -> str:
        kind = "" if self.measured else " (no group of that size was measured)"
        how = " + ".join(map(str, self.pattern)) + (", the last by blocks of rows" if self.tail else "")
        tried = "" if self.tried_us is None else f"{self.tried_us:.0f} us when tried, forecast "
        return (
            f"k={self.k} over {self.size} ranks{kind}: {tried}{self.split_us:.0f} us, kernels {self.kernels_us:.0f}, "
            f"beside {self.one_us:.0f} us on one: {self.speed_up:.2f}x with slices of {how} columns"
        )


def time_us(device: torch.device, step: Callable[[], object], seconds: float = 0.2, most: int = 30) -> float:
    """Median time of a call, warmed up: by events on a GPU, whose calls follow each other; by the clock elsewhere."""
    for _ in range(2):
        step()
    if device.type != "cuda":
        times: list[float] = []
        end = time.perf_counter() + seconds
        while len(times) < 3 or (len(times) < most and time.perf_counter() < end):
            begin = time.perf_counter()
            step()
            times.append(1e6 * (time.perf_counter() - begin))
        return statistics.median(times)
    torch.cuda.synchronize(device)
    begin = time.perf_counter()
    step()
    torch.cuda.synchronize(device)
    repeats = max(5, min(most, int(seconds / max(1e-6, time.perf_counter() - begin))))
    return _by_events_us(device, step, repeats)


def _by_events_us(device: torch.device, step: Callable[[], object], calls: int, ahead: bool = False) -> float:
    """Median time between calls. ahead: the GPU sleeps until the host has enqueued all, whose time is then not seen."""
    event: Any = torch.cuda.Event
    marks = [event(enable_timing=True) for _ in range(calls + 1)]
    torch.cuda.synchronize(device)
    if ahead:
        sleep: Any = torch.cuda._sleep
        sleep(calls * _AHEAD_CYCLES)
    marks[0].record()
    for mark in marks[1:]:
        step()
        mark.record()
    torch.cuda.synchronize(device)
    return float(statistics.median(1e3 * a.elapsed_time(b) for a, b in itertools.pairwise(marks)))


def _together_us(
    ranks: Ranks, device: torch.device, step: Callable[[], object], calls: int = 10, ahead: bool = False
) -> float:
    """Time of a call that exchanges, as the slowest rank saw it: every rank makes the same number of calls."""
    for _ in range(3):
        step()
    if device.type == "cuda":
        found = _by_events_us(device, step, calls, ahead)
    else:
        times = []
        for _ in range(calls):
            begin = time.perf_counter()
            step()
            times.append(1e6 * (time.perf_counter() - begin))
        found = statistics.median(times)
    return float(max(ranks.gather_objects(found)))


def measure_link(ranks: Ranks, device: torch.device) -> Link:
    """Times the group's exchanges on tensors of random numbers. Every rank calls it; it takes about a second."""
    exchange = tuple(_exchange_point(ranks, device, size) for size in _LINK_BYTES[device.type])
    copy = tuple(_copy_point(ranks, device, size) for size in _COPY_BYTES[device.type])
    return Link(ranks.size, exchange, copy, measure_host(ranks, device))


def _exchange_point(ranks: Ranks, device: torch.device, size: int) -> tuple[int, float]:
    others = max(1, ranks.size - 1)
    count = max(1, size // others // 4)
    ins = [torch.rand(0 if q == ranks.rank else count, device=device) for q in range(ranks.size)]
    outs = [torch.empty_like(t) for t in ins]
    return 4 * count * others, _together_us(ranks, device, lambda: ranks.all_to_all(outs, ins).wait(), ahead=True)


def _copy_point(ranks: Ranks, device: torch.device, size: int) -> tuple[int, float]:
    rows = max(1, size // (4 * _COPY_WIDTH))
    wide = torch.rand(rows, 4 * _COPY_WIDTH, device=device)
    narrow = wide.new_empty(rows, _COPY_WIDTH)
    copied = _together_us(ranks, device, lambda: narrow.copy_(wide[:, _COPY_WIDTH : 2 * _COPY_WIDTH]), 20, ahead=True)
    return narrow.numel() * 4, copied


def measure_host(ranks: Ranks, device: torch.device) -> tuple[float, float, float]:
    """Link.host, from calls of a split spmm with as little data as there can be. It drifts: a host that has done it
    often takes less, and other programs' work takes turns with it."""
    from gnntune.torch.distributed._graph import DistributedGraph  # which imports this
    from gnntune.torch.distributed.functional import spmm

    n = 4 * ranks.size
    width = max(slices for slices, _ in _HOST_KINDS) * ranks.size
    row_ptr = torch.arange(n + 1, dtype=torch.int32, device=device)
    graph = Graph.from_csr(row_ptr, row_ptr[:n].clone(), n)
    calls = 40 if device.type == "cuda" else 5
    steps: list[Callable[[], object]] = []
    for slices, tail in _HOST_KINDS:
        split = DistributedGraph(graph, ranks.group, mode="features", slices=slices, tail=tail)
        x = torch.rand(split.n_local_cols, width, device=device)

        def call(split: Any = split, x: Tensor = x) -> None:
            spmm(split, x)

        steps.append(call)
    with torch.no_grad():
        rounds = [[_together_us(ranks, device, step, calls) for step in steps] for _ in range(1 + _ROUNDS)][1:]
    one, three, blocks = (statistics.median(taken) for taken in zip(*rounds))
    each = max(0.0, (three - one) / 2)
    return max(0.0, one - each), each, max(0.0, blocks - one) / max(1, ranks.size - 1)


class Kernel(NamedTuple):
    """A sum of all rows at a slice's width."""

    us: float
    beside_us: float = 0.0
    """What an exchange of such a slice adds, that runs beside it: it takes processors, cache and memory."""
    blocks_us: float | None = None
    """Of the same rows, each rank's after the other's, if that was timed: blocks have plans of their own."""


def pipeline_us(
    link: Link, n: int, size: int, pattern: Sequence[int], kernels_of: dict[int, Kernel], element_size: int, tail: bool
) -> float:
    """The time of by_columns(): n rows, slices of these widths on each of `size` ranks."""
    rows = n / size
    kernels = link_free = 0.0
    arrived = []
    for width in pattern:
        piece = rows * width * element_size  # of one rank's rows and another's columns
        kernels += (size - 1) * link.copy_us(piece)
        link_free = max(link_free, kernels) + link.exchange_us((size - 1) * piece)
        kernels += link.copy_us(piece)  # a rank's own
        arrived.append(link_free)
    piece = 0.0
    for s, width in enumerate(pattern):
        piece = rows * width * element_size
        beside = (s > 0) + (s + 1 < len(pattern)) + (tail and s + 1 == len(pattern))
        kernel = kernels_of[width]
        own_us = kernel.us + beside * kernel.beside_us
        kernels = max(kernels, arrived[s])
        if tail and s == len(pattern) - 1:
            if kernel.blocks_us is not None:
                own_us += kernel.blocks_us - kernel.us
            for _ in range(size - 1):
                kernels += own_us / size
                link_free = max(link_free, kernels) + link.exchange_us(piece)
            # The others' columns are placed as they come, this rank's after its kernel.
            return max(kernels + own_us / size, link_free) + link.copy_us(piece)
        kernels += own_us
        link_free = max(link_free, kernels) + link.exchange_us((size - 1) * piece)
    # What earlier slices brought was placed beside later ones' kernels, and this rank's own columns beside exchanges.
    return link_free + (size - 1) * link.copy_us(piece)


def ranked(
    link: Link,
    n: int,
    k: int,
    size: int,
    element_size: int,
    kernels_of: dict[int, Kernel],
    measured: bool,
    tails: Sequence[bool] = (False, True),
) -> list[Forecast]:
    """Every pattern of slices, the one with the least time first."""
    found = []
    for pattern in patterns(max(columns(whole_vectors(k, size, element_size), size, element_size)), element_size):
        for tail in tails if size > 1 else (False,):
            total = expected_us(link, n, size, pattern, kernels_of, element_size, tail)
            kernels_us = sum(kernels_of[width].us for width in pattern)
            host_us = link.host_us(len(pattern), size - 1 if tail else 0)
            found.append(Forecast(k, size, kernels_of[k].us, total, pattern, tail, kernels_us, measured, host_us))
    return sorted(found, key=lambda one: one.split_us)


def choose(
    link: Link, n: int, k: int, size: int, element_size: int, kernels_of: dict[int, Kernel], measured: bool
) -> Forecast:
    """The pattern of slices with the least time."""
    return ranked(link, n, k, size, element_size, kernels_of, measured)[0]


def expected_us(
    link: Link, n: int, size: int, pattern: Sequence[int], kernels_of: dict[int, Kernel], element_size: int, tail: bool
) -> float:
    """The time of a call: of its exchanges and kernels, or of the host."""
    device_us = pipeline_us(link, n, size, pattern, kernels_of, element_size, tail)
    return max(device_us, link.host_us(len(pattern), size - 1 if tail else 0))


def forecasts(
    graph: Graph, ranks: Ranks, link: Link, k: int, dtype: torch.dtype, blocks: Sequence[Graph], tails: Sequence[bool]
) -> list[Forecast]:
    """Ways over this group's ranks, the best first. Times the kernels; every rank calls it and gets the same."""
    kernels_of = spmm_times(graph, ranks, k, dtype, [ranks.size], blocks)
    n = max(graph.n_rows, graph.n_cols)
    return ranked(link, n, k, ranks.size, dtype.itemsize, kernels_of, True, tails)


def worth_a_try(found: Forecast) -> bool:
    """Whether a few calls cost little, or may show a gain."""
    return found.split_us < max(_SOON_US, _WORTH_A_TRY * found.one_us)


def tried(ranks: Ranks, device: torch.device, ways: Sequence[tuple[Forecast, Callable[[], object]]]) -> list[Forecast]:
    """The same with what the calls took, in turns. Every rank makes the same calls and gets the same."""
    taken: list[list[float]] = [[] for _ in ways]
    for _ in range(_ROUNDS):
        for (found, call), times in zip(ways, taken):
            calls = max(5, min(60, int(_TRY_US / max(1.0, found.split_us))))
            times.append(_together_us(ranks, device, call, calls))
    return [found._replace(tried_us=statistics.median(times)) for (found, _), times in zip(ways, taken)]


def spmm_times(
    graph: Graph, ranks: Ranks, k: int, dtype: torch.dtype, sizes: Sequence[int], blocks: Sequence[Graph] = ()
) -> dict[int, Kernel]:
    """The kernels of a sum of k columns, and of every width of a slice of them over groups of these sizes.

    blocks: the graph's rows, each rank's of this group, if the last slices' sums are to be timed by blocks, too.
    """
    widths, last = {k}, set()
    for size in sizes:
        for pattern in patterns(
            max(columns(whole_vectors(k, size, dtype.itemsize), size, dtype.itemsize)), dtype.itemsize
        ):
            widths.update(pattern)
            if size == ranks.size:
                last.add(pattern[-1])
    return {width: _kernel(graph, ranks, width, dtype, blocks if width in last else ()) for width in sorted(widths)}


def _kernel(graph: Graph, ranks: Ranks, width: int, dtype: torch.dtype, blocks: Sequence[Graph]) -> Kernel:
    if 0 in (width, graph.m, graph.n_cols):
        return Kernel(0.0)
    x = torch.rand(graph.n_cols, width, device=graph.device).to(dtype)

    def spmm() -> None:
        execute(graph, "spmm", PLAIN_PAIR.bare, x, None, None)

    def by_blocks() -> None:
        for block in blocks:
            if block.n_rows:
                execute(block, "spmm", PLAIN_PAIR.bare, x, None, None)

    alone = float(max(ranks.gather_objects(time_us(graph.device, spmm))))
    of_blocks = float(max(ranks.gather_objects(time_us(graph.device, by_blocks)))) if blocks else None
    if graph.device.type != "cuda" or ranks.size == 1:
        return Kernel(alone, 0.0, of_blocks)
    rows = even(graph.n_rows, ranks.size)
    ins = [x.new_empty(0 if q == ranks.rank else rows[q], width) for q in range(ranks.size)]
    outs = [x.new_empty(0 if q == ranks.rank else rows[ranks.rank], width) for q in range(ranks.size)]

    def exchange() -> None:
        ranks.all_to_all(outs, ins).wait()

    def beside() -> None:
        pending = ranks.all_to_all(outs, ins)
        spmm()
        pending.wait()

    exchanged = _together_us(ranks, graph.device, exchange, ahead=True)
    both = _together_us(ranks, graph.device, beside, ahead=True)
    return Kernel(alone, max(0.0, both - max(alone, exchanged)), of_blocks)
