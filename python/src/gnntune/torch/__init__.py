"""gnntune for PyTorch: a Graph, and differentiable sparse operations on it.

    graph = gnntune.torch.Graph(edge_index, num_nodes)
    y = gnntune.torch.spmm(graph, x)

Needs torch 2.9 or newer, any build of it. `gnntune.pyg` has the layers of PyTorch Geometric on these operations.
"""

from gnntune.torch._accuracy import accuracy
from gnntune.torch._accuracy_rows import Accuracy, LayerWay
from gnntune.torch._approximated import Approximated, approximated
from gnntune.torch._device import configure, describe
from gnntune.torch._features import SparseFeatures
from gnntune.torch._graph import Graph, release_captured
from gnntune.torch._step import StepCall, StepTime, step_time
from gnntune.torch._tiles import TiledGraph
from gnntune.torch._tune import TunedStep, tune
from gnntune.torch.functional import agnn, attention, edge_softmax, gat, gcn, gcn_norm, new_seed, sddmm, spmm

__all__ = [
    "Accuracy",
    "Approximated",
    "Graph",
    "LayerWay",
    "SparseFeatures",
    "StepCall",
    "StepTime",
    "TiledGraph",
    "TunedStep",
    "accuracy",
    "agnn",
    "approximated",
    "attention",
    "configure",
    "describe",
    "edge_softmax",
    "gat",
    "gcn",
    "gcn_norm",
    "new_seed",
    "release_captured",
    "sddmm",
    "spmm",
    "step_time",
    "tune",
]
