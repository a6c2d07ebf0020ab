"""What the parts of the benchmark share: rows of CSV, graphs, clocks."""

from __future__ import annotations

import csv
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

import gnntune

COLUMNS = (
    *("part", "graph", "n", "m", "model", "side", "form", "what", "value", "unit", "spread", "repeats", "note"),
    *("device", "torch", "pyg", "gnntune", "commit", "date"),
)
FEATURES, CLASSES = 128, 16


def facts(device: str) -> dict[str, str]:
    """What a run is of, for every row of it."""
    import torch_geometric  # distributed.py runs without it

    version = subprocess.run([gnntune.program_path(), "--version"], capture_output=True, text=True, check=True).stdout
    return {
        "device": torch.cuda.get_device_name() if device == "cuda" else "cpu",
        "torch": torch.__version__,
        "pyg": torch_geometric.__version__,
        "gnntune": gnntune.__version__,
        "commit": version.partition("(")[2].partition(")")[0],
        "date": time.strftime("%Y-%m-%d"),
    }


class Source(NamedTuple):
    """A square graph of the benchmark, on the host."""

    name: str
    edge_index: torch.Tensor
    n: int

    @property
    def m(self) -> int:
        return self.edge_index.shape[1]


class Bench:
    """Where to run, rows as they come, and the time that is left."""

    def __init__(self, path: str | None, seconds: float, device: str, facts: dict[str, str]) -> None:
        self._file = open(path, "w", newline="") if path else sys.stdout  # noqa: SIM115  as long as the program
        self._writer = csv.DictWriter(self._file, COLUMNS)
        self._writer.writeheader()
        self._facts = facts
        self.device = torch.device(device)
        self.on_gpu = device == "cuda"
        self.rows: list[dict[str, Any]] = []
        self.deadline = time.monotonic() + seconds

    def row(self, **values: Any) -> None:
        self.rows.append(values)
        texts = {name: f"{value:.6g}" if isinstance(value, float) else value for name, value in values.items()}
        self._writer.writerow({**texts, **self._facts})
        self._file.flush()

    def left(self) -> float:
        return self.deadline - time.monotonic()

    def synchronize(self) -> None:
        if self.on_gpu:
            torch.cuda.synchronize()


def in_one_thread(step: Callable[[], object]) -> Callable[[], object]:
    """A step whose backward runs on the thread that calls it: torch wakes another thread for it by default."""

    def run() -> object:
        with torch.autograd.set_multithreading_enabled(False):
            return step()

    return run


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def files_of(argument: str) -> list[str]:
    """A folder's graphs, or the argument itself."""
    if argument.startswith("standin/") or not Path(argument).is_dir():
        return [argument]
    return [str(path) for path in sorted(Path(argument).iterdir()) if ".mtx" in path.name or path.suffix == ".gnng"]


def read(argument: str, folder: Path) -> Source | None:
    """The graph of a file or `standin/NAME`; None for one that is not square."""
    program = str(gnntune.program_path())
    name = argument if argument.startswith("standin/") else Path(argument).name.split(".")[0]
    path = folder / f"{name.replace('/', '_')}.npz"
    if argument.startswith("standin/"):
        made = folder / "standin.gnng"
        subprocess.run([program, "generate", argument, "-o", str(made), "-q"], check=True, stdout=subprocess.DEVNULL)
        argument = str(made)
    words = [program, "convert", argument, str(path), "--ignore-weights", "-q"]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    with np.load(path) as file:
        row_ptr, col, shape = file["indptr"].astype(np.int64), file["indices"].astype(np.int64), file["shape"]
    if shape[0] != shape[1]:
        return None
    row = np.repeat(np.arange(len(row_ptr) - 1), np.diff(row_ptr))
    return Source(name, torch.from_numpy(np.stack([col, row])), len(row_ptr) - 1)


def summary(times: Sequence[float]) -> tuple[float, float]:
    """Median, and the distance of the quartiles in per cent of it."""
    median = statistics.median(times)
    low, _, high = statistics.quantiles(times, n=4) if len(times) > 1 else (median,) * 3
    return median, 100 * (high - low) / median


def in_turns(
    bench: Bench, steps: dict[str, Callable[[], object]], epochs: int, seconds: float
) -> dict[str, list[float]]:
    """Milliseconds of each call of each step: warmed up, then in turns of ten."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    end = time.monotonic() + seconds
    for step in steps.values():
        for _ in range(5):
            step()
    bench.synchronize()
    while any(len(t) < epochs for t in times.values()):
        for name, step in steps.items():
            for _ in range(10):
                begin = time.perf_counter()
                step()
                bench.synchronize()
                times[name].append(1e3 * (time.perf_counter() - begin))
        if time.monotonic() > end:
            break
    return times
