"""PyTorch Geometric's layers on gnntune's operations: the same constructors, parameters and results.

Each takes what its parent takes for a graph (edge_index, EdgeIndex, adj_t) and a gnntune.torch.Graph besides. Only
forward is ours. What it cannot do is left to the parent's, with one warning.
"""

from __future__ import annotations

import itertools
from typing import Any

import torch
import torch.nn.functional as F
import torch_geometric.nn as pyg
from torch import Tensor, nn

from gnntune.pyg._fused import MODULE_HOOKS, constants, is_map, mapped, parameters_of, sums_first, whole
from gnntune.pyg._fused import agnn as fused_agnn
from gnntune.pyg._fused import gat as fused_gat
from gnntune.pyg._layer import Layer, Refused, or_theirs, pair, prepare, refuse_unknown_edges
from gnntune.torch import Graph, agnn, attention, edge_softmax, gat, gcn, spmm
from gnntune.torch._features import dense
from gnntune.torch._run import PLAIN_PAIR, Numbers, pair_of
from gnntune.torch.functional import dropping

_REDUCTIONS = {"add": "sum", "sum": "sum", "mean": "mean", "max": "max"}
_AGGREGATIONS = tuple(_REDUCTIONS)
_PAIRS = {aggr: pair_of(Numbers(reduce=reduce)) for aggr, reduce in _REDUCTIONS.items()}


class GCNConv(Layer, pyg.GCNConv):  # type: ignore[misc]
    """torch_geometric.nn.GCNConv."""

    @or_theirs(pyg.GCNConv)
    def forward(self, x: Tensor, edge_index: Any, edge_weight: Tensor | None = None) -> Tensor:
        if isinstance(x, (tuple, list)):
            raise Refused("a tuple of features")
        if edge_weight is not None and self.add_self_loops:
            refuse_unknown_edges()
        if self.improved:  # of which PyTorch Geometric makes nothing where there are no weights
            raise Refused("improved=True")
        graph = prepare(self, x, edge_index)
        if edge_weight is not None and edge_weight.dim() == 2 and edge_weight.shape[1] == 1:
            edge_weight = edge_weight.squeeze(1)  # edge_attr of a Data
        # What modules look up by name costs more than all that is asked here.
        own, modules = self.__dict__["_parameters"], self.__dict__["_modules"]
        linear = parameters_of(modules["lin"]) if whole() else None
        kept = self._normalisation(graph, edge_weight)
        if linear is not None and linear["bias"] is None and "bias" in own:
            if len(kept) == 1:
                summed = kept[0].without_loops()
                edges: Any = summed.norm(x.dtype)
            else:
                summed = kept[0]
                given = not self.normalize
                edges = constants(summed, kept[1], kept[2], x.dtype, csr_order=True, given=given)
            if edges is not None:
                fused = mapped(summed, PLAIN_PAIR, edges, x, linear["weight"], own["bias"])
                if fused is not None:
                    return fused
        if is_map(self.lin) and self.lin.bias is None and sums_first(x, self.lin.weight, "sum"):
            out: Tensor = self.lin(_summed(x, *kept))
        else:
            out = _summed(self.lin(x), *kept)
        return out if self.bias is None else out + self.bias

    def _normalisation(self, graph: Graph, edge_weight: Tensor | None) -> tuple[Any, ...]:
        """_normalised(), as it was the first time if the layer is to keep it."""
        kept = self.__dict__.get("_gnntune_cached") if self.cached and self.normalize else None
        if kept is None:
            kept = self._normalised(graph, edge_weight)
            if self.cached and self.normalize and not torch.compiler.is_compiling():
                self._gnntune_cached = kept
        return kept

    def _normalised(self, graph: Graph, edge_weight: Tensor | None) -> tuple[Any, ...]:
        """The graph to sum over, with weights of its edges in CSR order and of its vertices; or alone, for gcn()."""
        if edge_weight is None:
            edge_weight = graph.edge_weight
        if not self.normalize:
            return graph, None if edge_weight is None else graph.to_csr_order(edge_weight), None
        if edge_weight is None and self.add_self_loops:
            return (graph,)
        return _weighted_norm(graph, edge_weight, self.add_self_loops)

    def reset_parameters(self) -> None:
        super().reset_parameters()
        self.__dict__.pop("_gnntune_cached", None)


def _summed(x: Tensor, graph: Graph, *weights: Tensor | None) -> Tensor:
    return spmm(graph, x, *weights, csr_order=True) if weights else gcn(graph, x)


