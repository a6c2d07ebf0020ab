"""The time of a call on its device, without what the host adds."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable

import torch

from gnntune.torch import _device

_RUNS = 10
_ROUNDS = 5
_LONGEST_US = 50_000.0


def time_us(device: torch.device, call: Callable[[], object]) -> float:
    """Median microseconds of one call, inputs in cache as the last one left them.

    On a GPU ten calls are captured in a CUDA graph, and its replays timed with events; calls that cannot be captured
    are timed as they are. A call that takes longer than 50 ms is timed once.
    """
    return _on_gpu(call) if device.type == "cuda" else _on_cpu(call)


def _on_cpu(call: Callable[[], object]) -> float:
    call()
    times: list[float] = []
    while len(times) < _ROUNDS and sum(times) < _LONGEST_US:
        begin = time.perf_counter()
        call()
        times.append(1e6 * (time.perf_counter() - begin))
    return statistics.median(times)


def _events(call: Callable[[], object]) -> float:
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
    first.record()
    call()
    last.record()
    last.synchronize()
    return 1e3 * float(first.elapsed_time(last))


def _on_gpu(call: Callable[[], object]) -> float:
    stream = _device.side_stream(torch.device("cuda", torch.cuda.current_device()))
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        call()
        once = _events(call)
        if once > _LONGEST_US:
            return once
        recorded = torch.cuda.CUDAGraph()
        # Not by torch.cuda.graph(), which collects garbage and empties the cache first, every time. What garbage holds
        # of the GPU must not be freed meanwhile.
        collects = gc.isenabled()
        gc.disable()
        try:
            recorded.capture_begin()
            try:
                for _ in range(_RUNS):
                    call()
            finally:
                recorded.capture_end()
        except RuntimeError:
            torch.cuda.synchronize()
            return statistics.median(_events(call) for _ in range(_ROUNDS))
        finally:
            if collects:
                gc.enable()
        recorded.replay()
        found = statistics.median(_events(recorded.replay) for _ in range(_ROUNDS)) / _RUNS
    torch.cuda.current_stream().wait_stream(stream)
    return found
