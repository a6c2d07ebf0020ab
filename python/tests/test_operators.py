"""The operators registered with PyTorch: opcheck, torch.compile without graph breaks or recompiling for each graph."""

from __future__ import annotations

import contextlib
import threading

import pytest
import reference

torch = pytest.importorskip("torch")
import torch._dynamo.testing
from torch import library as registration

import gnntune.torch as gt
from gnntune.torch import _device, _operators

ops = torch.ops.gnntune


def values(device, *shape, grad=False, dtype=torch.float32):
    t = torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))
    return t.to(device, dtype).requires_grad_(grad)


def cases(g: gt.Graph, device: str, grad: bool):
    """(operator, inputs in front of the graph, numbers behind it)."""
    n, m = g.n_rows, g.m

    def v(*shape):
        return values(device, *shape, grad=grad)

    with torch.no_grad():
        plain = [values(device, *s) for s in ((n, 2, 4), (n, 2), (n, 2))]
        y, lse = ops.gat(*plain, None, *arguments(g), 0.2, 0.0)
        seed = torch.tensor([7], device=device)
    yield ops.spmm.default, (v(n, 8), v(m), v(n)), ("sum", False, 0.0, False)
    yield ops.spmm.default, (v(n, 8), None, None), ("sum", True, 0.0, False)
    yield ops.spmm.default, (v(n, 8), v(m), None), ("mean", False, 0.0, False)
    yield ops.spmm.default, (v(n, 2, 4), v(m, 2), None), ("sum", False, 0.0, False)
    yield ops.gcn.default, (v(n, 8),), (False,)
    yield ops.spmm_max.default, (v(n, 8), v(m), None), ()
    yield ops.sddmm.default, (v(n, 2, 4), v(n, 2, 4)), (0.5,)
    yield ops.edge_softmax.default, (v(m, 2),), ()
    yield ops.gat.default, (v(n, 2, 4), v(n, 2), v(n, 2), seed), (0.2, 0.5)
    yield ops.gat.default, (v(n, 2, 4), v(n, 2), v(n, 2), None), (0.1, 0.0)
    yield ops.agnn.default, (v(n, 8), v(n, 8), v(1)), ()
    yield ops.attention.default, (v(n, 2, 4), v(n, 2, 4), v(n, 2, 4), seed), (0.5, 0.3)
    if not grad:
        grad_y = values(device, n, 2, 4)
        yield ops.gat_grad.default, (*plain, grad_y, y, lse, None), (0.2, 0.0)
        yield ops.spmm_grad.default, (plain[0], values(device, m), None, grad_y, None), ("sum",)
        yield ops.edge_softmax_grad.default, (values(device, m, 2), values(device, m, 2)), ()
        yield ops.gcn_norm.default, (values(device, m).abs(),), ()
        yield ops.gcn_norm.default, (None,), ()


def arguments(g: gt.Graph):
    return g.row_ptr, g.col, g.number, g.n_cols


@pytest.mark.parametrize("grad", [False, True])
def test_opcheck(device, grad):
    index, (n, _) = reference.edges("random", device)
    g = gt.Graph(index, n)
    for operator, inputs, numbers in cases(g, device, grad):
        registration.opcheck(operator, (*inputs, *arguments(g), *numbers))
    registration.opcheck(ops.reordered.default, (values(device, g.m, 2, grad=grad), g.perm, g.inverse))


def test_an_operator_differentiates_as_the_function(device):
    index, (n, _) = reference.edges("random", device)
    g = gt.Graph(index, n)
    x, w = values(device, n, 8, grad=True), values(device, g.m, grad=True)
    gt.spmm(g, x, g.to_edge_order(w)).pow(2).sum().backward()
    wanted, x.grad, w_wanted, w.grad = x.grad, None, w.grad, None
    ops.spmm(x, w, None, *arguments(g), "sum", False, 0.0, False).pow(2).sum().backward()
    assert torch.allclose(x.grad, wanted, rtol=1e-4, atol=1e-4)
    assert torch.allclose(w.grad, w_wanted, rtol=1e-4, atol=1e-4)


def test_a_graph_that_is_gone_is_named(device):
    index, (n, _) = reference.edges("square", device)
    g = gt.Graph(index, n)
    row_ptr, col, number, n_cols = arguments(g)
    del g
    with pytest.raises(RuntimeError, match="is gone: keep a Graph"):
        ops.spmm(values(device, n, 4), None, None, row_ptr, col, number, n_cols, "sum", False, 0.0, False)


