"""What the tests share: devices, graphs, and a database of their own."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# Before anything opens a context: no test reads or writes the user's database, nor the shipped ones.
_folder = tempfile.TemporaryDirectory(prefix="gnntune-tests-")
os.environ["GNNTUNE_DB"] = str(Path(_folder.name) / "tests.db")
os.environ["GNNTUNE_PROFILES"] = ""
os.environ.pop("GNNTUNE_FORCE", None)
os.environ.pop("GNNTUNE_SOURCES", None)


def _has_cuda() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if _has_cuda():
        return
    skip = pytest.mark.skip(reason="no CUDA device")
    for item in items:
        if "cuda" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.cuda)])
def device(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _data(name: str) -> Path:
    """A file of the repository's data; the tests may run from elsewhere, beside a packed package."""
    path = Path(os.environ.get("GNNTUNE_DATA", Path(__file__).parents[2] / "data")) / name
    if not path.exists():
        pytest.skip(f"{path} is not here; GNNTUNE_DATA names its folder")
    return path


@pytest.fixture
def cora() -> Path:
    """The repository's Cora, without features."""
    return _data("cora.mtx.gz")


@pytest.fixture(scope="session")
def labelled() -> Any:
    """The repository's Cora with features, labels and splits, as gnntune.models.load() reads it."""
    return pytest.importorskip("gnntune.models").load(_data("cora.npz"))


@pytest.fixture
def fresh_db(tmp_path: Path) -> Iterator[Path]:
    """A database of this test alone, for gnntune.torch too."""
    path = tmp_path / "fresh.db"
    yield path
    try:
        import gnntune.torch
    except ImportError:
        return
    gnntune.torch.configure()
