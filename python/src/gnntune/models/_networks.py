"""The models that the papers train, of gnntune's layers or of PyTorch Geometric's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import gnntune.pyg
from gnntune._errors import InvalidArgument
from gnntune.torch import SparseFeatures


class Network(nn.Module):
    """Graph layers one after the other, with an activation and dropout between them.

    `first` and `last` are dense layers around them, of models whose graph layers keep the width (AGNN). The graph that
    forward() gets is what the layers take: an edge_index, or a gnntune.torch.Graph for gnntune's layers. So are the
    features: a tensor, a sparse CSR tensor for those of PyTorch Geometric's layers that take it, SparseFeatures for
    gnntune's.
    """

    def __init__(
        self,
        layers: list[nn.Module],
        *,
        dropout: float,
        activation: Callable[[Tensor], Tensor] = F.relu,
        first: nn.Module | None = None,
        last: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.first, self.last = first, last
        self.dropout, self.activation = dropout, activation

    def forward(self, x: Tensor | SparseFeatures, graph: Any) -> Tensor:
        h: Any = self._dropped(x)
        if self.first is not None:
            h = self.activation(self.first(h))
        for i, layer in enumerate(self.layers):
            if i and self.first is None:
                h = self._dropped(self.activation(h))
            h = layer(h, graph)
        out: Tensor = h if self.last is None else self.last(self._dropped(h))
        return out

    def _dropped(self, x: Any) -> Any:
        if isinstance(x, Tensor) and x.layout is torch.sparse_csr:  # which torch's dropout does not take
            if not self.training or self.dropout == 0:
                return x
            values = F.dropout(x.values(), self.dropout)
            return torch.sparse_csr_tensor(x.crow_indices(), x.col_indices(), values, x.shape)
        return F.dropout(x, self.dropout, self.training)


def _widths(features: int, classes: int, hidden: int, layers: int) -> list[tuple[int, int]]:
    inner = [hidden] * (layers - 1)
    return list(zip([features, *inner], [*inner, classes]))


def _gcn(convs: Any, features: int, classes: int, hidden: int, layers: int, dropout: float, **options: Any) -> Network:
    pairs = _widths(features, classes, hidden, layers)
    return Network([convs.GCNConv(i, o, **options) for i, o in pairs], dropout=dropout)


def _sage(aggr: str) -> Callable[..., Network]:
    def make(
        convs: Any, features: int, classes: int, hidden: int, layers: int, dropout: float, **options: Any
    ) -> Network:
        pairs = _widths(features, classes, hidden, layers)
        return Network([convs.SAGEConv(i, o, aggr=aggr, **options) for i, o in pairs], dropout=dropout)

    return make


def _gin(convs: Any, features: int, classes: int, hidden: int, layers: int, dropout: float, **options: Any) -> Network:
    def layer(i: int, o: int) -> nn.Module:
        mapped = nn.Sequential(nn.Linear(i, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Linear(hidden, o))
        made: nn.Module = convs.GINConv(mapped, **options)
        return made

    return Network([layer(i, o) for i, o in _widths(features, classes, hidden, layers)], dropout=dropout)


def _heads(name: str, heads: int) -> Callable[..., Network]:
    """Attention with several heads side by side, and one in the last layer."""

    def make(
        convs: Any, features: int, classes: int, hidden: int, layers: int, dropout: float, **options: Any
    ) -> Network:
        if hidden % heads:
            raise InvalidArgument(f"hidden is {hidden}; expected a multiple of {heads}, the number of heads")
        conv = getattr(convs, name)
        pairs = _widths(features, classes, hidden, layers)
        inner = [conv(i, o // heads, heads=heads, **options) for i, o in pairs[:-1]]
        return Network([*inner, conv(*pairs[-1], heads=1, **options)], dropout=dropout, activation=F.elu)

    return make


def _agnn(convs: Any, features: int, classes: int, hidden: int, layers: int, dropout: float, **options: Any) -> Network:
    # As in its paper: the first layer's beta is fixed.
    inner = [convs.AGNNConv(requires_grad=i > 0, **options) for i in range(layers)]
    return Network(inner, dropout=dropout, first=nn.Linear(features, hidden), last=nn.Linear(hidden, classes))


MODELS: dict[str, Callable[..., Network]] = {
    "GCN": _gcn,
    "GAT": _heads("GATConv", 8),
    "AGNN": _agnn,
    "SAGE-mean": _sage("mean"),
    "SAGE-max": _sage("max"),
    "GIN": _gin,
    "Transformer": _heads("TransformerConv", 4),
}
"""Makers by name: (convs, features, classes, hidden, layers, dropout, options of the layers)."""


def build(
    name: str,
    features: int,
    classes: int,
    *,
    hidden: int = 64,
    layers: int = 2,
    dropout: float = 0.5,
    convs: Any = gnntune.pyg,
    **options: Any,
) -> Network:
    """A model by its name in MODELS: `layers` graph layers, `hidden` features between them.

    `convs` is the module whose layers it is made of: gnntune.pyg or torch_geometric.nn. Both have the same parameters,
    so that under one seed of torch both begin with the same weights. `options` go to every layer. GAT has 8 heads and
    the transformer 4, side by side; their last layers have one. AGNN has a dense layer before and behind its graph
    layers. Raises InvalidArgument for another name and for widths that do not fit.
    """
    if name not in MODELS:
        raise InvalidArgument(f"no model is called {name!r}; expected one of {', '.join(MODELS)}")
    for what, value in (("features", features), ("classes", classes), ("hidden", hidden), ("layers", layers)):
        if value < 1:
            raise InvalidArgument(f"{what} is {value}; expected at least 1")
    return MODELS[name](convs, features, classes, hidden, layers, dropout, **options)
