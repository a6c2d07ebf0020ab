"""gnntune: the sparse operations of graph neural networks, each with the kernel that was measured fastest for it.

`import gnntune` needs NumPy only: contexts, graphs and plans over NumPy arrays, and the verbs of the `gnntune` program
as calls. `gnntune.torch` has differentiable operations for PyTorch, `gnntune.pyg` the layers of PyTorch Geometric.
"""

from gnntune import _native
from gnntune._core import Context, Graph, Plan
from gnntune._errors import (
    DatabaseError,
    Error,
    InternalError,
    InvalidArgument,
    InvalidGraph,
    NoDevice,
    NotMeasured,
    OutOfMemory,
    ProgramFailed,
    RunFailed,
    Unsupported,
)
from gnntune._problem import Problem
from gnntune._program import program_path
from gnntune._results import Best, Candidate, Explanation, GraphInfo, Table, Tuned
from gnntune._tiles import TiledGraph, TiledMemory, TiledPlan
from gnntune._verbs import best, explain, info, tune

_number = _native.version()
__version__ = f"{_number // 10000}.{_number // 100 % 100}.{_number % 100}"

__all__ = [
    "Best",
    "Candidate",
    "Context",
    "DatabaseError",
    "Error",
    "Explanation",
    "Graph",
    "GraphInfo",
    "InternalError",
    "InvalidArgument",
    "InvalidGraph",
    "NoDevice",
    "NotMeasured",
    "OutOfMemory",
    "Plan",
    "Problem",
    "ProgramFailed",
    "RunFailed",
    "Table",
    "TiledGraph",
    "TiledMemory",
    "TiledPlan",
    "Tuned",
    "Unsupported",
    "best",
    "explain",
    "info",
    "program_path",
    "tune",
]
