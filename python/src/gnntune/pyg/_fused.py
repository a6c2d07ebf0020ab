"""Whole layers as one node of autograd: what a layer computes beside its graph operation, and all of its gradient.

On a small graph a training step is bound by the host, and most of what a layer costs there are torch's operators with a
gradient each: a linear map, two products and two sums for the scores of GAT, the bias. Here a layer is one
autograd.Function, whose tensors are recorded once. For tensors that nothing else looks at (quiet()); for all others the
layers call the operators one by one, with the same results up to rounding.

_native has each layer's function too, without a line of Python in forward and backward (_layers.c). Where a torch lacks
what that calls, the functions here do it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn.dense.linear import Linear

from gnntune import _native
from gnntune.pyg._layer import HOOKS, STEPS
from gnntune.torch import Graph, SparseFeatures
from gnntune.torch._autograd import PLAIN_TYPES, at_once, functorch_active, once, quick_apply
from gnntune.torch._gradients import FORMULAS
from gnntune.torch._operators import Now
from gnntune.torch._run import PLAIN, PLAIN_PAIR, PLAIN_REVERSED, Numbers, Pair, modes, pair_of, run, watchers
from gnntune.torch._scores import add_score_gradients, head_scores
from gnntune.torch._ways import scopes
from gnntune.torch.functional import edge_values

_LINEAR = (Linear, nn.Linear)
MODULE_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks", "forward")
"""What a module, as an object, may have that makes it more than its class."""
_GLOBAL_HOOKS = (
    "_global_backward_pre_hooks",
    "_global_backward_hooks",
    "_global_forward_hooks",
    "_global_forward_pre_hooks",
    "_global_forward_hooks_always_called",
    "_global_forward_hooks_with_kwargs",
)
_any_autocast: Any = torch._C._is_any_autocast_enabled
_tracing = torch.compiler.is_dynamo_compiling


class _Layer(torch.autograd.Function):
    """A layer of _native: what its forward() got first says what it is, and which tensors want gradients."""

    forward = staticmethod(_native.forward_layer)
    backward = staticmethod(once(_native.backward_layer))


_native.set_layers(quick_apply(_Layer), run, watchers, _Layer.backward, PLAIN_REVERSED)
_node: Any = getattr(_Layer, "_backward_cls", None)
if _node is not None and callable(getattr(_node, "apply", None)):
    _node.apply = _native.backward_of_layers(_node)


_modules: Any = nn.modules.module
_native.set_modules(
    Graph, _LINEAR, HOOKS + STEPS, tuple(getattr(_modules, name) for name in _GLOBAL_HOOKS if hasattr(_modules, name))
)


def whole() -> bool:
    """Whether layers may be computed as a whole: no sum is wanted in another way, and torch.compile traces nothing.

    What else traces comes with modes, or with tensors of its own.
    """
    return not scopes and not _tracing()


def quiet(*tensors: Tensor | None) -> bool:
    """Whether a layer of these may be computed as a whole, where whole() says so of all: tensors of one type that no
    mode, transform or autocast looks at."""
    found = _native.plain(*tensors)
    return _quiet(*tensors) if found is None else found


def _quiet(*tensors: Tensor | None) -> bool:
    """What _native.plain() does, for a torch that it cannot ask."""
    if _any_autocast() or functorch_active() or modes():
        return False
    dtype = None
    for t in tensors:
        if t is None:
            continue
        if type(t) not in PLAIN_TYPES or (t.dtype is not dtype and dtype is not None):
            return False
        dtype = t.dtype
    return True


def _is_bias(bias: Tensor | None, width: int) -> bool:
    """Whether it is a number for each feature. What else broadcasts has a gradient of another shape."""
    return bias is None or bias.shape == (width,)


def _is_attention(att: Tensor, width: int, device: torch.device) -> bool:
    """Whether it is a vector for each head, [1, heads, k], of mapped features this wide."""
    return att.dim() == 3 and att.shape[0] == 1 and att.numel() == width and att.device == device


parameters_of = _native.plain_map
"""The parameters of what is a linear map and nothing else: no hooks, no forward() of its own, and no weight that waits
for its width. Else None. Where whole() says so: torch.compile does not look into it."""


def is_map(linear: Any) -> bool:
    """Whether its weight and bias are all there is to it, so that a sum may be taken behind the weight or before."""
    if not _tracing():
        return parameters_of(linear) is not None
    return type(linear) in _LINEAR and not any(linear.__dict__.get(name) for name in MODULE_HOOKS)


def sums_first(x: Tensor | SparseFeatures, weight: Tensor, reduce: str) -> bool:
    """Whether features are aggregated before they are mapped: where a step aggregates fewer so. A maximum has to be.

    It aggregates forward and backward; where features that want no gradient come first, nothing needs the backward.
    Sparse features are mapped first: their sums are dense.
    `gnntune tune --step` goes by the same rule (core/dispatch/step.cpp).
    """
    if reduce == "max":
        return True
    if isinstance(x, SparseFeatures):
        return False
    width, out = x.shape[1], weight.shape[0]
    if width <= out:
        return True
    if not weight.requires_grad or x.requires_grad or not torch.is_grad_enabled():
        return False
    return width <= 2 * out


def constants(
    graph: Graph,
    weight: Tensor | None,
    self_weight: Tensor | None,
    dtype: torch.dtype,
    *,
    csr_order: bool,
    given: bool = True,
) -> tuple[Tensor | None, Tensor | None] | None:
    """Values of edges and vertices as runs take them; None if one of them wants a gradient.

    Of what was `given` to the layer a backward gets a copy: torch does not watch who writes to it.
    """
    for t in (weight, self_weight):
        if t is not None and ((t.requires_grad and torch.is_grad_enabled()) or not at_once((t,))):
            return None
    if weight is not None:
        values = edge_values(graph, weight, dtype, csr_order)
        weight = values.clone() if given and values is weight and torch.is_grad_enabled() else values
    return weight, None if self_weight is None else self_weight.to(dtype)


# Tensors to save go to `to_save`, as save_for_backward() has them: its call alone costs what a view does.


class _Mapped(torch.autograd.Function):
    """weight (sums of x over the graph) + root target + bias."""

    @staticmethod
    def forward(
        ctx: Any,
        graph: Graph,
        numbers: Numbers,
        edges: tuple[Tensor | None, Tensor | None],
        first: bool,
        own: bool,
        x: Tensor,
        target: Tensor | None,
        weight: Tensor,
        root: Tensor | None,
        bias: Tensor | None,
    ) -> Tensor:
        if own:  # sources are targets
            target = x
        if first:
            # Winners of a maximum are for the gradient of x, which the features of a first layer do not want.
            wanted = numbers if numbers.reduce != "max" or x.requires_grad else pair_of(numbers).bare
            summed, *argmax = run(graph, "spmm", wanted, x, *edges)
            out = summed.mm(weight.t()) if bias is None else torch.addmm(bias, summed, weight.t())
            ctx.to_save = (x if numbers.reduce != "sum" else None, summed, target, weight, root, *argmax)
        else:
            mapped = x.mm(weight.t())
            (out,) = run(graph, "spmm", numbers, mapped, *edges)
            if bias is not None:
                out.add_(bias)
            ctx.to_save = (mapped if numbers.reduce != "sum" else None, x, target, weight, root)
        if root is not None:
            assert target is not None
            out.addmm_(target, root.t())
        ctx.state = (graph, numbers, edges, first, own)
        return out

    @staticmethod
    @once
    def backward(ctx: Any, grad: Tensor) -> Any:
        graph, numbers, edges, first, own = ctx.state
        features, seen, target, weight, root, *argmax = ctx.saved_tensors
        *_, for_x, for_target, for_weight, for_root, for_bias = ctx.needs_input_grad
        if not grad.is_contiguous():
            grad = grad.contiguous()
        grad_bias = grad.sum(0) if for_bias else None
        grad_root = grad.t().mm(target) if for_root else None
        grad_target = grad.mm(root) if for_target and root is not None else None
        grad_x = grad_weight = None
        saved = (features, *edges, argmax[0] if argmax else None) if numbers.reduce != "sum" else edges
        if first:
            if for_weight:
                grad_weight = grad.t().mm(seen)
            if for_x:
                grad_x = _spmm_backward(graph, numbers, saved, grad.mm(weight))
        elif for_weight or for_x:
            mapped = _spmm_backward(graph, numbers, saved, grad)
            if for_weight:
                grad_weight = mapped.t().mm(seen)
            if for_x:
                grad_x = mapped.mm(weight)
        if own and grad_x is not None:
            grad_x.addmm_(grad, root)
        return None, None, None, None, None, grad_x, grad_target, grad_weight, grad_root, grad_bias


_apply_mapped = quick_apply(_Mapped)


def _spmm_backward(graph: Graph, numbers: Numbers, saved: tuple[Tensor | None, ...], grad: Tensor) -> Tensor:
    if numbers.reduce == "sum":
        return run(graph, "spmm", PLAIN_REVERSED, grad, *saved)[0]
    grad_x = FORMULAS["spmm"].backward(Now(graph), numbers, (True, False, False), saved, grad)[0]
    assert grad_x is not None
    return grad_x


def mapped(
    graph: Graph,
    pair: Pair,
    edges: tuple[Tensor | None, Tensor | None],
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    target: Tensor | None = None,
    root: Tensor | None = None,
) -> Tensor | None:
    """weight (the sums of x over the graph, by `pair` and with values of `edges` and vertices) + root target + bias.

    `edges` are constants, in the order of runs; linear maps are plain. None for tensors that are not quiet().
    """
    found: Any = _native.layer_mapped(graph, pair, *edges, x, weight, bias, target, root)
    if found is not None or not _is_bias(bias, weight.shape[0]) or not quiet(x, weight, bias, target, root):
        return found  # type: ignore[no-any-return]
    return mapped_in_python(graph, pair, edges, x, weight, bias, target, root)


def mapped_in_python(
    graph: Graph,
    pair: Pair,
    edges: tuple[Tensor | None, Tensor | None],
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    target: Tensor | None = None,
    root: Tensor | None = None,
) -> Tensor:
    """mapped() of tensors that are quiet()."""
    numbers = pair.full
    first = sums_first(x, weight, numbers.reduce)
    result: Tensor = _apply_mapped(
        graph, numbers, edges, first, target is x, x, None if target is x else target, weight, root, bias
    )
    return result


class _Gat(torch.autograd.Function):
    """GAT of a map of x, or of x itself where there is no map, with the bias. Features of heads stand side by side."""

    @staticmethod
    def forward(
        ctx: Any,
        graph: Graph,
        numbers: Numbers,
        x: Tensor,
        weight: Tensor | None,
        att_row: Tensor,
        att_col: Tensor,
        bias: Tensor | None,
        seed: Tensor | None,
    ) -> Tensor:
        flat = x if weight is None else x.mm(weight.t())
        h = flat.reshape(x.shape[0], *att_row.shape[1:])
        row, col = head_scores(graph, h, att_row.contiguous(), att_col.contiguous())
        out, lse = run(graph, "gat", numbers, h, row, col, seed)
        ctx.to_save = (None if weight is None else x, weight, att_row, att_col, h, row, col, out, lse, seed)
        ctx.state = (graph, numbers)
        result = out.view(flat.shape)
        return result if bias is None else result + bias

    @staticmethod
    @once
    def backward(ctx: Any, grad: Tensor) -> Any:
        graph, numbers = ctx.state
        x, weight, att_row, att_col, h, row, col, out, lse, seed = ctx.saved_tensors
        for_x, for_weight, for_row, for_col, for_bias = ctx.needs_input_grad[2:7]
        if not grad.is_contiguous():
            grad = grad.contiguous()
        grad_bias = grad.sum(0) if for_bias else None
        g, g_row, g_col = run(graph, "gat_grad", numbers, h, row, col, grad.view(h.shape), out, lse, seed)
        att = att_row.contiguous(), att_col.contiguous()
        grad_row, grad_col = add_score_gradients(
            graph, h.contiguous(), att, (g_row, g_col), g if for_x or for_weight else None, (for_row, for_col)
        )
        flat = g.flatten(1)
        grad_weight = flat.t().mm(x) if for_weight else None
        grad_x = None if not for_x else flat if weight is None else flat.mm(weight)
        return None, None, grad_x, grad_weight, grad_row, grad_col, grad_bias, None


_apply_gat = quick_apply(_Gat)


def gat(
    graph: Graph,
    pair: Pair,
    x: Tensor,
    weight: Tensor | None,
    att_row: Tensor,
    att_col: Tensor,
    bias: Tensor | None,
    seed: Tensor | None,
) -> Tensor | None:
    """GAT of a square graph on x mapped by `weight`, or on x [n, heads k] where that is None: [n, heads k], plus bias.

    None for tensors that are not quiet().
    """
    found: Any = _native.layer_gat(graph, pair, x, weight, att_row, att_col, bias, seed)
    width = x.shape[1] if weight is None else weight.shape[0]
    if found is not None or not _is_bias(bias, width) or not quiet(x, weight, att_row, att_col, bias):
        return found  # type: ignore[no-any-return]
    if not all(_is_attention(att, width, x.device) for att in (att_row, att_col)) or att_row.shape != att_col.shape:
        return None
    result: Tensor = _apply_gat(graph, pair.full, x, weight, att_row, att_col, bias, seed)
    return result


class _Agnn(torch.autograd.Function):
    """AGNN of x with itself."""

    @staticmethod
    def forward(ctx: Any, graph: Graph, x: Tensor, beta: Tensor) -> Tensor:
        out, lse = run(graph, "agnn", PLAIN, x, x, beta)
        ctx.to_save = (x, beta, out, lse)
        ctx.graph = graph
        return out

    @staticmethod
    @once
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, beta, out, lse = ctx.saved_tensors
        grad_x, grad_row, grad_beta = run(ctx.graph, "agnn_grad", PLAIN, x, x, beta, grad, out, lse)
        return None, grad_x.add_(grad_row), grad_beta


_apply_agnn = quick_apply(_Agnn)


def agnn(graph: Graph, x: Tensor, beta: Tensor) -> Tensor | None:
    """AGNN of a square graph. None for tensors that are not quiet()."""
    found: Any = _native.layer_agnn(graph, PLAIN_PAIR, x, beta)
    if found is not None or not quiet(x, beta):
        return found  # type: ignore[no-any-return]
    result: Tensor = _apply_agnn(graph, x, beta)
    return result
