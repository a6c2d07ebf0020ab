"""The ranks of a torch.distributed group: who exchanges what with whom, and what is said when one of them is gone."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from gnntune._errors import InvalidArgument, RunFailed


def new_group(timeout_s: float = 60.0) -> Any:
    """A group of all ranks for the exchanges of distributed graphs: every rank calls it, once.

    An operation that does not end within the timeout is an error instead of torch's ten or thirty minutes. With NCCL
    the exchanges run on a stream of high priority, so that they begin beside a kernel that fills the GPU.
    """
    _check_initialized()
    timeout = datetime.timedelta(seconds=timeout_s)
    if dist.get_backend() != "nccl":
        return dist.new_group(timeout=timeout)
    options: Any = dist.ProcessGroupNCCL.Options(is_high_priority_stream=True)
    options._timeout = timeout
    return dist.new_group(timeout=timeout, pg_options=options)


def _check_initialized() -> None:
    if not dist.is_available() or not dist.is_initialized():
        raise InvalidArgument(
            "torch.distributed is not initialized: call torch.distributed.init_process_group() in every process first, "
            "under torchrun say"
        )


class Pending:
    """An exchange on its way. `wait()` makes the current stream wait for it, and the host where there is no stream."""

    def __init__(self, ranks: Ranks, work: Any, finish: Callable[[], None] | None = None) -> None:
        self._ranks, self._work, self._finish = ranks, work, finish

    def wait(self) -> None:
        if self._work is not None:
            with self._ranks.in_words():
                self._work.wait()
            self._work = None
        if self._finish is not None:
            self._finish()
            self._finish = None


class _InWords:
    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        # torch raises RuntimeError, or its DistBackendError, for whatever went wrong between processes.
        if isinstance(error, RuntimeError) and not isinstance(error, (RunFailed, torch.OutOfMemoryError)):
            raise RunFailed(
                f"rank {self.rank} of {self.size}: an exchange failed. Another rank ended, or did not come to the same "
                f"exchange within the group's timeout: see what it wrote last, and start all ranks anew ({error})"
            ) from error


class Ranks:
    """A group as the exchanges use it."""

    def __init__(self, group: Any = None, device: torch.device | None = None) -> None:
        _check_initialized()
        self.group = group if group is not None else dist.group.WORLD
        self.rank, self.size = dist.get_rank(self.group), dist.get_world_size(self.group)
        if self.rank < 0:
            raise InvalidArgument("this process is no rank of the group; expected it to be one")
        on_gpu = device is not None and device.type == "cuda"
        # "cpu:gloo,cuda:nccl" is both. NCCL takes parts where they lie; gloo wants them side by side.
        backend = str(dist.get_backend_config(self.group)).lower()
        self.in_place = on_gpu and "nccl" in backend
        if on_gpu and not self.in_place:
            raise InvalidArgument(f"tensors on {device} need a group with NCCL; this one has {backend}")

    def in_words(self) -> _InWords:
        """A context in which torch's errors become ours, with what to do."""
        return _InWords(self.rank, self.size)

    def all_to_all(self, outs: Sequence[Tensor], ins: Sequence[Tensor]) -> Pending:
        """Sends ins[q] to rank q and receives outs[q] from it. All are contiguous and may be empty.

        Begins when the current stream has come here; what is sent and received stays alive until wait().
        """
        if self.in_place:
            with self.in_words():
                work = dist.all_to_all(list(outs), list(ins), group=self.group, async_op=True)
            return Pending(self, work, lambda: None)
        # As bytes: gloo does not know every type.
        sent, counts = [_bytes(t) for t in ins], []
        for t in outs:
            counts.append(t.numel() * t.element_size())
        send = sent[0] if len(sent) == 1 else torch.cat(sent)
        received = torch.empty(sum(counts), dtype=torch.uint8)
        with self.in_words():
            work = dist.all_to_all_single(
                received, send, counts, [t.numel() for t in sent], group=self.group, async_op=True
            )

        def place() -> None:
            for out, part in zip(outs, torch.split(received, counts)):
                if part.numel():
                    _bytes(out).copy_(part)
            send.numel()  # alive until here

        return Pending(self, work, place)

    def gather_objects(self, mine: Any) -> list[Any]:
        """What every rank gives, on every rank. Waits; for set-up."""
        found: list[Any] = [None] * self.size
        with self.in_words():
            dist.all_gather_object(found, mine, group=self.group)
        return found

    def sum(self, tensor: Tensor) -> Tensor:
        """The sum over ranks, in place, with the same bits on every rank."""
        if self.size > 1:
            with self.in_words():
                dist.all_reduce(tensor, group=self.group)
        return tensor

    def barrier(self) -> None:
        """Every rank has come here, and the host knows."""
        self.gather_objects(None)


_no_bytes = torch.empty(0, dtype=torch.uint8)


def _bytes(t: Tensor) -> Tensor:
    """Of a contiguous tensor. Where all sizes are 1, strides may be 0, and views refuse them."""
    return t.as_strided((t.numel(),), (1,)).view(torch.uint8) if t.numel() else _no_bytes
