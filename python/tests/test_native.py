"""What gnntune._native does without Python: memory of torch's shim, handles, and what it asks of tensors."""

import gc
import os
import pickle
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

import gnntune
import gnntune.torch as gt
from gnntune import _native
from gnntune.torch import _graph

_STEP = """
import torch, gnntune.torch as gt
from gnntune import _native
torch.manual_seed(0)
index, x = torch.randint(0, 50, (2, 400)), torch.randn(50, 4, 3, requires_grad=True)
s = torch.randn(50, 4, requires_grad=True)
for transient in (False, True, True):
    graph = gt.Graph(index, 50, transient=transient)
    (gt.gat(graph, x, s, s).sum() + gt.spmm(graph, x, reduce="max").sum()).backward()
print(_native.has_shim(), x.grad.double().sum().item(), s.grad.double().abs().sum().item())
"""


def step(**environment):
    words = subprocess.run(
        [sys.executable, "-c", _STEP], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    ).stdout.split()
    return words[0] == "True", [float(word) for word in words[1:]]


def test_a_step_is_the_same_with_and_without_torchs_shim():
    with_shim, found = step()
    without, wanted = step(GNNTUNE_NO_SHIM="1")
    assert not without
    assert with_shim == _native.has_shim()
    assert found == pytest.approx(wanted, rel=1e-6)


def test_torchs_shim_is_found():
    # torch has all of it since 2.10; without it everything runs, slower
    assert _native.has_shim() and _native.has_layers()
    assert not torch.cuda.is_available() or _native.has_raw_memory()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_results_are_tensors_of_torchs_own(device, dtype):
    graph = gt.Graph(torch.randint(0, 20, (2, 90), device=device), 20)
    x = torch.randn(20, 6, device=device, dtype=dtype)
    with torch.no_grad():
        results = [gt.spmm(graph, x) for _ in range(3)]
    for y in results:
        assert type(y) is torch.Tensor and y.dtype == dtype and y.device == x.device and y.is_contiguous()
        assert not y.requires_grad and y.untyped_storage().nbytes() >= y.numel() * y.element_size()
    assert len({y.data_ptr() for y in results}) == 3
    with torch.inference_mode():
        assert gt.spmm(graph, x).is_inference()


