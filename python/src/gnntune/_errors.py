"""What goes wrong in the library, as exceptions."""

from __future__ import annotations

from gnntune import _native


class Error(Exception):
    """The library refused or failed. The text says what was expected, where, and what to do."""


class InvalidArgument(Error, ValueError):
    """An argument that no call accepts: a size, a type, an array that is missing."""


class InvalidGraph(Error, ValueError):
    """Arrays that are no graph: an id out of range, offsets that fall."""


class NoDevice(Error, RuntimeError):
    """No such processor here, or no permission to use it."""


class NotMeasured(Error, LookupError):
    """Nothing is known of a problem yet: no measurement, and no cost model. The text has the command that mends it."""


class DatabaseError(Error, OSError):
    """The database was demanded, and is missing or cannot be read."""


class Unsupported(Error, NotImplementedError):
    """A legal request that this build, or every variant in it, refuses."""


class RunFailed(Error, RuntimeError):
    """A call of CUDA or of one of its libraries failed."""


class OutOfMemory(Error, MemoryError):
    """Host or device memory ran out."""


class InternalError(Error, RuntimeError):
    """A fault of the library: please report it."""


class ProgramFailed(Error, RuntimeError):
    """The program `gnntune` ended with an error. `returncode` is its exit code (docs/commands.md)."""

    def __init__(self, message: str, returncode: int) -> None:
        super().__init__(message)
        self.returncode = returncode


_BY_STATUS: dict[int, type[Error]] = {
    _native.INVALID_ARGUMENT: InvalidArgument,
    _native.INVALID_GRAPH: InvalidGraph,
    _native.NO_DEVICE: NoDevice,
    _native.DATABASE: DatabaseError,
    _native.UNSUPPORTED: Unsupported,
    _native.RUNTIME: RunFailed,
    _native.OUT_OF_MEMORY: OutOfMemory,
    _native.INTERNAL: InternalError,
}


def error_of(status: int, message: str) -> Error:
    """The exception for a gnntune_status. Called by gnntune._native."""
    return _BY_STATUS.get(status, InternalError)(message)
