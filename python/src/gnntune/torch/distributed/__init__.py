"""Layers and operations of one graph over the GPUs of a torch.distributed group.

    torch.distributed.init_process_group("nccl")
    graph = gnntune.torch.distributed.DistributedGraph(whole, new_group(), widths=(128,))
    y = gnntune.torch.distributed.gcn(graph, graph.take(x))

docs/scaling.md says when that pays, and when not. NCCL is torch's; with gloo the same runs on CPUs.
"""

from gnntune.torch.distributed._graph import DistributedGraph
from gnntune.torch.distributed._model import Forecast, Link
from gnntune.torch.distributed._ranks import new_group
from gnntune.torch.distributed._timing import measure_link
from gnntune.torch.distributed.functional import gat, gcn, spmm, sum_gradients
from gnntune.torch.distributed.layers import GATConv, GCNConv, SAGEConv

__all__ = [
    "DistributedGraph",
    "Forecast",
    "GATConv",
    "GCNConv",
    "Link",
    "SAGEConv",
    "gat",
    "gcn",
    "measure_link",
    "new_group",
    "spmm",
    "sum_gradients",
]
