"""Who has which rows, columns and heads: numbers alone, no tensors of features."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

Range = tuple[int, int]
"""From the first to behind the last."""

_ROW_BYTES = 128
"""A row of a slice that is narrower than a cache line costs as much to gather as one of a line."""
_VECTOR_BYTES = 16
"""Rows of whole vectors are gathered by the widest loads."""
_UNITS = (8, 4, 2, 1)
_UNEVEN = 1.05


def even(n: int, parts: int) -> list[int]:
    """Sizes of parts of n things that differ by one at most; the first are the larger ones."""
    return [n // parts + (part < n % parts) for part in range(parts)]


def offsets(sizes: Sequence[int]) -> list[int]:
    """Where each part begins, and behind the last the sum."""
    found = [0]
    for size in sizes:
        found.append(found[-1] + size)
    return found


def ranges(sizes: Sequence[int], first: int = 0) -> list[Range]:
    starts = offsets(sizes)
    return [(first + a, first + b) for a, b in itertools.pairwise(starts)]


def whole_vectors(k: int, parts: int, element_size: int) -> int:
    """The columns that k are filled up to, so that parts have whole vectors; k where they are narrower than that."""
    vector = _VECTOR_BYTES // element_size
    return -(-k // vector) * vector if k >= parts * vector else k


def columns(k: int, parts: int, element_size: int) -> list[int]:
    """How many of k columns each rank has: whole vectors if there are enough, pairs of them if that is as even."""
    vector = _VECTOR_BYTES // element_size
    if k < parts * vector or k % vector:
        return even(k, parts)
    pairs = [2 * vector * size for size in even(k // (2 * vector), parts)]
    if k % (2 * vector) == 0 and max(pairs) <= _UNEVEN * k / parts:
        return pairs
    return [vector * size for size in even(k // vector, parts)]


class Slice(NamedTuple):
    """A part of every rank's columns that is exchanged and computed at once."""

    by_rank: tuple[Range, ...]
    """Of the whole x: the columns of each rank."""

    def widths(self) -> list[int]:
        return [b - a for a, b in self.by_rank]


def slices_of(sizes: Sequence[int], pattern: Sequence[int], unit: int = 1) -> list[Slice]:
    """The slices of ranks that have `sizes` columns each, by a pattern of widths of the widest of them.

    Another rank's slices are as its share of columns. Each is a multiple of `unit`, as the sizes are.
    """
    whole = sum(pattern)
    grain = _UNITS[0] if unit == 1 and not any(width % _UNITS[0] for width in pattern[:-1]) else unit
    per_rank = []
    for (first, _), size in zip(ranges(sizes), sizes):
        cuts = [min(size, round(edge * size / whole / grain) * grain) if whole else 0 for edge in offsets(pattern)]
        widths = [b - a for a, b in itertools.pairwise([*cuts[:-1], size])] if size != whole else pattern
        per_rank.append(ranges(widths, first))
    return [Slice(tuple(found)) for found in zip(*per_rank)]


def patterns(width: int, element_size: int, unit: int = 1) -> list[tuple[int, ...]]:
    """Ways to cut a rank's columns into slices: none has rows of less than a cache line, but for a width that is."""
    grain = unit if unit > 1 else next(u for u in _UNITS if width % u == 0)
    least = max(1, _ROW_BYTES // element_size)
    least = -(-least // grain) * grain
    found: list[tuple[int, ...]] = [(width,)]
    for count in (2, 4):
        sizes = tuple(grain * size for size in even(width // grain, count))
        if width % grain == 0 and sizes[-1] >= least:
            found.append(sizes)
    # What is exposed is the first slice's way in and the last one's way out: these narrow, the others wide.
    if width >= 4 * least and (width - 2 * least) % grain == 0:
        found.append((least, width - 2 * least, least))
    # By blocks the last one's way out is hidden, too: the first ones narrow, the last wide.
    quarter = width // 4
    if width % (4 * grain) == 0 and quarter >= least:
        found.append((quarter, quarter, 2 * quarter))
    return list(dict.fromkeys(found))
