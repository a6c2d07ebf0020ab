"""Layers of gnntune.pyg in odd but legal uses: what others did to a layer or its map, or call it with."""

from __future__ import annotations

import copy
import inspect
import pickle
import warnings

import pytest
import reference

torch = pytest.importorskip("torch")
pyg = pytest.importorskip("torch_geometric")
import torch_geometric.nn as nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.autograd import forward_ad
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint
from torch_geometric import EdgeIndex

import gnntune.pyg as gp
import gnntune.torch as gt
from gnntune import InvalidGraph, Unsupported
from gnntune.pyg import _graphs, _layer

# A map before its sum and behind it, by widths.
LAYERS = [
    ("GCNConv", (12, 7), {}),
    ("GCNConv", (12, 20), {"bias": False}),
    ("SAGEConv", (12, 7), {}),
    ("SAGEConv", (12, 20), {"aggr": "max"}),
    ("GraphConv", (12, 7), {}),
    ("GATConv", (12, 7), {"heads": 3}),
    ("GATConv", (12, 7), {"heads": 3, "concat": False}),
    ("AGNNConv", (), {}),
    ("GATv2Conv", (12, 7), {}),
    ("TransformerConv", (12, 7), {}),
]
MAPPED = LAYERS[:5]
layers = pytest.mark.parametrize(("name", "arguments", "options"), LAYERS)
mapped = pytest.mark.parametrize(("name", "arguments", "options"), MAPPED)


@pytest.fixture(autouse=True)
def _silent():
    _layer._warned.clear()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="gnntune:")
        yield


def pair(device, name, arguments, options):
    """Their layer and ours with the same parameters, and a graph."""
    index, (n, _) = reference.edges("square", device)
    torch.manual_seed(0)
    theirs = getattr(nn, name)(*arguments, **options).to(device)
    ours = getattr(gp, name)(*arguments, **options).to(device)
    ours.load_state_dict(theirs.state_dict())
    return theirs, ours, index, n


def features(n, device, seed=0):
    return torch.randn(n, 12, generator=torch.Generator().manual_seed(seed)).to(device)


def outcome(layer, graph, n, device):
    x = features(n, device).requires_grad_()
    y = layer(x, graph)
    y.square().sum().backward()
    return [y.detach(), x.grad, *[p.grad for p in layer.parameters()]]


def same(found, wanted):
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted):
        assert (a is None) == (b is None)
        if a is not None:
            assert a.shape == b.shape
            assert float((a - b).abs().max()) <= 3e-4 * max(1.0, float(b.abs().max()))


def maps(layer):
    return [(name, m) for name, m in layer.named_children() if isinstance(m, (nn.Linear, torch.nn.Linear))]


class Adapted(torch.nn.Module):
    """A map that is more than its weight, which it shows."""

    def __init__(self, linear):
        super().__init__()
        self.linear = linear

    weight = property(lambda self: self.linear.weight)
    bias = property(lambda self: self.linear.bias)

    def forward(self, x):
        return self.linear(x).relu() + 1


def adapt(layer):
    for name, m in maps(layer):
        setattr(layer, name, Adapted(m))


def hook(layer):
    for _, m in maps(layer):
        m.register_forward_hook(lambda module, inputs, output: output.relu() + 1)


def own_forward(layer):
    for _, m in maps(layer):
        m.forward = lambda x, forward=m.forward: forward(x).relu() + 1


def sequence(layer):
    for name, m in maps(layer):
        setattr(layer, name, torch.nn.Sequential(m))


def biased(layer):
    for name, m in maps(layer):
        other = torch.nn.Linear(m.weight.shape[1], m.weight.shape[0])
        other.weight = m.weight
        torch.nn.init.ones_(other.bias)
        setattr(layer, name, other)


def buffers(layer):
    for module in (layer, *[m for _, m in maps(layer)]):
        if module._parameters.get("bias") is not None:
            bias = module.bias.detach().clone()
            del module.bias
            module.register_buffer("bias", bias)


def broad_bias(layer):
    if getattr(layer, "bias", None) is not None and not hasattr(layer, "lin_key"):
        layer.bias = torch.nn.Parameter(layer.bias.detach()[None] + 1)


