"""gnntune.torch.SparseFeatures: maps of sparse features, and layers and models that begin with them."""

from __future__ import annotations

import copy
import itertools
import pickle
import warnings

import pytest
import reference

torch = pytest.importorskip("torch")
import torch.nn.functional as F

import gnntune
import gnntune.torch as gt
from gnntune.torch import _ways

N, WIDTH = 301, 40


def sparse(device: str = "cpu", dtype: torch.dtype = torch.float32, width: int = WIDTH) -> torch.Tensor:
    """A dense matrix, mostly zero; rows 3 and 7 and column 5 are empty."""
    generator = torch.Generator().manual_seed(2)
    x = torch.randn(N, width, generator=generator) * (torch.rand(N, width, generator=generator) < 0.1)
    x[[3, 7]], x[:, 5] = 0, 0
    return x.to(device, dtype)


def close(found, wanted, tolerance=1e-4):
    scale = max(1.0, float(wanted.abs().max()))
    assert found.shape == wanted.shape and found.dtype == wanted.dtype
    assert float((found - wanted).abs().max()) <= tolerance * scale


class TestMatrices:
    @pytest.mark.parametrize("form", ["dense", "csr", "csc", "coo", "int64 ids", "scipy csr", "scipy coo"])
    def test_any_sparse_matrix_is_taken(self, device, form):
        x = sparse(device)
        if form == "int64 ids":
            csr = x.to_sparse_csr()
            matrix = torch.sparse_csr_tensor(csr.crow_indices().long(), csr.col_indices().long(), csr.values(), x.shape)
        elif form.startswith("scipy"):
            scipy = pytest.importorskip("scipy.sparse")
            matrix = getattr(scipy, f"{form[6:]}_matrix")(x.cpu().numpy())
        else:
            matrix = {"dense": x, "csr": x.to_sparse_csr(), "csc": x.to_sparse_csc(), "coo": x.to_sparse()}[form]
        features = gt.SparseFeatures(matrix, device=device)
        assert features.shape == (N, WIDTH) and features.size(1) == WIDTH and features.dim() == 2
        assert features.dtype == torch.float32 and features.device.type == device == x.device.type
        assert features.graph.m == int(x.count_nonzero()) == len(features.values)
        assert torch.equal(features.to_dense(), x)

    def test_entries_that_stand_twice_are_added_up(self, device):
        ids = torch.tensor([[0, 0, 1], [2, 2, 0]], device=device)
        features = gt.SparseFeatures(torch.sparse_coo_tensor(ids, torch.tensor([1.0, 2.0, 4.0], device=device), (2, 3)))
        wanted = torch.tensor([[0.0, 0.0, 3.0], [4.0, 0.0, 0.0]], device=device)
        assert torch.equal(features.to_dense(), wanted)
        twice = torch.sparse_csr_tensor([0, 2, 3], [2, 2, 0], [1.0, 2.0, 4.0], (2, 3), device=device)
        assert torch.equal(gt.SparseFeatures(twice).to_dense(), wanted)
        close(gt.SparseFeatures(twice).linear(torch.eye(3, device=device)), wanted)

    def test_whole_numbers_become_floats(self, device):
        features = gt.SparseFeatures(torch.eye(4, dtype=torch.int64, device=device))
        assert features.dtype == torch.float32 and torch.equal(features.to_dense(), torch.eye(4, device=device))

    def test_what_is_no_matrix_is_refused(self, device):
        with pytest.raises(gnntune.InvalidArgument, match=r"have the shape \(3,\); expected \[n, width\]"):
            gt.SparseFeatures(torch.ones(3, device=device))
        with pytest.raises(gnntune.InvalidArgument, match="expected a sparse matrix"):
            gt.SparseFeatures([1.0])
        places = torch.ones(4, 4).to_sparse_coo()
        hybrid = torch.sparse_coo_tensor(places.indices(), torch.ones(16, 3), (4, 4, 3))
        cube = torch.ones(2, 3, 4, device=device)
        for matrix in (hybrid, cube.to_sparse_coo(), cube.to_sparse_csr()):
            with pytest.raises(gnntune.InvalidArgument, match=r"have the shape .*; expected \[n, width\]"):
                gt.SparseFeatures(matrix)
        with pytest.raises(gnntune.InvalidArgument, match="complex64; expected real numbers"):
            gt.SparseFeatures(torch.eye(4, dtype=torch.complex64, device=device))
        with pytest.raises(gnntune.InvalidArgument, match=r"CSR, CSC or COO, not .*sparse_bsr"):
            gt.SparseFeatures(torch.ones(4, 4, device=device).to_sparse_bsr((2, 2)))

    def test_no_rows_and_no_values(self, device):
        empty = gt.SparseFeatures(torch.zeros(0, 5, device=device))
        weight = torch.randn(3, 5, device=device, requires_grad=True)
        out = empty.linear(weight)
        assert out.shape == (0, 3)
        out.sum().backward()
        assert torch.equal(weight.grad, torch.zeros_like(weight))
        nothing = gt.SparseFeatures(torch.zeros(6, 5, device=device))
        assert torch.equal(nothing.linear(weight, torch.ones(3, device=device)), torch.ones(6, 3, device=device))

    def test_copies_and_pickles(self, device):
        features = gt.SparseFeatures(sparse(device))
        for other in (copy.deepcopy(features), pickle.loads(pickle.dumps(features))):
            assert torch.equal(other.to_dense(), features.to_dense())
        assert f"SparseFeatures({N} x {WIDTH}, {features.graph.m} values, torch.float32, {device}" in repr(features)

    def test_they_go_elsewhere_and_become_another_type(self, device):
        x = sparse()
        features = gt.SparseFeatures(x)
        assert features.to("cpu") is features is features.to(torch.float32)
        moved = features.to(device)
        assert moved.device.type == moved.graph.device.type == device and torch.equal(moved.to_dense(), x.to(device))
        half = moved.to(torch.bfloat16)
        assert half.graph is moved.graph and half.dtype == torch.bfloat16 and moved.dtype == torch.float32
        back = half.to(device="cpu", dtype=torch.float32, non_blocking=False)
        assert torch.equal(back.to_dense(), x.bfloat16().float())
        weight = torch.randn(3, WIDTH)
        close(back.linear(weight), F.linear(x, weight), 2e-2)


