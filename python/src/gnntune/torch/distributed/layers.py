"""Layers on a DistributedGraph, with the parameters and state_dict of PyTorch Geometric's layers of the same names.

Every rank holds all parameters. `layer(x, graph)` takes and gives this rank's rows; after backward, sum_gradients()
adds up what the ranks have found for the parameters.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from gnntune._errors import InvalidArgument
from gnntune.torch.distributed import functional as F
from gnntune.torch.distributed._graph import DistributedGraph


def _glorot(parameter: Tensor) -> None:
    bound = math.sqrt(6.0 / (parameter.shape[-2] + parameter.shape[-1]))
    nn.init.uniform_(parameter, -bound, bound)


class GCNConv(nn.Module):
    """GCN: D^-1/2 (A + I) D^-1/2 x W + b. The sum is made of whichever of x and x W is narrower."""

    def __init__(self, in_channels: int, out_channels: int, *, bias: bool = True) -> None:
        super().__init__()
        self.in_channels, self.out_channels = in_channels, out_channels
        self.lin = nn.Linear(in_channels, out_channels, bias=False)
        self.bias = nn.Parameter(torch.zeros(out_channels)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        _glorot(self.lin.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, x: Tensor, graph: DistributedGraph) -> Tensor:
        if self.in_channels < self.out_channels:
            out: Tensor = self.lin(F.gcn(graph, x))
        else:
            out = F.gcn(graph, self.lin(x))
        return out if self.bias is None else out + self.bias


class SAGEConv(nn.Module):
    """GraphSAGE: W_l aggregation(x) + b + W_r x. aggr: "mean", "sum" or "max"."""

    def __init__(
        self, in_channels: int, out_channels: int, *, aggr: str = "mean", root_weight: bool = True, bias: bool = True
    ) -> None:
        super().__init__()
        if aggr not in ("mean", "sum", "max"):
            raise InvalidArgument(f"aggr is {aggr!r}; expected 'mean', 'sum' or 'max'")
        self.in_channels, self.out_channels, self.aggr = in_channels, out_channels, aggr
        self.lin_l = nn.Linear(in_channels, out_channels, bias=bias)
        self.lin_r = nn.Linear(in_channels, out_channels, bias=False) if root_weight else None

    def reset_parameters(self) -> None:
        self.lin_l.reset_parameters()
        if self.lin_r is not None:
            self.lin_r.reset_parameters()

    def forward(self, x: Tensor, graph: DistributedGraph) -> Tensor:
        if self.aggr != "max" and self.out_channels < self.in_channels:
            out = F.spmm(graph, nn.functional.linear(x, self.lin_l.weight), reduce=self.aggr)
            if self.lin_l.bias is not None:
                out = out + self.lin_l.bias
        else:
            out = self.lin_l(F.spmm(graph, x, reduce=self.aggr))
        return out if self.lin_r is None else out + self.lin_r(x)


class GATConv(nn.Module):
    """GAT, its heads split among the ranks; with one edge from every vertex to itself."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        heads: int = 1,
        *,
        concat: bool = True,
        negative_slope: float = 0.2,
        dropout: float = 0.0,
        add_self_loops: bool = True,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.in_channels, self.out_channels, self.heads = in_channels, out_channels, heads
        self.concat, self.negative_slope, self.dropout = concat, negative_slope, dropout
        self.add_self_loops = add_self_loops
        self.lin = nn.Linear(in_channels, heads * out_channels, bias=False)
        self.att_src = nn.Parameter(torch.empty(1, heads, out_channels))
        self.att_dst = nn.Parameter(torch.empty(1, heads, out_channels))
        self.bias = nn.Parameter(torch.zeros(heads * out_channels if concat else out_channels)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for parameter in (self.lin.weight, self.att_src, self.att_dst):
            _glorot(parameter)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, x: Tensor, graph: DistributedGraph) -> Tensor:
        heads = self.lin(x).view(-1, self.heads, self.out_channels)
        out = F.gat(
            graph,
            heads,
            (heads * self.att_dst).sum(-1),
            (heads * self.att_src).sum(-1),
            negative_slope=self.negative_slope,
            dropout=self.dropout if self.training else 0.0,
            loops=self.add_self_loops,
        )
        out = out.flatten(1) if self.concat else out.mean(dim=1)
        return out if self.bias is None else out + self.bias
