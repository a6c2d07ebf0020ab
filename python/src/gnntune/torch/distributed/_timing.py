"""Times of exchanges, kernels and calls, which the ranks of a group take together.

A GPU under load is not always as fast: when its power passes the limit, a second after a pause, its clock falls for
tenths of a second, and calls take a seventh longer. A host drifts by half within as short a time. So what is compared
is measured in turns, and of several rounds the median counts.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from gnntune.torch._graph import Graph
from gnntune.torch._operators import execute
from gnntune.torch._run import PLAIN_PAIR
from gnntune.torch.distributed._model import Forecast, Kernel, Link
from gnntune.torch.distributed._ranks import Ranks
from gnntune.torch.distributed._split import columns, even, patterns, whole_vectors

Step = Callable[[], object]

_LINK_BYTES = {"cuda": (1 << 12, 1 << 18, 1 << 22, 1 << 24, 1 << 26), "cpu": (1 << 12, 1 << 16, 1 << 20)}
_COPY_BYTES = {"cuda": (1 << 12, 1 << 20, 1 << 24, 1 << 26), "cpu": (1 << 12, 1 << 16, 1 << 20)}
_COPY_WIDTH = 32
_AHEAD_CYCLES = 1_000_000  # of a call that the host enqueues: 500 us
_HOST_KINDS = ((1, False), (3, False), (1, True))  # slices, and whether the last one is made by blocks
_HOST_CALLS = {"cuda": 8, "cpu": 2}  # of each kind, one after the other: at a moment
_HOST_MOMENTS = 9
_ROUNDS = 3
_KERNEL_S = 0.07  # of a round
_FEW = 5  # calls of what is exchanged, in a round
_TRY_US = 200_000  # of each way, if that is enough for some calls
_TRIES = (15, 180)


def time_us(device: torch.device, step: Step, seconds: float = 0.2, most: int = 30) -> float:
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
    return _between_us(device, [step], repeats)[0]


def _between_us(device: torch.device, steps: Sequence[Step], rounds: int, ahead: bool = False) -> list[float]:
    """Median time of each of these calls, one after the other, round by round: from the end of the one before to its
    own end. ahead: the GPU sleeps until the host has enqueued all, whose time is then not seen."""
    times: list[list[float]] = [[] for _ in steps]
    if device.type != "cuda":
        for _ in range(rounds):
            for step, taken in zip(steps, times):
                begin = time.perf_counter()
                step()
                taken.append(1e6 * (time.perf_counter() - begin))
        return [statistics.median(taken) for taken in times]
    event: Any = torch.cuda.Event
    marks = [event(enable_timing=True) for _ in range(rounds * len(steps) + 1)]
    left = iter(marks)
    torch.cuda.synchronize(device)
    if ahead:
        sleep: Any = torch.cuda._sleep
        sleep(rounds * len(steps) * _AHEAD_CYCLES)
    next(left).record()
    for _ in range(rounds):
        for step in steps:
            step()
            next(left).record()
    torch.cuda.synchronize(device)
    for number, (a, b) in enumerate(itertools.pairwise(marks)):
        times[number % len(steps)].append(1e3 * a.elapsed_time(b))
    return [statistics.median(taken) for taken in times]


def in_turns_us(
    ranks: Ranks, device: torch.device, steps: Sequence[Step], rounds: int = 10, ahead: bool = False
) -> list[float]:
    """Median time of each of these calls as the slowest rank saw it. Calls may exchange: every rank makes the same."""
    return [float(max(times)) for times in zip(*_by_rank_us(ranks, device, steps, rounds, ahead))]


def _by_rank_us(
    ranks: Ranks, device: torch.device, steps: Sequence[Step], rounds: int, ahead: bool
) -> list[list[float]]:
    for _ in range(3):
        for step in steps:
            step()
    return ranks.gather_objects(_between_us(device, steps, rounds, ahead))


def by_rank_us(ranks: Ranks, device: torch.device, step: Step, calls: int) -> list[float]:
    """Median time of a call on each rank."""
    return [times[0] for times in _by_rank_us(ranks, device, [step], calls, False)]


def together_us(ranks: Ranks, device: torch.device, step: Step, calls: int = 10, ahead: bool = False) -> float:
    return in_turns_us(ranks, device, [step], calls, ahead)[0]


# ---- The link and the host ----


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
    return 4 * count * others, together_us(ranks, device, lambda: ranks.all_to_all(outs, ins).wait(), ahead=True)


def _copy_point(ranks: Ranks, device: torch.device, size: int) -> tuple[int, float]:
    rows = max(1, size // (4 * _COPY_WIDTH))
    wide = torch.rand(rows, 4 * _COPY_WIDTH, device=device)
    narrow = wide.new_empty(rows, _COPY_WIDTH)
    copied = together_us(ranks, device, lambda: narrow.copy_(wide[:, _COPY_WIDTH : 2 * _COPY_WIDTH]), 20, ahead=True)
    return narrow.numel() * 4, copied


class HostCalls:
    """Calls of a split spmm with as little data as there can be: what they take is the host's time.

    It drifts. So it is taken when a forecast is made, at moments between the times of the kernels.
    """

    def __init__(self, ranks: Ranks, device: torch.device) -> None:
        from gnntune.torch.distributed._graph import DistributedGraph  # which imports this
        from gnntune.torch.distributed.functional import spmm

        self._ranks, self._device = ranks, device
        self._taken: list[list[float]] = []
        n = 4 * ranks.size
        width = max(slices for slices, _ in _HOST_KINDS) * ranks.size
        row_ptr = torch.arange(n + 1, dtype=torch.int32, device=device)
        graph = Graph.from_csr(row_ptr, row_ptr[:n].clone(), n)
        self._steps: list[Step] = []
        for slices, tail in _HOST_KINDS:
            split = DistributedGraph(graph, ranks.group, mode="features", slices=slices, tail=tail)
            x = torch.rand(split.n_local_cols, width, device=device)

            def call(split: Any = split, x: Tensor = x) -> None:
                spmm(split, x)

            self._steps.append(call)

    def moment(self) -> None:
        with torch.no_grad():
            self._taken.append(in_turns_us(self._ranks, self._device, self._steps, _HOST_CALLS[self._device.type]))

    def now(self) -> tuple[float, float, float]:
        """Link.host, by this moment alone."""
        self._taken.clear()
        self.moment()
        return self.found()

    def found(self) -> tuple[float, float, float]:
        """Link.host, by the median moment."""
        one, three, blocks = (statistics.median(taken) for taken in zip(*self._taken))
        each = max(0.0, (three - one) / 2)
        return max(0.0, one - each), each, max(0.0, blocks - one) / max(1, self._ranks.size - 1)


def measure_host(ranks: Ranks, device: torch.device) -> tuple[float, float, float]:
    """Link.host, as it is now."""
    calls = HostCalls(ranks, device)
    calls.moment()
    calls._taken.clear()  # the first calls take longer
    for _ in range(_HOST_MOMENTS):
        calls.moment()
    return calls.found()


# ---- Kernels and calls ----


def spmm_times(
    graph: Graph,
    ranks: Ranks,
    k: int,
    dtype: torch.dtype,
    sizes: Sequence[int],
    blocks: Sequence[Graph] = (),
    between: Step = lambda: None,
) -> dict[int, Kernel]:
    """The kernels of a sum of k columns, and of every width of a slice of them over groups of these sizes.

    blocks: the graph's rows, each rank's of this group, if the last slices' sums are to be timed by blocks, too.
    between: is called after each time.
    """
    widths, last = {k}, set()
    for size in sizes:
        for pattern in patterns(
            max(columns(whole_vectors(k, size, dtype.itemsize), size, dtype.itemsize)), dtype.itemsize
        ):
            widths.update(pattern)
            if size == ranks.size:
                last.add(pattern[-1])
    rounds: dict[int, list[Kernel]] = {width: [] for width in sorted(widths)}
    order = list(rounds)
    for number in range(_ROUNDS):
        first = number * len(order) // _ROUNDS  # what comes once a second does not meet the same one each time
        for width in order[first:] + order[:first]:
            rounds[width].append(_kernel(graph, ranks, width, dtype, blocks if width in last else ()))
            between()
    return {width: _median_of(found) for width, found in rounds.items()}


def _median_of(rounds: Sequence[Kernel]) -> Kernel:
    by_blocks = [one.blocks_us for one in rounds if one.blocks_us is not None]
    return Kernel(
        statistics.median(one.us for one in rounds),
        statistics.median(one.beside_us for one in rounds),
        statistics.median(by_blocks) if by_blocks else None,
    )


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

    def alone(step: Step) -> float:
        return float(max(ranks.gather_objects(time_us(graph.device, step, _KERNEL_S))))

    us = alone(spmm)
    of_blocks = alone(by_blocks) if blocks else None
    if graph.device.type != "cuda" or ranks.size == 1:
        return Kernel(us, 0.0, of_blocks)
    rows = even(graph.n_rows, ranks.size)
    ins = [x.new_empty(0 if q == ranks.rank else rows[q], width) for q in range(ranks.size)]
    outs = [x.new_empty(0 if q == ranks.rank else rows[ranks.rank], width) for q in range(ranks.size)]

    def exchange() -> None:
        ranks.all_to_all(outs, ins).wait()

    def both() -> None:
        pending = ranks.all_to_all(outs, ins)
        spmm()
        pending.wait()

    # In turns: the difference of times that are taken one after the other is that of the moments, too.
    exchanged, kernel, together = in_turns_us(ranks, graph.device, [exchange, spmm, both], _FEW, ahead=True)
    return Kernel(us, max(0.0, together - max(kernel, exchanged)), of_blocks)


def tried(ranks: Ranks, device: torch.device, ways: Sequence[tuple[Forecast, Step]]) -> list[Forecast]:
    """The same with what the calls took, in turns. Every rank makes the same calls and gets the same."""
    least, most = _TRIES
    expected = sum(found.split_us for found, _ in ways)
    rounds = max(least, min(most, int(len(ways) * _TRY_US / max(1.0, expected))))
    taken = in_turns_us(ranks, device, [call for _, call in ways], rounds)
    return [found._replace(tried_us=us) for (found, _), us in zip(ways, taken)]
