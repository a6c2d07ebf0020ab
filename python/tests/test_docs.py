"""What docs/python.md and examples/ show, runs."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from scripts import run_script

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
pytest.importorskip("torch")
pytest.importorskip("torch_geometric")


def run(*words, tmp_path):
    done = run_script(*words, env={"GNNTUNE_DB": str(tmp_path / "user.db"), "CUDA_VISIBLE_DEVICES": ""}, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_block_of_the_page_runs_after_those_before_it(tmp_path):
    blocks = BLOCK.findall((ROOT / "docs/python.md").read_text())
    assert len(blocks) >= 6
    if importlib.util.find_spec("matplotlib") is None:
        blocks = [block for block in blocks if "gnntune.plot" not in block]
    script = tmp_path / "blocks.py"
    script.write_text("\n".join(blocks) + "\nassert same, 'a layer of ours is not theirs'\n")
    said = run(script, tmp_path=tmp_path)
    assert "spmm." in said and "[[0. 1.]" in said


def test_the_quickstart_is_the_readmes():
    readme, page = ((ROOT / name).read_text() for name in ("README.md", "docs/python.md"))
    assert BLOCK.findall(readme)[0] == BLOCK.findall(page)[0]


@pytest.mark.parametrize(("model", "sparse"), [("GCN", ()), ("GAT", ()), ("GAT", ("--sparse",))])
def test_the_example_trains_both_to_the_same_loss(tmp_path, model, sparse):
    if not (ROOT / "data/cora.npz").exists():
        pytest.skip("the repository's data is not here")
    rows = tmp_path / "rows.csv"
    words = ("--model", model, "--epochs", 5, "--budget", 2, "--seeds", 2, "--hidden", 16, "--csv", rows, *sparse)
    said = run(ROOT / "examples/train.py", *words, tmp_path=tmp_path)
    assert len(rows.read_text().splitlines()) == 5 and len(re.findall(r"test \S+ \+- \S+ %", said)) == 2
    theirs, ours = (float(loss) for loss in re.findall(r"loss (\S+)", said))
    # Dropout of sparse features draws other masks: one number for each value that is there.
    assert ours == pytest.approx(theirs, rel=1e-2 if sparse else 1e-3)
    assert {"GCN": "spmm", "GAT": "gat_grad"}[model] in said and "Graph(2708 x 2708" in said
