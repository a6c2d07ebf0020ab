#!/usr/bin/env python3
"""One graph over the GPUs of this host, one GPU beside it in the same run: rows of CSV, a short table last.

    PYTHONPATH=build/python python3 python/bench/distributed.py standin/reddit standin/com_amazon standin/ogbn_arxiv \\
        --out FOLDER [--ranks 2] [--dims 64,128,256] [--seconds 420]

GRAPH: files as the gnntune program reads them, or standin/NAME. FOLDER gets distributed.csv and each rank's log. A call
goes on where one before it in the same folder was cut short: what has rows is not measured again. Parts:

  check  sums, GCN and attention with their gradients on a random graph, split in every way, beside one rank's
  link   the exchanges of the group by their size, the packing of columns, the host's calls
  spmm   for each graph and width: what the model says of every pattern of slices, with and without the last slice by
         blocks of rows, and which one is taken when the first of them were tried; then one GPU, and split by each of
         them; the one that is taken with gradients; results compared; the model's forecast for 4 and 8 GPUs
  gcn    for each graph: steps of a GCN of two layers, the losses of one GPU beside those of all

A time is the median of turns, each of them the median of calls by events on the slowest rank; each turn begins with
another form, and one GPU's sum is made by every GPU, so that none rests before the others' turn. Both sides are tuned
first, --tune seconds a plan. Each rank is bound to its share of the processors: one that moves among them takes up to
twice as long to start what the GPU does.
With --backend gloo it runs on the CPU, to try it.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist
from common import say
from distributed_check import check
from distributed_gcn import HIDDEN, gcn
from distributed_processes import bind, start
from distributed_rank import Rank, read
from distributed_rows import table, there
from distributed_spmm import spmm

import gnntune.torch.distributed as gd

PARTS = ("check", "link", "spmm", "gcn")


def run(rank: Rank) -> None:
    """Every part of every graph that has no rows yet, while there is time."""
    begin = time.perf_counter()
    rank.link = gd.measure_link(rank.ranks, rank.device)
    if not rank.rows.has("link"):
        for kind, points in (("exchange", rank.link.exchange), ("packing", rank.link.copy)):
            for size, taken in points:
                rank.rows.add(part="link", ranks=rank.ranks.size, form=kind, what=str(size), value=taken, unit="us")
        rank.host_rows({"part": "link"}, rank.link)
        rate = rank.link.gbps
        rank.rows.add(part="link", ranks=rank.ranks.size, form="exchange", what="rate", value=rate, unit="GB/s")
        rank.rows.done()
    say(f"link: {rank.link.words()}, {time.perf_counter() - begin:.1f} s")
    if "check" in rank.options.parts and not rank.rows.has("check", "random"):
        check(rank)
        rank.rows.done()
    for name, path in rank.options.files.items():
        units = [("spmm", k) for k in rank.options.dims] + [("gcn", HIDDEN)]
        units = [unit for unit in units if unit[0] in rank.options.parts]
        units = [(part, k) for part, k in units if not rank.rows.has(part, name, k)]
        if not units or not rank.time_left():
            continue
        graph = read(path).to(rank.device)
        say(f"{name}: {graph.graph}, {rank.deadline - time.time():.0f} s left")
        for part, k in units:
            if not rank.time_left():
                say(f"no time for {part} of {name}, k = {k}")
                continue
            begin = time.perf_counter()
            (spmm if part == "spmm" else gcn)(rank, name, graph.graph, k)
            rank.rows.done()
            say(f"{part} of {name}, k = {k}: {time.perf_counter() - begin:.1f} s")
        del graph
        if rank.device.type == "cuda":
            torch.cuda.empty_cache()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="+", metavar="GRAPH")
    parser.add_argument("--out", type=Path, required=True, help="folder for the rows and logs")
    parser.add_argument("--scratch", type=Path, help="folder for the graphs (default: one in --out)")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--backend", choices=["nccl", "gloo"], default="nccl")
    parser.add_argument("--dims", type=lambda text: [int(word) for word in text.split(",")], default=[64, 128, 256])
    parser.add_argument("--parts", type=lambda text: text.split(","), default=list(PARTS))
    parser.add_argument("--calls", type=int, default=3, help="calls of each time, at least")
    parser.add_argument("--turns", type=int, default=11, help="times of each form, in turns with the others'")
    parser.add_argument("--tune", type=float, default=1.0, help="seconds of tuning of each plan; 0: none")
    parser.add_argument("--seconds", type=float, default=420, help="begin no part after this time")
    parser.add_argument("--deadline", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--file", action="append", default=[], help=argparse.SUPPRESS)
    options = parser.parse_args()
    for part in options.parts:
        if part not in PARTS:
            parser.error(f"--parts: {part!r} is none of {', '.join(PARTS)}")
    if options.deadline is None:
        failed = start(__file__, options)
        path = options.out / "distributed.csv"
        if path.exists():
            print(table(there(path)))
        return failed
    bind(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
    options.files = dict(text.split("=", 1) for text in options.file)
    rank = Rank(options)
    run(rank)
    dist.destroy_process_group()
    for text in rank.wrong:
        say(text)
    return 1 if rank.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
