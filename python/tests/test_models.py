"""gnntune.models: the same models of either side's layers, labelled graphs, training."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

import numpy as np
import pytest
import reference
import scipy.sparse

import gnntune

torch = pytest.importorskip("torch")
pyg = pytest.importorskip("torch_geometric.nn")
import gnntune.models as models
import gnntune.pyg as gp
import gnntune.torch as gt
from gnntune.models import _fit
from gnntune.torch import _device


@pytest.mark.parametrize("name", models.MODELS)
def test_a_model_is_the_same_of_either_sides_layers(name, device):
    index, (n, _) = reference.edges("random", device)
    graph, x = gt.Graph(index, n), torch.randn(n, 12, device=device)
    torch.manual_seed(1)
    ours = models.build(name, 12, 5, hidden=16, layers=3, dropout=0.0).to(device)
    torch.manual_seed(1)
    theirs = models.build(name, 12, 5, hidden=16, layers=3, dropout=0.0, convs=pyg).to(device)
    for (key, mine), (other, value) in zip(ours.state_dict().items(), theirs.state_dict().items()):
        assert key == other and torch.equal(mine, value)
    got, wanted = ours(x, graph), theirs(x, index)
    assert got.shape == (n, 5) and torch.allclose(got, wanted, atol=1e-4)
    got.square().sum().backward()
    wanted.square().sum().backward()
    for (key, mine), value in zip(ours.named_parameters(), theirs.parameters()):
        if value.grad is not None:
            scale = max(1.0, float(value.grad.abs().max()))
            assert torch.allclose(mine.grad, value.grad, atol=2e-4 * scale), key


@pytest.mark.parametrize("name", ["GCN", "GAT"])
def test_cora_is_learnt_as_well_as_by_pytorch_geometric(labelled, name):
    x, y, split = labelled.x(), labelled.y(), labelled.split(0)
    graph = labelled.graph()
    found = {}
    for side, convs, adjacency in (("ours", gp, graph), ("theirs", pyg, graph.edge_index)):
        torch.manual_seed(0)
        # Without dropout both draw nothing, and learn the same.
        model = models.build(name, labelled.features, labelled.classes, hidden=16, dropout=0.0, convs=convs)
        found[side] = models.fit(model, adjacency, x, y, split, epochs=30)
        right = models.hits(model.eval()(x, adjacency), y, split.validation).float().mean()
        assert float(right) == pytest.approx(found[side].validation)  # the best epoch's weights stayed
    assert found["ours"].loss == pytest.approx(found["theirs"].loss, rel=1e-2)
    assert found["ours"].test == pytest.approx(found["theirs"].test, abs=0.01)
    assert found["ours"].test > 0.6


def test_cora_is_what_its_source_says(labelled):
    assert (labelled.n, labelled.m, labelled.features, labelled.classes) == (2708, 10556, 1433, 7)
    split = labelled.split(0)
    assert [len(ids) for ids in split] == [140, 500, 1000]
    assert len(set(torch.cat(list(split)).tolist())) == 1640
    assert torch.allclose(labelled.x().sum(1), torch.ones(2708), atol=1e-5)
    assert labelled.split_rule == "1 of the file"


def written(folder, n=6, entries=((1, 2), (2, 1)), **arrays):
    lines = "".join(f"{i} {j}\n" for i, j in entries)
    head = "%%MatrixMarket matrix coordinate pattern general\n"
    (folder / "g.mtx").write_text(f"{head}{n} {n} {len(entries)}\n{lines}")
    np.savez(folder / "g.npz", **arrays)
    return folder / "g.npz"


def test_a_graph_without_splits_gets_seeded_ones(tmp_path):
    labels = np.repeat(np.arange(2), 200)
    path = written(tmp_path, 400, labels=labels, feat_dense=np.random.RandomState(0).rand(400, 3).astype(np.float32))
    data, again = models.load(path, splits=3), models.load(path, splits=2)
    assert len(data.splits) == 3 and "made here" in data.split_rule
    assert np.array_equal(data.splits[1], again.splits[1]) and not np.array_equal(data.splits[0], data.splits[1])
    train, validation, test = data.split(2)
    assert (len(train), len(validation), len(test)) == (40, 60, 300)
    assert data.y()[train].bincount().tolist() == [20, 20]
    assert data.split(5).train.tolist() == train.tolist()  # modulo their number
    x = data.x()
    assert x.dtype == torch.float32 and torch.allclose(x.mean(0), torch.zeros(3), atol=1e-5)


DENSE = np.ones((6, 2), np.float32)
LABELS = np.array([0, 1, 0, 1, 0, 1])
CSR = {
    "feat_indptr": np.array([0, 1, 2, 2, 2, 2, 2]),
    "feat_data": np.ones(2, np.float32),
    "feat_shape": np.array([6, 2]),
}


@pytest.mark.parametrize(
    ("arrays", "error", "words"),
    [
        ({"feat_dense": DENSE}, gnntune.InvalidGraph, "no labels"),
        ({"labels_multihot": np.ones((6, 2))}, gnntune.InvalidGraph, "several labels"),
        ({"labels": LABELS}, gnntune.InvalidGraph, "no features"),
        (
            {"labels": LABELS, "feat_dense": DENSE, "feat_available": np.array([1, 1, 0, 0, 0, 0])},
            gnntune.InvalidGraph,
            "features of 2 of 6 vertices only",
        ),
        ({"labels": LABELS[:5], "feat_dense": DENSE}, gnntune.InvalidGraph, "expected 5 vertices"),
        ({"labels": LABELS, "feat_dense": DENSE[:4]}, gnntune.InvalidGraph, r"\[4, 2\]; expected 6 rows"),
        ({"labels": LABELS, **CSR, "feat_indices": np.array([0, 2])}, gnntune.InvalidGraph, "outside of 0 to 1"),
        ({"labels": LABELS, **CSR, "feat_indices": np.array([-1, 0])}, gnntune.InvalidGraph, "outside of 0 to 1"),
        ({"labels": -np.ones(6, int), "feat_dense": DENSE}, gnntune.InvalidGraph, "no vertex has a label"),
    ],
)
def test_what_accuracy_cannot_be_had_of_is_refused_in_words(tmp_path, arrays, error, words):
    with pytest.raises(error, match=words):
        models.load(written(tmp_path, **arrays))


def test_a_graph_file_that_is_missing_is_named(tmp_path):
    path = written(tmp_path, labels=LABELS, feat_dense=DENSE)
    (tmp_path / "g.mtx").unlink()
    with pytest.raises(gnntune.InvalidArgument, match=r"g\.mtx, \.mtx\.gz or \.mtx\.xz, is not beside it"):
        models.load(path)


def benchmark_file(folder, **other):
    """As gnn-benchmark writes them: directed edges, a self loop, a name that only pickle reads."""
    adjacency = scipy.sparse.random(40, 40, 0.1, format="csr", random_state=3, dtype=np.float32)
    adjacency = (adjacency + scipy.sparse.coo_matrix(([1.0], ([7], [7])), (40, 40))).tocsr()
    words = scipy.sparse.random(40, 9, 0.3, format="csr", random_state=4, dtype=np.float32)
    arrays = {
        f"{kind}_{part}": value
        for kind, matrix in (("adj", adjacency), ("attr", words))
        for part, value in zip(
            ("data", "indices", "indptr", "shape"), (matrix.data, matrix.indices, matrix.indptr, matrix.shape)
        )
    }
    names = np.array(["a", None], dtype=object)  # of class_names or, in older files, idx_to_class
    path = folder / "photo.npz"
    np.savez(path, **{**arrays, "labels": np.arange(40) % 4, "class_names": names, "idx_to_class": names, **other})
    return path


def test_a_file_of_gnn_benchmark_is_read_as_by_pytorch_geometric(tmp_path):
    path = benchmark_file(tmp_path)
    data = models.load(path)
    theirs = pytest.importorskip("torch_geometric.io").read_npz(path, to_undirected=True)
    edges = theirs.edge_index[:, theirs.edge_index[0] != theirs.edge_index[1]]
    order = (edges[1] * 40 + edges[0]).argsort()
    assert torch.equal(data.graph().edge_index, edges[:, order])
    assert (data.n, data.features, data.classes) == (40, 9, 4)
    assert torch.equal(data.x() > 0, theirs.x > 0)
    assert torch.equal(data.y(), theirs.y)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"adj_indptr": np.array([0, 3])}, "adj_indptr is no 41 rising offsets"),
        ({"adj_shape": np.array([40, 30])}, r"outside of 0 to 29|40 x 30; expected 40 vertices"),
        ({"adj_shape": np.array([40])}, r"adj_shape is \[40\]; expected rows and columns"),
        ({"labels": np.arange(39)}, "adj_shape: 40 x 40; expected 39 vertices"),
        ({"labels": np.eye(40, dtype=int)}, r"labels are int64 \[40, 40\]; expected one whole number"),
        ({"labels": np.full(40, 10**9)}, "less than the number of vertices"),
        ({"adj_indices": np.array(["a"])}, r"adj_indices is <U1 \[1\]; expected whole numbers"),
        ({"attr_indptr": np.full(41, 3)}, "feat_indptr is no 41 rising offsets from 0"),
        ({"attr_data": np.ones(2)}, "and 2 values; expected 40 rows, a value each"),
        ({"attr_data": np.full(108, np.nan)}, "features that are no finite real numbers"),
        ({"attr_matrix": np.ones(40)}, r"features of the shape \[40\]; expected 40 rows"),
        (
            {f"{part}_mask": np.ones((1, 7), bool) for part in ("train", "val", "test")},
            "expected splits of 40 vertices",
        ),
    ],
)
def test_a_file_of_gnn_benchmark_that_is_not_whole_is_refused(tmp_path, arrays, words):
    with pytest.raises(gnntune.InvalidGraph, match=words):
        models.load(benchmark_file(tmp_path, **arrays))


def test_mistakes_of_building_and_training(labelled):
    with pytest.raises(gnntune.InvalidArgument, match="no model is called 'GNC'; expected one of GCN, GAT"):
        models.build("GNC", 3, 2)
    with pytest.raises(gnntune.InvalidArgument, match="multiple of 8"):
        models.build("GAT", 3, 2, hidden=12)
    with pytest.raises(gnntune.InvalidArgument, match="layers is 0"):
        models.build("GCN", 3, 2, layers=0)
    model = models.build("GCN", labelled.features, labelled.classes, hidden=4)
    arguments = model, labelled.graph(), labelled.x(), labelled.y()
    none = labelled.split(0)._replace(validation=torch.empty(0, dtype=torch.long))
    with pytest.raises(gnntune.InvalidArgument, match="no vertices for validation"):
        models.fit(*arguments, none)
    with pytest.raises(TypeError, match=r"split is a Tensor; expected a gnntune\.models\.Split"):
        models.fit(*arguments, torch.arange(3))
    with pytest.raises(gnntune.InvalidArgument, match="epochs is 0"):
        models.fit(*arguments, labelled.split(0), epochs=0)
    with torch.no_grad():
        model.layers[0].lin.weight.fill_(float("nan"))
    with pytest.raises(gnntune.RunFailed, match="the loss of the last epoch is nan"):
        models.fit(*arguments, labelled.split(0), epochs=1)


@pytest.mark.parametrize("usual", [True, False])
def test_training_leaves_the_callers_choice_of_threads_for_a_backward(labelled, usual):
    """In the backward torch's threads are off; afterwards they are as they were, after an error too."""
    model = models.build("GCN", labelled.features, labelled.classes, hidden=4)
    arguments = model, labelled.graph(), labelled.x(), labelled.y(), labelled.split(0)
    seen = []

    def look(_gradient):
        seen.append(torch._C._is_multithreading_enabled())

    def stop(_gradient):
        raise ArithmeticError("a hook's")

    weight = next(model.parameters())
    with torch.autograd.set_multithreading_enabled(usual):
        with weight.register_hook(look):
            models.fit(*arguments, epochs=2)
        assert seen == [False, False] and torch._C._is_multithreading_enabled() is usual
        with weight.register_hook(stop), pytest.raises(ArithmeticError, match="a hook's"):
            models.fit(*arguments, epochs=1)
        assert torch._C._is_multithreading_enabled() is usual


