"""What splitting costs and saves: rates that are measured, and a pipeline of exchanges and kernels that is computed.

A spmm of width k on one rank is timed, and so is one of each width of a slice. The link of the group and the packing of
columns are timed at several sizes. What a split call takes follows: two queues, kernels and exchanges, in the order in
which _exchange.by_columns() fills them.
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
from gnntune.torch.distributed._exchange import by_columns
from gnntune.torch.distributed._ranks import Ranks
from gnntune.torch.distributed._split import columns, even, patterns, slices_of

Points = tuple[tuple[int, float], ...]
"""Pairs of bytes and microseconds, ascending."""

_LINK_BYTES = {"cuda": (1 << 12, 1 << 18, 1 << 22, 1 << 24, 1 << 26), "cpu": (1 << 12, 1 << 16, 1 << 20)}
_COPY_BYTES = {"cuda": (1 << 12, 1 << 20, 1 << 24, 1 << 26), "cpu": (1 << 12, 1 << 16, 1 << 20)}
_COPY_WIDTH = 32


class Link(NamedTuple):
    """What the exchanges of a group take, and the packing of columns on one device."""

    size: int
    exchange: Points
    """By the bytes that a rank sends to all others."""
    copy: Points
    """By the bytes of the columns that are copied."""
    floor: tuple[float, ...]
    """Microseconds of a call of one, two, ... slices with next to no data: what the host and the latencies take."""

    def exchange_us(self, size: float) -> float:
        return _at(self.exchange, size)

    def copy_us(self, size: float) -> float:
        return _at(self.copy, size)

    def floor_us(self, slices: int) -> float:
        if slices <= len(self.floor):
            return self.floor[slices - 1]
        return self.floor[-1] * slices / len(self.floor)

    @property
    def gbps(self) -> float:
        """Bytes that a rank sends in a large exchange, and as many that it receives, per nanosecond."""
        return self.exchange[-1][0] / self.exchange[-1][1] / 1e3

    def words(self) -> str:
        return (
            f"{self.gbps:.1f} GB/s from each of {self.size} ranks, {self.exchange[0][1]:.0f} us for the smallest "
            f"exchange, {self.floor[0]:.0f} us for a call without data"
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

    @property
    def speed_up(self) -> float:
        return self.one_us / self.split_us

    def words(self) -> str:
        kind = "" if self.measured else " (no group of that size was measured)"
        how = " + ".join(map(str, self.pattern)) + (", the last by blocks of rows" if self.tail else "")
        return (
            f"k={self.k} over {self.size} ranks{kind}: {self.split_us:.0f} us, kernels {self.kernels_us:.0f}, "
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


def _by_events_us(device: torch.device, step: Callable[[], object], calls: int) -> float:
    event: Any = torch.cuda.Event
    marks = [event(enable_timing=True) for _ in range(calls + 1)]
    torch.cuda.synchronize(device)
    marks[0].record()
    for mark in marks[1:]:
        step()
        mark.record()
    torch.cuda.synchronize(device)
    return float(statistics.median(1e3 * a.elapsed_time(b) for a, b in itertools.pairwise(marks)))


def _together_us(ranks: Ranks, device: torch.device, step: Callable[[], object], calls: int = 10) -> float:
    """Time of a call that exchanges, as the slowest rank saw it: every rank makes the same number of calls."""
    for _ in range(3):
        step()
    if device.type == "cuda":
        found = _by_events_us(device, step, calls)
    else:
        times = []
        for _ in range(calls):
            begin = time.perf_counter()
            step()
            times.append(1e6 * (time.perf_counter() - begin))
        found = statistics.median(times)
    return float(max(ranks.gather_objects(found)))


def measure_link(ranks: Ranks, device: torch.device, floor: int = 3) -> Link:
    """Times the group's exchanges on tensors of random numbers. Every rank calls it; it takes less than a second."""
    exchange = tuple(_exchange_point(ranks, device, size) for size in _LINK_BYTES[device.type])
    copy = tuple(_copy_point(ranks, device, size) for size in _COPY_BYTES[device.type])
    return Link(ranks.size, exchange, copy, _floors(ranks, device, floor))