class TestMaps:
    @pytest.mark.parametrize("out", [1, 7, 64])
    @pytest.mark.parametrize("has_bias", [True, False])
    def test_a_map_and_its_gradients(self, device, out, has_bias):
        x = sparse(device)
        linear = torch.nn.Linear(WIDTH, out, bias=has_bias).to(device)
        double = copy.deepcopy(linear).double()
        features = gt.SparseFeatures(x)
        grad = torch.randn(N, out, generator=torch.Generator().manual_seed(5)).to(device)
        y, wanted = linear(features), double(x.double())
        y.backward(grad)
        wanted.backward(grad.double())
        close(y.double(), wanted)
        for mine, theirs in zip(linear.parameters(), double.parameters()):
            close(mine.grad.double(), theirs.grad)
            assert mine.grad.is_contiguous()
        close(features @ linear.weight.t(), F.linear(x, linear.weight))

    def test_values_may_want_gradients(self, device):
        x = sparse(device)
        features = gt.SparseFeatures(x)
        features.values.requires_grad_()
        weight = torch.randn(6, WIDTH, device=device)
        dense = x.clone().requires_grad_()
        features.linear(weight).square().sum().backward()
        F.linear(dense, weight).square().sum().backward()
        rows, columns = features.graph.row, features.graph.col.long()
        close(features.values.grad, dense.grad[rows, columns])
        of_tensor = x.to_sparse_csr().requires_grad_()
        assert gt.SparseFeatures(of_tensor).values.requires_grad

    def test_values_may_be_replaced(self, device):
        x = sparse(device)
        features = gt.SparseFeatures(x)
        weight = torch.randn(6, WIDTH, device=device)
        close(features.linear(weight), F.linear(x, weight))
        features.values = 2 * features.values
        close(features.linear(weight), F.linear(2 * x, weight))

    @pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
    def test_halves_and_autocast(self, device, dtype):
        x = sparse(device)
        weight, bias = torch.randn(8, WIDTH, device=device), torch.randn(8, device=device)
        wanted = F.linear(x, weight, bias)
        tolerance = 2e-2
        half = gt.SparseFeatures(x.to(dtype))
        assert half.dtype == dtype
        close(half.linear(weight.to(dtype), bias.to(dtype)).float(), wanted, tolerance)
        with torch.autocast(device, dtype):
            found = F.linear(gt.SparseFeatures(x), weight, bias)
            assert found.dtype == F.linear(x, weight, bias).dtype == dtype
        close(found.float(), wanted, tolerance)

    def test_a_weight_that_does_not_fit(self, device):
        features = gt.SparseFeatures(sparse(device))
        with pytest.raises(gnntune.InvalidArgument, match=rf"shape \(3, 4\); expected \[out, {WIDTH}\]"):
            features.linear(torch.ones(3, 4, device=device))
        with pytest.raises(gnntune.InvalidArgument, match=rf"the shape \(4, 3\); expected \[{WIDTH}, out\]"):
            features @ torch.ones(4, 3, device=device)
        with pytest.raises(TypeError, match="@"):
            features @ [1.0]
        for dtype in (torch.float64, torch.int64):
            with pytest.raises(TypeError, match=f"weight is of {dtype}; sparse features are mapped in float32"):
                F.linear(features, torch.ones(3, WIDTH, dtype=dtype, device=device))

    @pytest.mark.parametrize("autocast", [False, True])
    def test_another_type_than_the_maps_is_refused_where_torch_does(self, device, autocast):
        types = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
        for mine, of_map in itertools.product(types, types[:3]):
            x, weight = sparse(device, mine), torch.ones(3, WIDTH, dtype=of_map, device=device)
            with torch.autocast(device, torch.bfloat16, enabled=autocast):
                try:
                    wanted = F.linear(x, weight)
                except RuntimeError:
                    met = rf"same dtype, but got: {mine} != {torch.bfloat16 if autocast else of_map}; give "
                    with pytest.raises(RuntimeError, match=met):
                        F.linear(gt.SparseFeatures(x), weight)
                else:
                    assert F.linear(gt.SparseFeatures(x), weight).dtype == wanted.dtype

    def test_x_by_its_name(self, device):
        x = sparse(device)
        features, weight = gt.SparseFeatures(x), torch.randn(3, WIDTH, device=device)
        close(F.linear(input=features, weight=weight), F.linear(x, weight))
        assert F.dropout(input=features, p=0.5, training=False) is features

    def test_dropout_keeps_zeros(self, device):
        features = gt.SparseFeatures(sparse(device))
        assert F.dropout(features, 0.5, False) is features and F.dropout(features, 0.0, True) is features
        torch.manual_seed(0)
        dropped = F.dropout(features, 0.5, True)
        assert dropped.graph is features.graph
        kept = dropped.values != 0
        assert 0.3 < float(kept.float().mean()) < 0.7
        close(dropped.values[kept], 2 * features.values[kept])
        assert not torch.equal(F.dropout(features, 0.5, True).values, dropped.values)

    def test_other_functions_refuse_in_words(self, device):
        features = gt.SparseFeatures(sparse(device))
        for call in (lambda: torch.relu(features), lambda: torch.cat([features, features])):
            with pytest.raises(TypeError, match=r"does not take SparseFeatures: give it their to_dense\(\)"):
                call()
        with pytest.raises(TypeError, match="does not take SparseFeatures"):
            F.linear(torch.ones(2, 3, device=device), features)
        with pytest.raises(TypeError, match="rows cannot be picked"):
            features[0:2]

    def test_maps_are_exact_where_a_models_sums_are_approximated(self, device):
        """The first sum of a model is what runs in the first way, not the map before it."""
        x = sparse(device)
        features = gt.SparseFeatures(x)
        weight = torch.randn(8, WIDTH, device=device)
        index, (n, _) = reference.edges("random", device)
        graph = gt.Graph(index, n)
        seen = []

        class Way:
            def __getattr__(self, name):
                seen.append(name)
                raise AttributeError(name)

        with _ways.scope([Way()]):
            close(features.linear(weight), F.linear(x, weight))
            assert not seen
            with pytest.raises(AttributeError):
                gt.spmm(graph, features.linear(weight))
        assert seen

    def test_compiled_without_a_break(self, device):
        pytest.importorskip("torch._inductor")
        x = sparse(device)
        features = gt.SparseFeatures(x)
        linear = torch.nn.Linear(WIDTH, 8).to(device)
        torch._dynamo.reset()
        compiled = torch.compile(lambda given: linear(given).relu(), fullgraph=True, backend="aot_eager")
        compiled(features).sum().backward()
        found = [p.grad.clone() for p in linear.parameters()]
        linear.zero_grad()
        linear(x).relu().sum().backward()
        for mine, p in zip(found, linear.parameters()):
            close(mine, p.grad)


