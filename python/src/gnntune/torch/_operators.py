"""The operations as operators registered with PyTorch, for torch.compile and all else that traces: gnntune::spmm, ...

An operator gets the graph as its arrays and its number, which is symbolic: a compiled function serves every graph.
Eager code does not come here: a call of an operator costs several times what the operation does.
"""

from __future__ import annotations

import threading
from typing import Any

import torch
from torch import Tensor
from torch import library as registration

from gnntune._errors import Unsupported
from gnntune.torch import _device
from gnntune.torch._gradients import FORMULAS, Formula
from gnntune.torch._run import Numbers, run

_GRAPH = "Tensor row_ptr, Tensor col, SymInt graph, SymInt n_cols"
_GRAPH_ARGUMENTS = 4

# Inputs before the graph, numbers behind it by their names in Numbers, results.
_SCHEMAS = {
    "spmm": (
        "Tensor x, Tensor? weight, Tensor? self_weight",
        "str reduce, bool reversed, float max_error, bool allow_sampling, str config=''",
        "Tensor",
    ),
    "spmm_max": ("Tensor x, Tensor? weight, Tensor? self_weight", "", "(Tensor, Tensor)"),
    "spmm_grad": (
        "Tensor x, Tensor? weight, Tensor? self_weight, Tensor grad_y, Tensor? argmax",
        "str reduce",
        "(Tensor, Tensor, Tensor)",
    ),
    "sddmm": ("Tensor x_row, Tensor x", "float scale", "Tensor"),
    "edge_softmax": ("Tensor logits", "", "Tensor"),
    "edge_softmax_grad": ("Tensor y, Tensor grad_y", "", "Tensor"),
    "gat": (
        "Tensor x, Tensor score_row, Tensor score_col, Tensor? seed",
        "float negative_slope, float dropout",
        "(Tensor, Tensor)",
    ),
    "gat_grad": (
        "Tensor x, Tensor score_row, Tensor score_col, Tensor grad_y, Tensor y, Tensor lse, Tensor? seed",
        "float negative_slope, float dropout",
        "(Tensor, Tensor, Tensor)",
    ),
    "agnn": ("Tensor x, Tensor x_row, Tensor beta", "", "(Tensor, Tensor)"),
    "agnn_grad": (
        "Tensor x, Tensor x_row, Tensor beta, Tensor grad_y, Tensor y, Tensor lse",
        "",
        "(Tensor, Tensor, Tensor)",
    ),
    "attention": (
        "Tensor x, Tensor x_row, Tensor key, Tensor? seed",
        "float scale, float dropout",
        "(Tensor, Tensor)",
    ),
    "attention_grad": (
        "Tensor x, Tensor x_row, Tensor key, Tensor grad_y, Tensor y, Tensor lse, Tensor? seed",
        "float scale, float dropout",
        "(Tensor, Tensor, Tensor)",
    ),
    "gcn_norm": ("Tensor? weight", "", "(Tensor, Tensor)"),
    "gcn": ("Tensor x", "bool reversed", "Tensor"),
}


def _names(text: str) -> list[str]:
    return [part.split()[-1].partition("=")[0] for part in text.split(", ") if part]


_INPUT_COUNT = {name: len(_names(inputs)) for name, (inputs, _, _) in _SCHEMAS.items()}
_NUMBERS = {name: _names(numbers) for name, (_, numbers, _) in _SCHEMAS.items()}


def edge_softmax_grad(row_ptr: Tensor, row: Tensor, y: Tensor, grad: Tensor) -> Tensor:
    """The gradient of a softmax over the edges of each target: y (grad - the target's sum of y grad)."""
    products = (y * grad).float()
    # An empty segment's sum is 0. Offsets are int64 for every backend of torch.
    sums = torch.segment_reduce(products, "sum", offsets=row_ptr.long(), axis=0, unsafe=True, initial=0)
    return (products - y.float() * sums[row]).to(y.dtype)


def execute(graph: Any, op: str, numbers: Numbers, *inputs: Tensor | None) -> tuple[Tensor, ...]:
    """Runs an operation on a Graph at once, those among them that are made of others."""
    if op == "gcn":
        (x,) = inputs
        assert x is not None
        bare = graph.without_loops()
        return run(bare, "spmm", numbers, x, *bare.norm(x.dtype))
    if op == "edge_softmax_grad":
        y, grad = inputs
        assert y is not None and grad is not None
        if not graph.runs_in_csr_order:
            result = edge_softmax_grad(graph.row_ptr, graph.row, y[graph.perm], grad[graph.perm])
            return (result[graph.inverse],)
        return (edge_softmax_grad(graph.row_ptr, graph.row, y, grad),)
    return run(graph, op, numbers, *inputs)


