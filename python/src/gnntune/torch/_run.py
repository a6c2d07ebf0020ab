"""One run of an operation: checks what it is given, finds its plan, allocates results and calls the library.

Nothing here knows of gradients. Inputs are tensors on the graph's device; what is not contiguous, or not aligned to 16
bytes, is copied first. Per-edge arrays are in CSR order.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from gnntune import _native
from gnntune._errors import InvalidArgument, Unsupported
from gnntune._problem import Problem
from gnntune.torch import _device

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnntune.torch._graph import Graph

DTYPES = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16"}
_HALF = (torch.float16, torch.bfloat16)
_WORKSPACE_ALIGNMENT = 256
_deterministic = torch.are_deterministic_algorithms_enabled
_functorch_active: Any = getattr(torch._C, "_are_functorch_transforms_active", lambda: True)

# Inputs of each operation in the order in which run() takes them, by their names in gnntune_operands.
INPUTS = {
    "spmm": ("x", "edge_weight", "self_weight"),
    "spmm_grad": ("x", "edge_weight", "self_weight", "grad_y", "argmax_saved"),
    "sddmm": ("x_row", "x"),
    "edge_softmax": ("edge_weight",),
    "gat": ("x", "score_row", "score_col", "seed_offset"),
    "gat_grad": ("x", "score_row", "score_col", "grad_y", "y_saved", "lse_saved", "seed_offset"),
    "agnn": ("x", "x_row", "beta"),
    "agnn_grad": ("x", "x_row", "beta", "grad_y", "y_saved", "lse_saved"),
    "attention": ("x", "x_row", "key", "seed_offset"),
    "attention_grad": ("x", "x_row", "key", "grad_y", "y_saved", "lse_saved", "seed_offset"),
    "gcn_norm": ("edge_weight",),
}
_OTHER_TYPES = {"lse_saved": torch.float32, "argmax_saved": torch.int32, "seed_offset": torch.int64}


class Numbers(NamedTuple):
    """What a run has beside its arrays, and what its problem has beside its sizes."""

    reduce: str = "sum"
    reversed: bool = False
    scale: float = 1.0
    negative_slope: float = 0.2
    dropout: float = 0.0
    optional: bool = True  # lse and argmax are wanted
    max_error: float = 0.0
    allow_sampling: bool = False
    config: str = ""  # "": chosen


@functools.lru_cache(maxsize=1024)
def numbers_of(
    reduce: str = "sum",
    reversed: bool = False,
    scale: float = 1.0,
    negative_slope: float = 0.2,
    dropout: float = 0.0,
    optional: bool = True,
    max_error: float = 0.0,
    allow_sampling: bool = False,
    config: str = "",
) -> Numbers:
    """Numbers that are one object whenever they are equal; not for code that torch.compile traces."""
    return Numbers(reduce, reversed, scale, negative_slope, dropout, optional, max_error, allow_sampling, config)


class Pair(NamedTuple):
    """Numbers of a run that a gradient may follow, and of one that none does."""

    full: Numbers
    bare: Numbers


@functools.lru_cache(maxsize=1024)
def pair_of(numbers: Numbers) -> Pair:
    """Both of them, one object each."""
    return Pair(numbers_of(*numbers), numbers_of(*numbers._replace(optional=False)))


# The numbers of most calls. Those that come again are one object each: calls are found by it (Graph._fast).
PLAIN_PAIR = pair_of(Numbers())
PLAIN = PLAIN_PAIR.full
PLAIN_REVERSED = numbers_of(*Numbers(reversed=True))


class Call(NamedTuple):
    """All of a run but its arrays, for inputs of the shapes that it was prepared for."""

    code: bytes
    workspace_bytes: int
    outputs: tuple[tuple[tuple[int, ...], torch.dtype], ...]
    shared: bool  # runs on several streams may use its plan at once
    names: tuple[str, ...] = ()  # of the outputs
    problem: Problem | None = None
    through_f32: bool = False  # no variant has the problem's type here: it is computed in float32


Watcher = Callable[["Graph", str, Numbers, "tuple[Tensor | None, ...]"], "tuple[Tensor, ...]"]
watchers: list[Watcher] = []
"""Who is asked in the place of a run, the last one; nearly always nobody. Of every thread, backward's too."""


