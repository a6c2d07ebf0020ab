"""What splitting costs and saves: from rates that were measured, a pipeline of exchanges and kernels is computed.

A spmm of width k on one rank is timed, and so is one of each width of a slice, alone, beside an exchange, and by blocks
of rows. The link of the group, the packing of columns and the host's calls are timed, too (_timing). What a split call
takes follows: two queues, kernels and exchanges, in the order in which _exchange.by_columns() fills them; or what the
host takes for it, if that is more. The patterns of slices that are the fastest by that are then tried. Numbers alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from gnntune.torch.distributed._split import columns, patterns, whole_vectors

Points = tuple[tuple[int, float], ...]
"""Pairs of bytes and microseconds, ascending."""

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
    device_us: float = 0.0
    """What its kernels and exchanges take: split_us is no less."""
    tried_us: float | None = None
    """What it took when it was tried."""

    @property
    def expected_us(self) -> float:
        """What a call takes: as it was tried, else as it was computed."""
        return self.split_us if self.tried_us is None else self.tried_us

    @property
    def speed_up(self) -> float:
        return self.one_us / self.expected_us

    def with_host(self, link: Link) -> Forecast:
        """The same split with the host's time of that link. What it took when it was tried is forgotten."""
        host_us = link.host_us(len(self.pattern), self.size - 1 if self.tail else 0)
        return self._replace(host_us=host_us, split_us=max(self.device_us, host_us), tried_us=None)

    def words(self) -> str:
        kind = "" if self.measured else " (no group of that size was measured)"
        how = " + ".join(map(str, self.pattern)) + " columns" + (", the last by blocks of rows" if self.tail else "")
        tried = "" if self.tried_us is None else f"{self.tried_us:.0f} us when tried, forecast "
        return (
            f"k={self.k} over {self.size} ranks{kind}: {tried}{self.split_us:.0f} us, kernels {self.kernels_us:.0f}, "
            f"beside {self.one_us:.0f} us on one: {self.speed_up:.2f}x with slices of {how}"
        )


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
            device_us = pipeline_us(link, n, size, pattern, kernels_of, element_size, tail)
            kernels_us = sum(kernels_of[width].us for width in pattern)
            way = Forecast(k, size, kernels_of[k].us, 0.0, pattern, tail, kernels_us, measured, device_us=device_us)
            found.append(way.with_host(link))
    return sorted(found, key=lambda one: one.split_us)


def choose(
    link: Link, n: int, k: int, size: int, element_size: int, kernels_of: dict[int, Kernel], measured: bool
) -> Forecast:
    """The pattern of slices with the least time."""
    return ranked(link, n, k, size, element_size, kernels_of, measured)[0]


def worth_a_try(found: Forecast) -> bool:
    """Whether a few calls cost little, or may show a gain."""
    return found.split_us < max(_SOON_US, _WORTH_A_TRY * found.one_us)