class Cuda:
    """What of torch.cuda a captured training calls, of two devices; torch's own capture stream is of the first."""

    def __init__(self, monkeypatch):
        self.device_now, self.seen = 0, []
        for name in ("current_stream", "device", "graph", "stream", "synchronize", "set_sync_debug_mode"):
            monkeypatch.setattr(torch.cuda, name, getattr(self, name))
        monkeypatch.setattr(torch.cuda, "get_sync_debug_mode", lambda: 0)
        monkeypatch.setattr(torch.cuda, "CUDAGraph", lambda: SimpleNamespace(replay=lambda: self.note("replay")))
        monkeypatch.setattr(torch.cuda, "Stream", self.stream_of)

    def note(self, what, device=None):
        self.seen.append((what, self.device_now if device is None else device))

    def stream_of(self, device):
        index = device.index
        return SimpleNamespace(
            index=index,
            wait_stream=lambda other: self.note(f"waits for {other.index}", index),
            synchronize=lambda: self.note("synchronize", index),
        )

    def current_stream(self, device=None):
        return self.stream_of(device or torch.device("cuda", self.device_now))

    @contextlib.contextmanager
    def device(self, device):
        before, self.device_now = self.device_now, torch.device(device).index
        yield
        self.device_now = before

    def stream(self, stream):
        return self.device(torch.device("cuda", stream.index))

    def graph(self, recorded, stream=None):
        return self.stream(stream or self.stream_of(torch.device("cuda", 0)))

    def synchronize(self):
        self.note("synchronize")

    def set_sync_debug_mode(self, mode):
        pass