@mapped
@pytest.mark.parametrize("change", [adapt, hook, own_forward, sequence, biased, buffers, broad_bias])
def test_maps_that_were_changed_do_what_they_do(device, name, arguments, options, change):
    theirs, ours, index, n = pair(device, name, arguments, options)
    change(theirs)
    change(ours)
    if device != "cpu":
        theirs, ours = theirs.to(device), ours.to(device)
    same(outcome(ours, gt.Graph(index, n), n, device), outcome(theirs, index, n, device))


@layers
@pytest.mark.parametrize("step", ["message", "aggregate", "update"])
def test_steps_of_a_subclass_are_taken(device, name, arguments, options, step):
    def twice(parent):
        theirs = getattr(parent, step)
        names = list(inspect.signature(theirs).parameters)
        made = {}
        call = ", ".join(names)
        exec(f"def {step}({call}): return 2 * theirs({call})", {"theirs": theirs}, made)  # which PyG looks at
        return type(f"Twice{parent.__name__}", (parent,), made)

    index, (n, _) = reference.edges("square", device)
    torch.manual_seed(0)
    theirs = twice(getattr(nn, name))(*arguments, **options).to(device)
    ours = twice(getattr(gp, name))(*arguments, **options).to(device)
    ours.load_state_dict(theirs.state_dict())
    for graph in (index, gt.Graph(index, n)):
        ours.zero_grad()
        theirs.zero_grad()
        same(outcome(ours, graph, n, device), outcome(theirs, index, n, device))


class OursWithMessages(gp.SAGEConv):
    def message(self, x_j):
        return 2 * x_j


class TheirsWithMessages(nn.SAGEConv):
    def message(self, x_j):
        return 2 * x_j


class OursWithLogits(gp.GATConv):
    def edge_update(self, alpha_j, alpha_i, edge_attr, index, ptr, dim_size):
        return 2 * super().edge_update(alpha_j, alpha_i, edge_attr, index, ptr, dim_size)


class TheirsWithLogits(nn.GATConv):
    def edge_update(self, alpha_j, alpha_i, edge_attr, index, ptr, dim_size):
        return 2 * super().edge_update(alpha_j, alpha_i, edge_attr, index, ptr, dim_size)


@pytest.mark.parametrize(
    ("ours", "theirs"), [(OursWithMessages, TheirsWithMessages), (OursWithLogits, TheirsWithLogits)]
)
def test_steps_whose_source_is_there_are_taken(device, ours, theirs):
    index, (n, _) = reference.edges("square", device)
    ours, theirs = ours(12, 7).to(device), theirs(12, 7).to(device)
    ours.load_state_dict(theirs.state_dict())
    same(outcome(ours, gt.Graph(index, n), n, device), outcome(theirs, index, n, device))
    x = features(n, device)
    same([pickle.loads(pickle.dumps(ours))(x, index)], [theirs(x, index)])


def test_a_subclass_that_changes_no_step_is_ours(device):
    class Named(gp.GCNConv):
        def forward(self, x, edge_index):
            return super().forward(x, edge_index).relu()

    index, (n, _) = reference.edges("square", device)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="gnntune:")
        Named(12, 7).to(device)(features(n, device), index)


@layers
def test_what_differentiates_otherwise_gets_their_code(device, name, arguments, options):
    theirs, ours, index, n = pair(device, name, arguments, options)
    x, tangent = features(n, device), features(n, device, 1)
    graph = gt.Graph(index, n)

    def dual(layer, graph):
        with forward_ad.dual_level():
            return list(forward_ad.unpack_dual(layer(forward_ad.make_dual(x, tangent), graph)))

    def transformed(layer, graph):
        return [torch.func.grad(lambda t: layer(t, graph).square().sum())(x)]

    same(dual(ours, graph), dual(theirs, index))
    same(transformed(ours, graph), transformed(theirs, index))
    same(transformed(ours, index), transformed(theirs, index))
    same(outcome(ours, index, n, device), outcome(theirs, index, n, device))  # nothing of a transform was kept


