"""A wheel of the build, installed into a bare environment: what a newcomer has."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import gnntune

ROOT = Path(__file__).parents[2]
BUILD = os.environ.get("GNNTUNE_BUILD")
if not BUILD:
    pytest.skip("GNNTUNE_BUILD names no build folder to pack", allow_module_level=True)
TRY = """
import importlib.util, numpy as np, scipy.sparse, gnntune
assert importlib.util.find_spec("torch") is None
a = scipy.sparse.random(200, 300, 0.05, "csr", np.float32, 1)
graph = gnntune.Context(device="cpu").graph(a)
x = np.random.default_rng(1).standard_normal((300, 16), np.float32)
assert np.allclose(graph.spmm(x, a.data), a @ x, atol=1e-4)
print(gnntune.__file__, graph.plan("spmm", 16).config)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, ROOT / "tools/wheel", out, "--build", BUILD, "--local", "--python", sys.executable]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    (made,) = out.glob("*.whl")
    assert f"{made}: {made.stat().st_size / 1e6:.1f} MB" in said
    return made


@pytest.fixture(scope="module")
def bare(wheel, tmp_path_factory):
    """An environment with the wheel, NumPy and SciPy."""
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
    python = folder / "env/bin/python"
    install = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-index", "--no-deps", wheel]
    subprocess.run(install, check=True)
    site = Path(np.__file__).parents[1]
    for name in ("numpy", "numpy.libs", "scipy", "scipy.libs"):
        if (site / name).exists():
            next(folder.glob("env/lib/python*/site-packages")).joinpath(name).symlink_to(site / name)
    return python


def run(python, *words, **settings):
    # No compiler, no toolkit, nothing of the repository.
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LD_", "CUDA"))}
    command = [str(word) for word in (python, *words)]
    done = subprocess.run(
        command, env={**clean, "PATH": "/nowhere", **settings}, capture_output=True, text=True, cwd="/"
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_is_inside(wheel):
    with zipfile.ZipFile(wheel) as file:
        names = set(file.namelist())
        metadata = file.read(next(name for name in names if name.endswith("/METADATA"))).decode()
    wanted = (
        "__init__.py",
        "py.typed",
        "_native.abi3.so",
        "_native.pyi",
        "lib/libgnntune.so.0",
        "bin/gnntune",
        "LICENSE",
    )
    assert not {f"gnntune/{name}" for name in (*wanted, "share/gnntune/profiles/errata.txt")} - names
    assert not [name for name in names if "__pycache__" in name or not name.startswith("gnntune")]
    assert f"Version: {gnntune.__version__}\n" in metadata and "Requires-Dist: numpy" in metadata
    assert "-cp310-abi3-" in wheel.name


def test_numpy_is_all_it_needs(bare):
    where, config = run(bare, "-c", TRY).split()
    assert str(bare.parents[1]) in where and config.startswith("spmm.cpu_")


def test_the_program_is_installed(bare):
    assert run(bare.parent / "gnntune", "--version").startswith(f"gnntune {gnntune.__version__}")
    assert "spmm" in run(bare.parent / "gnntune", "list", "ops")


def test_the_quickstart_of_the_readme(bare, tmp_path):
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    _, _, after = (ROOT / "README.md").read_text().partition("\n```python\n")
    code = after.partition("\n```\n")[0]
    assert len(code.splitlines()) <= 10
    others = tmp_path / "others"
    others.mkdir()
    for path in Path(torch.__file__).parents[1].iterdir():
        if not path.name.startswith("gnntune"):
            (others / path.name).symlink_to(path)
    said = run(bare, "-c", code, PYTHONPATH=str(others), HOME=str(tmp_path), CUDA_VISIBLE_DEVICES="")
    assert "config" in said and "spmm." in said
