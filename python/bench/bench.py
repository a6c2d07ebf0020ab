#!/usr/bin/env python3
"""gnntune's layers beside PyTorch Geometric's on one device: rows of CSV, a short table last.

    PYTHONPATH=build/python python3 python/bench/bench.py GRAPH... [--csv FILE] [--seconds N] [--parts LIST] ...

GRAPH: files as the gnntune program reads them, folders of such, or standin/NAME. Parts, in the order in which they run:

  overhead    host time of one call of an operation, above the time of gnntune_run itself
  describe    host time of describing and planning a transient graph, and whether it waits
  minibatch   compute of a step of SAGE and GAT on sampled batches of the graph with `arxiv` in its name, else the last
  memory      peak memory of a GAT epoch
  epochs      a training epoch (forward, backward, fused Adam) of GCN, GAT, AGNN, SAGE and Transformer on every GRAPH:
              ours eager and captured in a CUDA graph; theirs eager, captured, with adj_t, with the norm cached, with
              self loops added beforehand; the linear maps of the model alone, which is what both sides share; with
              --compiled both sides compiled too, with the first seed
  once        one epoch of each of our models on the smallest GRAPH: for compute-sanitizer, not in a run without --parts

Rows are written as they come, so a run that is cut short has said what it knew. Both sides of a comparison run in turns
in one process. A time is the median of its epochs; `spread` is the distance of their quartiles, in per cent of it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import host
import training
from common import Bench, facts, files_of, read, say

import gnntune.torch as gt

PARTS: dict[str, Any] = {
    "overhead": lambda bench, graphs, options: host.overhead(bench, graphs),
    "describe": lambda bench, graphs, options: host.describe(bench, graphs),
    "minibatch": training.minibatch,
    "memory": training.memory,
    "epochs": training.epochs,
    "once": training.once,
}
LARGE = 300_000
# Rows of the table: label, what must be reached, whether more is better, and which rows count.
AIMS: list[tuple[str, str, bool, Any]] = [
    *[
        (
            f"{model}, captured, over {LARGE:,} edges",
            f">= {aim}x",
            True,
            lambda r, model=model: (
                r["part"] == "epochs"
                and r["model"].startswith(model)
                and r["what"] == "their best over ours"
                and r["m"] > LARGE
            ),
        )
        for model, aim in (("GCN", 3), ("GAT", 10), ("AGNN", 15), ("SAGE", 2), ("Transformer", 5))
    ],
    *[
        (
            f"{model}, eager, cora and pubmed",
            f">= {aim}x",
            True,
            lambda r, model=model: (
                r["part"] == "epochs"
                and r["model"].startswith(model)
                and r["what"] == "their best eager over ours"
                and r["graph"] in ("cora", "pubmed")
            ),
        )
        for model, aim in (("GCN", 1.5), ("GAT", 3), ("AGNN", 6))
    ],
    ("call above gnntune_run, no gradient", "<= 3 us", False, lambda r: r["what"].endswith("gnntune_run, no gradient")),
    ("... with gradient", "<= 8 us", False, lambda r: r["what"].endswith("gnntune_run, with gradient")),
    ("mini-batch described and planned", "<= 30 us", False, lambda r: r["what"] == "CSR: described and planned"),
    *[
        (
            f"mini-batch step, {model}",
            f">= {aim}x",
            True,
            lambda r, model=model: (
                r["part"] == "minibatch" and r["model"].startswith(model) and r["what"] == "theirs over ours"
            ),
        )
        for model, aim in (("SAGE", 1.5), ("GAT", 3))
    ],
    ("peak memory of a GAT epoch", "<= 0.5x", False, lambda r: r["part"] == "memory" and r["unit"] == "x"),
]


def table(rows: list[dict[str, Any]]) -> str:
    """What is aimed at, and what was found: mean, worst case, cases."""
    lines = [f"{'what':44} {'must reach':>10} {'mean':>9} {'worst':>9}  cases"]
    for label, aim, more, counts in AIMS:
        found = [row for row in rows if "value" in row and "what" in row and counts(row)]
        if not found:
            lines.append(f"{label:44} {aim:>10} {'-':>9} {'-':>9}  0")
            continue
        worst = (min if more else max)(found, key=lambda row: row["value"])
        values = [row["value"] for row in found]
        mean = geometric_mean(values) if min(values) > 0 else sum(values) / len(values)
        where = f"{worst['model']} " if len({row.get("model") for row in found}) > 1 else ""
        where += f"on {worst['graph']}, m = {worst['m']:,}"
        lines.append(f"{label:44} {aim:>10} {mean:9.3g} {worst['value']:9.3g}  {len(found)} ({where})")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="+", metavar="GRAPH")
    parser.add_argument("--csv", help="file for the rows (default: stdout)")
    parser.add_argument("--parts", default=",".join(part for part in PARTS if part != "once"))
    parser.add_argument("--models", type=lambda text: text.split(","), help=f"of epochs: {','.join(training.MODELS)}")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin nothing after this time")
    parser.add_argument("--seconds-each", type=float, default=30, help="most time of one model on one graph")
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--compiled", action="store_true", help="torch.compile of both sides too, which takes minutes")
    parser.add_argument("--tune", type=float, default=0, help="seconds of tuning of each model on each graph first")
    parser.add_argument("--db", help="database of measurements; default as for the library")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    options = parser.parse_args()
    parts = options.parts.split(",")
    for name, known in (("--parts", PARTS), ("--models", training.MODELS)):
        wrong = [word for word in (parts if name == "--parts" else options.models or []) if word not in known]
        if wrong:
            parser.error(f"{name}: {wrong[0]!r} is none of {', '.join(known)}")
    warnings.simplefilter("ignore")
    if options.db:
        gt.configure(options.db)
    bench = Bench(options.csv, options.seconds, options.device, facts(options.device))
    say(gt.describe(options.device))
    with tempfile.TemporaryDirectory() as folder:
        read_all = [read(file, Path(folder)) for argument in options.graphs for file in files_of(argument)]
    graphs = [source for source in read_all if source is not None and source.m > 0]
    if not graphs:
        parser.error("no square graph with edges among these")
    failed = 0
    for part in PARTS:
        if part in parts and bench.left() > 0:
            say(f"== {part}, {bench.left():.0f} s left")
            try:
                PARTS[part](bench, graphs, options)
            except Exception as error:  # the other parts are worth having
                failed += 1
                say(f"{part} failed: {error!r}")
                bench.row(part=part, note=repr(error)[:200])
    print("\n" + table(bench.rows))
    return min(1, failed)


if __name__ == "__main__":
    sys.exit(main())
