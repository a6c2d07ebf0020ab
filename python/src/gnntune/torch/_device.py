"""Contexts of the devices that torch works on: opened when first needed, with torch's allocator and streams."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import weakref
from typing import TYPE_CHECKING, Any

import torch

from gnntune import _native
from gnntune._errors import InvalidArgument
from gnntune._handle import Handle
from gnntune._problem import SOURCES

if TYPE_CHECKING:
    from gnntune.torch._graph import Graph

_lock = threading.RLock()
_contexts: dict[torch.device, Handle] = {}
_cpu = torch.device("cpu")
_pid = os.getpid()
_options: dict[str, Any] = {"db": None, "sources": None, "tune_budget_us": -1, "format_limit_bytes": -1}

_graphs: dict[int, weakref.ref[Graph]] = {}
"""Every graph by its number. A graph takes itself out: that costs less than a WeakValueDictionary."""

# The stream of this thread as a number; a tenth of what torch.cuda.current_stream() costs.
_raw_stream: Any = getattr(torch._C, "_cuda_getCurrentRawStream", None)


def enter(number: int, graph: Graph) -> None:
    """Makes a graph known by its number, until leave()."""
    _graphs[number] = weakref.ref(graph)


def leave(number: int, _pop: Any = _graphs.pop) -> None:
    """Forgets a number; at the interpreter's end too."""
    _pop(number, None)


def graph_of(number: int) -> Graph | None:
    """The graph of a number, if it lives: for the operators that torch.compile calls."""
    known = _graphs.get(number)
    return None if known is None else known()


def all_graphs() -> list[Graph]:
    """Every graph that lives."""
    return [graph for known in list(_graphs.values()) if (graph := known()) is not None]


_sides: dict[torch.device, Any] = {}


def side_stream(device: torch.device) -> Any:
    """The stream of a device for what is warmed up or timed beside the current one.

    It is one. cuBLAS keeps memory for each stream that a product ever ran on. torch cuts that from a block of the
    stream's own, and the whole block stays. torch.cuda.Stream() names 32 streams in turn.
    """
    device = torch.device("cuda", torch.cuda.current_device()) if device.index is None else device
    with _lock:
        if device not in _sides:
            _sides[device] = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        return _sides[device]


def stream_of(device: torch.device) -> int:
    """The current stream of a device, as the library takes it."""
    if device.type != "cuda":
        return 0
    if _raw_stream is not None:
        return int(_raw_stream(device.index))
    return int(torch.cuda.current_stream(device).cuda_stream)


def capturing(device: torch.device) -> bool:
    """Whether the current stream is being captured in a CUDA graph."""
    return device.type == "cuda" and torch.cuda.is_current_stream_capturing()


def configure(
    db: str | os.PathLike[str] | None = None,
    *,
    sources: str | None = None,
    tune_budget_us: int | None = None,
    format_limit_bytes: int | None = None,
) -> None:
    """Says which database the operations of `gnntune.torch` go by, and how; see gnntune.Context for the arguments.

    Graphs stay valid. Their plans are made anew, and so see what was tuned in the meantime. Not while a CUDA graph that
    was captured with them is still replayed, nor beside running operations of other threads.
    """
    if sources not in SOURCES:
        raise InvalidArgument(f"sources is {sources!r}; expected db_then_model, db_only or tune_on_miss")
    with _lock:
        _options.update(
            db=None if db is None else os.fspath(db),
            sources=sources,
            tune_budget_us=-1 if tune_budget_us is None else tune_budget_us,
            format_limit_bytes=-1 if format_limit_bytes is None else format_limit_bytes,
        )
        reopen()


def database() -> str | None:
    """The database that configure() named."""
    path: str | None = _options["db"]
    return path


def reopen() -> None:
    """Forgets contexts and plans: the next operation opens the database again."""
    with _lock:
        for graph in all_graphs():
            graph.forget_plans()
        _contexts.clear()


def open_context(device: torch.device, **changes: Any) -> Handle:
    """A context of its own on a device, with configure()'s options but for `changes`."""
    options = {**_options, **changes}
    on_gpu = device.type == "cuda"
    alloc = free = None
    if on_gpu:
        cuda: Any = torch.cuda
        cuda.init()
        alloc, free = _allocator(device.index)

    return Handle(
        _native.open(
            options["db"],
            _native.BACKEND_CUDA if on_gpu else _native.BACKEND_CPU,
            device.index if on_gpu else -1,
            SOURCES[options["sources"]],
            False,
            options["tune_budget_us"],
            options["format_limit_bytes"],
            alloc,
            free,
            on_gpu,  # what torch's allocator hands out and takes back keeps the order of streams
        ),
        _native.close,
    )


def _allocator(index: int) -> tuple[Any, Any]:
    """torch's caching allocator, on the current stream, which is the one that the library is given to build on.

    The library has made the device current. The C functions that compiled models allocate by take the fewest detours.
    Without them, what torch.cuda.caching_allocator_alloc() does beside the call of the last branch costs many times as
    much.
    """
    if _native.has_raw_memory():
        return True, None
    raw_alloc: Any = getattr(torch._C, "_cuda_cudaCachingAllocator_raw_alloc", None)
    raw_delete: Any = getattr(torch._C, "_cuda_cudaCachingAllocator_raw_delete", None)
    if raw_alloc is None or raw_delete is None or _raw_stream is None:
        cuda: Any = torch.cuda

        def alloc(size: int) -> int:
            return int(cuda.caching_allocator_alloc(size, index))

        def free(address: int, _size: int) -> None:
            cuda.caching_allocator_delete(address)

        return alloc, free

    def quick_alloc(size: int) -> int:
        return int(raw_alloc(size, _raw_stream(index)))

    def quick_free(address: int, _size: int) -> None:
        raw_delete(address)

    return quick_alloc, quick_free


def context_of(device: torch.device) -> Handle:
    """The context of a device. A child of fork goes on with its parent's on the CPU, and has none on a GPU."""
    context = _contexts.get(device)
    if context is not None:
        return context
    with _lock:
        context = _contexts.get(device)
        if context is None:
            context = _contexts[device] = open_context(device)
        return context


def usable() -> bool:
    """Whether CUDA may be called: not in a child of fork, and not at the interpreter's end."""
    return os.getpid() == _pid and not sys.is_finalizing()


def describe(device: str | torch.device | None = None) -> str:
    """Lines for people: version, device, database and what was found in it. Default: the GPU if there is one."""
    if device is None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
    return _native.context_describe(context_of(known_device(torch.device(device))).value)


# While torch is still whole: the library gives memory back to it.
atexit.register(reopen)


def known_device(device: torch.device) -> torch.device:
    """The device with its index. Raises InvalidArgument for what is neither a CPU nor a CUDA device."""
    kind = device.type
    if kind == "cpu":
        return _cpu
    if kind != "cuda":
        raise InvalidArgument(f"gnntune runs on CPUs and CUDA devices, not on {kind}")
    return device if device.index is not None else torch.device("cuda", torch.cuda.current_device())
