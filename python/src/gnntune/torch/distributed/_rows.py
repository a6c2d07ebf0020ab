"""Rows split among the ranks with a halo: each rank holds the edges of its own targets, and fetches the sources."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from gnntune._errors import InvalidArgument
from gnntune.torch._autograd import once
from gnntune.torch._graph import Graph
from gnntune.torch.distributed._ranks import Ranks
from gnntune.torch.distributed._split import offsets


def blocks_by_edges(row_ptr: Tensor, parts: int) -> Tensor:
    """The part of each vertex: contiguous blocks of rows with about as many edges each. int32, on the host."""
    offsets_ = row_ptr.cpu().to(torch.int64)
    n, m = offsets_.numel() - 1, int(offsets_[-1])
    wanted = torch.arange(1, parts, dtype=torch.float64) * (m / parts)
    cuts = torch.searchsorted(offsets_, wanted.round().to(torch.int64)).clamp(max=n)
    if m == 0:
        cuts = torch.arange(1, parts) * n // parts
    cuts = torch.cummax(cuts, 0).values if parts > 1 else cuts
    return torch.bucketize(torch.arange(n), cuts, right=True, out_int32=True)


def read_parts(path: Any, n: int, parts: int) -> Tensor:
    """The part of each vertex, from a file as METIS and others write it: one number a line, n lines, from 0."""
    try:
        with open(path, encoding="ascii") as file:
            found = torch.tensor([int(word) for word in file.read().split()], dtype=torch.int64)
    except (ValueError, RuntimeError) as error:  # what is no text, no number, or one that no type holds
        raise InvalidArgument(f"{path}: {error}; expected one part a line, a number from 0 to {parts - 1}") from None
    return check_parts(found, n, parts, str(path))


def check_parts(found: Tensor, n: int, parts: int, where: str) -> Tensor:
    if found.dim() != 1 or found.numel() != n:
        raise InvalidArgument(f"{where} has {found.numel()} parts; expected one for each of the {n} vertices")
    if found.is_floating_point() or found.is_complex():
        raise InvalidArgument(f"{where} is of {found.dtype}; expected integers")
    found = found.cpu()
    if n and (int(found.min()) < 0 or int(found.max()) >= parts):
        raise InvalidArgument(
            f"{where} has parts from {int(found.min())} to {int(found.max())}; expected 0 to {parts - 1}, "
            "a part for each rank: make the partition for as many"
        )
    return found.to(torch.int32).contiguous()


class Halo:
    """This rank's part of a graph: rectangular, of own targets; its sources are own vertices, then fetched ones.

    Made from a graph on the host or the device; only what this rank keeps goes to `device`.
    """

    def __init__(self, graph: Graph, parts: Tensor, ranks: Ranks, device: torch.device) -> None:
        self.ranks = ranks
        me, n = ranks.rank, graph.n_rows
        here = graph.device
        owner = parts.to(here)
        self.counts = torch.bincount(owner, minlength=ranks.size).tolist()
        by_owner = torch.argsort(owner, stable=True)  # ids in the order of their owners
        starts = offsets(self.counts)
        own = by_owner[starts[me] : starts[me + 1]]
        place = torch.empty(n, dtype=torch.int64, device=here)
        place[by_owner] = torch.arange(n, device=here) - torch.tensor(starts, device=here)[owner[by_owner].long()]
        self.ids = own.to(device)

        lengths = graph.row_ptr.diff().long()[own]
        row_ptr = torch.zeros(own.numel() + 1, dtype=torch.int64, device=here)
        torch.cumsum(lengths, 0, out=row_ptr[1:])
        m = int(row_ptr[-1])
        shift = (graph.row_ptr[:-1].long()[own] - row_ptr[:-1]).repeat_interleave(lengths, output_size=m)
        edges = shift + torch.arange(m, device=here)
        col = graph.col[edges].long()
        self.edges = edges.to(device)
        """[m_r]: the places of own edges in the CSR order of the whole graph."""

        wanted = torch.unique(col[owner[col] != me])
        wanted = wanted[torch.argsort(owner[wanted], stable=True)]
        self.wanted = torch.bincount(owner[wanted], minlength=ranks.size).tolist()
        number = torch.empty(n, dtype=torch.int32, device=here)
        number[own] = torch.arange(own.numel(), dtype=torch.int32, device=here)
        number[wanted] = own.numel() + torch.arange(wanted.numel(), dtype=torch.int32, device=here)
        self.graph = Graph.from_csr(
            row_ptr.to(torch.int32).to(device), number[col].to(device), own.numel() + wanted.numel()
        )
        self.n_own, self.n_halo = own.numel(), wanted.numel()

        # Who wants which of ours: everyone tells the owners.
        self.given = [wanted_of[me] for wanted_of in ranks.gather_objects(self.wanted)]
        self.send_ids = [torch.empty(count, dtype=torch.int64, device=device) for count in self.given]
        ranks.all_to_all(self.send_ids, list(torch.split(place[wanted].to(device), self.wanted))).wait()

    def fetch(self, x: Tensor) -> Tensor:
        """x of own vertices [n_own, w], and of those that own edges come from: [n_own + n_halo, w]."""
        whole = x.new_empty(self.n_own + self.n_halo, x.shape[1])
        ins = [x.index_select(0, ids) for ids in self.send_ids]
        outs = list(torch.split(whole[self.n_own :], self.wanted))
        pending = self.ranks.all_to_all(outs, ins)
        whole[: self.n_own].copy_(x)
        pending.wait()
        return whole

    def give_back(self, grad: Tensor) -> Tensor:
        """The transposed of fetch(): sums to own vertices what all ranks have for them, in the order of the ranks."""
        result = grad[: self.n_own].clone()
        outs = [grad.new_empty(count, grad.shape[1]) for count in self.given]
        pending = self.ranks.all_to_all(outs, list(torch.split(grad[self.n_own :].contiguous(), self.wanted)))
        pending.wait()
        for ids, piece in zip(self.send_ids, outs):
            if ids.numel():  # no id twice, so nothing depends on an order
                result.index_copy_(0, ids, result.index_select(0, ids) + piece)
        return result


class Fetched(torch.autograd.Function):
    """Halo.fetch(), differentiable."""

    @staticmethod
    def forward(ctx: Any, halo: Halo, x: Tensor) -> Tensor:
        ctx.halo = halo
        return halo.fetch(x)

    @staticmethod
    @once
    def backward(ctx: Any, grad: Tensor) -> Any:
        return None, ctx.halo.give_back(grad.contiguous())
