"""`import gnntune` without torch: contexts, graphs and plans over NumPy arrays."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest

import gnntune
from gnntune import Problem

rng = np.random.default_rng(1)
N_ROWS, N_COLS, M = 50, 60, 400
ROW = rng.integers(0, N_ROWS, M).astype(np.int32)
COL = rng.integers(0, N_COLS, M).astype(np.int32)


@pytest.fixture(scope="module")
def context():
    return gnntune.Context(device="cpu")


@pytest.fixture
def graph(context):
    return context.graph_from_coo(ROW, COL, N_ROWS, N_COLS)


def dense(weight=None):
    a = np.zeros((N_ROWS, N_COLS))
    np.add.at(a, (ROW, COL), 1 if weight is None else weight)
    return a


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def test_importing_it_imports_no_torch():
    code = "import sys, gnntune; assert 'torch' not in sys.modules, 'torch'; print(gnntune.__version__)"
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert out.strip() == gnntune.__version__


def test_a_context_says_what_it_is(context):
    assert context.backend == "cpu"
    assert "cpu" in context.describe()


@pytest.mark.parametrize("weighted", [False, True])
def test_spmm(graph, weighted):
    x, w = normal(N_COLS, 16), normal(M) if weighted else None
    assert np.allclose(graph.spmm(x, w), dense(w) @ x, atol=1e-4)


def test_mean_and_maximum(graph):
    x = normal(N_COLS, 5)
    plan = graph.plan("spmm", 5, reduce="max")
    results = plan.run(x=x)
    wanted = np.stack([x[COL[i == ROW]].max(0) if (i == ROW).any() else np.zeros(5) for i in range(N_ROWS)])
    assert np.array_equal(results["y"], wanted.astype(np.float32))
    assert results["argmax"].dtype == np.int32
    count = np.maximum(np.bincount(ROW, minlength=N_ROWS), 1)[:, None]
    assert np.allclose(graph.spmm(x, reduce="mean"), dense() @ x / count, atol=1e-5)


def test_reversed(graph):
    x = normal(N_ROWS, 8)
    y = graph.plan(Problem("spmm", 8, direction="reversed")).run(x=x)["y"]
    assert np.allclose(y, dense().T @ x, atol=1e-4)


def test_every_operation_runs(context):
    a = gnntune.Context(device="cpu").graph_from_coo(ROW, COL % N_ROWS, N_ROWS, N_ROWS)
    for op in (
        "sddmm",
        "edge_softmax",
        "gat",
        "agnn",
        "attention",
        "gcn_norm",
        "coo_to_csr",
        "csr_to_csc",
        "spmm_grad",
    ):
        problem = Problem(
            op, 1 if op in ("edge_softmax", "gcn_norm", "coo_to_csr", "csr_to_csc") else 8, weighted=op == "spmm_grad"
        )
        plan = a.plan(problem)
        inputs = {name: normal(*plan._shape(array)) for name, array in problem.inputs().items()}
        results = plan.run(**inputs)
        assert set(results) == set(problem.outputs())
        assert all(np.isfinite(r).all() for r in results.values())


def test_half_precision(graph):
    x = normal(N_COLS, 8).astype(np.float16)
    y = graph.spmm(x)
    assert y.dtype == np.float16
    assert np.allclose(y, dense() @ x.astype(np.float64), atol=2e-2)


def test_scipy_matrices(context):
    sparse = pytest.importorskip("scipy.sparse")
    x = normal(N_COLS, 4)
    coo = sparse.coo_matrix((np.ones(M), (ROW, COL)), shape=(N_ROWS, N_COLS))
    for matrix in (coo, coo.tocsr(), coo.tocsc(), sparse.csr_array(coo)):
        g = context.graph(matrix)
        wanted = dense() if matrix is coo else (dense() != 0)
        assert np.allclose(g.spmm(x), wanted @ x, atol=1e-4)


def test_int64_and_lists(context):
    g = context.graph_from_csr([0, 1, 3], np.array([1, 0, 1], np.int64), 2)
    assert np.array_equal(g.spmm(np.eye(2, dtype=np.float32)), [[0, 1], [1, 1]])
    assert g.fingerprint == context.graph_from_coo([0, 1, 1], [1, 0, 1], 2, 2).fingerprint
    assert context.graph_from_csr([0, 0, 0], [], 2).m == 0


def test_plans_say_why(graph):
    plan = graph.plan("spmm", 32)
    assert plan.config.startswith("spmm.")
    assert plan.source in ("default", "model", "database", "tuned")
    assert plan.config in plan.explain()
    assert graph.format_bytes >= 0
    graph.release_formats()
    assert np.isfinite(plan.run(x=normal(N_COLS, 32))["y"]).all()


def test_formats_within_a_limit():
    context = gnntune.Context(device="cpu", format_limit_bytes=1)
    csr = context.graph_from_csr([0, 1, 3], [1, 0, 1], 2)
    assert csr.spmm(normal(2, 4)).shape == (2, 4) and csr.format_bytes == 0
    with pytest.raises(gnntune.OutOfMemory, match="raise the limit"):  # edges in no order need a format
        context.graph_from_coo(ROW, COL, N_ROWS, N_COLS).spmm(normal(N_COLS, 4))


def test_handles_may_go_in_any_order():
    context = gnntune.Context(device="cpu")
    graph = context.graph_from_coo(ROW, COL, N_ROWS, N_COLS)
    plan = graph.plan("spmm", 4)
    graph._handle.close()
    context._handle.close()
    assert plan.run(x=normal(N_COLS, 4))["y"].shape == (N_ROWS, 4)


def test_a_plan_runs_in_many_threads(graph):
    plan = graph.plan("spmm", 16)
    xs = [normal(N_COLS, 16) for _ in range(8)]
    wrong = []

    def work(x):
        for _ in range(50):
            if not np.allclose(plan.run(x=x)["y"], dense() @ x, atol=1e-4):
                wrong.append(x)

    threads = [threading.Thread(target=work, args=(x,)) for x in xs]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


class TestMistakes:
    """Each is an exception of its kind, with a sentence."""

    def test_graphs(self, context):
        with pytest.raises(gnntune.InvalidGraph, match="col_idx"):
            context.graph_from_csr([0, 1], [5], 2)
        with pytest.raises(gnntune.InvalidArgument, match="one of each for every edge"):
            context.graph_from_coo([0, 1], [0], 2, 2)
        with pytest.raises(gnntune.InvalidArgument, match="float64; expected int32 or int64"):
            context.graph_from_csr([0.0, 1.0], [0], 2)
        with pytest.raises(gnntune.InvalidArgument, match="dimensions; expected one"):
            context.graph_from_csr([[0, 1]], [0], 2)
        with pytest.raises(gnntune.InvalidArgument, match="SciPy"):
            context.graph(np.eye(3))

    def test_problems(self, graph):
        with pytest.raises(gnntune.InvalidArgument, match="op is 'spmv'"):
            graph.plan("spmv", 4)
        with pytest.raises(gnntune.InvalidArgument, match="feature dimension"):
            graph.plan("spmm", 0)
        with pytest.raises(gnntune.Error, match="square"):
            graph.plan("gcn_norm")

    def test_arrays(self, graph):
        plan = graph.plan("spmm", 4)
        with pytest.raises(gnntune.InvalidArgument, match=r"x has the shape \(3, 4\); expected \(60, 4\)"):
            plan.run(x=normal(3, 4))
        with pytest.raises(gnntune.InvalidArgument, match="x is missing"):
            plan.run()
        with pytest.raises(gnntune.InvalidArgument, match="has no edge_weight here"):
            plan.run(x=normal(N_COLS, 4), edge_weight=normal(M))
        with pytest.raises(gnntune.InvalidArgument, match="complex64; expected real numbers"):
            plan.run(x=normal(N_COLS, 4).astype(np.complex64))

    def test_devices_and_databases(self, tmp_path):
        with pytest.raises(gnntune.InvalidArgument, match="'tpu'"):
            gnntune.Context(device="tpu")
        with pytest.raises(gnntune.InvalidArgument, match="sources is 'guess'"):
            gnntune.Context(sources="guess")
        with pytest.raises(gnntune.InvalidArgument, match="format_limit_bytes is -5"):
            gnntune.Context(device="cpu", format_limit_bytes=-5)
        with pytest.raises(gnntune.DatabaseError):
            gnntune.Context(tmp_path / "none.db", require_database=True, device="cpu")
        with pytest.raises(gnntune.NoDevice):
            gnntune.Context(device="cuda:99")
        assert issubclass(gnntune.InvalidArgument, ValueError) and issubclass(gnntune.OutOfMemory, MemoryError)


def test_a_database_that_vanishes(tmp_path):
    path = tmp_path / "gone.db"
    context = gnntune.Context(path, device="cpu", sources="tune_on_miss", tune_budget_us=2_000_000)
    g = context.graph_from_coo(ROW, COL, N_ROWS, N_COLS)
    x = normal(N_COLS, 16)
    wanted = g.spmm(x)
    if not path.exists():
        pytest.skip("nothing could be timed beside other programs, so there is no database")
    path.unlink()
    assert np.array_equal(g.spmm(x), wanted)
    assert np.allclose(
        gnntune.Context(path, device="cpu").graph_from_coo(ROW, COL, N_ROWS, N_COLS).spmm(x), wanted, atol=1e-5
    )