pyg = pytest.importorskip("torch_geometric.nn")
import gnntune.models as models
import gnntune.pyg as gp
from gnntune.pyg import _layer

LAYERS = [
    ("GCNConv", (WIDTH, 7), {}),
    ("GCNConv", (WIDTH, 64), {"bias": False}),
    ("GCNConv", (WIDTH, 7), {"normalize": False}),
    ("SAGEConv", (WIDTH, 7), {}),
    ("SAGEConv", (WIDTH, 64), {"aggr": "sum", "root_weight": False}),
    ("SAGEConv", (WIDTH, 7), {"aggr": "max"}),
    ("SAGEConv", (WIDTH, 7), {"project": True}),
    ("GraphConv", (WIDTH, 7), {}),
    ("GraphConv", (WIDTH, 64), {"aggr": "max"}),
    ("GATConv", (WIDTH, 7), {"heads": 3}),
    ("GATConv", (WIDTH, 8), {"heads": 2, "bias": False, "add_self_loops": False}),
    ("GATConv", (WIDTH, 7), {"heads": 3, "concat": False, "residual": True}),
    ("GATv2Conv", (WIDTH, 7), {"heads": 2}),
    ("AGNNConv", (), {}),
    ("TransformerConv", (WIDTH, 7), {"heads": 3, "beta": True}),
]
IDS = [f"{name}-{'-'.join(f'{k}={v}' for k, v in options.items())}" for name, _, options in LAYERS]
NETWORKS = {
    "map": lambda: torch.nn.Linear(WIDTH, 7),
    "narrow": lambda: torch.nn.Sequential(torch.nn.Linear(WIDTH, 8), torch.nn.ReLU(), torch.nn.Linear(8, 5)),
    "without bias": lambda: torch.nn.Sequential(torch.nn.Linear(WIDTH, 8, bias=False), torch.nn.Tanh()),
    "wide": lambda: torch.nn.Sequential(torch.nn.Linear(WIDTH, 90), torch.nn.ReLU()),
    "no map": lambda: torch.nn.Sequential(torch.nn.Tanh(), torch.nn.Linear(WIDTH, 8)),
    "nothing": lambda: torch.nn.Sequential(),
}


