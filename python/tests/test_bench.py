"""The benchmark's parts that need no GPU, and its table."""

from __future__ import annotations

import csv
import gc
import importlib
import re
import runpy
import statistics
import weakref
from pathlib import Path

import pytest
from scripts import run_script

ROOT = Path(__file__).parents[2]
BENCH = ROOT / "python/bench"
pytest.importorskip("torch_geometric")


def test_it_writes_rows_and_a_table(cora, tmp_path):
    rows = tmp_path / "rows.csv"
    words = [cora, "--device", "cpu", "--parts", "minibatch,epochs,once", "--models", "GCN-16", "--csv", rows]
    words += ["--epochs", "10", "--seeds", "1", "--seconds", "250", "--seconds-each", "1"]
    done = run_script(BENCH / "bench.py", *words)
    assert done.returncode == 0, done.stderr
    with rows.open() as file:
        found = list(csv.DictReader(file))
    assert {row["part"] for row in found} == {"minibatch", "epochs", "once"}
    assert all(row["device"] == "cpu" and row["torch"] and row["pyg"] and row["commit"] for row in found)
    eager = [row for row in found if row["what"] == "epoch"]
    assert {row["side"] for row in eager} == {"ours", "theirs", "neither"} and len(eager) == 10
    on_one = [row for row in eager if row["form"].endswith(", one thread")]
    usually = {row["form"] for row in eager if row not in on_one}
    assert {row["form"].removesuffix(", one thread") for row in on_one} == usually
    batches = [row for row in found if row["part"] == "minibatch" and row["what"] == "step"]
    assert len(batches) == 12 and {row["side"] for row in batches} == {"ours", "theirs", "neither"}
    (ratio,) = [float(row["value"]) for row in found if row["what"] == "their best eager over ours"]
    times = {side: min(float(row["value"]) for row in eager if row["side"] == side) for side in ("ours", "theirs")}
    assert ratio == pytest.approx(times["theirs"] / times["ours"], rel=1e-4)
    (usual,) = [float(r["value"]) for r in found if r["what"] == "their best eager over ours, torch's threads"]
    best = {s: min(float(r["value"]) for r in eager if r["side"] == s and r not in on_one) for s in ("ours", "theirs")}
    assert usual == pytest.approx(best["theirs"] / best["ours"], rel=1e-4)
    line = next(line for line in done.stdout.splitlines() if line.startswith("GCN, eager"))
    assert re.search(rf">= 1.5x +{re.escape(f'{ratio:.3g}')} +{re.escape(f'{ratio:.3g}')}  1 \(on cora", line)


def on_a_small_graph(monkeypatch):
    """torch, the benchmark's module, its Bench, and edges, features and labels of a random graph on the GPU."""
    torch = pytest.importorskip("torch")
    monkeypatch.syspath_prepend(str(BENCH))
    training = importlib.import_module("training")
    bench = importlib.import_module("common").Bench(None, 60, "cuda", {})
    n = 500
    index = torch.randint(0, n, (2, 4000), device="cuda")
    x, y = torch.randn(n, training.FEATURES, device="cuda"), torch.randint(0, training.CLASSES, (n,), device="cuda")
    return torch, training, bench, index, x, y


@pytest.mark.cuda
def test_a_captured_epoch_holds_what_its_replays_read(monkeypatch):
    torch, training, bench, index, x, y = on_a_small_graph(monkeypatch)

    # As the benchmark does: nothing but the replay is kept, and others use the memory that is given back.
    def capture(steps):
        trainer = training.Trainer(bench, training.gcn(16, cached=True).cuda(), x, index, y)
        steps.append(trainer.captured())
        return weakref.ref(trainer.model), trainer.model.layers[0].bias

    steps = []
    held, bias = capture(steps)
    gc.collect()
    junk = [torch.full((4500,), 2**40, device="cuda") for _ in range(50)]
    assert held() is not None
    before = bias.detach().clone()
    for _ in range(20):
        steps[0]()
    torch.cuda.synchronize()
    assert bool(bias.isfinite().all()) and not torch.equal(before, bias)
    del junk


