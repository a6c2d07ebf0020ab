"""Differentiable operations on a DistributedGraph. Every rank of its group calls them, in the same order.

Features are this rank's rows; so are results and the gradients of features. A gradient of what every rank holds
(parameters of layers, weights of edges) is this rank's share of it: sum_gradients() adds the shares up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from gnntune._errors import InvalidArgument
from gnntune.torch import functional
from gnntune.torch._autograd import once
from gnntune.torch._gradients import FORMULAS
from gnntune.torch._graph import Graph
from gnntune.torch._operators import Now, execute
from gnntune.torch._run import PLAIN_REVERSED, Numbers, pair_of
from gnntune.torch.distributed._exchange import Leaving, all_ranks, by_columns, to_columns, to_rows
from gnntune.torch.distributed._graph import DistributedGraph, norm_of, wrapped
from gnntune.torch.distributed._ranks import Ranks
from gnntune.torch.distributed._rows import Fetched
from gnntune.torch.distributed._split import Slice, even, ranges, slices_of, whole_vectors

_HEAD_SEED = 0x632BE59BD9B4E019


def spmm(graph: DistributedGraph, x: Tensor, weight: Tensor | None = None, *, reduce: str = "sum") -> Tensor:
    """As gnntune.torch.spmm(): sum, mean or maximum over neighbours.

    x [n_local_cols, k] or [n_local_cols, h, k]; weight [m] or [m, h], as graph.edge_values() gives it: in CSR order.
    Returns [n_local, k] or [n_local, h, k].
    """
    x = _rows_of_this_rank(graph, x, "x", graph.n_local_cols)
    if reduce not in ("sum", "mean", "max"):
        raise InvalidArgument(f"reduce is {reduce!r}; expected 'sum', 'mean' or 'max'")
    if weight is not None:
        weight = weight.to(x.dtype)
        if weight.dim() == 2 and weight.shape[1] > 1 and (x.dim() != 3 or x.shape[1] != weight.shape[1]):
            raise InvalidArgument(
                f"spmm: weight has {weight.shape[1]} heads and x the shape {tuple(x.shape)}; expected "
                f"[n, {weight.shape[1]}, k]"
            )
    graph.agree("spmm", x)
    if graph.halo is not None:
        whole = _fetched(graph, x)
        return functional.spmm(graph.halo.graph, whole, weight, reduce=reduce, csr_order=True)
    assert graph.graph is not None
    if graph.mode == "one":
        return x * 1 if graph.rank else functional.spmm(graph.graph, x, weight, reduce=reduce, csr_order=True)
    if weight is not None and weight.dim() == 2 and weight.shape[1] > 1:  # heads stay whole
        result: Tensor = _Sum.apply(graph, "spmm", Numbers(reduce=reduce), x, weight)
        return result
    return _sum(graph, "spmm", Numbers(reduce=reduce), x, weight)


def gcn(graph: DistributedGraph, x: Tensor) -> Tensor:
    """As gnntune.torch.gcn(): D^-1/2 (A + I) D^-1/2 x. x [n_local, k]; returns the same shape."""
    if graph.n_rows != graph.n_cols:
        raise InvalidArgument(f"a GCN needs a square graph, not {graph!r}")
    x = _rows_of_this_rank(graph, x, "x", graph.n_local_cols)
    graph.agree("gcn", x)
    if graph.mode == "rows":
        halo, weight = graph.looped_halo()
        whole: Tensor = Fetched.apply(halo, x.flatten(1))
        return functional.spmm(halo.graph, whole, weight.to(x.dtype), csr_order=True).view_as(x)
    assert graph.graph is not None
    if graph.mode == "one":
        return x * 1 if graph.rank else functional.gcn(graph.graph, x)
    return _sum(graph, "gcn", Numbers(), x, None)


def _sum(graph: DistributedGraph, kind: str, numbers: Numbers, x: Tensor, weight: Tensor | None) -> Tensor:
    """_Sum of columns that are filled up with zeros to whole vectors."""
    flat = x.flatten(1)
    k = flat.shape[1]
    more = whole_vectors(k, graph.size, x.element_size()) - k
    if more:
        flat = nn.functional.pad(flat, (0, more))
    y: Tensor = _Sum.apply(graph, kind, numbers, flat, weight)
    return (y[:, :k] if more else y).reshape(y.shape[0], *x.shape[1:])


def gat(
    graph: DistributedGraph,
    x: Tensor,
    score_row: Tensor,
    score_col: Tensor,
    *,
    negative_slope: float = 0.2,
    dropout: float = 0.0,
    seed: Tensor | None = None,
    loops: bool = False,
) -> Tensor:
    """As gnntune.torch.gat(): graph attention. x [n_local_cols, h, k], score_row [n_local, h], score_col
    [n_local_cols, h]; returns [n_local, h, k].

    The heads are split among the ranks, where there are fewer of them than ranks their columns. `loops` gives every
    vertex one edge to itself. The mask of `dropout` depends on the number of ranks; `seed` must be the same on all.
    """
    if x.dim() != 3:
        raise InvalidArgument(f"gat: x has {x.dim()} dimensions; expected [n, h, k]")
    if not 0.0 <= dropout < 1.0:
        raise InvalidArgument(f"dropout is {dropout}; expected 0 <= dropout < 1")
    x = _rows_of_this_rank(graph, x, "x", graph.n_local_cols)
    score_row = _rows_of_this_rank(graph, score_row.to(x.dtype), "score_row", graph.n_local)
    score_col = _rows_of_this_rank(graph, score_col.to(x.dtype), "score_col", graph.n_local_cols)
    graph.agree("gat", x)
    if dropout and seed is None:
        seed = graph.new_seed()
    numbers: dict[str, Any] = {"negative_slope": negative_slope, "dropout": dropout}
    if graph.halo is not None:
        halo = graph.looped_halo()[0] if loops else graph.halo
        seed = None if seed is None else seed + wrapped(graph.rank * _HEAD_SEED)
        whole, columns = (Fetched.apply(halo, t.flatten(1)).view(-1, *t.shape[1:]) for t in (x, score_col))
        return functional.gat(halo.graph, whole, score_row, columns, seed=seed, **numbers)
    assert graph.graph is not None
    if graph.mode == "one" and graph.rank:
        return x * score_col.unsqueeze(-1) * score_row.unsqueeze(-1)
    local = graph.graph.with_loops() if loops else graph.graph
    if graph.mode == "one":
        return functional.gat(local, x, score_row, score_col, seed=seed, **numbers)
    result: Tensor = _Attention.apply(graph, local, Numbers(**numbers), x, score_row, score_col, seed)
    return result


def sum_gradients(parameters: nn.Module | Iterable[Tensor], group: Any = None) -> None:
    """Adds up, over the ranks, the gradients of parameters that every rank holds: after backward, before the optimiser.

    One exchange for each type of parameters. A gradient that is missing on a rank counts as zeros.
    """
    if isinstance(parameters, nn.Module):
        parameters = parameters.parameters()
    wanted = [p for p in parameters if p.requires_grad]
    ranks = Ranks(group, wanted[0].device if wanted else None)
    for dtype in dict.fromkeys(p.dtype for p in wanted):
        these = [p for p in wanted if p.dtype is dtype]
        flat = torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).reshape(-1) for p in these])
        ranks.sum(flat)
        for p, total in zip(these, torch.split(flat, [p.numel() for p in these])):
            if p.grad is None:
                p.grad = torch.empty_like(p)
            p.grad.copy_(total.view_as(p))


def _rows_of_this_rank(graph: DistributedGraph, t: Tensor, name: str, rows: int) -> Tensor:
    if t.dim() < 2 or t.shape[0] != rows:
        raise InvalidArgument(
            f"{name} has the shape {tuple(t.shape)} on rank {graph.rank}; expected this rank's {rows} rows of "
            f"{graph!r}: graph.take() picks them"
        )
    if t.device != graph.device:
        raise InvalidArgument(f"{name} is on {t.device}, the graph on {graph.device}; move one of them")
    return functional.cast(t) if name == "x" else t


def _fetched(graph: DistributedGraph, x: Tensor) -> Tensor:
    whole: Tensor = Fetched.apply(graph.halo, x.flatten(1))
    return whole.view(-1, *x.shape[1:])


class _Sum(torch.autograd.Function):
    """spmm or gcn by columns."""

    @staticmethod
    def forward(
        ctx: Any, graph: DistributedGraph, kind: str, numbers: Numbers, x: Tensor, weight: Tensor | None
    ) -> Tensor:
        assert graph.graph is not None
        needs = (ctx.needs_input_grad[3], ctx.needs_input_grad[4], False)
        pair = pair_of(numbers)
        numbers = pair.full if any(needs) else pair.bare
        local, self_weight = graph.graph, None
        if kind == "gcn":
            local, weight, self_weight = norm_of(graph.graph, x.dtype)
        flat = x.flatten(1)
        by_head = kind == "spmm" and weight is not None and weight.dim() == 2 and weight.shape[1] > 1
        unit = x.shape[2] if by_head else 1
        parts, tail = graph.split(flat.shape[1], x.dtype, unit if by_head else None)
        tail = tail and numbers.reduce == "sum" and (kind == "gcn" or weight is None)
        saved: list[Sequence[Tensor | None]] = []

        def inputs_of(s: int, x_s: Tensor) -> tuple[Tensor | None, ...]:
            if not by_head:
                return x_s, weight, self_weight
            assert weight is not None
            first, last = parts[s].by_rank[graph.rank]
            own = weight[:, first // unit : last // unit].contiguous()
            return x_s.view(x_s.shape[0], x_s.shape[1] // unit, unit), own, None

        def compute(s: int, x_s: Tensor) -> Tensor:
            if x_s.shape[1] == 0:
                saved.append(())
                return x_s.new_empty(graph.n_rows, 0)
            inputs = inputs_of(s, x_s)
            results = execute(local, "spmm", numbers, *inputs)
            saved.append(FORMULAS["spmm"].save(numbers, needs, inputs, results) if any(needs) else ())
            return results[0].flatten(1)

        def compute_block(s: int, x_s: Tensor, q: int) -> Tensor:
            block = graph.blocks(kind, False)[q]
            if len(saved) < len(parts):
                saved.append((None, weight, self_weight, None))  # a sum's gradient does not need its features
            return _of_block(block, x_s, numbers._replace(optional=False), block.graph.n_rows)

        y = by_columns(
            graph.ranks, flat, parts, graph.col_counts, graph.row_counts, compute, compute_block if tail else None
        )
        if any(needs):
            ctx.state = graph, local, kind, numbers, needs, parts, tail, by_head, x.shape, [len(kept) for kept in saved]
            ctx.save_for_backward(weight, *[t for kept in saved for t in kept])
        return y.view(y.shape[0], *x.shape[1:])

    @staticmethod
    @once
    def backward(ctx: Any, grad: Tensor) -> Any:
        graph, local, kind, numbers, needs, parts, tail, by_head, shape, lengths = ctx.state
        weight, *rest = ctx.saved_tensors
        left = iter(rest)
        saved = [[next(left) for _ in range(length)] for length in lengths]
        unit = shape[2] if by_head else 1
        grad_weight = torch.zeros_like(weight) if needs[1] else None

        def compute(s: int, grad_s: Tensor) -> Tensor:
            if grad_s.shape[1] == 0:
                return grad_s.new_empty(graph.n_cols, 0)
            given = grad_s.view(grad_s.shape[0], grad_s.shape[1] // unit, unit) if by_head else grad_s
            grads = FORMULAS["spmm"].backward(Now(local), numbers, needs, saved[s], given)
            if grad_weight is not None:
                found = grads[1]
                assert found is not None
                if by_head:
                    first, last = parts[s].by_rank[graph.rank]
                    grad_weight[:, first // unit : last // unit] = found
                else:
                    grad_weight.add_(found.view_as(grad_weight))
            return grad_s.new_empty(graph.n_cols, 0) if grads[0] is None else grads[0].flatten(1)

        def compute_block(s: int, grad_s: Tensor, q: int) -> Tensor:
            block = graph.blocks(kind, True)[q]
            return _of_block(block, grad_s, PLAIN_REVERSED._replace(optional=False), block.graph.n_cols)

        flat = grad.flatten(1)
        grad_x = None
        if needs[0]:
            blocks = compute_block if tail and not needs[1] else None
            grad_x = by_columns(graph.ranks, flat, parts, graph.row_counts, graph.col_counts, compute, blocks)
            grad_x = grad_x.view(shape)
        else:
            for s, part in enumerate(parts):
                grad_s, pending = to_columns(graph.ranks, flat, part, graph.row_counts)
                pending.wait()
                compute(s, grad_s)
        return None, None, None, grad_x, grad_weight


def _of_block(block: Any, x_s: Tensor, numbers: Numbers, rows: int) -> Tensor:
    if x_s.shape[1] == 0 or rows == 0:
        return x_s.new_empty(rows, x_s.shape[1])
    weight = None if block.weight is None else block.weight.to(x_s.dtype)
    return execute(block.graph, "spmm", pair_of(numbers).bare, x_s, weight, None)[0]


class _Attention(torch.autograd.Function):
    """gat by heads, or by the columns of all heads where there are fewer heads than ranks."""

    @staticmethod
    def forward(
        ctx: Any,
        graph: DistributedGraph,
        local: Graph,
        numbers: Numbers,
        x: Tensor,
        score_row: Tensor,
        score_col: Tensor,
        seed: Tensor | None,
    ) -> Tensor:
        ranks, (_, heads, k) = graph.ranks, x.shape
        needs = any(ctx.needs_input_grad[3:6])
        pair = pair_of(numbers)
        numbers = pair.full if needs else pair.bare
        how = _Heads(graph, heads, k, x.dtype)
        rows, columns = how.fetch_scores(score_row, graph.row_counts), how.fetch_scores(score_col, graph.col_counts)
        arriving = [to_columns(ranks, how.flat(x), part, graph.col_counts) for part in how.parts]
        y = x.new_empty(graph.n_local, heads * k)
        saved: list[Tensor | None] = []
        leaving = Leaving(x.device, beside=len(how.parts) > 1)
        for s, (part, (x_s, pending)) in enumerate(zip(how.parts, arriving)):
            pending.wait()
            if x_s.shape[1] == 0:
                y_s = x_s.new_empty(graph.n_rows, 0)
            else:
                inputs = (how.split(x_s), how.of_slice(rows, s), how.of_slice(columns, s), how.seed(seed, s))
                results = execute(local, "gat", numbers, *inputs)
                if needs:
                    saved += FORMULAS["gat"].save(numbers, (True,) * 4, inputs, results)
                y_s = how.joined(results[0])
            leaving.add(to_rows(ranks, y_s, part, graph.row_counts, y), y_s)
        leaving.join()
        if needs:
            ctx.state = graph, local, numbers, how
            ctx.save_for_backward(*saved)
        return how.unflat(y)

    @staticmethod
    @once
    def backward(ctx: Any, grad: Tensor) -> Any:
        graph, local, numbers, how = ctx.state
        ranks, left = graph.ranks, iter(ctx.saved_tensors)
        arriving = [to_columns(ranks, how.flat(grad), part, graph.row_counts) for part in how.parts]
        flat_x = grad.new_empty(graph.n_local_cols, how.heads * how.k)
        rows, columns = (grad.new_zeros(n, how.own_heads) for n in (graph.n_rows, graph.n_cols))
        leaving = Leaving(grad.device, beside=len(how.parts) > 1)
        for s, (part, (grad_s, pending)) in enumerate(zip(how.parts, arriving)):
            pending.wait()
            if grad_s.shape[1] == 0:
                x_s = grad_s.new_empty(graph.n_cols, 0)
            else:
                kept = [next(left) for _ in range(6)]
                grads = FORMULAS["gat"].backward(Now(local), numbers, (True,) * 4, kept, how.split(grad_s))
                for whole, found in ((rows, grads[1]), (columns, grads[2])):
                    assert found is not None
                    how.of_slice_in_place(whole, s).add_(found)
                assert grads[0] is not None
                x_s = how.joined(grads[0])
            leaving.add(to_rows(ranks, x_s, part, graph.col_counts, flat_x), x_s)
        grad_rows = how.return_scores(rows, graph.row_counts)
        grad_columns = how.return_scores(columns, graph.col_counts)
        leaving.join()
        return None, None, None, how.unflat(flat_x), grad_rows, grad_columns, None


class _Heads:
    """How [n, heads, k] is cut: whole heads to each rank, or a part of every head's columns."""

    def __init__(self, graph: DistributedGraph, heads: int, k: int, dtype: torch.dtype) -> None:
        self.graph, self.heads, self.k = graph, heads, k
        ranks = graph.ranks
        self.by_head = heads >= ranks.size
        if self.by_head:
            self.parts, _ = graph.split(heads * k, dtype, max(1, k))
            sizes = even(heads, ranks.size)
            self.score_part = Slice(tuple(ranges(sizes)))
        else:
            # Attention is made anew on every rank: a second slice would make it twice.
            widths = [heads * width for width in even(k, ranks.size)]
            self.parts = slices_of(widths, widths[:1], heads)
            self.score_part = all_ranks((0, heads), ranks.size)
        first, last = self.score_part.by_rank[ranks.rank]
        self.first_head, self.own_heads = first, last - first

    def flat(self, x: Tensor) -> Tensor:
        """[n, heads, k], or its transposed where columns are split, as [n, heads k]."""
        return (x if self.by_head or self.heads == 1 else x.transpose(1, 2)).reshape(x.shape[0], self.heads * self.k)

    def unflat(self, y: Tensor) -> Tensor:
        if self.by_head or self.heads == 1:
            return y.view(y.shape[0], self.heads, self.k)
        return y.view(y.shape[0], self.k, self.heads).transpose(1, 2).contiguous()

    def split(self, x_s: Tensor) -> Tensor:
        """A slice as [n, its heads, its columns]."""
        if self.by_head:
            return x_s.view(x_s.shape[0], x_s.shape[1] // self.k, self.k)
        width = x_s.shape[1] // self.heads
        return x_s.view(x_s.shape[0], width, self.heads).transpose(1, 2).contiguous()

    def joined(self, y_s: Tensor) -> Tensor:
        return (y_s if self.by_head else y_s.transpose(1, 2)).reshape(y_s.shape[0], y_s.shape[1] * y_s.shape[2])

    def fetch_scores(self, score: Tensor, counts: Sequence[int]) -> Tensor:
        """Scores of all vertices, of this rank's heads."""
        found, pending = to_columns(self.graph.ranks, score, self.score_part, counts)
        pending.wait()
        return found

    def return_scores(self, grad: Tensor, counts: Sequence[int]) -> Tensor:
        """The transposed of fetch_scores()."""
        out = grad.new_zeros(counts[self.graph.rank], self.heads)
        to_rows(self.graph.ranks, grad, self.score_part, counts, out, accumulate=not self.by_head).wait()
        return out

    def of_slice_in_place(self, score: Tensor, s: int) -> Tensor:
        if not self.by_head:
            return score
        first, last = self.parts[s].by_rank[self.graph.rank]
        return score[:, first // self.k - self.first_head : last // self.k - self.first_head]

    def of_slice(self, score: Tensor, s: int) -> Tensor:
        return self.of_slice_in_place(score, s).contiguous()

    def seed(self, seed: Tensor | None, s: int) -> Tensor | None:
        """A mask is a function of the seed and the head's number in a run: other heads get other seeds."""
        if seed is None or not self.by_head:
            return seed
        return seed + wrapped(self.parts[s].by_rank[self.graph.rank][0] // self.k * _HEAD_SEED)