def _weighted_norm(
    graph: Graph, edge_weight: Tensor | None, add_self_loops: bool
) -> tuple[Graph, Tensor, Tensor | None]:
    """The normalisation of a GCN with weights, which may want gradients: PyTorch Geometric's own, in its words."""
    weight = (
        torch.ones(graph.m, dtype=torch.float32, device=graph.device)
        if edge_weight is None
        else graph.to_csr_order(edge_weight).float()
    )
    loops = None
    if add_self_loops:
        loops = torch.ones(graph.n_rows, dtype=torch.float32, device=graph.device)
        bare = graph.without_loops()
        if bare is not graph:  # a loop keeps its weight
            is_loop = (graph.row == graph.col).nonzero().view(-1)
            loops = loops.index_put((graph.row[is_loop],), weight[is_loop])
            weight = weight[bare.kept]
        graph = bare
    ones = torch.ones(graph.n_cols, 1, dtype=torch.float32, device=graph.device)
    degree = spmm(graph, ones, weight, csr_order=True).view(-1)
    if loops is not None:
        degree = degree + loops
    root = degree.pow(-0.5)
    root = root.masked_fill(root == float("inf"), 0.0)
    weight = root[graph.row] * weight * root[graph.col]
    return graph, weight, None if loops is None else root * root * loops


class SAGEConv(Layer, pyg.SAGEConv):  # type: ignore[misc]
    """torch_geometric.nn.SAGEConv, for the aggregations "mean", "sum" and "max"."""

    @or_theirs(pyg.SAGEConv)
    def forward(self, x: Any, edge_index: Any, size: Any = None) -> Tensor:
        graph = prepare(self, x, edge_index, size, _AGGREGATIONS)
        source, target = pair(x)
        if self.project:
            source = self.lin(source).relu()
        modules = self.__dict__["_modules"]
        root = modules["lin_r"] if self.root_weight else None
        fused = _mapped_at_once(graph, source, graph.edge_weight, self.aggr, modules["lin_l"], target, root)
        if fused is not None:
            return F.normalize(fused, p=2.0, dim=-1) if self.normalize else fused
        out = _summed_and_mapped(graph, source, graph.edge_weight, self.aggr, self.lin_l)
        if self.root_weight and target is not None:
            out = out + self.lin_r(target)
        return F.normalize(out, p=2.0, dim=-1) if self.normalize else out


def _mapped_at_once(
    graph: Graph, x: Tensor, weight: Tensor | None, aggr: str, linear: Any, target: Tensor | None, root: Any
) -> Tensor | None:
    """linear(aggregation of x) + root(target) as one node of autograd, where they are plain; else None."""
    mapping = parameters_of(linear) if whole() else None
    if mapping is None:
        return None
    root_weight = None
    if root is None:
        target = None
    elif target is not None:
        rooted = parameters_of(root)
        if rooted is None or rooted["bias"] is not None:
            return None
        root_weight = rooted["weight"]
    edges = (None, None) if weight is None else constants(graph, weight, None, x.dtype, csr_order=False)
    if edges is None:
        return None
    return mapped(graph, _PAIRS[aggr], edges, x, mapping["weight"], mapping["bias"], target, root_weight)


def _summed_and_mapped(graph: Graph, x: Tensor, weight: Tensor | None, aggr: str, linear: Any) -> Tensor:
    """linear(aggregation of x), by the order that sums fewer features. A maximum is taken before."""
    reduce = _REDUCTIONS[aggr]
    if is_map(linear) and not sums_first(x, linear.weight, reduce):
        out = spmm(graph, F.linear(x, linear.weight), weight, reduce=reduce)
        return out if linear.bias is None else out + linear.bias.to(out.dtype)
    result: Tensor = linear(spmm(graph, dense(x), weight, reduce=reduce))
    return result


class GraphConv(Layer, pyg.GraphConv):  # type: ignore[misc]
    """torch_geometric.nn.GraphConv, for the aggregations "add", "mean" and "max"."""

    @or_theirs(pyg.GraphConv)
    def forward(self, x: Any, edge_index: Any, edge_weight: Tensor | None = None, size: Any = None) -> Tensor:
        graph = prepare(self, x, edge_index, size, _AGGREGATIONS)
        source, target = pair(x)
        weight = graph.edge_weight if edge_weight is None else edge_weight
        fused = _mapped_at_once(graph, source, weight, self.aggr, self.lin_rel, target, self.lin_root)
        if fused is not None:
            return fused
        out = _summed_and_mapped(graph, source, weight, self.aggr, self.lin_rel)
        return out if target is None else out + self.lin_root(target)


