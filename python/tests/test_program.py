"""The program's verbs as Python calls."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import gnntune


@pytest.fixture
def tuned(cora, tmp_path):
    db = tmp_path / "cora.db"
    rows = gnntune.tune(cora, k=16, device="cpu", db=db, budget="20s", progress=False)
    return db, rows


def test_tune_then_explain_best_and_open(cora, tuned):
    db, rows = tuned
    assert len(rows) == 1 and rows[0].op == "spmm" and rows[0].k == 16
    assert rows[0].config.startswith("spmm.") and rows[0].time_us > 0
    assert rows.device and rows.raw[0]["config"] == rows[0].config

    best = gnntune.best(db=db)
    assert [row.graph for row in best] == ["cora"] and best[0].time_us > 0
    assert len(gnntune.best(db=db, graph="pubmed")) == 0

    explanation = gnntune.explain(cora, k=16, device="cpu", db=db)
    assert explanation.source == "measured" and explanation.chosen == rows[0].config
    assert explanation.candidates[0].time_us > 0
    assert "chosen" in str(explanation)
    assert gnntune.explain("cora", k=16, device="cpu", db=db).fingerprint == explanation.fingerprint


def test_what_was_tuned_in_memory_is_found_by_a_context(tmp_path):
    rng = np.random.default_rng(2)
    sparse = pytest.importorskip("scipy.sparse")
    a = (
        sparse.random_array((300, 300), density=0.05, format="csr", rng=rng)
        if hasattr(sparse, "random_array")
        else None
    )
    if a is None:
        a = sparse.random(300, 300, 0.05, format="csr", random_state=2)
    db = tmp_path / "memory.db"
    rows = gnntune.tune(a, k=[8, 16], weighted="both", device="cpu", db=db, name="mine", budget=20, progress=False)
    assert {row.graph for row in rows} == {"mine"} and len(rows) == 4
    plan = gnntune.Context(db, device="cpu").graph(a).plan("spmm", 8, weighted=True)
    assert plan.source == "database"
    assert gnntune.explain(a, k=8, db=db, device="cpu").graph == "mine"


def test_another_library_of_the_same_name_is_not_loaded(tmp_path):
    (tmp_path / "libgnntune.so.0").touch()  # the loader ends the process where it takes this one
    words = "import gnntune, gnntune._program as p; gnntune.Context(device='cpu'); print(p.program_path())"
    alone = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    found = subprocess.run([sys.executable, "-c", words], env=alone, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    version = subprocess.run([found.stdout.strip(), "--version"], env=alone, capture_output=True, text=True)
    assert version.returncode == 0, version.stderr


def test_info(cora):
    info = gnntune.info(cora)
    assert (info.name, info.n_rows, info.m) == ("cora", 2708, 10556)
    assert info.fingerprint == info.features["fingerprint"] and len(info.fingerprint) == 32
    assert "sampling_rate" in gnntune.info(cora, sampling=True).features


def test_to_pandas(tuned):
    pandas = pytest.importorskip("pandas")
    frame = tuned[1].to_pandas()
    assert isinstance(frame, pandas.DataFrame) and "roofline_us" in frame.columns and len(frame) == 1


def test_a_budget_that_ends_leaves_the_rest_for_the_next_call(cora, tmp_path):
    rows = gnntune.tune(cora, k=[16, 32, 64, 128], device="cpu", db=tmp_path / "b.db", budget=0.05, progress=False)
    assert not rows.complete


def test_progress_is_shown(cora, tmp_path):
    pytest.importorskip("tqdm")
    from gnntune import _program

    steps = []
    whole, code = _program.run_json(
        ["tune", str(cora), "--dim", "16,32", "--device", "cpu", "--db", str(tmp_path / "p.db")],
        report=lambda done, total, text: steps.append((done, total, text)),
    )
    assert code == 0 and whole["schema"] == "gnntune.tune/1"
    assert steps and all(0 <= done <= total for done, total, _ in steps)


class TestErrors:
    def test_files(self, tmp_path):
        with pytest.raises(gnntune.InvalidGraph, match=r"none\.mtx"):
            gnntune.info(tmp_path / "none.mtx")
        with pytest.raises(gnntune.DatabaseError, match="no such database"):
            gnntune.explain("nobody", db=tmp_path / "none.db", device="cpu")

    def test_arguments(self, cora, tmp_path):
        with pytest.raises(gnntune.InvalidArgument, match="spmv"):
            gnntune.tune(cora, op="spmv", db=tmp_path / "x.db", progress=False)
        with pytest.raises(gnntune.InvalidArgument, match="a file has its own"):
            gnntune.tune(cora, name="cora", progress=False)
        with pytest.raises(gnntune.InvalidArgument, match="not dict"):
            gnntune.tune({}, progress=False)

    def test_what_is_not_known_or_not_there(self, cora, tmp_path):
        with pytest.raises(gnntune.NotMeasured, match="tune it first: gnntune tune"):
            gnntune.explain(cora, k=64, device="cpu", db=tmp_path / "none.db")
        with pytest.raises(gnntune.Unsupported, match="stores f32 only, f16 was asked for"):
            gnntune.tune(cora, op="gat", dtype="f16", device="cpu", db=tmp_path / "x.db", progress=False)

    def test_devices(self, cora, tmp_path):
        with pytest.raises(gnntune.NoDevice):
            gnntune.tune(cora, device="cuda:99", db=tmp_path / "x.db", progress=False)


def test_keyboard_interrupt_stores_what_was_measured(cora, tmp_path):
    db = tmp_path / "interrupted.db"
    code = (
        "import gnntune, sys\n"
        f"try:\n    gnntune.tune({str(cora)!r}, k=[16,32,64,128,256], op='all', device='cpu', db={str(db)!r},"
        " exhaustive=True, progress=False)\n"
        "except KeyboardInterrupt:\n    print('interrupted')\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    # Of 45 problems one is stored: whatever else the machine does, more are to come.
    deadline = time.monotonic() + 120
    while not _stored(db) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=120)
    assert out.strip() == "interrupted" and process.returncode == 0
    assert len(gnntune.best(db=db)) > 0
    assert not _still_running(str(db))


def _stored(db) -> int:
    try:
        return len(gnntune.best(db=db)) if db.exists() else 0
    except gnntune.Error:  # half made
        return 0


def _still_running(word: str) -> bool:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if word.encode() in file.read():
                    return True
        except OSError:
            continue
    return False


def test_the_program_comes_with_the_package():
    out = subprocess.run([gnntune.program_path(), "--version"], check=True, capture_output=True, text=True).stdout
    assert out.startswith(f"gnntune {gnntune.__version__}")
    out = subprocess.run(
        [sys.executable, "-m", "gnntune", "list", "ops"], check=True, capture_output=True, text=True
    ).stdout
    assert "spmm" in out