def run(graph: Graph, op: str, numbers: Numbers, *inputs: Tensor | None) -> tuple[Tensor, ...]:
    """Runs `op` on the current stream of the graph's device. Returns its results, in the order of outputs_of()."""
    if watchers:
        return watchers[-1](graph, op, numbers, inputs)
    results: Any = _native.run_tensors(graph, op, numbers, *inputs)
    return _run(graph, op, numbers, *inputs) if results is None else results


def run_unwatched(graph: Graph, op: str, numbers: Numbers, *inputs: Tensor | None) -> tuple[Tensor, ...]:
    """run() for who watches it."""
    results: Any = _native.run_tensors(graph, op, numbers, *inputs)
    return _run(graph, op, numbers, *inputs) if results is None else results


def _run(graph: Graph, op: str, numbers: Numbers, *inputs: Tensor | None) -> tuple[Tensor, ...]:
    """What run() does, step by step; prepares what it does at once the next time."""
    if any(t is not None and t.layout is torch.strided and not t.is_contiguous() for t in inputs):
        # The gradient of a sum, say, whose elements are all one: the copy may be of a kind that was seen.
        inputs = tuple(t.contiguous() if t is not None and t.layout is torch.strided else t for t in inputs)
        results: Any = _native.run_tensors(graph, op, numbers, *inputs)
        if results is not None:
            return results  # type: ignore[no-any-return]
    key = (op, numbers, _deterministic(), *[None if t is None else (t.shape, t.dtype, t.device) for t in inputs])
    call = graph._calls.get(key)
    new = call is None
    if call is None or not call.shared:
        call = _prepare(graph, key, op, numbers, inputs)
    # What runs in C asks no watcher. In a transform of torch.func new tensors are its own, which nothing may keep.
    if call.shared and not call.through_f32 and new and not watchers and not _functorch_active():
        (_learn if graph.transient else _remember)(graph, op, numbers, call, inputs)
    if call.through_f32:
        wide = run(graph, op, numbers, *[t.float() if t is not None and t.dtype in _HALF else t for t in inputs])
        return tuple(t.to(dtype) for t, (_, dtype) in zip(wide, call.outputs))
    stream = _device.stream_of(graph.device)
    if stream:
        graph.note_stream(stream)
    made = [torch.empty(shape, dtype=dtype, device=graph.device) for shape, dtype in call.outputs]
    arrays: list[Any] = [t for t in inputs if t is not None]
    arrays += made
    memory, workspace = _workspace(graph, call.workspace_bytes)
    if not _native.run(call.code, stream, workspace, *arrays):
        count = len(arrays) - len(made)
        arrays = [t if t.data_ptr() % 16 == 0 else t.clone() for t in arrays[:count]] + made
        if not _native.run(call.code, stream, workspace, *arrays):
            raise InvalidArgument("torch gave memory that is not aligned to 16 bytes")
    del memory
    return tuple(made)


# ---- The way of run_tensors(), in C ----

# Types and devices as DLPack numbers them.
_DL_TYPES = {
    torch.float32: (2, 32),
    torch.float16: (2, 16),
    torch.bfloat16: (4, 16),
    torch.int32: (0, 32),
    torch.int64: (0, 64),
}
_MOST_SHAPES = 16  # that an operation is remembered with on one graph
_MOST_NUMBERS = 256
_dispatch_modes: Any = getattr(torch._C, "_len_torch_dispatch_stack", lambda: 0)
_jit_traces: Any = torch._C._is_tracing
_forward_names = vars(torch.autograd.forward_ad)


def modes() -> bool:
    """Whether something looks at what is called: a dispatch mode, torch.jit.trace or forward-mode differentiation."""
    return bool(_dispatch_modes() or _jit_traces() or _forward_names["_current_level"] >= 0)


