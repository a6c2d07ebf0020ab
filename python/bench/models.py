#!/usr/bin/env python3
"""The papers' end-to-end tables on one device: rows of CSV, a short table last.

    PYTHONPATH=build/python python3 python/bench/models.py FOLDER --csv FILE [--seconds N] [--parts LIST] ...

FOLDER has the labelled graphs (NAME.npz with NAME.mtx.gz or .xz) and graphs without labels. A stand-in that it has as
standin_NAME.gnng (`gnntune generate`) is not made again. Parts, in their order:

  samples    ES-SpMM: ten trainings of GCN and SAGE on each labelled graph; accuracy and time of every sampler and S,
             cuSPARSE and our best exact beside them; what the rule chooses and what that loses on test vertices
  train      accuracy of every model on every labelled graph, ours beside PyTorch Geometric's: the same seeds and splits
  tcgnn      TC-GNN's figure 6: an epoch of GCN 2 x 16 and AGNN 4 x 32 on its graphs, stand-ins where they are not here
  fusegnn    fuseGNN's tables 3 and figure 12: a step of one layer and its peak memory, on cora and pubmed
  labelled   an epoch and its peak memory of every model on every labelled graph, with its features, dense and sparse
  breakdown  fuseGNN's figure 4 and TC-GNN's table 1: what a step of one GCN layer consists of
  step       a step's time, predicted from its operations and measured
  standins   an epoch and its peak memory of GCN, GAT and AGNN on stand-ins of graphs with ten million edges and more
  reddit     fusegnn on standin/reddit

A run that is cut short, or called with fewer --seconds, goes on where it stopped when it is called again with the same
--csv; so does one that is called with more --seeds, whose further seeds are trained. Both sides of a comparison run in
one process.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import model_parts
import model_samples
from common import Source, facts, files_of, read, say
from study import Study

import gnntune
import gnntune.models as models
import gnntune.torch as gt

STANDINS = ("standin/ogbn_arxiv", "standin/ogbn_proteins", "standin/reddit")
TCGNN = [name for name in model_parts.SIZES if name not in STANDINS]
FUSEGNN = ("cora", "pubmed")
PARTS = ("samples", "train", "tcgnn", "fusegnn", "labelled", "breakdown", "step", "standins", "reddit")
SAMPLED = ("GCN", "SAGE-mean")
ATTENTION_AND_SUMS = ("GCN", "GAT", "AGNN")
STEPS = ("cora", "pubmed", "coauthor_physics", "tolokers", "dd")


class Graphs:
    """Graphs of the folder and stand-ins, each read when it is first asked for and once."""

    def __init__(self, folder: str, work: Path, only: list[str] | None) -> None:
        self.files = {Path(f).name.split(".")[0]: f for f in files_of(folder)}
        self.folder, self.work, self.only = Path(folder), work, only
        self.sources: dict[str, Source | None] = {}

    def wanted(self, name: str) -> bool:
        return self.only is None or name in self.only

    def get(self, name: str) -> Source | None:
        if name not in self.sources:
            argument = self.files.get(name.replace("/", "_"), name if name.startswith("standin/") else None)
            found = None if argument is None else read(argument, self.work)
            self.sources[name] = found and found._replace(name=name)
        return self.sources[name]

    def forget(self, name: str) -> None:
        self.sources.pop(name, None)

    def labelled(self) -> list[models.Labelled]:
        found = []
        for path in sorted(self.folder.glob("*.npz")):
            if not self.wanted(path.stem):
                continue
            try:
                found.append(models.load(path))
            except (gnntune.InvalidGraph, gnntune.InvalidArgument) as error:
                say(f"left out: {error}")
        return sorted(found, key=lambda data: data.m)


def table(study: Study) -> str:
    """A short account: accuracies side by side, speed-ups at little loss, epochs and memory."""
    rows = [row for row in study.rows if row["value"]]

    def values(**same: str) -> dict[tuple[str, str], list[dict[str, str]]]:
        found: dict[tuple[str, str], list[dict[str, str]]] = {}
        for row in rows:
            if all(row[k] == v for k, v in same.items()):
                found.setdefault((row["graph"], row["model"]), []).append(row)
        return found

    lines = []
    apart = []
    for found in values(part="train", what="test accuracy").values():
        side = {s: [float(row["value"]) for row in found if row["side"] == s] for s in ("theirs", "ours")}
        if all(side.values()):
            deviation = statistics.stdev(side["theirs"]) if len(side["theirs"]) > 1 else 0.0
            apart.append((abs(statistics.mean(side["ours"]) - statistics.mean(side["theirs"])), deviation))
    if apart:
        close = sum(gap <= max(deviation, 1e-9) for gap, deviation in apart)
        lines.append(f"accuracy of ours within one sd of theirs: {close} of {len(apart)} graphs and models")
    for what in ("epoch, captured", "epoch, eager", "epoch, eager, one thread", "peak memory of an epoch"):
        for part in ("tcgnn", "fusegnn", "labelled", "standins", "reddit"):
            ratios = []
            for pair in values(part=part, what=what).values():
                best = {s: [float(r["value"]) for r in pair if r["side"] == s] for s in ("theirs", "ours")}
                if best["ours"] and best["theirs"]:
                    ratios.append(min(best["theirs"]) / min(best["ours"]))
            if ratios:
                mean = statistics.geometric_mean(ratios)
                lines.append(
                    f"{part:10} {what:24} theirs / ours {mean:.3g}x of {len(ratios)}, worst {min(ratios):.3g}x"
                )
    for form in ("by the interval's end", "by the mean"):
        alone = [row for row in rows if row["what"].startswith("chosen for one") and row["form"] == form]
        if alone:
            kept = sum(float(row["value"]) <= float(row["high"]) for row in alone)
            lines.append(f"chosen {form}: loss on test within 1 % + 2 se in {kept} of {len(alone)} cases")
    return "\n".join(lines) or "no rows"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument("--csv", required=True)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--graphs", type=lambda text: text.split(","), help="these only")
    parser.add_argument("--models", type=lambda text: text.split(","), default=list(models.MODELS))
    parser.add_argument("--seconds", type=float, default=480, help="begin nothing that would end after this time")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--each", type=float, default=2.0, help="seconds of timing for each model on each graph")
    parser.add_argument("--budget", type=float, default=2.0, help="seconds of tuning before times of sums and steps")
    parser.add_argument("--db", help="database of the run (default: CSV with .db for its ending)")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    options = parser.parse_args()
    parts = options.parts.split(",")
    for name, given, known in (("--parts", parts, PARTS), ("--models", options.models, models.MODELS)):
        wrong = [word for word in given if word not in known]
        if wrong:
            parser.error(f"{name}: {wrong[0]!r} is none of {', '.join(known)}")
    warnings.simplefilter("ignore")
    db = options.db or str(Path(options.csv).with_suffix(".db"))
    gt.configure(db)
    study = Study(options.csv, options.seconds, options.device, facts(options.device))
    say(gt.describe(options.device))
    with tempfile.TemporaryDirectory() as folder:
        graphs = Graphs(options.folder, Path(folder), options.graphs)
        labelled = graphs.labelled() if {"samples", "train", "labelled"} & set(parts) else []
        for part in PARTS:
            if part in parts:
                _part(study, part, graphs, labelled, options, db)
    print("\n" + table(study))
    return min(1, study.failed)


def _part(study: Study, part: str, graphs: Graphs, labelled: list[models.Labelled], options: Any, db: str) -> None:
    if part == "samples":
        for data in labelled:
            for name in SAMPLED:
                if name in options.models:
                    model_samples.samples(study, data, name, options.seeds, options.epochs, options.budget, db)
    if part == "train":
        for name in options.models:
            for data in labelled:
                model_parts.train(study, data, name, options.seeds, options.epochs)
    if part == "labelled":
        # The papers' models on every graph before the other models.
        for name in sorted(options.models, key=lambda name: name not in ATTENTION_AND_SUMS):
            for data in labelled:
                if (source := graphs.get(data.name)) is not None:
                    model_parts.epoch(study, part, source, name, options.each, {}, data=data)
    if part == "tcgnn":
        for graph in filter(graphs.wanted, TCGNN):
            if study.left() > 5 and (source := graphs.get(graph)) is not None:
                model_parts.epoch(study, part, source, "GCN", options.each, {"hidden": 16}, "GCN 2 x 16")
                sizes = {"hidden": 32, "layers": 4}
                model_parts.epoch(study, part, source, "AGNN", options.each, sizes, "AGNN 4 x 32")
    if part in ("fusegnn", "reddit"):
        for graph in filter(graphs.wanted, FUSEGNN if part == "fusegnn" else ("standin/reddit",)):
            if part == "reddit" and study.left() < 30:
                continue
            source = graphs.get(graph)
            for name in ("GCN", "GAT"):
                for width in (16, 64, 128, 512):
                    if source is not None:
                        _one_layer(study, part, source, name, width, options.each)
    if part == "breakdown":
        for graph in filter(graphs.wanted, ("cora", "citeseer", "pubmed")):
            for hidden in (16, 64, 256):
                if (source := graphs.get(graph)) is not None:
                    model_parts.breakdown(study, source, hidden)
    if part == "step":
        for name in sorted(options.models, key=lambda name: name not in ATTENTION_AND_SUMS):
            for graph in filter(graphs.wanted, STEPS):
                if (source := graphs.get(graph)) is not None:
                    model_parts.predicted(study, source, name, options.budget)
    if part == "standins":
        for graph in filter(graphs.wanted, STANDINS):
            for name in ATTENTION_AND_SUMS:
                if study.left() > 20 and name in options.models and (source := graphs.get(graph)) is not None:
                    model_parts.epoch(study, part, source, name, options.each, {})


def _one_layer(study: Study, part: str, source: Source, name: str, width: int, seconds: float) -> None:
    """fuseGNN measures one layer of that output width, GAT with one head."""
    model_parts.epoch(study, part, source, name, seconds, {"layers": 1, "out": width}, f"{name}-{width}, one layer")


if __name__ == "__main__":
    sys.exit(main())
