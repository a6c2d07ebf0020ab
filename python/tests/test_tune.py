"""gnntune.torch.tune(): one step seen, measured, stored, used."""

from __future__ import annotations

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
    with pytest.raises(ValueError, match="give x"):
        gt.tune(lambda x, g: gt.spmm(g, x), graph)