# How calls are made on transient graphs, by operation, id of the numbers (which stay alive beside it) and determinism.
_recipes: dict[tuple[str, int, bool], tuple[Numbers, list[Any]]] = {}
_can_run_tensors = _native.set_torch(
    Tensor,
    torch.nn.Parameter,
    torch.empty_like,
    modes,
    torch._C._is_any_autocast_enabled,
    torch.is_grad_enabled,
    torch._C._get_deterministic_algorithms,
    _functorch_active,
    _recipes,
    _forward_names,
    getattr(Tensor, "__dlpack_c_exchange_api__", None),
)


def _remember(graph: Graph, op: str, numbers: Numbers, call: Call, inputs: Sequence[Tensor | None]) -> None:
    if not _can_run_tensors or any(t is not None and t.dim() > 4 for t in inputs):
        return
    device, forms = _forms(graph, inputs)
    size = call.workspace_bytes + (_WORKSPACE_ALIGNMENT if graph.device.type == "cpu" else 0)
    like = tuple(_like(graph, *output) for output in call.outputs)
    if not all(torch.empty_like(t).is_contiguous() for t in like):
        return
    entry = (
        _native.tensor_call(call.code, device, forms),
        like,
        _like(graph, (size,), torch.uint8) if call.workspace_bytes else None,
    )
    key = (op, id(numbers), _deterministic())
    if len(graph._fast) >= _MOST_NUMBERS:  # of a dropout that changes with each step, say
        graph._fast.clear()
        graph._calls.clear()
    # The numbers stay alive beside their id.
    calls = graph._fast.setdefault(key, (numbers, []))[1]
    if len(calls) < _MOST_SHAPES:
        calls.append(entry)


def _forms(graph: Graph, inputs: Sequence[Tensor | None]) -> tuple[tuple[int, int], tuple[Any, ...]]:
    """The device, and shapes, devices and types of tensors, as _native takes them."""
    device = (2, graph.device.index) if graph.device.type == "cuda" else (1, 0)
    return device, tuple(None if t is None else (tuple(t.shape), device, _DL_TYPES[t.dtype]) for t in inputs)


_SIZES = {"n_rows": 0, "n_cols": 1, "m": 2}  # places in Graph._sizes
_TURNED = {"n_rows": 1, "n_cols": 0, "m": 2}


def _learn(graph: Graph, op: str, numbers: Numbers, call: Call, inputs: Sequence[Tensor | None]) -> None:
    """Keeps how this call was made, for later transient graphs: all but their sizes."""
    problem = call.problem
    if not _can_run_tensors or problem is None or any(t is not None and t.dim() > 4 for t in inputs):
        return
    places = _TURNED if numbers.reversed else _SIZES
    device, forms = _forms(graph, inputs)
    arrays = problem.inputs()
    leads = tuple(places.get(arrays[name].shape[0], -1) if name in arrays else -1 for name in INPUTS[op])
    outputs = problem.outputs()
    results = []
    for name, (shape, _) in zip((n for n in outputs if numbers.optional or not outputs[n].optional), call.outputs):
        like = name.removeprefix("grad_")
        alike = INPUTS[op].index(like) if name != like else -1
        results.append((alike, places.get(outputs[name].shape[0], -1), shape))
    names = tuple(name for name, t in zip(INPUTS[op], inputs) if t is not None) + call.names
    code = _native.prepare(0, names, _native.NO_ACTIVATION, numbers.scale, numbers.negative_slope, numbers.dropout, 0)
    entry = (
        _native.recipe(code, device, forms, leads, tuple(results)),
        problem,
        problem.native(),
        tuple(torch.empty(1, dtype=dtype, device=graph.device) for _, dtype in call.outputs),
        torch.empty(1, dtype=torch.uint8, device=graph.device),
        # Self loops ask for a square graph, which Graph.plan() looks at.
        None if problem.self_loop else _native.problem(*problem.native()),
    )
    if len(_recipes) >= _MOST_NUMBERS:  # of a dropout that changes with each step, say
        _recipes.clear()
    known = _recipes.setdefault((op, id(numbers), _deterministic()), (numbers, []))[1]
    if len(known) < _MOST_SHAPES and all(other[0] != entry[0] for other in known):
        known.append(entry)


