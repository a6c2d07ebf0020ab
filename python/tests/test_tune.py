"""gnntune.torch.tune(): one step seen, measured, stored, used."""

from __future__ import annotations

import json
import subprocess

import pytest
import reference

import gnntune

torch = pytest.importorskip("torch")
import gnntune.torch as gt
from gnntune.torch import _tune


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(12, 16)
        self.norm = torch.nn.BatchNorm1d(16)

    def forward(self, x, graph):
        h = self.norm(gt.gcn(graph, self.first(x)).relu())
        heads = h.view(-1, 2, 8)
        return gt.gat(graph.with_loops(), heads, heads.sum(-1), heads.sum(-1), dropout=0.5).flatten(1)


@pytest.fixture
def graph(device):
    index, (n, _) = reference.edges("random", device)
    return gt.Graph(index, n)


def test_a_step_is_seen_measured_and_used(graph, device, fresh_db):
    torch.manual_seed(0)
    model = Model().to(device)
    x = torch.randn(graph.n_rows, 12, device=device)
    wanted = gt.gcn(graph, model.first(x))
    rows = gt.tune(model, graph, budget=4.0, db=fresh_db, progress=False)
    assert {row.problem.op for row in rows} >= {"spmm", "gat", "gat_grad"}
    assert {row.problem.direction for row in rows if row.problem.op == "spmm"} == {"forward", "reversed"}
    assert all(row.seconds > 0 and row.after for row in rows)
    assert torch.allclose(gt.gcn(graph, model.first(x)), wanted, atol=1e-5)
    if any(row.source == "tuned" for row in rows):  # beside other programs there may have been no time to measure in
        assert "source     database" in graph.without_loops().explain()
        again = gt.tune(model, graph, budget=4.0, progress=False)
        assert any(row.source == "database" for row in again)
        assert len(gnntune.best(db=fresh_db)) > 0


def test_a_database_that_cannot_be_written_is_an_error(graph, device, tmp_path, fresh_db):
    broken = tmp_path / "broken.db"
    broken.write_text("no database\n" * 100)
    for path in (tmp_path / "nowhere" / "a.db", broken):
        with pytest.raises(gnntune.DatabaseError, match="not stored: "):
            while not any(r.source == "tuned" for r in gt.tune(Model().to(device), graph, db=path, progress=False)):
                pass  # beside other programs there may have been no time to measure in


def test_nothing_of_the_model_changes(graph, device, fresh_db):
    model = Model().to(device)
    model.first.weight.grad = torch.ones_like(model.first.weight)
    state = {name: value.clone() for name, value in model.state_dict().items()}
    torch.manual_seed(7)
    wanted = torch.rand(3)
    torch.manual_seed(7)
    gt.tune(model, graph, budget=0.5, db=fresh_db, progress=False)
    assert torch.equal(torch.rand(3), wanted)
    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
    assert torch.equal(model.first.weight.grad, torch.ones_like(model.first.weight))


def test_a_step_of_ones_own(graph, device, fresh_db):
    x = torch.ones(graph.n_rows, 5, device=device)
    rows = gt.tune(None, graph, step=lambda: gt.spmm(graph, x, reduce="max"), budget=0.5, db=fresh_db, progress=False)
    assert [(row.problem.op, row.problem.k, row.problem.reduce) for row in rows] == [("spmm", 5, "max")]


def test_an_interrupt_leaves_what_was_measured(graph, device, fresh_db, monkeypatch):
    measure = _tune._measure

    def interrupted(g, context, problem):
        if problem.op == "gat":
            raise KeyboardInterrupt
        return measure(g, context, problem)

    monkeypatch.setattr(_tune, "_measure", interrupted)
    with pytest.raises(KeyboardInterrupt):
        gt.tune(Model().to(device), graph, budget=1.0, db=fresh_db, progress=False)
    assert graph.problems() == {}
    assert torch.isfinite(gt.spmm(graph, torch.ones(graph.n_rows, 4, device=device))).all()