@layers
def test_a_second_derivative_is_never_without_a_part(device, name, arguments, options):
    """Of a sum too, whose gradient has no history: what a layer hands on depends on its weights."""
    theirs, ours, index, n = pair(device, name, arguments, options)
    graph = gt.Graph(index, n)

    def second(layer, adjacency):
        x = features(n, device).requires_grad_()
        wanted = [x, *layer.parameters()]
        first = torch.autograd.grad(layer(x, adjacency).sum(), wanted, create_graph=True, allow_unused=True)
        total = sum(t.pow(2).sum() for t in (*first, *wanted) if t is not None)
        return torch.autograd.grad(total, wanted, allow_unused=True)

    try:
        got = second(ours, graph)
    except (RuntimeError, Unsupported) as refused:
        assert "no second derivative of this" in str(refused)
    else:
        same(got, second(theirs, index))


def test_operations_refuse_tangents_in_words(device):
    index, (n, _) = reference.edges("square", device)
    x = features(n, device)
    with forward_ad.dual_level(), pytest.raises(Unsupported, match="forward-mode"):
        gt.spmm(gt.Graph(index, n), forward_ad.make_dual(x, x))


@pytest.mark.filterwarnings("ignore")
@mapped
def test_a_trace_has_what_a_layer_does(device, name, arguments, options):
    _, ours, index, n = pair(device, name, arguments, options)
    ours.eval().requires_grad_(False)
    traced = torch.jit.trace(ours, (features(n, device), index), check_trace=False)
    x = features(n, device, 1)
    same([traced(x, index)], [ours(x, index)])


@pytest.mark.filterwarnings("ignore")
def test_a_trace_has_what_an_operation_does(device):
    index, (n, _) = reference.edges("square", device)
    g = gt.Graph(index, n)
    traced = torch.jit.trace(lambda x: gt.spmm(g, x), (features(n, device),), check_trace=False)
    x = features(n, device, 1)
    same([traced(x)], [gt.spmm(g, x)])


@layers
def test_checkpoints(device, name, arguments, options):
    theirs, ours, index, n = pair(device, name, arguments, options)

    def run(layer, graph):
        x = features(n, device).requires_grad_()
        checkpoint(layer, x, graph, use_reentrant=False).square().sum().backward()
        return [x.grad, *[p.grad for p in layer.parameters()]]

    same(run(ours, gt.Graph(index, n)), run(theirs, index))


@layers
def test_a_layer_learns_after_inference_mode(device, name, arguments, options):
    theirs, ours, index, n = pair(device, name, arguments, options)
    for graph in (index, gt.Graph(index, n)):
        ours.zero_grad()
        theirs.zero_grad()
        with torch.inference_mode():
            ours(features(n, device), graph)
        same(outcome(ours, graph, n, device), outcome(theirs, index, n, device))


def test_a_weighted_gcn_learns_after_inference_mode_and_in_any_default_type(device):
    theirs, ours, index, n = pair(device, "GCNConv", (12, 7), {})
    graph = gt.Graph(index, n)
    weight = torch.rand(index.shape[1], device=device) + 0.1
    with torch.inference_mode():
        ours(features(n, device), graph, weight)
    given = [weight.clone().requires_grad_() for _ in range(2)]
    ours(features(n, device), graph, given[0]).square().sum().backward()
    theirs(features(n, device), index, given[1]).square().sum().backward()
    same([given[0].grad], [given[1].grad])
    wanted = theirs(features(n, device), index, weight)
    x = features(n, device)
    torch.set_default_dtype(torch.float64)
    try:
        found = ours(x, graph, weight)
    finally:
        torch.set_default_dtype(torch.float32)
    same([found], [wanted])


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("heads", [1, 3])
def test_saved_tensors_may_come_back_with_other_strides(device, bias, heads):
    _, ours, index, n = pair(device, "GATConv", (12, 7), {"heads": heads, "bias": bias})
    graph = gt.Graph(index, n)
    wanted = outcome(ours, graph, n, device)
    ours.zero_grad()

    def turned(t):
        order = list(range(t.dim()))[::-1]
        return t.permute(order).contiguous().permute(order)

    with torch.autograd.graph.saved_tensors_hooks(turned, lambda t: t):
        found = outcome(ours, graph, n, device)
    same(found, wanted)