@pytest.mark.cuda
def test_a_step_that_waits_is_not_captured_and_harms_nothing(monkeypatch):
    torch, training, bench, index, x, y = on_a_small_graph(monkeypatch)
    before = torch.cuda.current_stream()
    # Without a cached norm theirs drops self loops in every step, and counts those that are left.
    trainer = training.Trainer(bench, training.gcn(16).cuda(), x, index, y)
    with pytest.raises(RuntimeError, match="synchroniz"):
        trainer.captured()
    assert torch.cuda.current_stream() == before and torch.cuda.get_sync_debug_mode() == 0
    trainer.step()
    training.Trainer(bench, training.gcn(16, cached=True).cuda(), x, index, y).captured()()
    torch.cuda.synchronize()
    assert torch.isfinite(torch.randn(10, device="cuda")).all()


def test_the_table_takes_worst_cases_of_what_counts(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    bench = importlib.import_module("bench")
    facts = {"part": "epochs", "model": "GAT-8x8", "what": "their best over ours"}
    rows = [
        {**facts, "graph": g, "m": m, "value": v} for g, m, v in (("a", 10**6, 8.0), ("b", 10**6, 2.0), ("c", 9, 1.0))
    ]
    rows += [
        {"part": "describe", "graph": "uniform", "m": 5, "what": "CSR: described and planned", "value": v}
        for v in (20, 40)
    ]
    lines = bench.table([{"unit": "", "model": "", **row} for row in rows]).splitlines()
    (captured,) = [line for line in lines if line.startswith("GAT, captured")]
    (planned,) = [line for line in lines if line.startswith("mini-batch described")]
    assert re.search(r">= 10x +4 +2  2 \(on b, m = 1,000,000\)$", captured)
    assert re.search(r"<= 30 us +28.3 +40  2 ", planned)


def test_the_study_of_models_goes_on_where_it_stopped_and_becomes_tables(cora, tmp_path):
    if not (cora.parent / "cora.npz").exists():
        pytest.skip("the repository's labels of Cora are not here")
    rows = tmp_path / "models.csv"
    words = [cora.parent, "--csv", rows, "--device", "cpu", "--graphs", "cora", "--models", "GCN", "--seeds", "2"]
    words += ["--epochs", "2", "--each", "0.1", "--budget", "0.2", "--seconds", "250"]

    def study(parts, *more):
        done = run_script(BENCH / "models.py", *words, "--parts", parts, *more)
        assert done.returncode == 0, done.stderr
        return done

    study("train")
    first = rows.read_text()
    said = study("train,tcgnn")
    assert rows.read_text().startswith(first) and "train, cora GCN" not in said.stderr  # what is done stays
    assert "accuracy of ours within one sd of theirs: 1 of 1" in said.stdout
    before = rows.read_text()
    said = study("train", "--seeds", "3")
    assert rows.read_text().startswith(before)
    assert re.findall(r"train, cora GCN, seed (\d)", said.stderr) == ["2"]  # more seeds add to those that are there
    with rows.open() as file:
        found = list(csv.DictReader(file))
    seeds = [(r["side"], r["seed"]) for r in found if r["what"] == "test accuracy"]
    assert sorted(seeds) == [(side, seed) for side in ("ours", "theirs") for seed in "012"]
    assert {r["side"] for r in found if r["what"] == "epoch, eager"} == {"ours", "theirs"}
    assert {r["side"] for r in found if r["what"] == "epoch, eager, one thread"} == {"ours", "theirs"}

    # By another name than that of the package which it imports.
    figures = runpy.run_path(str(ROOT / "tools/end-to-end-figures"), run_name="end_to_end_figures")
    made = figures["Rows"](found)
    (line,) = [line for line in figures["training"](made) if line.startswith("| cora | GCN | 3 |")]
    tests = [float(r["value"]) for r in found if r["what"] == "test accuracy" and r["side"] == "ours"]
    assert f"| {statistics.mean(tests):.2f} +- {statistics.stdev(tests):.2f} |" in line
    (few,) = [line for line in figures["training"](made) if line.startswith("Seeds where they are fewer than 10")]
    assert few.endswith(": 3 on cora: GCN.")
    epochs = "\n".join(figures["tcgnn6"](made))
    assert "| cora | GCN 2 x 16 |" in epochs
    assert re.search(r"Both eager: \S+x in geometric mean of 2; worst", epochs)
    for name, table in figures["TABLES"].items():
        assert isinstance(table(made), list), name  # no rows, no table
