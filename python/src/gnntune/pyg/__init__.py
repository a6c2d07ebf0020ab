"""PyTorch Geometric's layers on gnntune's operations.

    model = gnntune.pyg.convert(model)

or the layers themselves, which have PyTorch Geometric's constructors and state_dict keys. What they cannot do falls
back to PyTorch Geometric's own code, with one warning.
"""

from gnntune.pyg._convert import convert, revert
from gnntune.pyg._convs import (
    AGNNConv,
    GATConv,
    GATv2Conv,
    GCNConv,
    GINConv,
    GraphConv,
    SAGEConv,
    TransformerConv,
)
from gnntune.torch import Graph

__all__ = [
    "AGNNConv",
    "GATConv",
    "GATv2Conv",
    "GCNConv",
    "GINConv",
    "Graph",
    "GraphConv",
    "SAGEConv",
    "TransformerConv",
    "convert",
    "revert",
]