def test_mistakes(graph, device):
    index, (n, _) = reference.edges("random", device)
    with pytest.raises(ValueError, match="transient"):
        gt.tune(Model(), gt.Graph(index, n, transient=True))
    with pytest.raises(ValueError, match="budget"):
        gt.tune(Model(), graph, budget=0)
    with pytest.raises(ValueError, match="budget is nan"):
        gt.tune(Model(), graph, budget=float("nan"))
    with pytest.raises(TypeError, match=r"expected a gnntune\.torch\.Graph, not Tensor"):
        gt.tune(Model(), graph.edge_index)
    with pytest.raises(ValueError, match="give x"):
        gt.tune(lambda x, g: gt.spmm(g, x), graph)


def problems_of_the_program(words, graph, tmp_path):
    """The problems that run in a step as `gnntune tune --step` has it."""
    row_ptr, col, n = graph.to_csr()
    np = pytest.importorskip("numpy")
    shape = np.array([len(row_ptr) - 1, n], np.int64)
    np.savez(tmp_path / "g.npz", format=np.array(b"csr"), shape=shape, indptr=row_ptr, indices=col)
    command = [gnntune.program_path(), "tune", tmp_path / "g.npz", "--step", *words, "--device", "cpu", "--dry-run"]
    command += ["--db", tmp_path / "step.db", "--json", "-q"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # The normalisation runs once, before the first step.
    return {row["problem"] for row in json.loads(done.stdout)["data"]} - {"gcn_norm k=1 unweighted"}


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("GCN", {"hidden": 16}, ("gcn", "--features", "600", "--dim", "16,7")),
        ("GCN", {"hidden": 300}, ("gcn", "--features", "600", "--dim", "300,7")),  # the input is summed first, and once
        ("GCN", {"hidden": 16, "layers": 3}, ("gcn", "--dim", "16,16,7")),
        ("GAT", {"hidden": 16}, ("gat", "--dim", "2,7", "--heads", "8,1")),
        ("AGNN", {"hidden": 16, "layers": 3}, ("agnn", "--dim", "16,16,16")),
    ],
)
def test_the_program_and_a_model_agree_on_what_a_step_has(name, options, words, tmp_path):
    pytest.importorskip("torch_geometric")
    import gnntune.models as models

    torch.manual_seed(0)
    n = 200
    # Edges times features beyond what is summed first whatever it moves.
    graph = gt.Graph(torch.randint(n, (2, 8000)), n, self_loops="remove")
    model = models.build(name, 600, 7, **options)
    taken = gt.step_time(model, graph, torch.randn(n, 600))
    of_model = set()
    for call in taken.calls:
        p = call.problem
        text = f"{p.op} k={p.k}" + f" heads={p.heads}" * (p.heads != 1) + " self_loop" * p.self_loop
        text += " unweighted" * (p.op == "spmm" and not p.weighted) + " reversed" * (p.direction == "reversed")
        of_model.add(text)
    assert of_model == problems_of_the_program(words, graph, tmp_path)
    assert taken.sparse_us == pytest.approx(sum(c.runs * c.time_us for c in taken.calls))
    # Every layer runs forward and backward, but for features that are summed first.
    assert sum(call.runs for call in taken.calls) == 2 * options.get("layers", 2) - (options["hidden"] == 300)
    assert taken.total_us > taken.sparse_us > 0 and all(call.config for call in taken.calls)


def test_taking_a_step_apart_changes_nothing(graph, device):
    model = Model().to(device)
    x = torch.randn(graph.n_rows, 12, device=device)
    state = {name: value.clone() for name, value in model.state_dict().items()}
    taken = gt.step_time(model, graph, x)
    assert {call.problem.op for call in taken.calls} >= {"spmm", "gat", "gat_grad"}
    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
    assert all(p.grad is None for p in model.parameters())
    first = gt.gcn(graph, model.first(x)).sum()
    first.backward()  # nothing of the watching stays
    assert model.first.weight.grad.abs().sum() > 0