def outcome(layer, x, graph):
    layer.zero_grad()
    y = layer(x, graph)
    if y.requires_grad:
        y.backward(torch.randn(y.shape, generator=torch.Generator().manual_seed(5)).to(y))
    return [y.detach(), *[p.grad for p in layer.parameters()]]


def same(found, wanted):
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted):
        assert (a is None) == (b is None)
        if a is not None:
            close(a, b, 2e-4)


@pytest.mark.parametrize(("name", "arguments", "options"), LAYERS, ids=IDS)
def test_layers_take_them_for_x(device, name, arguments, options):
    index, (n, _) = reference.edges("random", device)
    torch.manual_seed(0)
    theirs = getattr(pyg, name)(*arguments, **options).to(device)
    ours = gp.convert(copy.deepcopy(theirs))
    x = sparse(device)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="gnntune:")
        if not list(ours.parameters()):
            same([ours(gt.SparseFeatures(x), index)], [theirs(x, index)])
            return
        wanted = outcome(theirs, x, index)
        for graph in (index, gt.Graph(index, n)):
            found = outcome(ours, gt.SparseFeatures(x), graph)
            same(found, wanted)
        with torch.no_grad():
            close(ours(gt.SparseFeatures(x), graph), wanted[0], 2e-4)


@pytest.mark.parametrize("name", ["SAGEConv", "GraphConv"])
def test_sources_and_targets(device, name):
    index, (n_cols, n_rows) = reference.edges("wide", device)
    theirs = getattr(pyg, name)((WIDTH, WIDTH), 7).to(device)
    ours = gp.convert(copy.deepcopy(theirs))
    source, target = sparse(device)[:n_cols], sparse(device)[20 : 20 + n_rows]
    wanted = theirs((source, target), index)
    close(ours((gt.SparseFeatures(source), gt.SparseFeatures(target)), index), wanted)
    close(ours((gt.SparseFeatures(source), target), index), wanted)


