"""The CSV of distributed.py: rows as they come, what is there already, and the short table."""

from __future__ import annotations

import csv
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

import gnntune

COLUMNS = (
    *("part", "graph", "n", "m", "k", "ranks", "form", "what", "value", "unit", "note"),
    *("device", "torch", "nccl", "gnntune", "commit", "date"),
)
STEPS = 10  # of a training whose losses are compared


def there(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


class Rows:
    """The CSV of the folder: what is there, and rows as they come. One rank writes."""

    def __init__(self, path: Path, facts: dict[str, str], writes: bool) -> None:
        self.there = there(path) if path.exists() else []
        self._facts, self._writer = facts, None
        if writes:
            self._file = path.open("a", newline="")
            self._writer = csv.DictWriter(self._file, COLUMNS)
            if not self.there:
                self._writer.writeheader()
        self._waiting: list[dict[str, Any]] = []

    def has(self, part: str, graph: str = "", k: int | str = "") -> bool:
        wanted = (part, graph, str(k))
        return any((row["part"], row["graph"], row["k"]) == wanted for row in self.there)

    def add(self, **values: Any) -> None:
        """A row of the unit that is measured now."""
        self._waiting.append({name: f"{v:.6g}" if isinstance(v, float) else v for name, v in values.items()})

    def done(self) -> None:
        """The unit is measured: all of its rows are written, so that none is there in part."""
        if self._writer is not None:
            self._writer.writerows([{**row, **self._facts} for row in self._waiting])
            self._file.flush()
        self._waiting.clear()


def facts(device: torch.device) -> dict[str, str]:
    version = subprocess.run([gnntune.program_path(), "--version"], capture_output=True, text=True, check=True).stdout
    on_gpu = device.type == "cuda"
    return {
        "device": torch.cuda.get_device_name(device) if on_gpu else "cpu",
        "torch": torch.__version__,
        "nccl": ".".join(map(str, torch.cuda.nccl.version())) if on_gpu else "",
        "gnntune": gnntune.__version__,
        "commit": os.environ.get("GNNTUNE_COMMIT") or version.partition("(")[2].partition(")")[0],
        "date": time.strftime("%Y-%m-%d"),
    }


def numbers(rows: list[dict[str, str]], **same: Any) -> Iterator[tuple[dict[str, str], float]]:
    for row in rows:
        if all(row[key] == str(value) for key, value in same.items()):
            yield row, float(row["value"] or "nan")


def table(rows: list[dict[str, str]]) -> str:
    """What the two sides took, and what the model said."""
    lines = [
        f"{'graph':20} {'k':>4} {'one us':>9} {'split us':>9} {'x':>5} {'forecast':>9} {'off':>6} {'tried':>9} "
        f"{'mode':>9} {'best x':>6} {'grad x':>6}  slices"
    ]
    for row, said in numbers(rows, part="spmm", what="chosen: forecast"):
        key = {"part": "spmm", "graph": row["graph"], "k": row["k"]}
        one = next(v for _, v in numbers(rows, **key, what="time", form="whole"))
        split = next(v for _, v in numbers(rows, **key, what="time", form=row["form"]))
        mode = next(r["note"].partition(":")[0] for r, _ in numbers(rows, **key, what="chosen"))
        tried = next((f"{v:.1f}" for _, v in numbers(rows, **key, what="chosen: tried")), "")
        best = min(v for r, v in numbers(rows, **key, what="time") if r["ranks"] != "1")
        grads = {r["ranks"] == "1": v for r, v in numbers(rows, **key, what="time with gradient")}
        ratio = grads[True] / grads[False]
        lines.append(
            f"{row['graph']:20} {row['k']:>4} {one:9.1f} {split:9.1f} {one / split:5.2f} {said:9.1f} "
            f"{100 * (said / split - 1):5.1f}% {tried:>9} {mode:>9} {one / best:6.2f} {ratio:6.2f}  {row['form']}"
        )
    for row, off in numbers(rows, part="gcn", what="largest difference"):
        steps = {r["ranks"] == "1": v for r, v in numbers(rows, part="gcn", graph=row["graph"], what="time")}
        lines.append(
            f"{row['graph']:20} GCN step: one {steps[True]:.0f} us, split {steps[False]:.0f} us, "
            f"{steps[True] / steps[False]:.2f}x; losses of {STEPS} steps differ by {off:.1e} of the loss at most"
        )
    checks = [(off, row["form"]) for row, off in numbers(rows, part="check", what="largest difference")]
    if checks:
        wrong = sum(1 for _ in numbers(rows, part="check", what="wrong"))
        worst = max(checks)
        lines.append(f"checks: {len(checks)}, {wrong} wrong; the largest difference is {worst[0]:.1e} ({worst[1]})")
    for _, rate in numbers(rows, part="link", what="rate"):
        lines.append(f"link: {rate:.1f} GB/s")
    return "\n".join(lines)
