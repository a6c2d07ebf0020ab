"""Tiled graphs over NumPy arrays and torch tensors, with tiles so small that little graphs have many."""

import gc
import re
import threading
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import gnntune
import gnntune.torch as gt

N_ROWS, N_COLS, M, K = 300, 200, 4000, 12
TILE = 150
PLACES = ("auto", "resident", "streamed")


@pytest.fixture(scope="module")
def matrix():
    random = np.random.default_rng(3)
    a = sp.coo_matrix(
        (
            random.standard_normal(M).astype(np.float32),
            (random.integers(0, N_ROWS, M) ** 2 // N_ROWS, random.integers(0, N_COLS, M)),
        ),
        shape=(N_ROWS, N_COLS),
    ).tocsr()
    assert a.nnz > 20 * TILE
    return a


@pytest.fixture
def context(tmp_path):
    return gnntune.Context(str(tmp_path / "none.db"), device="cpu")


def features(dtype=np.float32):
    return np.random.default_rng(4).standard_normal((N_COLS, K)).astype(dtype)


def ones(a):
    return sp.csr_matrix((np.ones_like(a.data), a.indices, a.indptr), shape=a.shape)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("offsets", [np.int32, np.int64])
@pytest.mark.parametrize("ids", [np.int32, np.int64])
def test_numpy_sums_are_scipys(context, matrix, place, offsets, ids):
    graph = context.tiled_graph(
        matrix.indptr.astype(offsets), matrix.indices.astype(ids), N_COLS, place=place, tile_edges=TILE
    )
    assert graph.memory.tiles > 20
    assert graph.memory.streamed == (place == "streamed")
    x = features()
    np.testing.assert_allclose(graph.spmm(x), ones(matrix) @ x, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(graph.spmm(x, matrix.data), matrix @ x, rtol=1e-4, atol=1e-4)
    assert graph.fingerprint == context.graph(matrix).fingerprint


@pytest.mark.parametrize("place", PLACES)
def test_numpy_means_maxima_and_heads_are_the_whole_graphs(context, matrix, place):
    tiled = context.tiled_graph(matrix.indptr, matrix.indices, N_COLS, place=place, tile_edges=TILE)
    whole = context.graph(matrix)
    x = features()
    for reduce in ("mean", "max"):
        np.testing.assert_allclose(tiled.spmm(x, reduce=reduce), whole.spmm(x, reduce=reduce), rtol=1e-5, atol=1e-5)
    heads = x.reshape(N_COLS, 3, 4)
    weight = np.random.default_rng(5).standard_normal((matrix.nnz, 3)).astype(np.float32)
    problem = gnntune.Problem("spmm", 4, heads=3, weighted=True)
    expected = whole.plan(problem).run(x=heads, edge_weight=weight)["y"]
    np.testing.assert_allclose(tiled.plan(problem).run(heads, weight), expected, rtol=1e-5, atol=1e-5)
    half = tiled.spmm(features(np.float16))
    assert half.dtype == np.float16
    np.testing.assert_allclose(half, ones(matrix) @ features(), rtol=2e-2, atol=2e-2)


def test_memory_is_said_before_and_limits_are_held(context, matrix):
    arrays = matrix.indptr.astype(np.int64), matrix.indices, N_COLS
    said = context.tiled_memory(*arrays, place="streamed", tile_edges=TILE)
    with_plan = context.tiled_memory(
        *arrays, gnntune.Problem("spmm", K, weighted=True), place="streamed", tile_edges=TILE
    )
    assert said.host_bytes < with_plan.host_bytes
    assert said.backend_bytes == 0
    with pytest.raises(gnntune.OutOfMemory, match="host_limit_bytes is 1000"):
        context.tiled_graph(*arrays, place="streamed", tile_edges=TILE, host_limit=1000)
    graph = context.tiled_graph(*arrays, place="streamed", tile_edges=TILE, host_limit=said.host_bytes)
    assert graph.memory == said
    with pytest.raises(gnntune.OutOfMemory):
        graph.plan("spmm", K, weighted=True)


def test_what_tiles_cannot_do_is_refused(context, matrix):
    graph = context.tiled_graph(matrix.indptr, matrix.indices, N_COLS, tile_edges=TILE)
    with pytest.raises(gnntune.Unsupported, match="spmm alone"):
        graph.plan("gat", 4)
    with pytest.raises(gnntune.Unsupported, match="transposed graph"):
        graph.plan("spmm", 4, direction="reversed")
    with pytest.raises(gnntune.InvalidArgument, match="place is 'disk'"):
        context.tiled_graph(matrix.indptr, matrix.indices, N_COLS, place="disk")
    for limits in ({"host_limit": -5}, {"backend_limit": -1}):
        with pytest.raises(gnntune.InvalidArgument, match=r"limit.* is -"):
            context.tiled_graph(matrix.indptr, matrix.indices, N_COLS, **limits)
    with pytest.raises(gnntune.InvalidGraph, match=r"col_idx\[7\] is 500"):
        wrong = matrix.indices.copy()
        wrong[7] = 500
        context.tiled_graph(matrix.indptr, wrong, N_COLS)
    plan = graph.plan("spmm", K, weighted=True)
    with pytest.raises(gnntune.InvalidArgument, match="weight is missing"):
        plan.run(features())
    with pytest.raises(gnntune.InvalidArgument, match="x has the shape"):
        plan.run(features()[:-1], matrix.data)
    with pytest.raises(gnntune.InvalidArgument, match="not weighted"):
        graph.plan("spmm", K).run(features(), matrix.data)


# Zeros that nobody has written take no memory: all edges come from vertex 0.
def test_more_than_two_to_the_31_edges_are_counted(context):
    each = 2**20
    row_ptr = np.arange(2**11 + 2, dtype=np.int64) * each
    ids = np.zeros(row_ptr[-1], np.int32)
    said = context.tiled_memory(row_ptr, ids, 5, tile_edges=2**31 - 1)
    assert said.tiles == 2, "2^31 edges and a row more, of which a tile holds 2^31 - 1"
    with pytest.raises(gnntune.Unsupported, match=r"docs/scaling\.md"):
        context.graph_from_csr(row_ptr, ids, 5)


@pytest.mark.parametrize("place", PLACES)
def test_torch_sums_are_those_of_a_graph(matrix, place):
    row_ptr, col = torch.from_numpy(matrix.indptr.astype(np.int64)), torch.from_numpy(matrix.indices)
    tiled = gt.TiledGraph(row_ptr, col, N_COLS, device="cpu", place=place, tile_edges=TILE)
    whole = gt.Graph.from_csr(row_ptr, col, N_COLS)
    assert tiled.fingerprint == whole.fingerprint
    assert f"{tiled.memory.tiles} tiles" in repr(tiled)
    weight = torch.from_numpy(matrix.data)
    for dtype, near in ((torch.float32, 1e-5), (torch.float16, 1e-2), (torch.bfloat16, 5e-2)):
        x = torch.from_numpy(features()).to(dtype)
        for reduce in ("sum", "mean", "max"):
            for w in (None, weight.to(dtype)):
                torch.testing.assert_close(
                    tiled.spmm(x, w, reduce=reduce), gt.spmm(whole, x, w, reduce=reduce), rtol=near, atol=near
                )
    heads = torch.from_numpy(features()).view(N_COLS, 3, 4)
    edges = torch.randn(tiled.m, 3)
    torch.testing.assert_close(tiled.spmm(heads, edges), gt.spmm(whole, heads, edges))
    assert "tiles" in tiled.explain()
    assert tiled.memory_with(K, weighted=True).host_bytes > tiled.memory.host_bytes


def test_torch_gradients_come_from_the_transposed_graph(matrix):
    def tiled(a, **options):
        return gt.TiledGraph(
            torch.from_numpy(a.indptr),
            torch.from_numpy(a.indices),
            a.shape[1],
            device="cpu",
            place="streamed",
            tile_edges=TILE,
            **options,
        )

    flipped = matrix.T.tocsr()
    graph = tiled(matrix, transposed=tiled(flipped))
    x = torch.from_numpy(features()).requires_grad_()
    grad = torch.randn(N_ROWS, K)
    graph.spmm(x).backward(grad)
    torch.testing.assert_close(x.grad, torch.from_numpy(ones(flipped) @ grad.numpy()), rtol=1e-4, atol=1e-4)
    (first,) = torch.autograd.grad(graph.spmm(x).pow(2).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    wanted = 2 * (ones(flipped) @ (ones(matrix) @ np.ones((matrix.shape[1], K))))
    torch.testing.assert_close(second, torch.from_numpy(wanted).float(), rtol=1e-4, atol=1e-4)
    with pytest.raises(gnntune.Unsupported, match="transposed"):
        tiled(matrix).spmm(x)
    with pytest.raises(gnntune.Unsupported, match="without weights"):
        graph.spmm(x, torch.ones(graph.m))
    with torch.no_grad():
        assert graph.spmm(x, torch.ones(graph.m)).shape == (N_ROWS, K)
    with pytest.raises(gnntune.InvalidArgument, match="other sizes"):
        tiled(matrix, transposed=tiled(matrix))


def test_torch_wrong_arguments_are_named(matrix):
    row_ptr, col = torch.from_numpy(matrix.indptr), torch.from_numpy(matrix.indices)
    graph = gt.TiledGraph(row_ptr, col, N_COLS, device="cpu", tile_edges=TILE)
    with pytest.raises(gnntune.InvalidArgument, match=r"x is of torch\.float64"):
        graph.spmm(torch.from_numpy(features()).double())
    with pytest.raises(gnntune.InvalidArgument, match="weight is of"):
        graph.spmm(torch.from_numpy(features()), torch.ones(graph.m - 1))
    with pytest.raises(gnntune.InvalidArgument, match=r"row_ptr is of torch\.float32"):
        gt.TiledGraph(row_ptr.float(), col, N_COLS)


def test_torch_threads_take_turns_and_handles_end(matrix):
    row_ptr, col = torch.from_numpy(matrix.indptr), torch.from_numpy(matrix.indices)
    graph = gt.TiledGraph(row_ptr, col, N_COLS, device="cpu", place="streamed", tile_edges=TILE)
    x = torch.from_numpy(features())
    expected = graph.spmm(x)
    wrong = []

    def run():
        for _ in range(10):
            if not torch.equal(graph.spmm(x), expected):
                wrong.append(1)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    del graph
    gc.collect()


def test_what_the_page_shows_runs():
    page = Path(__file__).parents[2] / "docs/scaling.md"
    if not page.exists():
        pytest.skip("the tests run beside a packed package")
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.M | re.S)
    (block,) = [block for block in blocks if "TiledGraph" in block]
    said = []
    names = {"print": lambda *words: said.append(words)}
    exec(block, names)
    assert names["y"].shape == (10_000, 64) and names["graph"].streamed
    assert said[0][0].tiles == 5 or said[0][0].tiles == 6
    assert "streamed from" in said[1][0]
