"""The benchmark's parts that need no GPU, and its table."""

from __future__ import annotations

import csv
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[1] / "bench"
pytest.importorskip("torch_geometric")


def test_it_writes_rows_and_a_table(cora, tmp_path):
    rows = tmp_path / "rows.csv"
    words = [cora, "--device", "cpu", "--parts", "minibatch,epochs,once", "--models", "GCN-16", "--csv", rows]
    words += ["--epochs", "10", "--seeds", "1", "--seconds", "20", "--seconds-each", "1"]
    command = [sys.executable, BENCH / "bench.py", *words]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with rows.open() as file:
        found = list(csv.DictReader(file))
    assert {row["part"] for row in found} == {"minibatch", "epochs", "once"}
    assert all(row["device"] == "cpu" and row["torch"] and row["pyg"] and row["commit"] for row in found)
    eager = [row for row in found if row["what"] == "epoch"]
    assert {row["side"] for row in eager} == {"ours", "theirs"} and len(eager) == 4
    (ratio,) = [float(row["value"]) for row in found if row["what"] == "their best eager over ours"]
    times = {side: min(float(row["value"]) for row in eager if row["side"] == side) for side in ("ours", "theirs")}
    assert ratio == pytest.approx(times["theirs"] / times["ours"], rel=1e-4)
    line = next(line for line in done.stdout.splitlines() if line.startswith("GCN, eager"))
    assert re.search(rf">= 1.5x +{re.escape(f'{ratio:.3g}')} +{re.escape(f'{ratio:.3g}')}  1 \(on cora", line)


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