@pytest.mark.parametrize("options", [{}, {"bias": False}, {"residual": True}, {"concat": False}])
def test_gat_whose_operators_are_looked_at(device, options):
    """Under autocast, and with a bias of another shape, a layer is its operators one by one."""
    index, (n, _) = reference.edges("random", device)
    x, graph = sparse(device), gt.Graph(index, n)
    torch.manual_seed(0)
    layer = gp.GATConv(WIDTH, 7, heads=3, **options).to(device)
    theirs = gp.revert(copy.deepcopy(layer))
    with torch.autocast(device, torch.bfloat16):
        found = layer(gt.SparseFeatures(x), graph)
    close(found.float().detach(), theirs(x, index).detach(), 4e-2)
    found.float().sum().backward()
    assert all(p.grad is not None for p in layer.parameters())
    for each in (layer, theirs):
        each.bias = None if each.bias is None else torch.nn.Parameter(each.bias.detach()[None])
    same(outcome(layer, gt.SparseFeatures(x), graph), outcome(theirs, x, index))


def test_what_a_layer_leaves_to_theirs_gets_dense_features(device):
    index, _ = reference.edges("random", device)
    theirs = pyg.GCNConv(WIDTH, 7, improved=True).to(device)
    ours = gp.convert(copy.deepcopy(theirs))
    _layer._warned.clear()
    with pytest.warns(UserWarning, match="improved=True"):
        same(outcome(ours, gt.SparseFeatures(sparse(device)), index), outcome(theirs, sparse(device), index))


@pytest.mark.parametrize("trained", [True, False])
@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("aggr", ["add", "mean", "max"])
@pytest.mark.parametrize("network", NETWORKS)
def test_gin_sums_behind_the_map_it_begins_with(device, network, aggr, form, trained):
    """The sum is as wide as the map's result where that is narrower, and the results are the same."""
    index, (n, _) = reference.edges("random", device)
    torch.manual_seed(0)
    made = NETWORKS[network]()
    theirs = pyg.GINConv(copy.deepcopy(made), eps=0.3, train_eps=trained, aggr=aggr).to(device)
    ours = gp.GINConv(made, eps=0.3, train_eps=trained, aggr=aggr).to(device)
    ours.load_state_dict(theirs.state_dict())  # both draw their parameters anew
    x, graph = sparse(device), gt.Graph(index, n)
    given = gt.SparseFeatures(x) if form == "sparse" else x
    same(outcome(ours, given, graph), outcome(theirs, x, index))
    widths = {problem.k for problem in graph.problems() if problem.op == "spmm"}
    first = made if network == "map" else made[0] if len(made) else None
    out = first.out_features if isinstance(first, torch.nn.Linear) else None
    # Gradients of the features are not wanted here: up to twice the result's width, sums come first.
    mapped_first = out is not None and aggr != "max" and (form == "sparse" or 2 * out < WIDTH)
    assert widths == ({out} if mapped_first else {WIDTH})


def test_gin_sees_that_eps_was_changed(device):
    index, (n, _) = reference.edges("random", device)
    x, graph = sparse(device), gt.Graph(index, n)
    theirs = pyg.GINConv(NETWORKS["narrow"](), eps=0.5).to(device)
    ours = gp.convert(copy.deepcopy(theirs))
    same(outcome(ours, x, graph), outcome(theirs, x, index))

    def replace(layer):
        layer.eps = torch.full((1,), -2.0, device=device)

    def point_elsewhere(layer):
        layer.eps.data = torch.full((1,), 7.0, device=device)

    def reset(layer):
        kept = copy.deepcopy(layer.nn)
        layer.reset_parameters()  # which writes to eps.data
        layer.nn.load_state_dict(kept.state_dict())

    state = {**theirs.state_dict(), "eps": torch.tensor([3.0])}
    for change in (
        lambda layer: layer.eps.fill_(1.5),
        reset,
        lambda layer: layer.eps.data.fill_(2.5),
        replace,
        point_elsewhere,
        lambda layer: layer.load_state_dict(state),
    ):
        change(ours)
        change(theirs)
        same(outcome(ours, x, graph), outcome(theirs, x, index))
    with torch.inference_mode():
        ours.eps.fill_(4.0)
        ours(x, graph)
    theirs.eps.fill_(4.0)
    same(outcome(copy.deepcopy(ours), x, graph), outcome(theirs, x, index))
    smaller = reference.edges("square", device)[0]
    same(outcome(ours, x[:6], smaller), outcome(theirs, x[:6], smaller))
    same(outcome(ours.bfloat16().float(), x, index), outcome(theirs.bfloat16().float(), x, index))


