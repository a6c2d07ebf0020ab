"""Handles of the library, and who ends them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

# How many forks made this process of the one that began: a child's number is another one.
_forks = [0]


def _forked() -> None:
    _forks[0] += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


class Handle:
    """A handle of libgnntune that is destroyed with its last Python reference.

    A child of `fork` does not destroy what its parent made: CUDA does not survive a fork, and memory of the cpu backend
    goes with the process.
    """

    __slots__ = ("__weakref__", "_destroy", "_forks", "value")

    def __init__(self, value: int, destroy: Callable[[int], None]) -> None:
        self.value = value
        self._destroy = destroy
        self._forks = _forks[0]

    def close(self) -> None:
        """Destroys it now. Does nothing the second time."""
        value, self.value = self.value, 0
        if value and _forks[0] == self._forks:
            self._destroy(value)

    # The arguments are looked up now: at the interpreter's end, names of modules are gone before objects are.
    def __del__(self, _now: Any = _forks) -> None:
        if self.value and _now[0] == self._forks:
            self._destroy(self.value)
