"""Runs Python programs as `python PROGRAM WORDS...` does, from a process that has imported torch already.

That takes seconds. The processes are children of one server, which has started nothing else: no thread, no plan.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping
from pathlib import Path

_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["torch", "torch_geometric", "scipy.sparse"])


def run_script(
    program: str | Path,
    *words: object,
    env: Mapping[str, str] | None = None,
    cwd: str | Path | None = None,
    timeout: float = 300,
) -> subprocess.CompletedProcess[str]:
    """What it printed and its exit code. `env` is added to this process's environment."""
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        settings = {**os.environ, **(env or {})}
        arguments = (str(program), [str(word) for word in words], settings, str(cwd or os.getcwd()), str(out), str(err))
        process = _processes.Process(target=_run, args=arguments)
        process.start()
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(str(program), timeout, out.read_text(), err.read_text())
        return subprocess.CompletedProcess(
            [str(program), *arguments[1]], process.exitcode, out.read_text(), err.read_text()
        )


def _run(program: str, words: list[str], settings: dict[str, str], folder: str, out: str, err: str) -> None:
    for path, stream in ((out, 1), (err, 2)):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(file, stream)
        os.close(file)
    os.environ.clear()
    os.environ.update(settings)
    os.chdir(folder)
    sys.argv = [program, *words]
    sys.path.insert(0, str(Path(program).resolve().parent))
    try:
        runpy.run_path(program, run_name="__main__")
    except Exception:
        traceback.print_exc()
        sys.exit(1)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