class Now:
    """Runs operations on a Graph at once."""

    __slots__ = ("graph",)

    def __init__(self, graph: Any) -> None:
        self.graph = graph

    def run(self, op: str, numbers: Numbers, *inputs: Tensor | None) -> tuple[Tensor, ...]:
        return execute(self.graph, op, numbers, *inputs)


class Traced:
    """A graph as operators get it: runs operations by calling further operators."""

    def __init__(self, row_ptr: Tensor, col: Tensor, number: Any, n_cols: Any) -> None:
        self.arguments = (row_ptr, col, number, n_cols)

    def run(self, op: str, numbers: Numbers, *inputs: Tensor | None) -> tuple[Tensor, ...]:
        name = "spmm_max" if op == "spmm" and numbers.reduce == "max" else op
        operator = getattr(torch.ops.gnntune, name)
        results = operator(*inputs, *self.arguments, *[getattr(numbers, field) for field in _NUMBERS[name]])
        if isinstance(results, Tensor):
            return (results,)
        if op == "spmm_grad":  # what is not there came as an empty tensor
            wanted = (True, inputs[1] is not None, inputs[2] is not None)
            return tuple(result for result, there in zip(results, wanted) if there)
        return tuple(results)


def _graph_of(number: int) -> Any:
    graph = _device.graph_of(number & ~1)
    if graph is None:
        raise RuntimeError(
            f"the graph number {number} is gone: keep a Graph as long as compiled code is called with it"
        )
    return graph.with_loops() if number & 1 else graph


def _settle(number: int, op: str, numbers: Numbers, inputs: tuple[Tensor | None, ...]) -> None:
    """Makes what a graph keeps from the first run of an operation on, apart from the memory of compiled code.

    Compiled code that becomes CUDA graphs warms up on a stream of its own, and takes all memory of its thread from a
    pool in which nothing else may stay: no plan, no format. So the first run there happens twice, once in a thread.
    """
    graph = _device.graph_of(number & ~1)
    stream = 0 if graph is None else _device.stream_of(graph.device)
    if graph is None or stream == 0:
        return
    shapes = [None if t is None else (t.shape, t.dtype) for t in inputs]
    key = (number, op, numbers, stream, torch.are_deterministic_algorithms_enabled(), *shapes)
    if key in graph._settled or _device.capturing(graph.device):
        return
    errors: list[BaseException] = []
    current = torch.cuda.current_stream(graph.device)

    def run_apart() -> None:
        try:
            with torch.no_grad(), torch.cuda.stream(current):
                # A transient graph keeps something of the second run too.
                for _ in range(1 + graph.transient):
                    execute(_graph_of(number), op, numbers, *inputs)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run_apart)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    graph._settled |= {key}


def _implementation(name: str) -> Any:
    op = "spmm" if name == "spmm_max" else name
    count = _INPUT_COUNT[name]
    fields = _NUMBERS[name]
    fixed: dict[str, Any] = {"reduce": "max"} if name == "spmm_max" else {}

    def implementation(*arguments: Any) -> Any:
        inputs = arguments[:count]
        numbers = Numbers(**fixed, **dict(zip(fields, arguments[count + _GRAPH_ARGUMENTS :])))
        _settle(arguments[count + 2], op, numbers, inputs)
        graph = _graph_of(arguments[count + 2])
        results = execute(graph, op, numbers, *inputs)
        if name == "spmm_grad":
            rest = iter(results[1:])
            return results[0], *[next(rest) if inputs[i] is not None else results[0].new_empty(0) for i in (1, 2)]
        return results[0] if len(results) == 1 else results

    return implementation


def _fake(name: str) -> Any:
    count = _INPUT_COUNT[name]

    def empty(t: Tensor, *shape: Any, dtype: torch.dtype | None = None) -> Tensor:
        return t.new_empty(shape, dtype=dtype or t.dtype)

    def fake(*arguments: Any) -> Any:
        first = arguments[0]
        row_ptr, col, _, n_cols = arguments[count : count + _GRAPH_ARGUMENTS]
        n_rows, m = row_ptr.shape[0] - 1, col.shape[0]
        if name in ("spmm", "gcn"):
            turned = arguments[count + _GRAPH_ARGUMENTS + _NUMBERS[name].index("reversed")]
            rows = n_cols if turned else n_rows
            return empty(first, rows, *first.shape[1:])
        if name == "spmm_max":
            shape = (n_rows, *first.shape[1:])
            return empty(first, *shape), empty(first, *shape, dtype=torch.int32)
        if name == "spmm_grad":
            weights = [empty(first, 0) if t is None else empty(t, *t.shape) for t in arguments[1:3]]
            return empty(first, *first.shape), *weights
        if name == "sddmm":
            return empty(first, m, *arguments[1].shape[1:-1])  # heads are a dimension where x has one for them
        if name in ("edge_softmax", "edge_softmax_grad"):
            return empty(first, *first.shape)
        if name == "gcn_norm":
            like = row_ptr if first is None else first
            dtype = torch.float32 if first is None else first.dtype
            return empty(like, m, dtype=dtype), empty(like, n_rows, dtype=dtype)
        if name.endswith("_grad"):
            return tuple(empty(t, *t.shape) for t in arguments[:3])
        heads = first.shape[1] if first.dim() == 3 else 1
        return empty(first, n_rows, *first.shape[1:]), empty(first, n_rows, heads, dtype=torch.float32)

    return fake


