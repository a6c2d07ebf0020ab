"""What only a GPU has: streams, CUDA graphs, torch's allocator, several devices."""

from __future__ import annotations

import gc

import pytest
import reference

torch = pytest.importorskip("torch")
import gnntune.torch as gt

pytestmark = pytest.mark.cuda


def make(n: int = 4000, m: int = 60000, device: str = "cuda") -> gt.Graph:
    index = torch.randint(0, n, (2, m), generator=torch.Generator().manual_seed(1))
    return gt.Graph(index.to(device), n)


def features(*shape: int, device: str = "cuda", grad: bool = False) -> torch.Tensor:
    t = torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))
    return t.to(device).requires_grad_(grad)


class TestCapture:
    def step(self, g: gt.Graph, x: torch.Tensor, dropout: float = 0.0) -> torch.Tensor:
        h = gt.gcn(g, x)
        h = h + gt.spmm(g, h, reduce="mean") + gt.spmm(g, h, reduce="max")
        heads = h.view(g.n_rows, 4, -1)
        h = h + gt.gat(g.with_loops(), heads, heads.sum(-1), heads.sum(-1), dropout=dropout).flatten(1)
        h = h + gt.attention(g, heads, heads, heads, dropout=dropout).flatten(1)
        weight = gt.edge_softmax(g, gt.sddmm(g, h, h, scale=0.01))
        return gt.spmm(g, h, weight)

    def captured(self, function, warm: int = 3):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(warm):
                function()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = function()
        return graph, result

    def test_a_step_with_gradients_replays(self):
        g, x = make(), features(4000, 32, grad=True)

        def step():
            x.grad = None
            y = self.step(g, x)
            y.square().mean().backward()
            return y

        graph, y = self.captured(step)
        grad = x.grad
        with torch.no_grad():
            x.copy_(features(4000, 32) * 0.5)
        graph.replay()
        torch.cuda.synchronize()
        found, found_grad = y.detach().clone(), grad.clone()
        x.grad = None
        wanted = self.step(g, x)
        wanted.square().mean().backward()
        assert torch.allclose(found, wanted, rtol=1e-3, atol=1e-3)
        assert torch.allclose(found_grad, x.grad, rtol=1e-3, atol=1e-5)

    def test_each_replay_draws_its_own_mask_forward_and_backward(self):
        g = make()
        x, s = features(4000, 4, 8, grad=True), features(4000, 4)
        weight = features(4000, 4, 8)

        def step():
            x.grad = None
            y = gt.gat(g, x, s, s, dropout=0.5)
            (y * weight).sum().backward()
            return y

        graph, y = self.captured(step)
        grad = x.grad
        seen = []
        for _ in range(3):
            graph.replay()
            torch.cuda.synchronize()
            seen.append((y.detach().clone(), grad.clone()))
            # y is linear in x for one mask: the gradient is of the same mask only if <y, w> = <x, grad>.
            assert float((y * weight).sum()) == pytest.approx(float((x * grad).sum()), rel=1e-3, abs=1e-2)
        assert not torch.equal(seen[0][0], seen[1][0]) and not torch.equal(seen[1][0], seen[2][0])

    def test_manual_seed_repeats_replays(self):
        g, x, s = make(), features(4000, 4, 8), features(4000, 4)
        graph, y = self.captured(lambda: gt.gat(g, x, s, s, dropout=0.5))
        outcomes = []
        for _ in range(2):
            torch.cuda.manual_seed(5)
            graph.replay()
            torch.cuda.synchronize()
            outcomes.append(y.clone())
        # Of one mask; a config may add in another order each time.
        assert torch.allclose(*outcomes, rtol=1e-4, atol=1e-5)

    def test_captured_trainings_give_their_memory_back(self):
        pytest.importorskip("torch_geometric")
        import gnntune.models as models

        held = []
        for _ in range(4):
            g, x, model = make(), features(4000, 64), models.build("SAGE-max", 64, 5, hidden=64).cuda()
            ids = torch.arange(4000, device="cuda")
            models.fit(model, g, x, ids % 5, models.Split(ids, ids, ids), epochs=5, capture=True)
            del g, x, model, ids
            gc.collect()
            gt.release_captured()
            gc.collect()
            torch.cuda.empty_cache()
            held.append(torch.cuda.memory_reserved())
        assert held[3] <= held[1], held

    def test_a_backward_on_the_calling_thread_gives_the_same_gradients(self):
        pytest.importorskip("torch_geometric")
        import gnntune.models as models

        for name in models.MODELS:
            torch.manual_seed(0)
            g, model = make(), models.build(name, 32, 5, dropout=0.0).cuda()
            found = []
            for threads in (True, False):
                model.zero_grad(set_to_none=True)
                with torch.autograd.set_multithreading_enabled(threads):
                    model(features(4000, 32), g).square().mean().backward()
                found.append([p.grad for p in model.parameters()])
            for one, other in zip(*found):
                assert torch.allclose(one, other, rtol=1e-4, atol=1e-6), name

    def test_what_was_not_warmed_up_is_refused_in_words(self):
        g, x = make(), features(4000, 8)
        gt.spmm(g, x)
        graph = torch.cuda.CUDAGraph()
        with pytest.raises(RuntimeError, match="run one step on this stream before the capture"):
            with torch.cuda.graph(graph):
                gt.spmm(g, x[:, :4].contiguous())
        torch.cuda.synchronize()
        assert torch.isfinite(gt.spmm(g, x)).all()  # nothing else broke

    def test_a_batch_first_seen_in_a_capture_is_refused_in_words(self):
        nn = pytest.importorskip("torch_geometric.nn")
        import gnntune.pyg as gp

        layer, x = gp.convert(nn.GATConv(8, 4).cuda()), features(4000, 8)
        index = torch.randint(0, 4000, (2, 9000), device="cuda")
        layer(x, index)
        graph = torch.cuda.CUDAGraph()
        with pytest.raises(RuntimeError, match="run one step on this stream before the capture"):
            with torch.cuda.graph(graph):
                layer(x, index.clone())
        torch.cuda.synchronize()
        assert torch.isfinite(layer(x, index.clone())).all()

    def test_a_captured_graph_outlives_its_last_reference(self):
        g, x = make(), features(4000, 32)
        graph, y = self.captured(lambda: gt.spmm(g, x, reduce="mean"))
        graph.replay()
        torch.cuda.synchronize()
        wanted = y.clone()
        del g
        gc.collect()
        junk = [torch.randint(0, 2**31, (4000,), device="cuda") for _ in range(200)]
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(y, wanted)
        del junk
        gt.release_captured()

    def test_make_graphed_callables(self):
        g = make()
        linear = torch.nn.Linear(32, 32).cuda()

        class Layer(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = linear

            def forward(self, x):
                return gt.gcn(g, self.linear(x))

        x = features(4000, 32, grad=True)
        # Without its autograd graph: a parameter's node that still lives belongs to the stream of this call, and torch
        # would have the captured backward wait for that stream, whoever made the layer.
        wanted = Layer()(x).detach()
        graphed = torch.cuda.make_graphed_callables(Layer(), (features(4000, 32, grad=True),))
        y = graphed(x)
        y.square().sum().backward()
        assert torch.allclose(y, wanted, atol=1e-4)
        found, x.grad = x.grad, None
        Layer()(x).square().sum().backward()
        assert torch.allclose(found, x.grad, rtol=1e-3, atol=1e-3)

    @pytest.mark.parametrize("before", [False, True], ids=["planned while compiled code warms up", "planned before"])
    def test_inductors_cuda_graphs(self, before):
        pytest.importorskip("triton")
        torch._dynamo.reset()
        g, x = make(), features(4000, 32, grad=True)

        def step(x):
            heads = x.view(-1, 4, 8)
            h = gt.gat(g.with_loops(), heads, heads.sum(-1), heads.sum(-1)).flatten(1)
            return torch.tanh(gt.gcn(g, h) + gt.spmm(g, h, reduce="mean")) * 2

        def with_grad(function):
            torch.compiler.cudagraph_mark_step_begin()
            x.grad = None
            y = function(x)
            y.sum().backward()
            return y.detach().clone(), x.grad.clone()

        if before:
            with_grad(step)
        f = torch.compile(step, mode="reduce-overhead", fullgraph=True)
        found = [with_grad(f) for _ in range(5)]
        with torch.no_grad():
            x.mul_(0.5)
        found.append(with_grad(f))
        half = with_grad(step)
        with torch.no_grad():
            x.mul_(2)
        whole = with_grad(step)
        for results, wanted in zip(found, [whole] * 5 + [half]):
            for a, b in zip(results, wanted):
                assert torch.allclose(a, b, rtol=1e-3, atol=1e-4)


class TestStreams:
    def test_runs_follow_the_current_stream(self):
        g, x = make(), features(4000, 64)
        wanted = gt.spmm(g, x)
        side = torch.cuda.Stream()
        for _ in range(20):
            torch.cuda._sleep(200_000)
            y = x * 1.0
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                z = gt.spmm(g, y)
            y.record_stream(side)
            torch.cuda.current_stream().wait_stream(side)
            assert torch.allclose(z, wanted, atol=1e-4)

    def test_backward_runs_on_the_forwards_stream(self):
        g = make()
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            x = features(4000, 16, grad=True)
            y = gt.spmm(g, x).square().sum()
            y.backward()
        side.synchronize()
        wanted = x.grad.clone()
        x.grad = None
        gt.spmm(g, x).square().sum().backward()
        assert torch.allclose(x.grad, wanted, rtol=1e-3, atol=1e-3)

    def test_two_streams_at_once(self):
        g, x = make(), features(4000, 64)
        wanted = gt.spmm(g, x)
        streams = [torch.cuda.Stream() for _ in range(2)]
        outcomes = []
        for i in range(40):
            with torch.cuda.stream(streams[i % 2]):
                outcomes.append(gt.spmm(g, x))
        torch.cuda.synchronize()
        assert all(torch.allclose(y, wanted, atol=1e-4) for y in outcomes)

    def test_a_graph_may_go_while_its_work_is_under_way(self):
        x = features(4000, 64)
        side = torch.cuda.Stream()
        for _ in range(10):
            g = make()
            with torch.cuda.stream(side):
                torch.cuda._sleep(1_000_000)
                y = gt.gcn(g, x)
            del g
            gc.collect()
            junk = [torch.full((60000,), 2**30, dtype=torch.int32, device="cuda") for _ in range(20)]
            torch.cuda.synchronize()
            assert torch.isfinite(y).all()
            del junk


class TestMemory:
    def test_formats_come_from_torchs_allocator(self):
        g, x = make(), features(4000, 64, grad=True)
        gc.collect()
        before = torch.cuda.memory_allocated()
        y = gt.gcn(g, x)
        y.sum().backward()
        x.grad = None
        del y
        held = torch.cuda.memory_allocated() - before
        assert 0 < g.without_loops().format_bytes <= held
        del g
        gc.collect()
        assert torch.cuda.memory_allocated() < before

    def test_transient_graphs_leave_nothing(self):
        x = features(4000, 16)
        levels = []
        for _ in range(30):
            index = torch.randint(0, 4000, (2, 30000), device="cuda")
            gt.spmm(gt.Graph(index, 4000, transient=True), x)
            del index
            levels.append(torch.cuda.memory_allocated())
        assert levels[-1] == levels[5]

    def test_peak_memory_of_gat_is_not_of_edges_times_features(self):
        n, m, heads, k = 2000, 400_000, 8, 16
        g = make(n, m)
        x, s = features(n, heads, k, grad=True), features(n, heads, grad=True)
        gt.gat(g, x, s, s).sum().backward()
        x.grad = s.grad = None
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        gt.gat(g, x, s, s).sum().backward()
        # gat_grad.binned keeps one number for each edge and head while it runs; the rest is of vertices.
        bound = 4 * heads * (m + 8 * n * k)
        peak = torch.cuda.max_memory_allocated() - before
        assert peak < bound < 4 * heads * k * m / 8, (peak, bound, {p.op: c for p, c in g.problems().items()})


class TestWithoutWaiting:
    """What a mini-batch needs described, planned and run is enqueued behind a GPU that is busy, and nothing waits."""

    def batch(self, seed=0, n=4000, m=30000):
        generator = torch.Generator(device="cuda").manual_seed(seed)
        return torch.randint(0, n, (2, m), device="cuda", generator=generator)

    def step(self, graph, x, s, beta):
        y = gt.spmm(graph, x) + gt.spmm(graph, x, reduce="mean") + gt.agnn(graph, x, beta)
        y = y + gt.gat(graph, x, s, s) + gt.attention(graph, x, x, x)
        y.square().sum().backward()
        return y.detach()

    def operands(self, n=4000):
        return features(n, 2, 8, grad=True), features(n, 2, grad=True), torch.ones(2, device="cuda", requires_grad=True)

    def behind_a_busy_gpu(self, call):
        """Its result, after it was shown that the GPU had not come to it when the host was done."""
        torch.cuda.synchronize()
        torch.cuda.set_sync_debug_mode("error")
        try:
            torch.cuda._sleep(2_000_000_000)  # about a second
            busy = torch.cuda.Event()
            busy.record()
            result = call()
            waited = busy.query()
        finally:
            torch.cuda.set_sync_debug_mode("default")
        torch.cuda.synchronize()
        assert not waited
        return result

    @pytest.mark.parametrize("form", ["edge_index", "csr"])
    def test_a_step_on_a_transient_graph(self, form):
        def made(index):
            if form == "edge_index":
                return gt.Graph(index, 4000, transient=True)
            lasting = gt.Graph(index, 4000)
            return gt.Graph.from_csr(lasting.row_ptr, lasting.col, 4000, transient=True)

        self.step(made(self.batch(1)), *self.operands())  # loads kernels
        index = self.batch(2)
        graph = made(index)
        operands = self.operands()
        y = self.behind_a_busy_gpu(lambda: self.step(graph, *operands))
        wanted = [t.detach().clone().requires_grad_() for t in operands]
        assert torch.allclose(y, self.step(gt.Graph(index, 4000), *wanted), rtol=1e-3, atol=1e-3)
        for found, other in zip(operands, wanted):
            scale = float(other.grad.abs().max())
            assert float((found.grad - other.grad).abs().max()) <= 1e-4 * scale

    def test_layers_on_an_edge_index(self):
        gp = pytest.importorskip("gnntune.pyg")
        layer = gp.SAGEConv(16, 8).cuda()
        x = features(4000, 16)
        layer(x, self.batch(1)).sum().backward()
        index = self.batch(2)
        self.behind_a_busy_gpu(lambda: layer(x, index).sum().backward())

    def test_another_stream_waits_for_what_was_built(self):
        x = features(4000, 16)
        gt.spmm(gt.Graph(self.batch(1), 4000, transient=True), x)
        index = self.batch(2)
        wanted = gt.spmm(gt.Graph(index, 4000), x)
        graph, side = gt.Graph(index, 4000, transient=True), torch.cuda.Stream()
        torch.cuda.synchronize()
        torch.cuda._sleep(200_000_000)
        first = gt.spmm(graph, x)
        with torch.cuda.stream(side):
            second = gt.spmm(graph, x)
        torch.cuda.synchronize()
        assert torch.allclose(first, wanted, atol=1e-4) and torch.allclose(second, wanted, atol=1e-4)

    def test_a_capture_on_another_stream_than_the_step_before(self):
        x = features(4000, 16)
        index = self.batch(3)
        graph = gt.Graph(index, 4000, transient=True)
        wanted = gt.spmm(graph, x)
        captured = torch.cuda.CUDAGraph()
        with torch.cuda.graph(captured):
            y = gt.spmm(graph, x)
        captured.replay()
        torch.cuda.synchronize()
        assert torch.allclose(y, wanted, atol=1e-4)
        gt.release_captured()


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="one CUDA device")
def test_two_devices():
    graphs = [make(device=f"cuda:{i}") for i in (0, 1)]
    xs = [features(4000, 32, device=f"cuda:{i}", grad=True) for i in (0, 1)]
    torch.cuda.set_device(0)
    ys = [gt.gcn(g, x) for g, x in zip(graphs, xs)]
    for y in ys:
        y.square().sum().backward()
    assert ys[1].device.index == 1 and xs[1].grad.device.index == 1
    assert torch.cuda.current_device() == 0
    assert torch.allclose(ys[0].cpu(), ys[1].cpu(), atol=1e-4)
    assert torch.allclose(xs[0].grad.cpu(), xs[1].grad.cpu(), rtol=1e-3, atol=1e-3)
    with pytest.raises(ValueError, match="move one of them"):
        gt.spmm(graphs[0], xs[1])


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="one CUDA device")
def test_trainings_are_captured_on_any_device():
    pytest.importorskip("torch_geometric")
    import gnntune.models as models

    losses = []
    for device in ("cuda:1", "cuda:0", "cuda:1"):
        torch.manual_seed(0)
        model, ids = models.build("GCN", 32, 5, dropout=0.0).to(device), torch.arange(4000, device=device)
        x = features(4000, 32, device=device)
        split = models.Split(ids, ids, ids)
        losses.append(models.fit(model, make(device=device), x, ids % 5, split, epochs=6, capture=True).loss)
        assert torch.cuda.current_device() == 0
        gt.release_captured()
    assert losses == pytest.approx(losses[:1] * 3, rel=1e-3)


