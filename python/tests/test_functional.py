"""Results and gradients of gnntune.torch against torch in double precision, on every graph, type and device."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest
import reference

torch = pytest.importorskip("torch")
import gnntune.torch as gt

TOLERANCE = {torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}
DTYPES = list(TOLERANCE)
Tensors = tuple["torch.Tensor | None", ...]


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed + sum(shape)), dtype=torch.float64)


def close(found: torch.Tensor, wanted: torch.Tensor, tolerance: float, what: str) -> None:
    """Relative to the largest magnitude: sums of both signs cancel."""
    assert found.shape == wanted.shape, f"{what}: {tuple(found.shape)}, expected {tuple(wanted.shape)}"
    scale = max(1.0, float(wanted.abs().max())) if wanted.numel() else 1.0
    worst = float((found.double().cpu() - wanted).abs().max()) / scale if wanted.numel() else 0.0
    assert worst <= tolerance, f"{what}: off by {worst:.2e} of {scale:.2e}, allowed {tolerance:.0e}"


def compare(
    ours: Callable[..., torch.Tensor],
    theirs: Callable[..., torch.Tensor],
    inputs: Tensors,
    device: str,
    dtype: torch.dtype,
    needs: tuple[bool, ...] | None = None,
    *,
    backward: bool = True,
) -> None:
    """The result, and the gradients of those inputs that `needs` names."""
    needs = needs or tuple(t is not None for t in inputs)
    # Both sides start from the same rounded numbers.
    rounded = [None if t is None else t.to(dtype) for t in inputs]
    mine = [None if t is None else t.to(device).detach().clone().requires_grad_(n) for t, n in zip(rounded, needs)]
    double = [None if t is None else t.double().detach().clone().requires_grad_(n) for t, n in zip(rounded, needs)]
    y, wanted = ours(*mine), theirs(*double)
    assert y.dtype == dtype
    assert y.device.type == device
    close(y.detach(), wanted.detach(), TOLERANCE[dtype], "result")
    if backward:
        grad = random(*wanted.shape, seed=9).to(dtype)
        y.backward(grad.to(device))
        wanted.backward(grad.double())
    for place, (a, b, n) in enumerate(zip(mine, double, needs)):
        if n and backward:
            assert a.grad is not None and a.grad.dtype == dtype
            close(a.grad, b.grad, 4 * TOLERANCE[dtype], f"gradient of input {place}")
    # Without gradients it is the same operation.
    with torch.no_grad():
        close(ours(*mine), wanted.detach(), TOLERANCE[dtype], "result without gradients")


@pytest.fixture(params=reference.ALL_GRAPHS)
def graph(request: pytest.FixtureRequest, device: str) -> tuple[gt.Graph, torch.Tensor, tuple[int, int]]:
    index, sizes = reference.edges(request.param, device)
    return gt.Graph(index, sizes), index.cpu(), sizes


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("reduce", ["sum", "mean", "max"])
@pytest.mark.parametrize("weighted", [False, True])
def test_spmm(graph, device, dtype, reduce, weighted):
    g, index, (n_cols, n_rows) = graph
    for k in (1, 7, 32):
        compare(
            lambda x, w: gt.spmm(g, x, w, reduce=reduce),
            lambda x, w: reference.spmm(index, n_rows, x, w, None, reduce),
            (random(n_cols, k), random(g.m) if weighted else None),
            device,
            dtype,
            # Ties, which 16 bits are full of, give the gradient to one edge here and to all of them in torch.
            backward=reduce != "max" or dtype == torch.float32,
        )


@pytest.mark.parametrize("needs", [(True, False), (False, True)])
def test_spmm_gradient_of_one_operand(graph, device, needs):
    g, index, (n_cols, n_rows) = graph
    compare(
        lambda x, w: gt.spmm(g, x, w),
        lambda x, w: reference.spmm(index, n_rows, x, w, None),
        (random(n_cols, 16), random(g.m)),
        device,
        torch.float32,
        needs,
    )


@pytest.mark.parametrize("reduce", ["sum", "mean"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("needs", [(True, True, True), (True, False, False), (False, False, True)])
def test_spmm_with_self_weights(device, reduce, weighted, needs):
    for name in ("square", "loops", "random"):
        index, (n, _) = reference.edges(name, device)
        g = gt.Graph(index, n)
        compare(
            lambda x, w, sw: gt.spmm(g, x, w, sw, reduce=reduce),
            lambda x, w, sw: reference.spmm(index.cpu(), n, x, w, sw, reduce),
            (random(n, 8), random(g.m) if weighted else None, random(n)),
            device,
            torch.float32,
            (needs[0], needs[1] and weighted, needs[2]),
        )


def test_spmm_takes_any_trailing_dimensions(graph, device):
    g, index, (n_cols, n_rows) = graph
    compare(
        lambda x, w: gt.spmm(g, x, w),
        lambda x, w: reference.spmm(index, n_rows, x, w, None),
        (random(n_cols, 3, 2, 4), random(g.m)),
        device,
        torch.float32,
    )


@pytest.mark.parametrize("reduce", ["sum", "mean"])
def test_spmm_with_weights_of_each_head(graph, device, reduce):
    g, index, (n_cols, n_rows) = graph
    for needs in ((True, True), (True, False), (False, True)):
        compare(
            lambda x, w: gt.spmm(g, x, w, reduce=reduce),
            lambda x, w: reference.spmm(index, n_rows, x, w, None, reduce),
            (random(n_cols, 4, 8), random(g.m, 4)),
            device,
            torch.float32,
            needs,
        )


@pytest.mark.parametrize("reduce", ["sum", "mean"])
@pytest.mark.parametrize("weights", [None, "of edges", "of heads"])
def test_spmm_with_self_weights_of_each_head(device, reduce, weights):
    index, (n, _) = reference.edges("random", device)
    g = gt.Graph(index, n)
    w = None if weights is None else random(g.m) if weights == "of edges" else random(g.m, 4)
    compare(
        lambda x, w, sw: gt.spmm(g, x, w, sw, reduce=reduce),
        lambda x, w, sw: reference.spmm(index.cpu(), n, x, w, sw, reduce),
        (random(n, 4, 8), w, random(n, 4)),
        device,
        torch.float32,
    )


def test_attention_without_columns_has_no_scale(device):
    index, (n, _) = reference.edges("random", device)
    x = torch.empty(n, 2, 0, device=device)
    with pytest.raises(ValueError, match="give scale"):
        gt.attention(gt.Graph(index, n), x, x, x)


@pytest.mark.parametrize("shape", [(16,), (3, 8)])
@pytest.mark.parametrize("scale", [1.0, 0.25])
def test_sddmm(graph, device, shape, scale):
    g, index, (n_cols, n_rows) = graph
    for needs in ((True, True), (True, False)):
        compare(
            lambda a, b: gt.sddmm(g, a, b, scale=scale),
            lambda a, b: scale * reference.sddmm(index, a, b),
            (random(n_rows, *shape), random(n_cols, *shape)),
            device,
            torch.float32,
            needs,
        )


@pytest.mark.parametrize("shapes", [((24,), (3, 8)), ((1, 8), (8,)), ((8,), (1, 8))])
@pytest.mark.parametrize("compiled", [False, True])
def test_heads_and_features_may_be_one_dimension_of_x_row(device, shapes, compiled):
    index, (n_cols, n_rows) = reference.edges("rectangle", device)
    g = gt.Graph(index, (n_cols, n_rows))
    x_row, x = random(n_rows, *shapes[0]), random(n_cols, *shapes[1])

    def call(a, b):
        return gt.sddmm(g, a, b, scale=0.5)

    compare(
        torch.compile(call, backend="aot_eager") if compiled else call,
        lambda a, b: 0.5 * reference.sddmm(index.cpu(), a.view(n_rows, *shapes[1]), b),
        (x_row, x),
        device,
        torch.float32,
    )


@pytest.mark.parametrize("heads", [(), (1,), (4,)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_edge_softmax(graph, device, heads, dtype):
    g, index, (_, n_rows) = graph
    compare(
        lambda e: gt.edge_softmax(g, e),
        lambda e: reference.softmax(index, n_rows, e),
        (3 * random(g.m, *heads),),
        device,
        dtype,
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("slope", [0.2, 0.0, 0.5])
def test_gat(graph, device, dtype, slope):
    g, index, (n_cols, n_rows) = graph
    for heads, k in ((1, 16), (8, 8), (3, 5)):
        compare(
            lambda x, r, c: gt.gat(g, x, r, c, negative_slope=slope),
            lambda x, r, c: reference.gat(index, n_rows, x, r, c, slope),
            (random(n_cols, heads, k), random(n_rows, heads), random(n_cols, heads)),
            device,
            dtype,
        )


@pytest.mark.parametrize("shape", [(32,), (2, 8)])
def test_agnn(graph, device, shape):
    g, index, (n_cols, n_rows) = graph
    heads = 1 if len(shape) == 1 else shape[0]
    compare(
        lambda x, r, b: gt.agnn(g, x, b, r),
        lambda x, r, b: reference.agnn(index, n_rows, x, r, b),
        (random(n_cols, *shape), random(n_rows, *shape), 1 + random(heads)),
        device,
        torch.float32,
    )


def test_agnn_of_a_square_graph_takes_its_rows_from_x(device):
    index, (n, _) = reference.edges("random", device)
    g = gt.Graph(index, n)
    compare(
        lambda x, b: gt.agnn(g, x, b),
        lambda x, b: reference.agnn(index.cpu(), n, x, x, b),
        (random(n, 16), 1 + random(1)),
        device,
        torch.float32,
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_attention(graph, device, dtype):
    g, index, (n_cols, n_rows) = graph
    for heads, k in ((1, 16), (4, 8)):
        compare(
            lambda q, key, v: gt.attention(g, q, key, v),
            lambda q, key, v: reference.attention(index, n_rows, q, key, v, k**-0.5),
            (random(n_rows, heads, k), random(n_cols, heads, k), random(n_cols, heads, k)),
            device,
            dtype,
        )


def test_attention_takes_keys_as_values(device):
    index, (n, _) = reference.edges("random", device)
    g = gt.Graph(index, n)
    compare(
        lambda q, kv: gt.attention(g, q, kv, kv, scale=0.3),
        lambda q, kv: reference.attention(index.cpu(), n, q, kv, kv, 0.3),
        (random(n, 2, 8), random(n, 2, 8)),
        device,
        torch.float32,
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_gcn_norm(device, weighted):
    for name in ("square", "loops", "duplicates", "random"):
        index, (n, _) = reference.edges(name, device)
        g = gt.Graph(index, n)
        w = random(g.m).abs() if weighted else None
        edges, loops = gt.gcn_norm(g, None if w is None else w.float().to(device))
        wanted_edges, wanted_loops = reference.gcn_norm(index.cpu(), n, w)
        close(edges, wanted_edges, 1e-6, "edges")
        close(loops, wanted_loops, 1e-6, "loops")


@pytest.mark.parametrize("dtype", DTYPES)
def test_gcn(device, dtype):
    for name in ("square", "loops", "random", "no_edges"):
        index, (n, _) = reference.edges(name, device)
        host = index.cpu()[:, index[0].cpu() != index[1].cpu()]
        edges, loops = reference.gcn_norm(host, n, None)
        compare(
            lambda x, g=gt.Graph(index, n): gt.gcn(g, x),
            lambda x, host=host, n=n, e=edges, s=loops: reference.spmm(host, n, x, e, s),
            (random(n, 8),),
            device,
            dtype,
        )


def test_gcn_norm_refuses_weights_that_want_gradients(device):
    index, (n, _) = reference.edges("square", device)
    g = gt.Graph(index, n)
    with pytest.raises(ValueError, match="no gradient for the weights"):
        gt.gcn_norm(g, torch.ones(g.m, device=device, requires_grad=True))


def test_edge_values_stand_in_the_order_of_edge_index(device):
    index, (n, _) = reference.edges("random", device)
    g = gt.Graph(index, n)
    assert g.perm is not None
    x, w = random(n, 4).float().to(device), random(g.m).float().to(device)
    in_order = gt.spmm(g, x, w)
    assert torch.equal(in_order, gt.spmm(g, x, g.to_csr_order(w), csr_order=True))
    products = gt.sddmm(g, x, x)
    assert torch.equal(g.to_csr_order(products), gt.sddmm(g, x, x, csr_order=True))
    assert torch.equal(g.to_edge_order(g.to_csr_order(w)), w)


def test_inputs_need_not_be_contiguous_or_aligned(device):
    index, (n, _) = reference.edges("random", device)
    g = gt.Graph(index, n)
    wide = random(n + 1, 26).float().to(device)
    wanted = reference.spmm(index.cpu(), n, wide.cpu().double()[1:, 1:14], None, None)
    close(gt.spmm(g, wide[1:, 1:14]), wanted, 2e-5, "not contiguous")
    flat = random(n * 13 + 1).float().to(device)[1:].view(n, 13)  # contiguous, and 4 bytes off
    assert flat.is_contiguous() and flat.data_ptr() % 16 != 0
    close(gt.spmm(g, flat), reference.spmm(index.cpu(), n, flat.cpu().double(), None, None), 2e-5, "not aligned")
    strided = random(13, n).float().to(device).t()
    close(gt.spmm(g, strided), reference.spmm(index.cpu(), n, strided.cpu().double(), None, None), 2e-5, "transposed")


def test_gradients_may_be_expanded(device):
    index, (n, _) = reference.edges("random", device)
    g = gt.Graph(index, n)
    x = random(n, 8).float().to(device).requires_grad_()
    gt.spmm(g, x).sum().backward()  # its gradient is one number, expanded
    wanted = reference.spmm(index.cpu().flip(0), n, torch.ones(n, 8, dtype=torch.float64), None, None)
    close(x.grad, wanted, 1e-5, "gradient")


def second_of(results, inputs):
    """Gradients of a sum of the squares of gradients: what a gradient penalty asks for."""
    first = torch.autograd.grad(results.pow(2).sum(), inputs, create_graph=True)
    return torch.autograd.grad(sum(g.pow(2).sum() for g in first), inputs)


@pytest.fixture(params=[False, True], ids=["at once", "compiled"])
def as_run(request):
    """What makes a function of one: itself, or what torch.compile makes of it that may be differentiated twice."""
    yield (
        functools.partial(torch.compile, backend="eager", fullgraph=True)
        if request.param
        else lambda function: function
    )
    torch._dynamo.reset()


@pytest.mark.parametrize("heads", [1, 3])
@pytest.mark.parametrize("weighted", ["", "weight", "weight and self_weight"])
def test_a_sum_has_second_derivatives(device, weighted, heads, as_run):
    index, (n, _) = reference.edges("square", device)
    g = gt.Graph(index, n)
    shapes = [(n, heads, 4) if heads > 1 else (n, 4), (g.m, heads) if heads > 1 else (g.m,), (n,)]
    wanted = [random(*s).requires_grad_() for s in shapes[: 1 + weighted.count("weight")]]
    inputs = [t.detach().float().to(device).requires_grad_() for t in wanted]

    def ours(x, weight=None, self_weight=None):
        return gt.spmm(g, x, weight, self_weight=self_weight)

    def theirs(x, weight=None, self_weight=None):
        return reference.spmm(index.cpu(), n, x, weight, self_weight)

    for got, want in zip(second_of(as_run(ours)(*inputs), inputs), second_of(theirs(*wanted), wanted)):
        close(got, want, 1e-4, weighted)


def test_sddmm_has_second_derivatives(device, as_run):
    index, (n_rows, n_cols) = reference.edges("rectangle", device)
    g = gt.Graph(index, (n_cols, n_rows))
    wanted = [random(n_rows, 5).requires_grad_(), random(n_cols, 5, seed=3).requires_grad_()]
    inputs = [t.detach().float().to(device).requires_grad_() for t in wanted]
    expected = second_of(reference.sddmm(index.cpu(), *wanted), wanted)
    result = as_run(lambda x_row, x: gt.sddmm(g, x_row, x))(*inputs)
    for got, want in zip(second_of(result, inputs), expected):
        close(got, want, 1e-4, "second")


@pytest.mark.parametrize("transient", [False, True])
def test_a_graph_lives_as_long_as_gradients_of_gradients(device, transient):
    index, (n, _) = reference.edges("square", device)

    def first(x, weight, spmm):
        return torch.autograd.grad(spmm(x, weight).sum(), x, create_graph=True)[0]

    def ours(x, weight):
        return gt.spmm(gt.Graph(index, n, transient=transient), x, weight)  # nothing else has it

    wanted = random(n, 4).requires_grad_(), random(index.shape[1]).requires_grad_()
    inputs = [t.detach().float().to(device).requires_grad_() for t in wanted]
    got = torch.autograd.grad(first(*inputs, ours).pow(2).sum(), inputs[1])[0]
    expected = first(*wanted, lambda x, weight: reference.spmm(index.cpu(), n, x, weight, None))
    close(got, torch.autograd.grad(expected.pow(2).sum(), wanted[1])[0], 1e-4, "second")


@pytest.mark.parametrize("loss", ["a sum", "a sum of squares"])
@pytest.mark.parametrize("op", ["mean", "max", "edge_softmax", "gat", "agnn", "attention"])
def test_other_second_derivatives_are_refused_in_words(device, op, loss, as_run):
    index, (n, _) = reference.edges("square", device)
    g = gt.Graph(index, n)
    x = random(n, 2, 4).float().to(device).requires_grad_()
    scores = random(n, 2).float().to(device).requires_grad_()
    weight = random(g.m).float().to(device).requires_grad_()
    calls = {
        "mean": lambda: gt.spmm(g, x.flatten(1), weight, reduce="mean"),
        "max": lambda: gt.spmm(g, x.flatten(1), weight, reduce="max"),
        "edge_softmax": lambda: gt.edge_softmax(g, weight.view(-1, 1)),
        "gat": lambda: gt.gat(g, x, scores, scores),
        "agnn": lambda: gt.agnn(g, x, torch.ones(2, device=x.device)),
        "attention": lambda: gt.attention(g, x, x, x),
    }
    inputs = [t for t in (x, scores, weight) if op != "edge_softmax" or t is weight]
    result = as_run(calls[op])()
    total = (result if loss == "a sum" else result.pow(2)).sum()
    grads = torch.autograd.grad(total, inputs, create_graph=True, allow_unused=True)
    with pytest.raises(Exception, match="no second derivative of this"):
        # Beside what has one, so that a part which is left out would not be noticed.
        (sum(t.sum() for t in grads if t is not None) + sum(t.pow(2).sum() for t in inputs)).backward()


class TestDropout:
    def run(self, device: str, p: float, seed: torch.Tensor | None = None) -> tuple[torch.Tensor, ...]:
        index, (n, _) = reference.edges("random", device)
        g = gt.Graph(index, n)
        x, r, c = (random(*s).float().to(device).requires_grad_() for s in ((n, 4, 8), (n, 4), (n, 4)))
        y = gt.gat(g, x, r, c, dropout=p, seed=seed)
        y.backward(random(n, 4, 8, seed=5).float().to(device))
        return y.detach(), x.grad, r.grad, c.grad

    def test_follows_torchs_generator(self, device):
        torch.manual_seed(3)
        first, second = self.run(device, 0.5)[0], self.run(device, 0.5)[0]
        torch.manual_seed(3)
        again = self.run(device, 0.5)[0]
        assert torch.equal(first, again)
        assert not torch.equal(first, second)

    def test_one_seed_is_one_mask_forward_and_backward(self, device):
        seed = torch.tensor([123456789], device=device)
        for a, b in zip(self.run(device, 0.5, seed), self.run(device, 0.5, seed)):
            assert torch.allclose(a, b, atol=1e-6)
        # y is linear in x for a fixed mask, and its gradient the transposed map: <y, g> = <x, grad x>.
        _, (n, _) = reference.edges("random", device)
        y, grad_x, _, _ = self.run(device, 0.5, seed)
        x, g = random(n, 4, 8).float(), random(n, 4, 8, seed=5).float()
        assert float((y.cpu() * g).sum()) == pytest.approx(float((x * grad_x.cpu()).sum()), rel=1e-3)

    def test_keeps_the_mean(self, device):
        index = torch.stack([torch.arange(20000), torch.zeros(20000, dtype=torch.int64)]).to(device)
        g = gt.Graph(index, (20000, 1))
        x = torch.ones(20000, 1, 1, device=device)
        zero_row, zero_col = torch.zeros(1, 1, device=device), torch.zeros(20000, 1, device=device)
        y = gt.gat(g, x, zero_row, zero_col, dropout=0.25)
        assert float(y) == pytest.approx(1.0, abs=0.03)
        assert float(y) != 1.0

    def test_of_attention(self, device):
        index, (n, _) = reference.edges("random", device)
        g = gt.Graph(index, n)
        q, k, v = (random(n, 2, 8, seed=s).float().to(device).requires_grad_() for s in (1, 2, 3))
        torch.manual_seed(1)
        a = gt.attention(g, q, k, v, dropout=0.4)
        torch.manual_seed(1)
        b = gt.attention(g, q, k, v, dropout=0.4)
        assert torch.equal(a, b)
        assert not torch.equal(a, gt.attention(g, q, k, v))
        a.sum().backward()
        assert all(torch.isfinite(t.grad).all() for t in (q, k, v))

    @pytest.mark.parametrize("p", [-0.1, 1.0, 2.0])
    def test_wants_a_probability(self, device, p):
        with pytest.raises(ValueError, match="0 <= dropout < 1"):
            self.run(device, p)


def test_autocast_computes_in_its_type(device):
    index, (n, _) = reference.edges("random", device)
    g = gt.Graph(index, n)
    x = random(n, 2, 8).float().to(device).requires_grad_()
    w = random(g.m).float().to(device).requires_grad_()
    with torch.autocast(device, dtype=torch.bfloat16):
        y = gt.spmm(g, x, w)
        assert gt.gat(g, x, x.sum(-1), x.sum(-1)).dtype == torch.bfloat16
        assert gt.attention(g, x, x, x).dtype == torch.bfloat16
        assert gt.sddmm(g, x, x).dtype == torch.bfloat16
        assert gt.edge_softmax(g, w).dtype == torch.bfloat16
    assert y.dtype == torch.bfloat16
    y.sum().backward()
    assert x.grad.dtype == torch.float32 and w.grad.dtype == torch.float32


def test_deterministic_algorithms_repeat(device):
    index, (n, _) = reference.edges("hub", device)
    g = gt.Graph(index, n)
    x = random(n, 32).float().to(device)
    torch.use_deterministic_algorithms(True)
    try:
        first = gt.spmm(g, x)
        assert all(torch.equal(first, gt.spmm(g, x)) for _ in range(5))
        assert any(problem.deterministic for problem in g.problems())
    finally:
        torch.use_deterministic_algorithms(False)


class TestRefusals:
    """A sentence for what does not fit."""

    @pytest.fixture
    def g(self, device):
        index, sizes = reference.edges("wide", device)
        return gt.Graph(index, sizes)

    def test_sizes(self, g, device):
        with pytest.raises(ValueError, match=r"x has the shape \(4, 8\); expected \(9, 8\)"):
            gt.spmm(g, torch.ones(4, 8, device=device))
        with pytest.raises(ValueError, match="values of edges"):
            gt.spmm(g, torch.ones(9, 8, device=device), torch.ones(5, device=device))
        with pytest.raises(ValueError, match="x has 1 dimensions"):
            gt.spmm(g, torch.ones(9, device=device))
        with pytest.raises(ValueError, match="x_row has the shape"):
            gt.sddmm(g, torch.ones(9, 8, device=device), torch.ones(9, 8, device=device))
        with pytest.raises(ValueError, match="score_row has the shape"):
            gt.gat(
                g, torch.ones(9, 2, 8, device=device), torch.ones(9, 2, device=device), torch.ones(9, 2, device=device)
            )
        with pytest.raises(ValueError, match="weight has 3 heads"):
            gt.spmm(g, torch.ones(9, 2, 8, device=device), torch.ones(6, 3, device=device))

    def test_heads_and_features_exchanged(self, g, device):
        rows, columns = torch.ones(4, 3, 8, device=device), torch.ones(9, 3, 8, device=device)
        turned = torch.ones(9, 8, 3, device=device)
        with pytest.raises(ValueError, match=r"key has the shape \(9, 8, 3\); expected \(9, 3, 8\)"):
            gt.attention(g, rows, turned, columns)
        with pytest.raises(ValueError, match="x_row has the shape"):
            gt.sddmm(g, rows, turned)
        # What has them in one dimension has them in this order.
        assert torch.equal(
            gt.attention(g, rows.flatten(1), columns.flatten(1), columns), gt.attention(g, rows, columns, columns)
        )

    def test_self_weights_of_a_rectangle(self, g, device):
        with pytest.raises(ValueError, match="square"):
            gt.spmm(g, torch.ones(9, 8, device=device), None, torch.ones(4, device=device))

    def test_types(self, g, device):
        with pytest.raises(TypeError, match="float64; gnntune computes in float32"):
            gt.spmm(g, torch.ones(9, 8, device=device, dtype=torch.float64))
        with pytest.raises(TypeError, match="int64"):
            gt.spmm(g, torch.ones(9, 8, device=device, dtype=torch.int64))
        with pytest.raises(TypeError, match="expected a tensor, not list"):
            gt.spmm(g, [1.0])
        with pytest.raises(TypeError, match=r"expected a gnntune\.torch\.Graph, not"):
            gt.spmm(g.edge_index, torch.ones(9, 8, device=device))

    def test_sparse_features(self, g, device):
        with pytest.raises(ValueError, match="sparse"):
            gt.spmm(g, torch.eye(9, device=device).to_sparse())

    def test_reductions(self, g, device):
        with pytest.raises(ValueError, match="'sum', 'mean' or 'max'"):
            gt.spmm(g, torch.ones(9, 8, device=device), reduce="min")

    @pytest.mark.cuda
    def test_devices(self):
        index, sizes = reference.edges("wide", "cuda")
        with pytest.raises(ValueError, match="x is on cpu, the graph on cuda"):
            gt.spmm(gt.Graph(index, sizes), torch.ones(9, 8))

    def test_the_meta_device(self, g):
        with pytest.raises((ValueError, RuntimeError)):
            gt.spmm(g, torch.ones(9, 8, device="meta"))