def _autograd(name: str, formula: Formula) -> tuple[Any, Any]:
    count = _INPUT_COUNT[name]
    fields = _NUMBERS[name]
    fixed: dict[str, Any] = {"reduce": "max"} if name == "spmm_max" else {}

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        results: tuple[Tensor, ...] = (output,) if isinstance(output, Tensor) else output
        if len(results) > 1:
            ctx.mark_non_differentiable(results[1])
        ctx.graph = inputs[count : count + _GRAPH_ARGUMENTS][2:]
        # Code that is not compiled may let go of a Graph and ask for gradients after that. Where something traces, the
        # number is symbolic.
        ctx.kept = _device.graph_of(ctx.graph[0] & ~1) if isinstance(ctx.graph[0], int) else None
        ctx.numbers = Numbers(**fixed, **dict(zip(fields, inputs[count + _GRAPH_ARGUMENTS :])))
        needs = ctx.needs_input_grad[:count]
        saved = formula.save(ctx.numbers, needs, inputs[:count], results)
        ctx.save_for_backward(*saved, *inputs[count : count + 2])

    def backward(ctx: Any, grad: Tensor, *_: Any) -> Any:
        *saved, row_ptr, col = ctx.saved_tensors
        runner = Traced(row_ptr, col, *ctx.graph)
        grads = formula.backward(runner, ctx.numbers, ctx.needs_input_grad[:count], saved, grad)
        return *grads, *[None] * (_GRAPH_ARGUMENTS + len(fields))

    return setup_context, backward


NO_SECOND = (
    "gnntune has no second derivative of this (create_graph=True): spmm as a sum and sddmm, of gnntune.torch, have "
    "one, and so have PyTorch Geometric's own layers, which gnntune.pyg.revert() gives back"
)


def _refused(*_: Any) -> Any:
    """The gradient of what is one: torch would take it for a constant."""
    raise Unsupported(NO_SECOND)


def _reorder(values: Tensor, order: Tensor, inverse: Tensor) -> Tensor:
    return values.index_select(0, order)


def _keep_order(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(*inputs[1:])


def _reorder_back(ctx: Any, grad: Tensor) -> Any:
    order, inverse = ctx.saved_tensors
    return torch.ops.gnntune.reordered(grad, inverse, order), None, None


_new_library: Any = registration.Library
_library = _new_library("gnntune", "DEF")
for _name, (_inputs, _numbers, _results) in _SCHEMAS.items():
    _schema = f"({', '.join(part for part in (_inputs, _GRAPH, _numbers) if part)}) -> {_results}"
    _library.define(_name + _schema, tags=(torch.Tag.pt2_compliant_tag, torch.Tag.needs_exact_strides))
    for _key in ("CPU", "CUDA"):
        _library.impl(_name, _implementation(_name), _key)
    registration.register_fake(f"gnntune::{_name}", _fake(_name), lib=_library)
    _formula = FORMULAS.get("spmm" if _name == "spmm_max" else _name)
    if _formula is not None:
        _setup, _backward = _autograd(_name, _formula)
        registration.register_autograd(f"gnntune::{_name}", _backward, setup_context=_setup, lib=_library)
    else:
        registration.register_autograd(f"gnntune::{_name}", _refused, lib=_library)

# values[order], both ways: its gradient is grad[inverse], which torch's own index_select would sum with atomics.
_library.define("reordered(Tensor values, Tensor order, Tensor inverse) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))
for _key in ("CPU", "CUDA"):
    _library.impl("reordered", _reorder, _key)
registration.register_fake("gnntune::reordered", lambda values, *_: values.new_empty(values.shape), lib=_library)
registration.register_autograd("gnntune::reordered", _reorder_back, setup_context=_keep_order, lib=_library)
