"""What accuracy() finds, as rows of a database: written as a document that the program takes in, and read back."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import secrets
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from gnntune._errors import DatabaseError
from gnntune._problem import Problem
from gnntune._program import run_json
from gnntune.torch import _device
from gnntune.torch._graph import Graph
from gnntune.torch._ways import DTYPES, Way


@dataclass(frozen=True)
class LayerWay:
    """One sum of a model in a way: its problem, the config that is fastest there, and its time."""

    problem: Problem
    rule: str
    config: str
    time_us: float
    way: Way


@dataclass(frozen=True)
class Accuracy:
    """A trained model on a graph, its sums run in a way: what that costs, and what it saves.

    `accuracy` and `exact` are shares of the vertices, means over the models; `loss` is exact less accuracy with its
    95 % interval over vertices and models. `time_us` and `exact_us` are the sums alone, one forward pass. `max_error`
    is the largest error of a sum, relative to its sum of |terms|. `way` has a word for each sum, in their order.
    """

    graph: str
    fingerprint: str
    model: str
    model_name: str
    way: str
    models: int
    vertices: int
    accuracy: float
    exact: float
    loss: float
    loss_low: float
    loss_high: float
    max_error: float
    time_us: float
    exact_us: float
    layers: tuple[LayerWay, ...]

    @property
    def speedup(self) -> float:
        return self.exact_us / self.time_us


def digest(model: nn.Module, weights: bool = False) -> str:
    """Identity of a model: its modules and the shapes of its parameters, with `weights` their values too."""
    made = hashlib.sha256(repr(model).encode())
    for name, value in model.state_dict().items():
        made.update(f"{name} {tuple(value.shape)} {value.dtype}".encode())
        if weights:
            made.update(value.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    return made.hexdigest()[:32]


@functools.lru_cache(maxsize=64)
def device_facts(device: torch.device) -> dict[str, Any]:
    """A device as databases know it."""
    words = ["doctor", "--device", "cpu" if device.type == "cpu" else f"cuda:{device.index}"]
    facts: dict[str, Any] = run_json(words, accepted=tuple(range(1, 8)))[0]["device"]
    return facts


def store_rows(
    rows: list[Accuracy],
    device: dict[str, Any],
    variants: dict[str, dict[str, Any]],
    tool: str,
    graph: Graph,
    db: str | os.PathLike[str] | None,
) -> None:
    """Takes the rows into the database, as the document that `gnntune db import` reads.

    `device` and `variants`, by their ids, as the program describes them; `graph` is the one that the sums run on.
    """
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    environment: dict[str, Any] = {"id": 1, "device_name": device["name"]}
    for field in ("backend", "compute_capability", "multiprocessors", "memory_bytes", "l2_bytes"):
        environment[field] = device[field]
    environment |= {field: device[field] for field in ("driver", "cuda_runtime", "libraries")}
    used = sorted({layer.config.partition("{")[0] for row in rows for layer in row.layers})
    problems = dict.fromkeys(layer.problem for row in rows for layer in row.layers)
    document = {
        "schema": _SCHEMA,
        "graph": [
            {
                "fingerprint": rows[0].fingerprint,
                "n_rows": graph.n_rows,
                "n_cols": graph.n_cols,
                "m": graph.m,
                "name": rows[0].graph,
                "source": "",
                "features": {},
            }
        ],
        "environment": [environment],
        "variant": [
            {"id": v, "version": variants[v]["version"], "op": "spmm", "backend": device["backend"]} for v in used
        ],
        "problem": [_problem_record(p) for p in problems],
        "run": [
            {
                "id": 1,
                "command": "gnntune.torch.accuracy",
                "tool_version": tool.rpartition(" ")[2],
                "git_commit": "",
                "started_at": now,
                "ended_at": now,
                "seed": 0,
                "host": "",
                "run_identity": [{"identity": f"{time.time_ns() // 1000:016x}{secrets.token_hex(8)}"}],
            }
        ],
        "accuracy": [_accuracy_record(row, variants, now) for row in rows],
    }
    with tempfile.TemporaryDirectory(prefix="gnntune-") as folder:
        file = Path(folder) / "accuracy.json"
        file.write_text(json.dumps(document))
        path = db if db is not None else _device.database()
        run_json(["db", "import", str(file), *(["--db", os.fspath(path)] if path else [])])


_SCHEMA = "gnntune.database/4"


def _text_of(p: Problem) -> str:
    heads = f" heads={p.heads}" if p.heads != 1 else ""
    loop = " self_loop" if p.self_loop else ""
    weights = "weighted" if p.weighted else "unweighted"
    return f"{p.op} k={p.k}{heads} {p.dtype} {p.reduce} {weights} {p.direction}{loop}"


def _problem_record(p: Problem) -> dict[str, Any]:
    fields = ("op", "k", "heads", "dtype", "reduce", "weighted", "direction", "self_loop")
    return {"text": _text_of(p), **{field: getattr(p, field) for field in fields}}


def _accuracy_record(row: Accuracy, variants: dict[str, dict[str, Any]], now: str) -> dict[str, Any]:
    record: dict[str, Any] = {"graph": row.fingerprint, "environment": 1}
    for field in ("model", "model_name", "way", "models", "vertices", "accuracy", "loss", "loss_low", "loss_high"):
        record[field] = getattr(row, field)
    record |= {"exact_accuracy": row.exact, "max_error": row.max_error, "time_us": row.time_us}
    record |= {"exact_us": row.exact_us, "run": 1, "taken_at": now, "accuracy_call": []}
    for layer in row.layers:
        variant = layer.config.partition("{")[0]
        call: dict[str, Any] = {"problem": _text_of(layer.problem), "rule": layer.rule, "config": layer.config}
        call |= {"variant_version": variants[variant]["version"], "time_us": layer.time_us}
        record["accuracy_call"].append(call)
    return record


def known_accuracies(model: nn.Module, graph: Graph, *, db: str | os.PathLike[str] | None = None) -> list[Accuracy]:
    """The rows of a model on a graph and this device that stand: of its weights, else of its structure."""
    path = db if db is not None else _device.database()
    words = ["db", "ls", "accuracies", *(["--db", os.fspath(path)] if path else [])]
    try:
        whole = run_json(words)[0]
    except DatabaseError:
        return []
    name = device_facts(graph.device)["name"]
    prints = {graph.fingerprint} | ({graph.without_loops().fingerprint} if graph.is_square else set())
    here = [r for r in whole["data"] if r["stands"] and r["device"] == name and r["fingerprint"] in prints]
    for wanted in (digest(model, weights=True), digest(model)):
        rows = [_row_of(r) for r in here if r["model"] == wanted]
        if rows:
            return rows
    return []


def _row_of(found: dict[str, Any]) -> Accuracy:
    layers = []
    for call in found["calls"].split("; "):
        text, rule, config, microseconds = call.split(" | ")
        problem = problem_of(text)
        named = "" if rule == "exact" or rule in DTYPES else config
        layers.append(LayerWay(problem, rule, config, float(microseconds), Way(named, problem.dtype)))
    fields = ("graph", "fingerprint", "model", "model_name", "way", "models", "vertices", "accuracy", "loss")
    more = ("loss_low", "loss_high", "max_error", "time_us", "exact_us")
    values = {field: found[field] for field in fields + more}
    return Accuracy(**values, exact=found["exact_accuracy"], layers=tuple(layers))


def problem_of(text: str) -> Problem:
    """The problem of its text, "spmm k=64 f32 sum weighted forward self_loop"."""
    op, *words = text.split()
    numbers = dict(word.split("=") for word in words if "=" in word)
    dtype, reduce, weights, direction, *loop = (word for word in words if "=" not in word)
    return Problem(
        op,
        int(numbers["k"]),
        int(numbers.get("heads", 1)),
        dtype=dtype,
        reduce=reduce,
        weighted=weights == "weighted",
        direction=direction,
        self_loop=bool(loop),
    )