def test_a_capture_happens_on_the_models_device(monkeypatch):
    cuda = Cuda(monkeypatch)
    monkeypatch.setattr(_device, "_sides", {})

    class Epochs:
        def __init__(self, model, graph, x, y, split, **options):
            self.x, self.loss, self.best, self.best_epoch = x, 1.0, 1.0, 1
            self.optimiser = SimpleNamespace(zero_grad=lambda set_to_none: None)

        def epoch(self):
            cuda.note("epoch")

        def keep_best(self):
            pass

    monkeypatch.setattr(_fit, "Epochs", Epochs)
    x, ids = SimpleNamespace(is_cuda=True, device=torch.device("cuda", 1)), torch.arange(2)
    model = torch.nn.Module()
    model.forward = lambda x, graph: torch.eye(2)
    models.fit(model, None, x, ids, models.Split(ids, ids, ids), epochs=6, capture=True)
    assert [what for what, _ in cuda.seen if what in ("epoch", "replay")] == 4 * ["epoch"] + 3 * ["replay"]
    assert cuda.seen.count(("waits for 1", 1)) == 2
    assert {device for _, device in cuda.seen} == {1} and cuda.device_now == 0


@pytest.mark.cuda
@pytest.mark.parametrize("name", models.MODELS)
def test_captured_epochs_are_the_eager_ones(labelled, name):
    graph, x, y, split = labelled.graph("cuda"), labelled.x("cuda"), labelled.y("cuda"), labelled.split(0, "cuda")
    found = []
    for capture in (False, True):
        torch.manual_seed(0)
        model = models.build(name, labelled.features, labelled.classes, hidden=16, dropout=0.0).cuda()
        found.append(models.fit(model, graph, x, y, split, epochs=10, capture=capture))
    assert found[0].loss == pytest.approx(found[1].loss, rel=1e-2)
    assert found[0].test == pytest.approx(found[1].test, abs=0.03)
    gt.release_captured()