def _exchange_point(ranks: Ranks, device: torch.device, size: int) -> tuple[int, float]:
    others = max(1, ranks.size - 1)
    count = max(1, size // others // 4)
    ins = [torch.rand(0 if q == ranks.rank else count, device=device) for q in range(ranks.size)]
    outs = [torch.empty_like(t) for t in ins]
    return 4 * count * others, _together_us(ranks, device, lambda: ranks.all_to_all(outs, ins).wait())


def _copy_point(ranks: Ranks, device: torch.device, size: int) -> tuple[int, float]:
    rows = max(1, size // (4 * _COPY_WIDTH))
    wide = torch.rand(rows, 4 * _COPY_WIDTH, device=device)
    narrow = wide.new_empty(rows, _COPY_WIDTH)
    copied = time_us(device, lambda: narrow.copy_(wide[:, _COPY_WIDTH : 2 * _COPY_WIDTH]), 0.02)
    return narrow.numel() * 4, float(max(ranks.gather_objects(copied)))


def _floors(ranks: Ranks, device: torch.device, most: int) -> tuple[float, ...]:
    """Calls of by_columns() with as little data as there can be."""
    n = 4 * ranks.size
    row_ptr = torch.arange(n + 1, dtype=torch.int32, device=device)
    graph = Graph.from_csr(row_ptr, row_ptr[:n].clone(), n)
    found: list[float] = []
    for count in range(1, most + 1):
        found.append(max([_floor_us(graph, ranks, count), *found[-1:]]))
    return tuple(found)


def _floor_us(graph: Graph, ranks: Ranks, count: int) -> float:
    parts, rows = slices_of([count] * ranks.size, [1] * count), even(graph.n_rows, ranks.size)
    x = torch.rand(rows[ranks.rank], count * ranks.size, device=graph.device)

    def spmm(_: int, x_s: Tensor) -> Tensor:
        return execute(graph, "spmm", PLAIN_PAIR.bare, x_s, None, None)[0]

    return _together_us(ranks, graph.device, lambda: by_columns(ranks, x, parts, rows, rows, spmm))


def pipeline_us(
    link: Link, n: int, size: int, pattern: Sequence[int], kernel_us: Sequence[float], element_size: int, tail: bool
) -> float:
    """The time of by_columns(): n rows, slices of these widths on each of `size` ranks, kernels of kernel_us."""
    rows = n / size
    kernels = link_free = 0.0
    arrived = []
    for width in pattern:
        piece = rows * width * element_size  # of one rank's rows and another's columns
        kernels += (size - 1) * link.copy_us(piece)
        link_free = max(link_free, kernels) + link.exchange_us((size - 1) * piece)
        kernels += link.copy_us(piece)  # a rank's own
        arrived.append(link_free)
    before = 0.0
    placing = 0.0
    for s, (width, own_us) in enumerate(zip(pattern, kernel_us)):
        piece = rows * width * element_size
        kernels = max(kernels, arrived[s])
        if tail and s == len(pattern) - 1:
            for _ in range(size - 1):
                kernels += own_us / size
                link_free = max(link_free, kernels) + link.exchange_us(piece)
            kernels += own_us / size + link.copy_us(piece)
        else:
            kernels += own_us
            link_free = max(link_free, kernels) + link.exchange_us((size - 1) * piece)
        if s:
            kernels = max(kernels, before) + placing
        before, placing = link_free, (size - (tail and s == len(pattern) - 1)) * link.copy_us(piece)
    return max(kernels, before) + placing


def choose(
    link: Link, n: int, k: int, size: int, element_size: int, spmm_us: dict[int, float], measured: bool
) -> Forecast:
    """The pattern of slices with the least time. spmm_us: by width, of all rows."""
    best: Forecast | None = None
    for pattern in patterns(max(columns(k, size)), element_size):
        kernel_us = [spmm_us[width] for width in pattern]
        for tail in (False, True)[: 1 + (size > 1)]:
            total = pipeline_us(link, n, size, pattern, kernel_us, element_size, tail)
            total = max(total, link.floor_us(len(pattern) + (tail and size - 1)))
            found = Forecast(k, size, spmm_us[k], total, pattern, tail, sum(kernel_us), measured)
            if best is None or total < best.split_us:
                best = found
    assert best is not None
    return best


def forecast(graph: Graph, ranks: Ranks, link: Link, k: int, dtype: torch.dtype) -> Forecast:
    """The best way over this group's ranks. Times the kernels; every rank calls it and gets the same."""
    times = spmm_times(graph, ranks, k, dtype, [ranks.size])
    return choose(link, max(graph.n_rows, graph.n_cols), k, ranks.size, dtype.itemsize, times, True)


def spmm_times(graph: Graph, ranks: Ranks, k: int, dtype: torch.dtype, sizes: Sequence[int]) -> dict[int, float]:
    """Microseconds of a sum by its width, for every width of a slice of k columns over groups of these sizes."""
    widths = {k}
    for size in sizes:
        for pattern in patterns(max(columns(k, size)), dtype.itemsize):
            widths.update(pattern)
    found = {width: _spmm_us(graph, width, dtype) for width in sorted(widths)}
    slowest: list[dict[int, float]] = ranks.gather_objects(found)
    return {width: max(times[width] for times in slowest) for width in found}


def _spmm_us(graph: Graph, width: int, dtype: torch.dtype) -> float:
    if 0 in (width, graph.m, graph.n_cols):
        return 0.0
    x = torch.rand(graph.n_cols, width, device=graph.device).to(dtype)
    return time_us(graph.device, lambda: execute(graph, "spmm", PLAIN_PAIR.bare, x, None, None))
