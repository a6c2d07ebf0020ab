"""gnntune.torch.accuracy() and approximated(): what ways of summing cost a trained model, stored and followed."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
import reference

import gnntune

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")
import gnntune.models as models
import gnntune.torch as gt
from gnntune.torch._accuracy import interval
from gnntune.torch._approximated import fastest

SAMPLES = (8, 16, 64)


@pytest.fixture(scope="module")
def trained():
    """Cora, two trainings of a GCN on it, and what split 0 has."""
    path = Path(os.environ.get("GNNTUNE_DATA", Path(__file__).parents[2] / "data")) / "cora.npz"
    if not path.exists():
        pytest.skip(f"{path} is not here; GNNTUNE_DATA names its folder")
    data = models.load(path)
    graph, x, y, split = data.graph(), data.x(), data.y(), data.split(0)
    found = []
    for seed in range(2):
        torch.manual_seed(seed)
        model = models.build("GCN", data.features, data.classes, hidden=16)
        models.fit(model, graph, x, y, split, epochs=20)
        found.append(model)
    return found, graph, x, y, split


@pytest.fixture(scope="module")
def rows(trained, tmp_path_factory):
    """Rows of both trainings, and the database that has them."""
    found, graph, x, y, split = trained
    db = tmp_path_factory.mktemp("accuracy") / "rows.db"
    table = gt.accuracy(
        found,
        graph,
        x,
        y,
        split.validation,
        samples=SAMPLES,
        precisions=("f16",),
        name="GCN",
        graph_name="cora",
        db=db,
        progress=False,
    )
    return {row.way: row for row in table}, db


def sampled_by_bucket(graph, S):
    """The graph of the first S edges of each row."""
    start = graph.row_ptr[:-1].long().repeat_interleave(graph.row_ptr.diff().long())
    return torch.arange(graph.m) - start < S


def test_a_row_is_what_the_model_does_on_the_sample(trained, rows):
    found, graph, x, y, split = trained
    table, _ = rows
    bare = graph.without_loops()
    weight, loops = bare.norm()
    keep = sampled_by_bucket(bare, 8)
    part = gt.Graph(torch.stack([bare.col.long(), bare.row])[:, keep], graph.n_rows)
    right = []
    for model in found:
        model.eval()
        h = x
        with torch.no_grad():
            for i, layer in enumerate(model.layers):
                h = layer.lin(h.relu() if i else h)
                h = gt.spmm(part, h, weight[keep], loops, csr_order=False) + layer.bias
        right.append((h.argmax(1) == y)[split.validation].float().mean())
    assert table["bucket S=8; bucket S=8"].accuracy == pytest.approx(float(torch.stack(right).mean()), abs=1e-6)


def test_there_is_a_row_for_every_way_of_all_sums_and_of_each(rows):
    table, _ = rows
    kinds = [
        f"{kind} S={S}{scaled}" for kind in ("bucket", "fastrand") for S in SAMPLES for scaled in ("", " rescaled")
    ]
    for word in [*kinds, "f16"]:
        for way in (f"{word}; {word}", f"{word}; exact", f"exact; {word}"):
            row = table[way]
            assert row.models == 2 and row.vertices == 500 and len(row.layers) == 2
            assert row.loss == pytest.approx(row.exact - row.accuracy, abs=1e-6)
            assert row.loss_low <= row.loss <= row.loss_high and row.time_us > 0
            assert row.time_us == pytest.approx(sum(layer.time_us for layer in row.layers))
    assert table["f16; f16"].max_error < 0.01 < table["bucket S=8; bucket S=8"].max_error
    assert (
        "S=16" in table["exact; bucket S=16"].layers[1].config
        and "rescale=0" in table["exact; bucket S=16"].layers[1].config
    )
    assert "rescale=1" in table["exact; bucket S=16 rescaled"].layers[1].config


def test_the_rows_are_stored_and_stay_when_they_are_carried_on(rows, tmp_path):
    table, db = rows

    def program(*words):
        done = subprocess.run([str(gnntune.program_path()), *map(str, words)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    program("db", "export", "--db", db, tmp_path / "rows.json")
    program("db", "import", tmp_path / "rows.json", tmp_path / "copy.db")
    program("db", "merge", tmp_path / "copy.db", "--db", db)
    assert "sound" in program("db", "check", "--db", tmp_path / "copy.db")
    listed = json.loads(program("db", "ls", "accuracies", "--db", tmp_path / "copy.db", "--json"))["data"]
    assert {r["way"] for r in listed} == set(table) and all(r["stands"] and r["graph"] == "cora" for r in listed)
    shown = json.loads(program("db", "show", "cora", "--db", db, "--json"))["data"][0]
    assert len(shown["accuracies"]) == len(table)
    # What a sum's problem is explained with, once it was tuned.
    words = ("--device", "cpu", "--op", "spmm", "--dim", 16, "--weights", "yes", "--self-loop", "yes", "--db", db)
    cora = Path(os.environ.get("GNNTUNE_DATA", Path(__file__).parents[2] / "data")) / "cora.mtx.gz"
    program("tune", cora, *words, "--max-samples", 5, "-q")
    (line,) = [line for line in program("explain", "cora", *words).splitlines() if line.startswith("accuracy ")]
    best = fastest(table.values(), 0.01)
    assert (best.way if best else f"none of {len(table)} faster ways") in line


def test_the_rule_takes_the_fastest_that_is_sure_enough(rows):
    table, _ = rows
    for sure in (True, False):
        best = fastest(table.values(), 0.02, sure)
        allowed = [r for r in table.values() if (r.loss_high if sure else r.loss) <= 0.02 and r.time_us < r.exact_us]
        assert (best is None) == (not allowed)
        assert best is None or best.time_us == min(r.time_us for r in allowed)
    assert fastest(table.values(), -1.0) is None


def test_a_model_runs_as_the_rule_says_when_it_is_asked_to(trained, rows, monkeypatch):
    found, graph, x, _, _ = trained
    _, db = rows
    from gnntune.torch import _approximated

    # Whatever was fastest on a busy machine: this way.
    monkeypatch.setattr(_approximated, "fastest", lambda known, *_: {r.way: r for r in known}["bucket S=8; bucket S=8"])
    fast = gt.approximated(found[1], graph, max_accuracy_loss=0.01, db=db)
    assert "bucket S=8; bucket S=8: loses" in fast.reason and "bucket S=8" in repr(fast)
    found[1].eval()
    with torch.no_grad():
        exact, sampled = found[1](x, graph), fast(x, graph)
        assert torch.equal(found[1](x, graph), exact)  # outside it the model sums exactly
    assert not torch.allclose(exact, sampled, atol=1e-4)
    names = [layer.config.partition("{")[0] for layer in fast.row.layers]
    assert names == ["spmm.cpu_sampled", "spmm.cpu_sampled"]
    # Gradients flow, and those of the sums stay exact.
    fast(x, graph).sum().backward()
    found[1].zero_grad()


def test_without_known_accuracy_nothing_is_sampled(trained, rows, tmp_path):
    found, graph, x, _, _ = trained
    _, db = rows
    other = models.build("GCN", x.shape[1], 7, hidden=8).eval()
    for fast in (
        gt.approximated(found[0], graph, max_accuracy_loss=0.5, db=tmp_path / "none.db"),
        gt.approximated(other, graph, max_accuracy_loss=0.5, db=db),
        gt.approximated(found[0], gt.Graph(torch.tensor([[0], [1]]), graph.n_rows), max_accuracy_loss=0.5, db=db),
    ):
        assert fast.row is None and "no accuracy of this model on this graph is known" in fast.reason
    with torch.no_grad():
        assert torch.equal(gt.approximated(other, graph, max_accuracy_loss=0.5, db=db)(x, graph), other(x, graph))
    with pytest.raises(gnntune.InvalidArgument, match="max_accuracy_loss is 1"):
        gt.approximated(found[0], graph, max_accuracy_loss=1)


def test_rows_of_one_training_hold_for_its_weights_alone(trained, tmp_path):
    found, graph, x, y, split = trained
    db = tmp_path / "one.db"
    table = gt.accuracy(
        found[0], graph, x, y, split.validation, samples=(8,), precisions=(), rescale=(False,), db=db, progress=False
    )
    assert {row.models for row in table} == {1} and len({row.model for row in table}) == 1
    from gnntune.torch._accuracy_rows import known_accuracies

    assert len(known_accuracies(found[0], graph, db=db)) == len(table)
    assert known_accuracies(found[1], graph, db=db) == []


def test_every_combination_holds_what_the_search_finds(trained):
    found, graph, x, y, split = trained
    options = {"samples": (8, 64), "samplers": ("bucket",), "rescale": (False,), "precisions": (), "store": False}
    quick = gt.accuracy(found, graph, x, y, split.validation, **options, progress=False)
    every = gt.accuracy(found, graph, x, y, split.validation, **options, exhaustive=True, progress=False)
    assert {row.way for row in quick} <= {row.way for row in every}
    assert len(every) == 3 * 3 - 1  # but for exact sums


def test_maxima_and_attention_are_not_sampled(device):
    index, (n, _) = reference.edges("random", device)
    graph, x = gt.Graph(index, n), torch.randn(n, 12, device=device)
    y = torch.zeros(n, dtype=torch.long, device=device)
    mixed = models.build("SAGE-max", 12, 5, hidden=16).to(device)
    table = gt.accuracy(mixed, graph, x, y, torch.arange(n, device=device), samples=(8,), store=False, progress=False)
    assert all("bucket" not in row.way for row in table)
    attention = models.build("GAT", 12, 5, hidden=16).to(device)
    with pytest.raises(gnntune.InvalidArgument, match="no sum of gnntune's"):
        gt.accuracy(attention, graph, x, y, torch.arange(n), store=False, progress=False)


def test_mistakes(trained):
    found, graph, x, y, split = trained
    model, validation = found[0], split.validation

    def refused(error, words, *arguments, **options):
        with pytest.raises(error, match=words):
            gt.accuracy(*arguments, store=False, progress=False, **options)

    refused(gnntune.InvalidArgument, "no vertices to measure on", model, graph, x, y, validation[:0])
    refused(gnntune.InvalidArgument, "outside 0 to 2707", model, graph, x, y, validation + 5000)
    refused(gnntune.InvalidArgument, "have no label", model, graph, x, torch.full_like(y, -1), validation)
    refused(gnntune.InvalidArgument, "a label for each of 2708", model, graph, x, y[:5], validation)
    refused(gnntune.InvalidArgument, "a label is 8 and the model has 7", model, graph, x, y + 2, validation)
    refused(gnntune.InvalidArgument, "several structures", [model, models.build("GCN", 3, 2)], graph, x, y, validation)
    refused(gnntune.InvalidArgument, "expected a trained", [], graph, x, y, validation)
    refused(gnntune.InvalidArgument, "'random' is none of bucket", model, graph, x, y, validation, samplers=("random",))
    refused(gnntune.InvalidArgument, "S is 0", model, graph, x, y, validation, samples=(0,))
    refused(gnntune.InvalidArgument, "expected scores", _Wrapped(model), graph, x, y, validation)
    broken = models.build("GCN", x.shape[1], 7, hidden=16)
    with torch.no_grad():
        broken.layers[1].bias.fill_(float("nan"))
    refused(gnntune.RunFailed, "not finite", broken, graph, x, y, validation)


class _Wrapped(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x, graph):
        return self.model(x, graph)[:5]


def test_intervals_are_of_vertices_and_models():
    lost = torch.zeros(4, 100)
    assert interval(lost) == (0.0, 0.0)
    lost[:, :10] = 1.0  # the same vertices in every model
    mean, half = interval(lost)
    assert mean == pytest.approx(0.1) and half == pytest.approx(1.96 * (0.09 / 100) ** 0.5, rel=1e-3)
    lost = torch.zeros(4, 100)
    lost[0] = 1.0  # one model alone
    mean, half = interval(lost)
    assert mean == pytest.approx(0.25) and half == pytest.approx(1.96 * (0.25 / 4) ** 0.5, rel=1e-3)


def test_a_config_is_named_in_a_call(device):
    index, (n, _) = reference.edges("random", device)
    graph, x = gt.Graph(index, n), torch.randn(n, 12, device=device)
    name = "spmm.cpu_sampled{sampling=bucket,S=8}" if device == "cpu" else "spmm.es_bucket{S=8}"
    keep = sampled_by_bucket(graph, 8) if device == "cpu" else None
    got = gt.spmm(graph, x, config=name)
    if keep is not None:
        wanted = torch.zeros(n, 12).index_add_(0, graph.row[keep], x[graph.col.long()[keep]])
        assert torch.allclose(got, wanted, atol=1e-5)
    assert "source     named" in graph.explain()
    with pytest.raises(gnntune.InvalidArgument, match=r"this build has no variant 'spmm\.nix'"):
        gt.spmm(graph, x, config="spmm.nix")
    with pytest.raises(gnntune.InvalidArgument, match="is a config of gat"):
        gt.spmm(graph, x, config="gat.cpu_rows" if device == "cpu" else "gat.gar")
    with pytest.raises(gnntune.Unsupported, match="S=17"):
        gt.spmm(graph, x, config=name.replace("S=8", "S=17"))