@pytest.mark.parametrize("trained", [True, False])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_gin_with_an_eps_of_each_feature(device, form, trained):
    index, (n, _) = reference.edges("random", device)
    x = sparse(device)
    theirs = pyg.GINConv(torch.nn.Linear(WIDTH, WIDTH), train_eps=True).to(device)
    theirs.eps = torch.nn.Parameter(torch.rand(WIDTH, device=device), requires_grad=trained)
    ours = gp.convert(copy.deepcopy(theirs))
    given = gt.SparseFeatures(x) if form == "sparse" else x
    same(outcome(ours, given, gt.Graph(index, n)), outcome(theirs, x, index))


@pytest.mark.parametrize("trained", [True, False])
def test_gin_leaves_a_network_alone_that_is_looked_at(device, trained):
    index, (n, _) = reference.edges("random", device)
    x, graph, seen = sparse(device), gt.Graph(index, n), []

    class Own(torch.nn.Sequential):
        def forward(self, given):
            seen.append(given.shape[1])
            return super().forward(given)

    parts = [torch.nn.Linear(WIDTH, 8), torch.nn.ReLU()]
    hooked, inner = torch.nn.Sequential(*copy.deepcopy(parts)), torch.nn.Sequential(*copy.deepcopy(parts))
    hooked.register_forward_pre_hook(lambda _, given: seen.append(given[0].shape[1]))
    inner[0].register_forward_hook(lambda _, given, out: seen.append(given[0].shape[1]))
    for network in (Own(*copy.deepcopy(parts)), hooked, inner):
        seen.clear()
        gp.GINConv(network, train_eps=trained).to(device)(x, graph)
        assert seen == [WIDTH]


@pytest.mark.parametrize("name", models.MODELS)
def test_a_model_learns_the_same_of_either_form(labelled, device, name):
    data = labelled
    graph, y, split = data.graph(device), data.y(device), data.split(0, device)
    found = []
    for x in (data.x(device), data.sparse_x(device)):
        torch.manual_seed(0)
        model = models.build(name, data.features, data.classes, hidden=16, dropout=0.0).to(device)
        found.append(models.fit(model, graph, x, y, split, epochs=5, capture=device == "cuda"))
    assert found[0].loss == pytest.approx(found[1].loss, rel=1e-2)
    assert found[0].test == pytest.approx(found[1].test, abs=0.03)
    gt.release_captured()


def test_a_model_of_theirs_takes_a_sparse_tensor_with_dropout(labelled):
    data = labelled
    x = data.x()
    torch.manual_seed(0)
    model = models.build("GCN", data.features, data.classes, hidden=16, convs=pyg)
    index = data.graph().edge_index
    fitted = models.fit(model, index, x.to_sparse_csr(), data.y(), data.split(0), epochs=30)
    assert fitted.test > 0.6
    close(model(x.to_sparse_csr(), index), model(x, index))


def test_dropout_of_sparse_features_is_drawn_for_each_epoch(labelled):
    data = labelled
    torch.manual_seed(0)
    model = models.build("GCN", data.features, data.classes, hidden=16)
    assert models.fit(model, data.graph(), data.sparse_x(), data.y(), data.split(0), epochs=30).test > 0.6


def test_their_maps_are_tuned_with_a_step(device, fresh_db):
    index, (n, _) = reference.edges("random", device)
    features = gt.SparseFeatures(sparse(device))
    model = models.build("GCN", WIDTH, 4, hidden=8).to(device)
    rows = gt.tune(model, gt.Graph(index, n), features, budget=2.0, db=fresh_db, progress=False)
    of_maps = [row.problem for row in rows if row.graph == repr(features.graph)]
    assert {(p.op, p.direction, p.k) for p in of_maps} == {("spmm", "forward", 8), ("spmm", "reversed", 8)}


def test_a_file_with_dense_features_has_no_sparse_ones(tmp_path):
    import numpy as np

    (tmp_path / "g.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n4 4 1\n1 2\n")
    np.savez(tmp_path / "g.npz", labels=np.array([0, 1, 0, 1]), feat_dense=np.ones((4, 2), np.float32))
    assert models.load(tmp_path / "g.npz").sparse_x() is None