def _like(graph: Graph, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """A tensor of this shape, with memory for one element."""
    return torch.empty(1, dtype=dtype, device=graph.device).expand(shape)


def _workspace(graph: Graph, size: int) -> tuple[Tensor | None, Any]:
    """Memory of a run, and its address at a multiple of 256 bytes. torch's allocator takes care of the stream."""
    if size == 0:
        return None, None
    if graph.device.type == "cuda":
        memory = torch.empty(size, dtype=torch.uint8, device=graph.device)
        return memory, memory
    memory = torch.empty(size + _WORKSPACE_ALIGNMENT, dtype=torch.uint8, device=graph.device)
    return memory, -(-memory.data_ptr() // _WORKSPACE_ALIGNMENT) * _WORKSPACE_ALIGNMENT


def problem_of(graph: Graph, op: str, numbers: Numbers, given: dict[str, Tensor | None]) -> Problem:
    """The problem of a run with these inputs, by their names."""
    heads, k = _sizes(op, given)
    return Problem(
        op,
        k,
        heads,
        dtype=DTYPES[_dtype(op, given)],
        reduce=numbers.reduce,
        direction="reversed" if numbers.reversed else "forward",
        weighted=given.get("edge_weight") is not None and op != "edge_softmax",
        self_loop=given.get("self_weight") is not None,
        deterministic=_deterministic(),
        max_error=numbers.max_error,
        allow_sampling=numbers.allow_sampling,
        # A batch is gone after its step: no format pays, and nobody counts features, which waits for the GPU.
        expected_calls=1.0 if graph.transient else 1000.0,
        config=numbers.config or None,
    )


def _prepare(graph: Graph, key: Any, op: str, numbers: Numbers, inputs: Sequence[Tensor | None]) -> Call:
    given = dict(zip(INPUTS[op], inputs))
    _check_types(graph, op, given)
    problem = problem_of(graph, op, numbers, given)
    _check_shapes(graph, problem, given)
    outputs = outputs_of(graph, problem, numbers, given)
    try:
        plan = graph.plan(problem)
    except Unsupported:
        if problem.dtype == "f32":
            raise
        call = graph._calls[key] = Call(b"", 0, tuple(outputs.values()), shared=True, through_f32=True)
        return call
    names = tuple(name for name, t in given.items() if t is not None) + tuple(outputs)
    call = Call(
        _native.prepare(
            plan.value,
            names,
            _native.NO_ACTIVATION,
            numbers.scale,
            numbers.negative_slope,
            numbers.dropout,
            0,
        ),
        _native.plan_facts(plan.value)[2],
        tuple(outputs.values()),
        graph.plan_is_shared(problem),
        tuple(outputs),
        problem,
    )
    graph._calls[key] = call
    return call


def _dtype(op: str, given: dict[str, Tensor | None]) -> torch.dtype:
    first = next((t for t in given.values() if t is not None), None)
    return torch.float32 if first is None else first.dtype


def _check_types(graph: Graph, op: str, given: dict[str, Tensor | None]) -> None:
    dtype = _dtype(op, given)
    for name, t in given.items():
        if t is None:
            continue
        if t.device != graph.device:
            raise InvalidArgument(f"{op}: {name} is on {t.device}, the graph on {graph.device}; move one of them")
        if t.layout != torch.strided:
            raise InvalidArgument(f"{op}: {name} is a sparse tensor ({t.layout}); expected a dense one")
        wanted = _OTHER_TYPES.get(name, dtype)
        if wanted is dtype and dtype not in DTYPES:
            raise TypeError(f"{op}: {name} is of {dtype}; gnntune computes in float32, float16 and bfloat16")
        if t.dtype != wanted:
            raise TypeError(f"{op}: {name} is of {t.dtype}; expected {wanted}")


def _sizes(op: str, given: dict[str, Tensor | None]) -> tuple[int, int]:
    """Heads and features of the problem."""
    if op == "gcn_norm":
        return 1, 1
    weight = given.get("edge_weight")
    if op == "edge_softmax":
        assert weight is not None
        if weight.dim() not in (1, 2):
            raise InvalidArgument(f"edge_softmax: logits have {weight.dim()} dimensions; expected [m] or [m, heads]")
        return (weight.shape[1] if weight.dim() == 2 else 1), 1
    x = given["x"]
    assert x is not None
    if x.dim() < 2:
        raise InvalidArgument(f"{op}: x has {x.dim()} dimensions; expected [n, k] or [n, heads, k]")
    if op in ("spmm", "spmm_grad"):
        if weight is not None and weight.dim() == 2 and weight.shape[1] > 1:
            if x.dim() != 3 or x.shape[1] != weight.shape[1]:
                raise InvalidArgument(
                    f"{op}: weight has {weight.shape[1]} heads and x the shape {tuple(x.shape)}; "
                    f"expected [n, {weight.shape[1]}, k]"
                )
            return x.shape[1], x.shape[2]
        return 1, prod(x.shape[1:])
    if x.dim() > 3:
        raise InvalidArgument(f"{op}: x has {x.dim()} dimensions; expected [n, k] or [n, heads, k]")
    return (x.shape[1] if x.dim() == 3 else 1), x.shape[-1]


def _rows_and_columns(graph: Graph, problem: Problem) -> tuple[int, int]:
    forward = problem.direction == "forward"
    return (graph.n_rows, graph.n_cols) if forward else (graph.n_cols, graph.n_rows)


def _check_shapes(graph: Graph, problem: Problem, given: dict[str, Tensor | None]) -> None:
    n_rows, n_cols = _rows_and_columns(graph, problem)
    sizes = {"n_rows": n_rows, "n_cols": n_cols, "m": graph.m, "heads": problem.heads, "k": problem.k}
    for name, array in problem.inputs().items():
        t = given.get(name)
        if t is None:
            if name in given:
                raise InvalidArgument(f"{problem.op}: {name} is missing")
            continue
        shape = tuple(sizes[s] for s in array.shape)
        # Leading size, then as many elements as there have to be: [n, h k] is [n, h, k], but [n, k, h] is not. Heads of
        # sums may be parts of k.
        turned = t.dim() == len(shape) == 3 and t.shape != shape and problem.op not in ("spmm", "spmm_grad")
        if t.dim() == 0 or t.shape[0] != shape[0] or prod(t.shape) != prod(shape) or turned:
            if t.dim() == 2 and len(shape) == 3:  # one head, or heads side by side
                shape = (shape[0], shape[1] * shape[2])
            raise InvalidArgument(f"{problem.op}: {name} has the shape {tuple(t.shape)}; expected {shape} on {graph!r}")
    seed = given.get("seed_offset")
    if seed is not None and seed.numel() != 1:
        raise InvalidArgument(f"{problem.op}: the seed has {seed.numel()} elements; expected one")
    if problem.self_loop and not graph.is_square:
        raise InvalidArgument(f"{problem.op}: self loops need a square graph, not {graph!r}")


def outputs_of(
    graph: Graph, problem: Problem, numbers: Numbers, given: dict[str, Tensor | None]
) -> dict[str, tuple[tuple[int, ...], torch.dtype]]:
    """Shapes and types of the results, by their names in gnntune_operands."""
    n_rows, n_cols = _rows_and_columns(graph, problem)
    sizes = {"n_rows": n_rows, "n_cols": n_cols, "m": graph.m, "heads": problem.heads, "k": problem.k}
    dtype = _dtype(problem.op, given)
    types = {"": dtype, "f32": torch.float32, "int32": torch.int32}
    results: dict[str, tuple[tuple[int, ...], torch.dtype]] = {}
    for name, array in problem.outputs().items():
        if array.optional and not numbers.optional:
            continue
        like = given.get(name.removeprefix("grad_"))
        x = given.get("x")
        if like is not None:  # a gradient
            shape = tuple(like.shape)
        elif array.shape[1:] == ("heads", "k") and x is not None:
            shape = (sizes[array.shape[0]], *x.shape[1:])
        elif array.shape == ("m", "heads") and (x is None or x.dim() == 2):
            logits = given.get("edge_weight")
            shape = (graph.m,) if logits is None else tuple(logits.shape)
        else:
            shape = tuple(sizes[s] for s in array.shape)
        results[name] = (shape, types[array.dtype])
    return results
