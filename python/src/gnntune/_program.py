"""Runs the `gnntune` program that comes with the package."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gnntune._errors import (
    DatabaseError,
    Error,
    InvalidArgument,
    InvalidGraph,
    NoDevice,
    NotMeasured,
    ProgramFailed,
    Unsupported,
)

_ERRORS: dict[int, type[Error]] = {2: InvalidArgument, 3: InvalidGraph, 4: NoDevice, 6: DatabaseError}
_COLUMNS = 240  # of the terminal that the program sees: a progress line is cut to it
_PROGRESS = re.compile(r"\[#*-*\] (\d+)/(\d+)(?:  eta (\S+(?: \S+)?))?(?:  (.*))?$")
_CONTROL = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")

Report = Callable[[int, int, str], None]
"""Progress: called with steps done, steps in all, and the best so far."""


def program_path() -> Path:
    """The `gnntune` program of this package."""
    return Path(__file__).parent / "bin" / "gnntune"


def main() -> None:
    """The console script: becomes the program."""
    path = program_path()
    os.execv(path, [str(path), *sys.argv[1:]])


def run_json(
    words: list[str],
    *,
    report: Report | None = None,
    say: Callable[[str], None] | None = None,
    accepted: tuple[int, ...] = (),
) -> tuple[dict[str, Any], int]:
    """Runs a verb with --json and returns its object and the exit code, 0 or one of `accepted`.

    `report` gets the progress, `say` the notes and warnings of the program, line by line. KeyboardInterrupt stops the
    program in order, so that what was measured is stored; a second one ends it at once.
    """
    command = [str(program_path()), *words, "--json", "--no-color"]
    errors: list[str] = []
    with _Terminal() as terminal:
        # In a session of its own: a Ctrl-C at the terminal reaches this process alone, which passes it on.
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=terminal.program_side,
            start_new_session=True,
        )
        terminal.close_program_side()
        assert process.stdout
        data = bytearray()
        interrupts = 0
        try:
            while True:
                try:
                    for line in terminal.lines(process.stdout.fileno(), data):
                        found = _PROGRESS.search(line)
                        if found:
                            if report:
                                report(int(found[1]), int(found[2]), found[4] or "")
                        else:
                            errors.append(line)
                            if say:
                                say(line)
                    break
                except KeyboardInterrupt:
                    interrupts += 1
                    process.send_signal(signal.SIGINT if interrupts == 1 else signal.SIGKILL)
            code = process.wait()
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            process.stdout.close()
    if interrupts:
        raise KeyboardInterrupt
    if code != 0 and code not in accepted:
        raise _failure(errors, code)
    try:
        found_json: dict[str, Any] = json.loads(data) if data.strip() else {"data": [], "warnings": []}
    except ValueError as error:
        raise ProgramFailed(f"gnntune printed no JSON: {error}", code) from None
    return found_json, code


def _failure(lines: list[str], code: int) -> Error:
    # The error is the program's last line that begins with its name.
    words = next((line for line in reversed(lines) if line.startswith("gnntune: ")), lines[-1] if lines else "")
    text = words.removeprefix("gnntune: ").removeprefix("warning: ")
    if text.startswith("nothing was measured for "):
        return NotMeasured(text)
    if "no variant of this build can do " in text:
        return Unsupported(text)
    kind = _ERRORS.get(code)
    text = text or f"the program gnntune ended with exit code {code}"
    return kind(text) if kind else ProgramFailed(text, code)


class _Terminal:
    """A terminal for the program's stderr, so that it shows its progress as to a person."""

    def __init__(self) -> None:
        self._side, self.program_side = os.openpty()
        fcntl.ioctl(self.program_side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, _COLUMNS, 0, 0))
        self._text = ""
        self._open = True

    def __enter__(self) -> _Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close_program_side()
        os.close(self._side)

    def close_program_side(self) -> None:
        with contextlib.suppress(OSError):
            if self.program_side >= 0:
                os.close(self.program_side)
        self.program_side = -1

    def lines(self, stdout: int, data: bytearray) -> Iterator[str]:
        """What the program writes to stderr, until both of its streams end; its stdout is added to `data`."""
        out_open = True
        while out_open or self._open:
            waiting = ([stdout] if out_open else []) + ([self._side] if self._open else [])
            ready, _, _ = select.select(waiting, [], [])
            if stdout in ready:
                piece = os.read(stdout, 1 << 16)
                data += piece
                out_open = bool(piece)
            if self._side in ready:
                try:
                    piece = os.read(self._side, 1 << 16)
                except OSError as error:  # Linux's word for the end of the other side
                    if error.errno != errno.EIO:
                        raise
                    piece = b""
                self._open = bool(piece)
                self._text += piece.decode("utf-8", "replace")
                *complete, self._text = re.split(r"[\r\n]+", self._text)
                # A progress line ends where the next one begins: what is there is shown.
                if _PROGRESS.search(self._text):
                    complete, self._text = [*complete, self._text], ""
                if not self._open:
                    complete.append(self._text)
                for line in complete:
                    line = _CONTROL.sub("", line).strip()
                    if line:
                        yield line


def tqdm_report(what: str) -> tuple[Report | None, Callable[[], None]]:
    """A progress bar and what ends it; none where tqdm is not installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None, lambda: None
    bar = tqdm(total=0, desc=what, leave=False)

    def report(done: int, total: int, text: str) -> None:
        bar.total = total
        bar.n = done
        bar.set_postfix_str(text, refresh=False)
        bar.refresh()

    return report, bar.close