@pytest.mark.parametrize(("name", "options"), [("GCNConv", {"normalize": False}), ("GraphConv", {})])
def test_weights_of_edges_that_are_written_to_do_not_change_a_gradient(device, name, options):
    theirs, ours, index, n = pair(device, name, (12, 7), options)
    index = index[:, torch.argsort(index[1], stable=True)]
    graph = gt.Graph(index, n)
    weight = torch.rand(index.shape[1], device=device)
    grads = []
    for layer, edges, factor in ((theirs, index, 1), (ours, graph, 3)):
        given = weight.clone()
        x = features(n, device).requires_grad_()
        y = layer(x, edges, given)
        if factor != 1:
            given.mul_(factor)
        y.square().sum().backward()
        grads.append(x.grad)
    same(grads[1:], grads[:1])


@pytest.mark.parametrize("fault", ["source", "target"])
def test_ids_that_no_vertex_has_are_refused_on_a_cpu(fault):
    layer = gp.SAGEConv(12, 7)
    index = torch.tensor([[0, 1], [1, 0]])
    index[("source", "target").index(fault), 1] = 2
    with pytest.raises(InvalidGraph, match="has the id 2"):
        layer(torch.randn(2, 12), index)


def test_an_edge_index_with_other_memory_is_another_graph(device):
    theirs, ours, index, n = pair(device, "SAGEConv", (12, 7), {})
    x = features(n, device)
    index = index.clone()
    ours(x, index)
    index.data = index.data.flip(0).contiguous()
    same([ours(x, index)], [theirs(x, index)])


def test_nothing_of_a_fake_call_is_kept(device):
    theirs, ours, index, n = pair(device, "SAGEConv", (12, 7), {})
    x = features(n, device)
    with FakeTensorMode(allow_non_fake_inputs=True):
        assert ours(x, index).shape == (n, 7)
    same([ours(x, index)], [theirs(x, index)])


@layers
def test_a_mode_may_look_on(device, name, arguments, options):
    theirs, ours, index, n = pair(device, name, arguments, options)

    class Onlooker(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            return function(*args, **(kwargs or {}))

    with Onlooker():
        found = outcome(ours, index.clone(), n, device)
    same(found, outcome(theirs, index, n, device))


def test_copies_of_a_layer_that_was_called(device):
    theirs, ours, index, n = pair(device, "GATConv", (12, 7), {})
    outcome(ours, index, n, device)
    other = copy.deepcopy(ours)
    other.zero_grad()
    same(outcome(other, index, n, device), outcome(theirs, index, n, device))


@layers
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_an_edge_index_of_theirs(device, name, arguments, options, dtype):
    theirs, ours, index, n = pair(device, name, arguments, options)
    x = features(n, device)
    edges = EdgeIndex(index.to(dtype), sparse_size=(n, n))
    wanted = theirs(x, index)
    for given in (edges, edges.sort_by("col").values, gt.Graph(edges, n), gt.Graph(edges, n, transient=True)):
        same([ours(x, given)], [wanted])
    assert _graphs.graph_of(edges, n, n) is _graphs.graph_of(edges, n, n)  # as long as it lives


def test_a_layer_that_keeps_its_graph_can_be_copied_and_pickled(device):
    theirs, ours, index, n = pair(device, "GCNConv", (12, 7), {"cached": True})
    x = features(n, device)
    wanted = theirs(x, index)
    ours(x, gt.Graph(index, n))
    for other in (copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        same([other(x, index)], [wanted])


@layers
def test_an_edge_index_that_was_made_in_inference_mode(device, name, arguments, options):
    theirs, ours, index, n = pair(device, name, arguments, options)
    x = features(n, device)
    with torch.inference_mode():
        made = index.clone()
        same([ours(x, made)], [theirs(x, made)])
        made[0, :5] = n - 1
        same([ours(x, made)], [theirs(x, made)])
    same([ours(x, made)], [theirs(x, made.clone())])


@pytest.mark.parametrize("options", [{}, {"add_self_loops": False}, {"normalize": False}])
def test_weights_of_a_column(device, options):
    theirs, ours, index, n = pair(device, "GCNConv", (12, 7), options)
    x, weight = features(n, device), torch.rand(index.shape[1], 1, device=device)
    same([ours(x, index, weight), ours(x, gt.Graph(index, n), weight)], [theirs(x, index, weight)] * 2)
