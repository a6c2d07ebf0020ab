"""Handles of the library, and who ends them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any


class Handle:
    """A handle of libgnntune that is destroyed with its last Python reference.

    A child of `fork` does not destroy what its parent made: CUDA does not survive a fork, and memory of the cpu backend
    goes with the process.
    """

    __slots__ = ("__weakref__", "_destroy", "_pid", "value")

    def __init__(self, value: int, destroy: Callable[[int], None]) -> None:
        self.value = value
        self._destroy = destroy
        self._pid = os.getpid()

    def close(self) -> None:
        """Destroys it now. Does nothing the second time."""
        value, self.value = self.value, 0
        if value and os.getpid() == self._pid:
            self._destroy(value)

    # The arguments are looked up now: at the interpreter's end, names of modules are gone before objects are.
    def __del__(self, _getpid: Any = os.getpid) -> None:
        if self.value and _getpid() == self._pid:
            self._destroy(self.value)