class GINConv(Layer, pyg.GINConv):  # type: ignore[misc]
    """torch_geometric.nn.GINConv, for the aggregations "add", "mean" and "max"."""

    @or_theirs(pyg.GINConv)
    def forward(self, x: Any, edge_index: Any, size: Any = None) -> Tensor:
        graph = prepare(self, x, edge_index, size, _AGGREGATIONS)
        source, target = pair(x)
        reduce = _REDUCTIONS[self.aggr]
        own = target is source
        first = _first_map(self.nn) if self.eps.numel() == 1 else None  # one number commutes with a map
        narrows = torch.is_autocast_enabled(self.eps.device.type)
        if first is not None and isinstance(source, Tensor) and source.dtype != first.weight.dtype and not narrows:
            first = None  # adding eps, of 32 bits, makes them one type
        if first is not None and own and reduce == "sum" and graph.is_square and whole():
            fused = self._fused(graph, source, first)
            if fused is not None:
                return self._behind(first, fused)
        if first is not None and not sums_first(source, first.weight, reduce):  # fewer features are summed behind it
            source = F.linear(source, first.weight)
            target = source if own else None if target is None else F.linear(target, first.weight)
        else:
            first, source = None, dense(source)
            target = source if own else dense(target)
        out = spmm(graph, source, graph.edge_weight, reduce=reduce)
        if target is not None:
            out = out + (1 + self.eps) * target
        if first is None:
            mapped_sum: Tensor = self.nn(out)
            return mapped_sum
        mapped_first = out if first.bias is None else out + first.bias
        if narrows:  # a map's result, though eps and the bias are not
            mapped_first = mapped_first.to(torch.get_autocast_dtype(out.device.type))
        return self._behind(first, mapped_first)

    def _behind(self, first: nn.Module, out: Tensor) -> Tensor:
        """What the network makes of the result of its first map."""
        if first is not self.nn:
            for module in itertools.islice(self.nn, 1, None):
                out = module(out)
        return out

    def _fused(self, graph: Graph, x: Tensor, first: Any) -> Tensor | None:
        """The first map of sums and of what a vertex adds of its own, as one node of autograd; None where it is not."""
        if self.eps.requires_grad:
            return None
        # Made in each call: what `eps.data` writes, as reset_parameters() does, leaves no trace to know it by.
        selves = self.eps.expand(graph.n_rows) + 1
        edges = constants(graph, graph.edge_weight, selves, x.dtype, csr_order=False)
        return None if edges is None else mapped(graph, PLAIN_PAIR, edges, x, first.weight, first.bias)


def _first_map(network: Any) -> Any:
    """The linear map that a network is, or begins with as a Sequential that nothing looks at; else None."""
    if type(network) is nn.Sequential and len(network) > 0 and not any(map(network.__dict__.get, MODULE_HOOKS)):
        network = network[0]
    return network if is_map(network) else None


class GATConv(Layer, pyg.GATConv):  # type: ignore[misc]
    """torch_geometric.nn.GATConv, without edge features and without returning the attention weights."""

    @or_theirs(pyg.GATConv)
    def forward(
        self,
        x: Any,
        edge_index: Any,
        edge_attr: Tensor | None = None,
        size: Any = None,
        return_attention_weights: bool | None = None,
    ) -> Any:
        _refuse_attention_options(self, edge_attr, return_attention_weights)
        graph = prepare(self, x, edge_index, size, loops=self.add_self_loops)
        source, target = pair(x)
        dropout = self.dropout if self.training else 0.0
        seed = features = None
        own, modules = self.__dict__["_parameters"], self.__dict__["_modules"]
        # Without residual, and of one map for sources and targets, these are None or not there.
        if target is source and modules.get("res") is own.get("res") is None and (self.concat or self.heads == 1):
            linear = parameters_of(modules.get("lin")) if whole() else None
            if linear is not None and linear["bias"] is None and "bias" in own:
                weight, att = linear["weight"], (own.get("att_dst"), own.get("att_src"))
                if att[0] is not None and att[1] is not None:
                    looped = graph.with_loops() if self.add_self_loops else graph
                    pair_of_numbers, seed = dropping(source.device, dropout, negative_slope=self.negative_slope)
                    if isinstance(source, Tensor):
                        fused = fused_gat(looped, pair_of_numbers, source, weight, *att, own["bias"], seed)
                    else:
                        features = F.linear(source, weight)
                        fused = fused_gat(looped, pair_of_numbers, features, None, *att, own["bias"], seed)
                    if fused is not None:
                        return fused
        residual = None if self.res is None or target is None else self.res(target)
        shape = (-1, self.heads, self.out_channels)
        if self.lin is not None:
            x_src = (self.lin(source) if features is None else features).view(shape)
            x_dst = x_src if target is source else None if target is None else self.lin(target).view(shape)
        else:
            x_src = self.lin_src(source).view(shape)
            x_dst = None if target is None else self.lin_dst(target).view(shape)
        score_col = (x_src * self.att_src).sum(-1)
        if x_dst is None:
            score_row = score_col.new_zeros(graph.n_rows, self.heads)
        else:
            score_row = (x_dst * self.att_dst).sum(-1)
        if self.add_self_loops:
            graph = graph.with_loops()
        out = gat(graph, x_src, score_row, score_col, negative_slope=self.negative_slope, dropout=dropout, seed=seed)
        return _finished(self, out, residual)


