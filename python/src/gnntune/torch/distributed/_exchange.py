"""From rows split among the ranks to columns split among them, and back, a slice of columns at a time.

    x of rank r          [n_r, k]      its own rows, all columns
    slice s on rank r    [n, w_r]      all rows, the slice's columns of rank r

`to_columns` packs the columns of the other ranks, sends them, and receives straight into the rows where they belong.
`to_rows` sends rows of a slice as they lie, and places what comes among the columns. What a rank keeps for itself goes
through no collective.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from gnntune.torch.distributed._ranks import Pending, Ranks
from gnntune.torch.distributed._split import Range, Slice, offsets


def to_columns(ranks: Ranks, x: Tensor, part: Slice, counts: Sequence[int]) -> tuple[Tensor, Pending]:
    """The slice's columns of this rank, of all rows; they are there after wait(). counts: rows of each rank."""
    me, n_own = ranks.rank, x.shape[0]
    first, last = part.by_rank[me]
    starts = offsets(counts)
    whole = x.new_empty(starts[-1], last - first)
    empty = x.new_empty(0)
    ins = [
        empty if q == me or a == b or n_own == 0 else x[:, a:b].contiguous() for q, (a, b) in enumerate(part.by_rank)
    ]
    outs = [empty if q == me else whole[starts[q] : starts[q + 1]] for q in range(ranks.size)]
    pending = ranks.all_to_all(outs, ins)
    whole[starts[me] : starts[me + 1]].copy_(x[:, first:last])  # beside the exchange
    return whole, pending


def to_rows(
    ranks: Ranks, y: Tensor, part: Slice, counts: Sequence[int], out: Tensor, *, accumulate: bool = False
) -> Pending:
    """Sends the rows of other ranks to them; after wait() `out` has this rank's rows of every rank's columns.

    accumulate: columns of several ranks are the same ones of `out`, and are added to it in the order of the ranks.
    """
    starts = offsets(counts)
    blocks = [y[a:b] for a, b in itertools.pairwise(starts)]
    return blocks_to_rows(ranks, dict(enumerate(blocks)), part, out, accumulate=accumulate)


def blocks_to_rows(
    ranks: Ranks, blocks: dict[int, Tensor], part: Slice, out: Tensor, *, accumulate: bool = False, step: int = 0
) -> Pending:
    """As to_rows(), of those ranks' rows alone. With `step` rank r sends to r + step, and receives from r - step."""
    me, size, n_own = ranks.rank, ranks.size, out.shape[0]
    empty = out.new_empty(0)
    ins = [empty if q == me or q not in blocks else blocks[q] for q in range(size)]
    sources = range(size) if step == 0 else [(me - step) % size]
    widths = part.widths()
    outs = [empty if q == me or q not in sources else out.new_empty(n_own, widths[q]) for q in range(size)]
    pending = ranks.all_to_all(outs, ins)

    def place(ranks_of: Iterable[int]) -> None:
        for q in ranks_of:
            piece = blocks.get(me) if q == me else outs[q]
            if piece is None or piece.numel() == 0:
                continue
            first, last = part.by_rank[q]
            if accumulate:
                out[:, first:last].add_(piece)
            else:
                out[:, first:last].copy_(piece)

    if accumulate:
        return Then(pending, lambda: None, lambda: place(sources))
    # What a rank keeps is placed beside the exchange.
    return Then(pending, lambda: place([q for q in sources if q == me]), lambda: place([q for q in sources if q != me]))


class Then(Pending):
    """An exchange, what is done while it is on its way, and what with what it brought."""

    def __init__(self, pending: Pending, meanwhile: Callable[[], None], place: Callable[[], None]) -> None:
        self._pending, self._meanwhile, self._place, self._placed = pending, meanwhile, place, False

    def wait(self) -> None:
        if self._placed:
            return
        self._meanwhile()
        self._pending.wait()
        self._place()
        self._placed = True


def by_columns(
    ranks: Ranks,
    x: Tensor,
    parts: Sequence[Slice],
    rows_in: Sequence[int],
    rows_out: Sequence[int],
    compute: Callable[[int, Tensor], Tensor],
    compute_block: Callable[[int, Tensor, int], Tensor] | None = None,
) -> Tensor:
    """An operation on columns, of rows that are split: y of this rank's rows, [rows_out of it, k].

    compute(s, x_s): the rows of all ranks of slice s. While it runs, slices that come later are on their way in, and
    earlier ones on their way out and to their places. compute_block(s, x_s, q), if given: the same of the rows of rank
    q alone; the last slice is computed so, this rank's rows last, and only the placing of these comes after it.
    """
    me, size = ranks.rank, ranks.size
    arriving = [to_columns(ranks, x, part, rows_in) for part in parts]
    y = x.new_empty(rows_out[me], x.shape[1])
    # After a slice that is the only one no kernel follows that could run beside.
    leaving = Leaving(x.device, beside=len(parts) > 1 or compute_block is not None)
    for s, (part, (x_s, pending)) in enumerate(zip(parts, arriving)):
        pending.wait()
        if compute_block is not None and s == len(parts) - 1:
            for step in range(1, size):
                q = (me + step) % size
                block = compute_block(s, x_s, q)
                leaving.add(blocks_to_rows(ranks, {q: block}, part, y, step=step), block)
            first, last = part.by_rank[me]
            y[:, first:last].copy_(compute_block(s, x_s, me))
        else:
            y_s = compute(s, x_s)
            leaving.add(to_rows(ranks, y_s, part, rows_out, y), y_s)
    leaving.join()
    return y


class Leaving:
    """Results on their way out. What they bring is placed beside the kernels that follow, on a stream of its own; or
    where none follow on the current one, which spares the host."""

    _streams: ClassVar[dict[torch.device, Any]] = {}

    def __init__(self, device: torch.device, beside: bool = True) -> None:
        self._side: Any = None
        if device.type == "cuda" and beside:
            self._side = self._streams.get(device)
            if self._side is None:
                stream: Any = torch.cuda.Stream
                # Of high priority: its copies are small, and wait for a kernel that fills the GPU otherwise.
                self._side = self._streams[device] = stream(device, priority=-1)
            self._current = torch.cuda.current_stream(device)
        self._kept: list[Any] = []

    def add(self, pending: Pending, sent: Tensor) -> None:
        """Takes an exchange that has begun, and what it sends."""
        if self._side is None:
            # To wait for it now would be to stop: for the one before, which has come by now.
            self._finish()
        else:
            self._side.wait_stream(self._current)
            with torch.cuda.stream(self._side):
                pending.wait()
        # Memory of the current stream that the other ones read: it stays until the current one has waited for them.
        self._kept += [pending, sent]

    def join(self) -> None:
        """The current stream goes on when all is placed."""
        if self._side is None:
            self._finish()
        else:
            self._current.wait_stream(self._side)
        self._kept.clear()

    def _finish(self) -> None:
        for pending in self._kept[::2]:
            pending.wait()
        self._kept.clear()


def all_ranks(first_last: Range, size: int) -> Slice:
    """The same columns for every rank."""
    return Slice((first_last,) * size)


def own_rows(x: Tensor, counts: Sequence[int], rank: int) -> Tensor:
    starts = offsets(counts)
    return x[starts[rank] : starts[rank + 1]]


def empty_like_rows(x: Tensor, rows: int) -> Tensor:
    return torch.empty((rows, *x.shape[1:]), dtype=x.dtype, device=x.device)
