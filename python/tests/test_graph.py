"""Making graphs: every form of input, every mistake."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest
import reference

torch = pytest.importorskip("torch")
import gnntune
import gnntune.torch as gt
from gnntune.torch import _run


def dense(g: gt.Graph) -> torch.Tensor:
    a = torch.zeros(g.n_rows, g.n_cols)
    return a.index_put((g.row.cpu(), g.col.long().cpu()), torch.ones(g.m), accumulate=True)


@pytest.fixture
def wanted() -> torch.Tensor:
    index, (n_cols, n_rows) = reference.edges("wide")
    a = torch.zeros(n_rows, n_cols)
    return a.index_put((index[1], index[0]), torch.ones(index.shape[1]), accumulate=True)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_from_edge_index(device, dtype, wanted):
    index, sizes = reference.edges("wide", device)
    g = gt.Graph(index.to(dtype), sizes)
    assert torch.equal(dense(g), wanted)
    assert torch.equal(g.edge_index, index)
    assert (g.n_cols, g.n_rows) == sizes and g.m == index.shape[1]


def test_num_nodes_is_found(device):
    g = gt.Graph(torch.tensor([[0, 4], [2, 1]], device=device))
    assert g.n_rows == g.n_cols == g.num_nodes == 5
    assert gt.Graph(torch.empty(2, 0, dtype=torch.int64, device=device)).n_rows == 0


def test_sorted_edges_need_no_order_of_their_own(device):
    index = torch.tensor([[3, 0, 1], [0, 1, 1]], device=device)
    assert gt.Graph(index, 4).perm is None
    assert gt.Graph(index.flip(1), 4).perm is not None


def test_from_torch_sparse(device, wanted):
    a = wanted.to(device)
    for matrix in (a.to_sparse_csr(), a.to_sparse_coo(), a.to_sparse_csc()):
        g = gt.Graph.from_sparse(matrix)
        assert torch.equal(dense(g), (wanted != 0).float())
        assert torch.equal(g.edge_weight, torch.ones(g.m, device=device))


def test_from_scipy(device, wanted):
    sparse = pytest.importorskip("scipy.sparse")
    for matrix in (
        sparse.csr_matrix(wanted.numpy()),
        sparse.coo_array(wanted.numpy()),
        sparse.csc_matrix(wanted.numpy()),
    ):
        g = gt.Graph.from_sparse(matrix, device=device)
        assert torch.equal(dense(g), (wanted != 0).float())
        assert g.device.type == device


class FakeSparseTensor:
    """What torch_sparse.SparseTensor has, as far as it is looked at."""

    def __init__(self, row_ptr, col, values, n_cols):
        self._parts, self._n_cols = (row_ptr, col, values), n_cols

    def csr(self):
        return self._parts

    def sparse_size(self, dim):
        return (len(self._parts[0]) - 1, self._n_cols)[dim]


def test_from_torch_sparses_sparse_tensor(device, wanted):
    a = wanted.to_sparse_csr().to(device)
    g = gt.Graph.from_sparse(FakeSparseTensor(a.crow_indices(), a.col_indices(), None, 9))
    assert torch.equal(dense(g), (wanted != 0).float())
    assert g.edge_weight is None


def test_from_data(device):
    data = pytest.importorskip("torch_geometric.data")
    index, (n, _) = reference.edges("square", device)
    g = gt.Graph.from_data(data.Data(edge_index=index, num_nodes=n), self_loops="add")
    assert g.n_rows == n and g.m == index.shape[1] + n


def test_self_loops(device):
    index, (n, _) = reference.edges("loops", device)
    kept = gt.Graph(index, n)
    bare = gt.Graph(index, n, self_loops="remove")
    full = gt.Graph(index, n, self_loops="add")
    loops = index[0] == index[1]
    assert kept.m == index.shape[1] and bare.m == int((~loops).sum()) and full.m == bare.m + n
    assert torch.equal(bare.edge_index, index[:, bare.kept])
    assert torch.equal(full.edge_index[:, bare.m :], torch.arange(n, device=device).expand(2, n))
    assert torch.equal(dense(kept.with_loops()), dense(full))
    assert torch.equal(dense(kept.without_loops()), dense(bare))
    assert kept.with_loops() is kept.with_loops()
    assert bare.without_loops() is bare


@pytest.mark.parametrize("loops", ["none", "some", "only", "no edges"])
def test_self_loops_of_a_transient_graph(device, loops):
    edges = {"none": [[0, 1, 2], [1, 2, 3]], "some": [[0, 1, 1, 2], [0, 1, 1, 3]], "only": [[3, 3, 4], [3, 3, 4]]}
    index = torch.tensor(edges.get(loops, [[], []]), dtype=torch.long, device=device)
    passing = gt.Graph(index, 5, transient=True)
    full = passing.with_loops()
    assert full.transient and passing.with_loops() is full
    assert full.m == int((index[0] != index[1]).sum()) + 5
    assert torch.equal(dense(full), dense(gt.Graph(index, 5, self_loops="add")))


def test_int32_arrays_are_borrowed(device):
    row_ptr = torch.tensor([0, 1, 3], dtype=torch.int32, device=device)
    col = torch.tensor([1, 0, 1], dtype=torch.int32, device=device)
    g = gt.Graph.from_csr(row_ptr, col)
    assert g.row_ptr.data_ptr() == row_ptr.data_ptr() and g.col.data_ptr() == col.data_ptr()


@pytest.mark.parametrize("transient", [False, True])
@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_an_edge_index_may_be_a_view_and_is_copied(device, dtype, ordered, transient):
    torch.manual_seed(0)
    pairs = torch.randint(0, 50, (300, 2), dtype=dtype, device=device)
    if ordered:  # by target: then the order of edges is that of the CSR
        pairs = pairs[pairs[:, 1].argsort(stable=True)]
    wanted = torch.zeros(50, 50).index_put((pairs[:, 1].cpu(), pairs[:, 0].cpu()), torch.ones(300), accumulate=True)
    g = gt.Graph(pairs.t(), 50, transient=transient)
    x = torch.eye(50, device=device)
    assert torch.equal(gt.spmm(g, x).cpu(), wanted)
    pairs.fill_(1_000_000_000)
    assert torch.equal(gt.spmm(g, x).cpu(), wanted)
    assert torch.equal(gt.spmm(gt.Graph(g.edge_index, 50, transient=transient), x).cpu(), wanted)


def test_ids_are_checked_before_they_are_narrowed():
    index = torch.tensor([[0, 2**32 + 1], [1, 2]])
    for transient in (False, True):
        with pytest.raises(gnntune.InvalidGraph, match="4294967297"):
            gt.Graph(index, 5, transient=transient)


def test_ids_of_transient_graphs_are_checked_on_a_cpu():
    index, row_ptr = torch.tensor([[0, 500_000_000], [1, 2]]), torch.tensor([0, 1])
    for options in ({"self_loops": "remove"}, {"self_loops": "add"}, {}):
        with pytest.raises(gnntune.InvalidGraph, match="500000000"):
            gt.Graph(index, 4, transient=True, **options)
    for wrong in (500_000_000, 2**32):
        with pytest.raises(gnntune.InvalidGraph, match=str(wrong)):
            gt.Graph.from_csr(row_ptr, torch.tensor([wrong]), transient=True)
    with pytest.raises(gnntune.InvalidGraph, match="row_ptr does not rise"):
        gt.Graph.from_csr(torch.tensor([0, 7]), torch.tensor([0]), transient=True)


def test_sizes_past_int32():
    for n in (2**40, 10**30):
        with pytest.raises(gnntune.InvalidGraph, match="sizes must fit int32"):
            gt.Graph(torch.tensor([[0], [1]]), n)


@pytest.mark.parametrize("sizes", ["a", (1, 2, 3), 3.0])
def test_sizes_that_are_none(sizes):
    with pytest.raises(TypeError, match="expected a number of vertices"):
        gt.Graph(torch.zeros(2, 1, dtype=torch.long), sizes)


@pytest.mark.parametrize("number", [np.int64(3), np.int32(3), torch.tensor(3)])
def test_sizes_may_be_numbers_of_other_libraries(number):
    index = torch.tensor([[0, 1], [1, 2]])
    assert gt.Graph(index, number).n_rows == 3
    assert gt.Graph(index, (number, 3), transient=True).n_cols == 3


def test_sizes_and_arrays_that_do_not_fit():
    none = torch.zeros(0, dtype=torch.long)
    with pytest.raises(gnntune.InvalidArgument, match="not negative, not -1"):
        gt.Graph(torch.zeros(2, 0, dtype=torch.long), -1)
    with pytest.raises(gnntune.InvalidArgument, match="not negative, not -3"):
        gt.Graph.from_csr(torch.tensor([0, 0]), none, -3)
    with pytest.raises(TypeError, match="expected a number of sources"):
        gt.Graph.from_csr(torch.tensor([0, 0]), none, (3, 7))
    with pytest.raises(TypeError, match="row_ptr is a list"):
        gt.Graph.from_csr([0, 1], none)
    with pytest.raises(gnntune.InvalidArgument, match="a value for each of 1 edges"):
        gt.Graph.from_csr(torch.tensor([0, 1]), torch.tensor([0]), edge_weight=torch.ones(2))


@pytest.mark.parametrize("default", ["meta", "cpu"])
def test_torchs_default_device_is_not_asked(default):
    index, (n, _) = reference.edges("random")
    x = torch.randn(n, 4)
    wanted = gt.gcn(gt.Graph(index, n), x)
    torch.set_default_device(default)
    try:
        found = gt.gcn(gt.Graph(index, n), x)  # the first run of a graph, which takes a workspace
    finally:
        torch.set_default_device(None)
    assert torch.equal(found, wanted)


def test_the_fingerprint_is_the_librarys(device):
    sparse = pytest.importorskip("scipy.sparse")
    index, (n, _) = reference.edges("random", device)
    matrix = sparse.coo_matrix(([1] * index.shape[1], (index[1].cpu().numpy(), index[0].cpu().numpy())), shape=(n, n))
    matrix.has_canonical_format = True  # duplicates stay
    assert gt.Graph(index, n).fingerprint == gnntune.Context(device="cpu").graph(matrix).fingerprint


class TestMistakes:
    @pytest.mark.parametrize("bad", [-1, 9])
    def test_ids_out_of_range(self, device, bad):
        index, sizes = reference.edges("wide", device)
        index[0, 0] = bad
        with pytest.raises(gnntune.InvalidGraph, match=f"a source has the id {bad}; expected ids from 0 to 8"):
            gt.Graph(index, sizes)

    def test_shapes_and_types(self, device):
        with pytest.raises(ValueError, match=r"expected \[2, m\]"):
            gt.Graph(torch.zeros(3, 4, dtype=torch.int64, device=device), 4)
        with pytest.raises(ValueError, match="float32"):
            gt.Graph(torch.zeros(2, 4, device=device), 4)
        with pytest.raises(ValueError, match="from_sparse"):
            gt.Graph(torch.eye(3, device=device).to_sparse_csr(), 3)
        with pytest.raises(ValueError, match="list"):
            gt.Graph([[0], [1]], 2)
        with pytest.raises(ValueError, match="'keep', 'remove' or 'add'"):
            gt.Graph(torch.zeros(2, 1, dtype=torch.int64, device=device), 1, self_loops="yes")
        with pytest.raises(ValueError, match="sparse matrix"):
            gt.Graph.from_sparse(object())

    def test_offsets_that_fall(self, device):
        col = torch.zeros(3, dtype=torch.int32, device=device)
        for offsets in ([0, 2, 1, 3], [1, 2, 3], [0, 1, 2]):
            with pytest.raises(gnntune.InvalidGraph, match="does not rise from 0 to 3"):
                gt.Graph.from_csr(torch.tensor(offsets, device=device), col)

    def test_the_meta_device(self):
        with pytest.raises(ValueError, match="not on meta"):
            gt.Graph(torch.zeros(2, 1, dtype=torch.int64, device="meta"), 1, transient=True)


def test_transient_graphs_give_the_same_answers(device):
    index, (n, _) = reference.edges("random", device)
    x = torch.ones(n, 8, device=device)
    kept, batch = gt.Graph(index, n), gt.Graph(index, n, transient=True)
    assert torch.allclose(gt.spmm(kept, x), gt.spmm(batch, x))
    assert "transient" in repr(batch)
    for longest in (None, 1000, index.shape[1]):
        g = gt.Graph.from_csr(kept.row_ptr, kept.col, n, transient=True, longest_row=longest)
        assert torch.allclose(gt.spmm(kept, x), gt.spmm(g, x))


def test_a_transient_graph_is_planned_for_one_call(device):
    index, (n, _) = reference.edges("random", device)
    x = torch.ones(n, 8, device=device, requires_grad=True)
    for transient, calls in ((True, 1.0), (False, 1000.0)):
        g = gt.Graph(index, n, transient=transient)
        gt.spmm(g, x).sum().backward()
        assert {problem.expected_calls for problem in g.problems()} == {calls}
        assert len(g.problems()) == 2


def values_of_edges(device, index, *more):
    generator = torch.Generator().manual_seed(4)
    return (torch.rand(index.shape[1], *more, generator=generator) + 0.1).to(device).requires_grad_()


@pytest.mark.parametrize("name", ["square", "wide", "duplicates", "random", "hub", "no_edges"])
@pytest.mark.parametrize("csr_order", [False, True])
def test_values_of_edges_of_a_transient_graph_stand_where_they_do_in_one_that_lasts(device, name, csr_order):
    index, sizes = reference.edges(name, device)
    results = []
    for transient in (False, True):
        g = gt.Graph(index, sizes, transient=transient)
        x = torch.arange(8.0 * sizes[0], device=device).view(-1, 8).remainder(7).requires_grad_()
        rows = torch.arange(8.0 * sizes[1], device=device).view(-1, 8).remainder(5).requires_grad_()
        w, logits = values_of_edges(device, index), values_of_edges(device, index, 2)
        y = gt.spmm(g, x, w, csr_order=csr_order)
        products = gt.sddmm(g, rows, x, csr_order=csr_order)
        weights = gt.edge_softmax(g, logits, csr_order=csr_order)
        (y.square().sum() + products.square().sum() + weights.square().sum()).backward()
        order = g.perm.long() if csr_order and g.perm is not None else slice(None)
        assert torch.equal(g.edge_index, index)
        results.append(
            [y, products, weights, x.grad, rows.grad, w.grad, logits.grad, g.col, g.row_ptr, index[:, order]]
        )
    for lasting, passing in zip(*results):
        assert torch.allclose(lasting, passing, rtol=1e-4, atol=1e-4)


def test_what_one_transient_graph_has_prepared_serves_the_next(device, monkeypatch):
    if not _run._can_run_tensors:
        pytest.skip("this torch has no exchange interface")
    steps = []

    def step(m):
        n = m // 4
        generator = torch.Generator().manual_seed(m)
        index = torch.randint(0, n, (2, m), generator=generator).to(device)
        x = torch.randn(n, 2, 4, generator=generator).to(device).requires_grad_()
        s, beta = torch.randn(n, 2, generator=generator).to(device).requires_grad_(), torch.ones(2, device=device)
        found = []
        for transient in (True, False) if steps else (True,):
            x.grad = s.grad = None
            g = gt.Graph(index, n, transient=transient).with_loops()
            y = gt.gat(g, x, s, s, dropout=0.0) + gt.agnn(g, x, beta) + gt.attention(g, x, x, x)
            y = y + gt.spmm(g, x) + gt.spmm(g, x, reduce="mean") + gt.gcn(g, x.flatten(1)).view_as(x)
            y.square().sum().backward()
            found.append((y.detach(), x.grad, s.grad))
            steps.append(m)
            if transient:
                monkeypatch.setattr(_run, "_prepare", prepare)
        return found

    def refuse(graph, *arguments):
        assert not graph.transient, "a step in Python for a graph of a kind that was seen"
        return prepare(graph, *arguments)

    prepare = _run._prepare
    step(400)
    for m in (900, 77):
        monkeypatch.setattr(_run, "_prepare", refuse)
        for passing, lasting in zip(*step(m)):
            assert torch.allclose(passing, lasting, rtol=1e-3, atol=1e-3)


def test_gradients_that_are_not_contiguous_go_by_the_same_recipe(device):
    if not _run._can_run_tensors:
        pytest.skip("this torch has no exchange interface")
    for _ in range(3):
        index, (n, _) = reference.edges("random", device)
        x = torch.ones(n, 24, device=device, requires_grad=True)
        gt.spmm(gt.Graph(index, n, transient=True), x).sum().backward()  # whose gradient is one element, n times
    kinds = [
        entry[1]
        for _, entries in _run._recipes.values()
        for entry in entries
        if (entry[1].op, entry[1].k, entry[1].direction) == ("spmm", 24, "reversed")
    ]
    assert len(kinds) == 1


def test_a_call_of_a_kind_that_was_seen_is_refused_in_the_same_words(device):
    x = torch.ones(6, 3, device=device)
    for index in (
        torch.zeros(2, 4, dtype=torch.int64, device=device),
        torch.zeros(2, 5, dtype=torch.int64, device=device),
    ):
        g = gt.Graph(index, 6, transient=True)
        gt.spmm(g, x)
        with pytest.raises(ValueError, match="x has the shape"):
            gt.spmm(g, x[:5].contiguous())
        with pytest.raises(ValueError, match="self loops need a square graph"):
            gt.spmm(gt.Graph(index, (6, 5), transient=True), x, self_weight=torch.ones(5, device=device))
        gt.spmm(g, x, self_weight=torch.ones(6, device=device))


def test_plans_are_shared_and_explained(device):
    index, (n, _) = reference.edges("random", device)
    g = gt.Graph(index, n)
    assert g.explain() == "" and g.format_bytes == 0
    x = torch.ones(n, 16, device=device)
    gt.spmm(g, x)
    gt.spmm(g, x + 1)
    assert len(g.problems()) == 1
    gt.spmm(g, x.view(n, 4, 4))  # the same problem: heads that share their weights
    assert len(g.problems()) == 1
    gt.spmm(g, x[:, :8].contiguous())
    assert len(g.problems()) == 2
    assert "config" in g.explain() and "source" in g.explain()
    gt.gcn(g, x)  # which is a sum over the graph without its loops
    assert g.without_loops() is not g and g.without_loops().explain() in g.explain()


def test_configure_makes_plans_anew(device, fresh_db):
    index, (n, _) = reference.edges("random", device)
    g = gt.Graph(index, n)
    x = torch.ones(n, 16, device=device)
    y = gt.spmm(g, x)
    gt.configure(fresh_db, sources="tune_on_miss", tune_budget_us=50_000)
    assert g.problems() == {}
    assert torch.allclose(gt.spmm(g, x), y)
    # Beside other programs there may be no time in which anything can be measured: the plan then says so.
    assert ("tuned by this process" in g.explain() and fresh_db.exists()) or "tuning" in g.explain()
    assert str(fresh_db) in gt.describe(device)


def test_a_database_that_vanishes_is_no_error(device, fresh_db):
    gt.configure(fresh_db, sources="tune_on_miss", tune_budget_us=50_000)
    index, (n, _) = reference.edges("random", device)
    g = gt.Graph(index, n)
    x = torch.ones(n, 16, device=device)
    wanted = gt.spmm(g, x)
    fresh_db.unlink(missing_ok=True)
    gt.configure(fresh_db)
    assert torch.allclose(gt.spmm(g, x), wanted)
    gt.configure(fresh_db)
    fresh_db.write_bytes(b"no database")
    assert torch.allclose(gt.spmm(g, x), wanted)


def test_nothing_keeps_a_graph_alive(device):
    index, (n, _) = reference.edges("random", device)
    g = gt.Graph(index, n)
    x = torch.ones(n, 4, device=device, requires_grad=True)
    gt.gat(g.with_loops(), x.view(n, 1, 4), x[:, :1], x[:, :1]).sum().backward()
    gt.spmm(g, x).sum().backward()
    gone = weakref.ref(g)
    del g
    gc.collect()
    assert gone() is None


def test_a_graph_may_go_before_its_gradient(device):
    index, (n, _) = reference.edges("random", device)
    g = gt.Graph(index, n)
    x = torch.ones(n, 4, device=device, requires_grad=True)
    y = gt.spmm(g, x)
    del g
    gc.collect()
    y.sum().backward()
    assert torch.isfinite(x.grad).all()


def test_copied_and_pickled(device):
    index, (n_cols, n_rows) = reference.edges("wide", device)
    x = torch.rand(n_cols, 4, device=device)
    given = gt.Graph(index, (n_cols, n_rows))
    listed = gt.Graph(index, (n_cols, n_rows), transient=True)
    bare = gt.Graph(index, (n_cols, n_rows), self_loops="remove")
    ordered = gt.Graph.from_csr(given.row_ptr, given.col, n_cols, edge_weight=torch.rand(given.m, device=device))
    for g in (given, listed, bare, ordered):
        wanted = gt.spmm(g, x)
        assert copy.deepcopy(g) is g
        other = pickle.loads(pickle.dumps(g))
        assert torch.allclose(gt.spmm(other, x), wanted)
        assert torch.equal(other.edge_index, g.edge_index) and other.transient == g.transient
        assert other.number != g.number
        for name in ("edge_weight", "kept"):
            mine, its = getattr(g, name), getattr(other, name)
            assert mine is its is None or torch.equal(mine, its)


def test_a_sparse_matrix_may_change_afterwards(device):
    torch.manual_seed(0)
    dense = (torch.rand(20, 20) < 0.3).float()
    by_scipy = pytest.importorskip("scipy.sparse").csr_matrix(dense.numpy())
    of_torch = dense.to_sparse_csr()
    of_torch = torch.sparse_csr_tensor(
        *(ids.int().to(device) for ids in (of_torch.crow_indices(), of_torch.col_indices())),
        of_torch.values().to(device),
        (20, 20),
    )
    x = torch.randn(20, 8, device=device)
    first, second = gt.Graph.from_sparse(by_scipy, device=device), gt.Graph.from_sparse(of_torch)
    by_scipy.indices[:] = 1_000_000_000
    by_scipy.indptr[:] = 0
    of_torch.col_indices().fill_(1_000_000_000)
    for graph in (first, second):
        torch.testing.assert_close(gt.spmm(graph, x), dense.to(device) @ x)