def test_first_runs_on_a_stream_of_its_own_happen_in_a_thread_too(monkeypatch):
    """What CUDA graphs of compiled code need, with a stream that is none."""
    index, (n, _) = reference.edges("square", "cpu")
    g = gt.Graph(index, n)
    apart = []

    def execute(*arguments, plain=_operators.execute):
        apart.append(threading.current_thread() is not threading.main_thread())
        return plain(*arguments)

    monkeypatch.setattr(_operators, "execute", execute)
    monkeypatch.setattr(_device, "stream_of", lambda device: 7)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device=None: None)
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: contextlib.nullcontext())
    monkeypatch.setattr(gt.Graph, "note_stream", lambda graph, stream: None)
    x = values("cpu", n, 8, grad=True)

    def step(x, number=g.number):
        apart.clear()
        ops.spmm(x, None, None, g.row_ptr, g.col, number, n, "sum", False, 0.0, False).sum().backward()
        return apart

    assert step(x) == [True, False, True, False]  # forward and backward
    assert step(x) == [False, False]
    assert step(x, g.number + 1) == [True, False, True, False]  # with loops
    with pytest.raises(ValueError, match="x has the shape"):
        step(values("cpu", n + 1, 8))
    assert apart == [True]
    g.forget_plans()
    assert step(x) == [True, False, True, False]


class Layer(torch.nn.Module):
    """Everything at once."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)
        self.beta = torch.nn.Parameter(torch.ones(1))

    def forward(self, x, w, g):
        x = self.linear(x)
        x = gt.spmm(g, x, w) + gt.spmm(g, x, reduce="mean")
        x = x + gt.spmm(g, x, reduce="max")
        heads = x.view(-1, 2, 4)
        x = x + gt.gat(g, heads, heads.sum(-1), heads.sum(-1)).flatten(1)
        x = x + gt.attention(g, heads, heads, heads).flatten(1) + gt.agnn(g, x, self.beta)
        edges, loops = gt.gcn_norm(g, csr_order=True)
        x = x + gt.spmm(g, x, edges, loops, csr_order=True)
        # Logits of some tens: a softmax of thousands would multiply what the two sides' sums round differently.
        weight = gt.edge_softmax(g, gt.sddmm(g, x, x, scale=0.001))
        return gt.spmm(g, x, weight)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compile_takes_all_of_it(device, backend):
    torch._dynamo.reset()
    index, (n, _) = reference.edges("random", device)
    g = gt.Graph(index, n)
    torch.manual_seed(0)
    layer = Layer().to(device)
    x, w = values(device, n, 8, grad=True), values(device, g.m, grad=True)

    def grads(model):
        x.grad = w.grad = None
        layer.zero_grad()
        y = model(x, w, g)
        y.square().mean().backward()
        return [y.detach(), x.grad, w.grad, *[p.grad.clone() for p in layer.parameters()]]

    wanted = grads(layer)
    for found, expected in zip(grads(torch.compile(layer, fullgraph=True, backend=backend)), wanted):
        # Sums of both signs: their rounding is that of their terms. TF32 would be off by a hundred times this.
        assert float((found - expected).abs().max()) <= 2e-5 * float(expected.abs().max())


def test_compiled_dropout_draws_anew(device):
    torch._dynamo.reset()
    index, (n, _) = reference.edges("random", device)
    g = gt.Graph(index, n)
    x, s = values(device, n, 2, 4), values(device, n, 2)

    @torch.compile(fullgraph=True)
    def f(x, s):
        return gt.gat(g, x, s, s, dropout=0.5)

    first, second = f(x, s), f(x, s)
    assert not torch.equal(first, second)


def test_a_compiled_function_serves_every_graph(device):
    torch._dynamo.reset()
    counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")

    @torch.compile(fullgraph=True, backend=counter)
    def f(x, g):
        return gt.spmm(g, torch.relu(x)) + 1

    graphs = []
    for size in range(20, 26):
        index = torch.randint(0, size, (2, 4 * size), generator=torch.Generator().manual_seed(size)).to(device)
        graphs.append(gt.Graph(index, size))
        x = values(device, size, 8)
        wanted = gt.spmm(graphs[-1], torch.relu(x)) + 1
        assert torch.allclose(f(x, graphs[-1]), wanted, atol=1e-5)
    assert counter.frame_count <= 2


def test_autocast_under_compile(device):
    torch._dynamo.reset()
    index, (n, _) = reference.edges("random", device)
    g = gt.Graph(index, n)

    @torch.compile(fullgraph=True, backend="aot_eager")
    def f(x):
        with torch.autocast(device, dtype=torch.bfloat16):
            return gt.spmm(g, x)

    assert f(values(device, n, 8)).dtype == torch.bfloat16


def test_transforms_of_torch_func_are_refused_in_words(device):
    index, (n, _) = reference.edges("square", device)
    g = gt.Graph(index, n)
    with pytest.raises(RuntimeError, match="functorch transforms"):
        torch.func.grad(lambda t: gt.spmm(g, t).square().sum())(values(device, n, 4))
