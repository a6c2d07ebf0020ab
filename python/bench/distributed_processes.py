"""The processes of distributed.py: graphs are made once, a rank is started for each GPU; one that fails ends all."""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from common import say

import gnntune


def files_of(graphs: list[str], scratch: Path) -> dict[str, str]:
    """Each graph as an .npz of the scratch folder, by its name."""
    program = str(gnntune.program_path())
    found = {}
    for argument in graphs:
        name = argument if argument.startswith("standin/") else Path(argument).name.split(".")[0]
        path = scratch / f"{name.replace('/', '_')}.npz"
        if not path.exists():
            begin = time.perf_counter()
            half = scratch / f"half_{path.name}"
            words = [program, "generate", argument, "-o", str(half), "-q"]
            if not argument.startswith("standin/"):
                words = [program, "convert", argument, str(half), "--ignore-weights", "-q"]
            subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
            half.rename(path)
            say(f"{name}: made in {time.perf_counter() - begin:.0f} s")
        found[name] = str(path)
    return found


def start(script: str, options: argparse.Namespace) -> int:
    """Runs `script` on every rank, with the arguments of this process, until all have ended. 1 if one failed."""
    options.out.mkdir(parents=True, exist_ok=True)
    scratch = options.scratch or options.out / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    deadline = time.time() + options.seconds
    files = files_of(options.graphs, scratch)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    children, logs = [], []
    for rank in range(options.ranks):
        settings = {
            # Off unless it is asked for: what it shares among GPUs outlives a process that is killed.
            "NCCL_NVLS_ENABLE": "0",
            **os.environ,
            "RANK": str(rank),
            "WORLD_SIZE": str(options.ranks),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port),
            "OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 1) // options.ranks)),
        }
        log = (options.out / f"rank_{rank}.log").open("a")
        words = [sys.executable, "-W", "ignore", script, *sys.argv[1:], "--deadline", str(deadline)]
        words += [f"--file={name}={path}" for name, path in files.items()]
        children.append(subprocess.Popen(words, env=settings, stdout=log, stderr=subprocess.STDOUT))
        logs.append(log)
    failed = 0
    while children:
        time.sleep(0.2)
        for child in list(children):
            if child.poll() is None:
                continue
            children.remove(child)
            if child.returncode:
                failed = 1
                for other in children:  # they would wait for it until the timeout
                    other.terminate()
    for log in logs:
        log.close()
    if failed:
        for rank in range(options.ranks):
            print("".join((options.out / f"rank_{rank}.log").read_text().splitlines(keepends=True)[-15:]))
    return failed


def bind(rank: int, size: int) -> None:
    """This process, and the threads that it will have, to its share of the processors."""
    here = sorted(os.sched_getaffinity(0))
    share = len(here) // size
    if share >= 2:
        os.sched_setaffinity(0, here[rank * share : (rank + 1) * share])