class GATv2Conv(Layer, pyg.GATv2Conv):  # type: ignore[misc]
    """torch_geometric.nn.GATv2Conv, as GATConv. Its logits are computed by torch, edge by edge; the rest is ours."""

    @or_theirs(pyg.GATv2Conv)
    def forward(
        self,
        x: Any,
        edge_index: Any,
        edge_attr: Tensor | None = None,
        return_attention_weights: bool | None = None,
    ) -> Any:
        _refuse_attention_options(self, edge_attr, return_attention_weights)
        if self.add_self_loops:
            refuse_unknown_edges()
        graph = prepare(self, x, edge_index, loops=self.add_self_loops)
        source, target = pair(x)
        residual = None if self.res is None or target is None else self.res(target)
        shape = (-1, self.heads, self.out_channels)
        x_l = self.lin_l(source).view(shape)
        x_r = x_l if target is source and self.share_weights else self.lin_r(target).view(shape)
        if self.add_self_loops:
            graph = graph.with_loops()
        pairs = F.leaky_relu(x_r[graph.row] + x_l[graph.col], self.negative_slope)
        weight = edge_softmax(graph, (pairs * self.att).sum(-1), csr_order=True)
        weight = F.dropout(weight, p=self.dropout, training=self.training)
        return _finished(self, spmm(graph, x_l, weight, csr_order=True), residual)


def _refuse_attention_options(layer: Any, edge_attr: Tensor | None, return_attention_weights: bool | None) -> None:
    if return_attention_weights is not None:
        raise Refused("attention weights, which are never stored here")
    if edge_attr is not None or layer.edge_dim is not None:
        raise Refused("edge features")


def _finished(layer: Any, out: Tensor, residual: Tensor | None) -> Tensor:
    """Heads side by side or their mean, residual and bias: the end of GATConv and GATv2Conv."""
    out = out.flatten(1) if layer.concat else out.mean(dim=1)
    if residual is not None:
        out = out + residual
    return out if layer.bias is None else out + layer.bias


class AGNNConv(Layer, pyg.AGNNConv):  # type: ignore[misc]
    """torch_geometric.nn.AGNNConv."""

    @or_theirs(pyg.AGNNConv)
    def forward(self, x: Tensor, edge_index: Any) -> Tensor:
        graph = prepare(self, x, edge_index, loops=self.add_self_loops)
        x = dense(x)
        if self.add_self_loops:
            graph = graph.with_loops()
        beta = self.__dict__["_parameters"].get("beta")
        if beta is None:  # a buffer
            beta = self.beta
        fused = fused_agnn(graph, x, beta) if whole() else None
        return agnn(graph, x, beta) if fused is None else fused


class TransformerConv(Layer, pyg.TransformerConv):  # type: ignore[misc]
    """torch_geometric.nn.TransformerConv, without edge features and without returning the attention weights."""

    @or_theirs(pyg.TransformerConv)
    def forward(
        self,
        x: Any,
        edge_index: Any,
        edge_attr: Tensor | None = None,
        return_attention_weights: bool | None = None,
    ) -> Any:
        _refuse_attention_options(self, edge_attr, return_attention_weights)
        graph = prepare(self, x, edge_index)
        source, target = pair(x)
        shape = (-1, self.heads, self.out_channels)
        query = self.lin_query(target).view(shape)
        key, value = self.lin_key(source).view(shape), self.lin_value(source).view(shape)
        out = attention(graph, query, key, value, dropout=self.dropout if self.training else 0.0)
        out = out.flatten(1) if self.concat else out.mean(dim=1)
        if not self.root_weight:
            return out
        skipped = self.lin_skip(target)
        if self.lin_beta is None:
            return out + skipped
        gate = self.lin_beta(torch.cat([out, skipped, out - skipped], dim=-1)).sigmoid()
        return gate * skipped + (1 - gate) * out


LAYERS: dict[type, type] = {
    layer.__bases__[1]: layer
    for layer in (GCNConv, SAGEConv, GraphConv, GINConv, GATConv, GATv2Conv, AGNNConv, TransformerConv)
}
"""PyTorch Geometric's class, and ours."""