def test_a_child_of_fork_is_refused_by_torch_and_harms_nothing():
    import multiprocessing

    g, x = make(), features(4000, 8)
    wanted = gt.spmm(g, x)

    context = multiprocessing.get_context("fork")
    process = context.Process(target=_drop, args=(g,))
    process.start()
    process.join(timeout=60)
    assert process.exitcode == 0
    assert torch.allclose(gt.spmm(g, x), wanted)


def _drop(g):
    del g
    gc.collect()


def test_indices_of_every_kind_of_graph_are_right(device="cuda"):
    for name in reference.ALL_GRAPHS:
        index, sizes = reference.edges(name, device)
        for transient in (False, True):
            g = gt.Graph(index, sizes, transient=transient)
            x = features(sizes[0], 8)
            assert torch.allclose(
                gt.spmm(g, x).double().cpu(),
                reference.spmm(index.cpu(), sizes[1], x.double().cpu(), None, None),
                atol=1e-3,
            )


class TestTiles:
    @pytest.mark.parametrize("place", ["resident", "streamed"])
    @pytest.mark.parametrize("pin", [False, True])
    def test_sums_beside_torchs_work_are_right(self, place: str, pin: bool):
        g = make()
        row_ptr, col = g.row_ptr.cpu().long(), g.col.cpu()
        tiled = gt.TiledGraph(row_ptr, col, device="cuda", place=place, tile_edges=7000, pin=pin)
        assert tiled.streamed == (place == "streamed")
        assert tiled.fingerprint == g.fingerprint
        weight = torch.randn(g.m)
        for run in range(5):
            # What torch frees and hands out again meanwhile, on the same stream and on another.
            x = features(4000, 32 + run)
            noise = torch.randn(4000, 500, device="cuda") @ torch.randn(500, 500, device="cuda")
            del noise
            stream = torch.cuda.Stream() if run % 2 else torch.cuda.current_stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                got = tiled.spmm(x)
                weighted = tiled.spmm(x, weight if tiled.streamed else weight.cuda())
            torch.cuda.current_stream().wait_stream(stream)
            torch.testing.assert_close(got, gt.spmm(g, x, csr_order=True), rtol=1e-4, atol=1e-4)
            torch.testing.assert_close(weighted, gt.spmm(g, x, weight.cuda(), csr_order=True), rtol=1e-4, atol=1e-4)
        torch.cuda.synchronize()