class TestHandle:
    def test_it_is_destroyed_once(self):
        gone = []
        handle = _native.Handle(7, gone.append)
        assert handle.value == 7
        handle.close()
        handle.close()
        assert handle.value == 0 and gone == [7]
        del handle
        assert gone == [7]
        _native.Handle(8, gone.append)
        assert gone == [7, 8]
        _native.Handle(0, gone.append)
        assert gone == [7, 8]

    def test_a_failure_while_it_goes_is_not_lost(self, monkeypatch):
        failed = []
        monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: failed.append(unraisable.exc_type))
        _native.Handle(7, lambda value: 1 // 0)
        assert failed == [ZeroDivisionError]

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
    def test_a_child_destroys_nothing(self):
        gone = []
        handle = _native.Handle(7, gone.append)
        child = os.fork()
        if child == 0:
            handle.close()
            os._exit(len(gone))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        handle.close()
        assert gone == [7]

    def test_its_arguments_have_types(self):
        with pytest.raises(TypeError):
            _native.Handle("seven", print)


class TestPlain:
    def test_tensors_of_one_type_are(self):
        x = torch.randn(3, 4)
        assert _native.plain(x, None, torch.nn.Parameter(x)) is True
        assert _native.plain() is True

    def test_other_types_modes_and_autocast_are_not(self):
        x = torch.randn(3, 4)
        assert _native.plain(x, x.half()) is False
        assert _native.plain(x, "x") is False
        with torch.autocast("cpu"):
            assert _native.plain(x) is False

        class Mode(torch.utils._python_dispatch.TorchDispatchMode):
            def __torch_dispatch__(self, function, types, args=(), kwargs=None):
                return function(*args, **kwargs or {})

        with Mode():
            assert _native.plain(x) is False
        seen = []
        torch.func.vmap(lambda t: seen.append(_native.plain(x)) or t)(x)
        assert seen == [False]


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("wanted_next", [True, False])
def test_a_batch_gets_loops_whatever_it_has(device, monkeypatch, native, wanted_next):
    if not native:
        monkeypatch.setattr(_native, "edge_list", lambda *arguments: None)
    for n, edges in (
        (3, [[0, 1], [1, 2]]),
        (2000, [[0, 1, 1, 5], [1, 1, 2, 5]]),
        (4, [[0, 1, 2, 3], [0, 1, 2, 3]]),
        (2, [[], []]),
    ):
        index = torch.tensor(edges, dtype=torch.int64, device=device)
        pairs = index.t().contiguous().t()  # rows of it do not lie one after another
        apart = torch.cat([index, index], dim=1)[:, : index.shape[1]]
        for given in (index, index.int(), pairs, apart, apart.int()):
            given = given.detach() if given is apart else given.clone(memory_format=torch.preserve_format)
            graph = gt.Graph._with_room(given, n) if wanted_next else gt.Graph(given, n, transient=True)
            given.zero_()  # the graph has its own
            assert graph.edge_index.tolist() == edges and graph.m == len(edges[0])
            looped = graph.with_loops()
            assert looped is graph.with_loops() and looped.transient
            wanted = sorted([(s, t) for s, t in zip(*edges) if s != t] + [(v, v) for v in range(n)])
            assert sorted(map(tuple, looped.edge_index.t().tolist())) == wanted
            x = torch.rand(n, 3, device=device)
            assert torch.allclose(gt.spmm(graph, x), dense(graph) @ x, atol=1e-5)
            assert torch.allclose(gt.spmm(looped, x), dense(looped) @ x, atol=1e-5)
            packed = pickle.dumps(graph)
            assert len(packed) < 3000  # without the loops behind
            assert torch.equal(pickle.loads(packed).edge_index, graph.edge_index)


def dense(graph):
    source, target = graph.edge_index
    return torch.zeros(graph.n_rows, graph.n_cols, device=graph.device).index_put_(
        (target, source), torch.ones(graph.m, device=graph.device), accumulate=True
    )


@pytest.mark.parametrize("native", [True, False])
def test_what_does_not_fit_with_loops_is_refused_before_it_is_allocated(device, monkeypatch, native):
    if not native:
        monkeypatch.setattr(_native, "edge_list", lambda *arguments: None)
    index = torch.zeros(2, 5, dtype=torch.int64, device=device)
    for n in (2**31 - 3, 2**31, 2**33):
        with pytest.raises(gnntune.InvalidGraph, match="must fit int32"):
            gt.Graph._with_room(index, n)
    with pytest.raises(gnntune.InvalidGraph, match="5 edges and 2147483643 self loops: sizes must fit int32"):
        gt.Graph(index, 2**31 - 5, transient=True).with_loops()
    with pytest.raises(gnntune.InvalidArgument, match="not on meta"):
        gt.Graph._with_room(index.to("meta"), 5)


@pytest.mark.skipif(not _native.has_shim(), reason="this torch has no functions that allocate")
def test_edges_are_listed_without_python_where_they_lie_as_rows(device):
    context = _graph._device.context_of(gt.Graph(torch.zeros(2, 1, dtype=torch.int64, device=device), 1).device).value
    index = torch.tensor([[0, 1, 2], [1, 1, 0]], device=device)
    edges, has_loops = _native.edge_list(context, index, 2)
    assert edges.tolist() == [[0, 1, 2, 0, 1], [1, 1, 0, 0, 1]] and has_loops
    assert edges.dtype == torch.int32 and edges.device.type == device
    edges, has_loops = _native.edge_list(context, index[:, [0, 2]], 0)
    assert edges.tolist() == [[0, 2], [1, 0]] and not has_loops
    for other in (index.t().contiguous().t(), index.short(), index.float(), index[0], index[:1], index.to_sparse()):
        assert _native.edge_list(context, other, 1) is None
    for loops in (-1, 2**31 - 3, 2**63 - 1):
        with pytest.raises(gnntune.InvalidArgument, match=f"m and loops are 3 and {loops}"):
            _native.edge_list(context, index, loops)
    with pytest.raises(TypeError, match="edge_list"):
        _native.edge_list(context, index)


def test_graphs_that_are_gone_are_forgotten():
    from gnntune.torch import _device

    graph = gt.Graph(torch.tensor([[0, 1], [1, 0]]), 2)
    number = graph.number
    assert _device.graph_of(number) is graph and graph in _device.all_graphs()
    del graph
    gc.collect()
    assert _device.graph_of(number) is None and number not in _device._graphs


@pytest.mark.parametrize("op", ["gat", "spmm"])
def test_a_gradient_that_is_one_run_asks_no_python(device, monkeypatch, op):
    from gnntune.torch import _gradients

    graph = gt.Graph(torch.randint(0, 20, (2, 90), device=device), 20)
    x = torch.randn(20, 2, 3, device=device, requires_grad=True)
    score, ones = torch.randn(20, 2, device=device), torch.ones(20, 2, 3, device=device)

    def grad():
        y = gt.gat(graph, x, score, score) if op == "gat" else gt.spmm(graph, x)
        return torch.autograd.grad(y, x, ones)[0]

    def refuse(*_):
        raise AssertionError("asked Python")

    wanted = grad()
    formula = _gradients.FORMULAS[op]
    monkeypatch.setitem(_gradients.FORMULAS, op, formula._replace(backward=refuse))
    torch.testing.assert_close(grad(), wanted)
    weight = torch.rand(graph.m, device=device, requires_grad=True)
    with pytest.raises(AssertionError, match="asked Python"):  # what is more than one run
        gt.spmm(graph, x, weight).sum().backward() if op == "spmm" else grad_of_shape(graph, x, score)


def grad_of_shape(graph, x, score):
    gt.gat(graph, x, score, score).sum().backward()  # a gradient that has to be copied first
