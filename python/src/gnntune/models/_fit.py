"""Full-graph training: Adam, the weights of the best epoch by validation."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gnntune._errors import InvalidArgument, RunFailed
from gnntune.models._data import Split
from gnntune.torch import SparseFeatures
from gnntune.torch._device import side_stream


@dataclass(frozen=True)
class Fitted:
    """What training came to: shares of right answers, the last loss, seconds of all epochs with their validation."""

    test: float
    validation: float
    best_epoch: int
    loss: float
    seconds: float


def hits(scores: Tensor, labels: Tensor, vertices: Tensor) -> Tensor:
    """For each of these vertices whether its label has the highest score. What has a NaN among its scores is wrong."""
    chosen = scores.index_select(0, vertices)
    return (chosen.argmax(dim=1) == labels.index_select(0, vertices)) & ~chosen.isnan().any(dim=1)


class Epochs:
    """Training one epoch at a time; nothing in epoch() waits for the device, so that it may be captured."""

    def __init__(
        self,
        model: nn.Module,
        graph: Any,
        x: Tensor | SparseFeatures,
        y: Tensor,
        split: Split,
        *,
        lr: float = 0.01,
        weight_decay: float = 5e-4,
    ) -> None:
        self.model, self.graph, self.x, self.y, self.split = model, graph, x, y, split
        self.train_labels = y[split.train]
        on_gpu = x.is_cuda
        options: dict[str, Any] = {"capturable": True, "fused": True} if on_gpu else {}
        self.optimiser = torch.optim.Adam(model.parameters(), lr=lr, weight_decay=weight_decay, **options)
        # The best epoch's weights, chosen on the device.
        self.kept = [t.detach().clone() for t in self._state()]
        self.best = torch.full((), -1.0, device=x.device)
        self.best_epoch = torch.zeros((), dtype=torch.long, device=x.device)
        self.epoch_number = torch.zeros((), dtype=torch.long, device=x.device)
        self.loss = torch.zeros((), device=x.device)

    def _state(self) -> list[Tensor]:
        return [*self.model.parameters(), *self.model.buffers()]

    def step(self) -> None:
        """Forward, backward, optimiser: what an epoch's time is of."""
        self.model.train()
        self.optimiser.zero_grad(set_to_none=True)
        scores = self.model(self.x, self.graph).index_select(0, self.split.train)
        loss = F.cross_entropy(scores, self.train_labels)
        # On this thread: small graphs take longer on one of torch's (docs/python.md).
        with torch.autograd.set_multithreading_enabled(False):
            loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        self.loss.copy_(loss.detach())

    @torch.no_grad()
    def validate(self) -> None:
        self.model.eval()
        right = hits(self.model(self.x, self.graph), self.y, self.split.validation).float().mean()
        better = right > self.best
        for kept, now in zip(self.kept, self._state()):
            kept.copy_(torch.where(better, now, kept))
        self.best_epoch.copy_(torch.where(better, self.epoch_number, self.best_epoch))
        self.best.copy_(torch.where(better, right, self.best))
        self.epoch_number.add_(1)

    def epoch(self) -> None:
        self.step()
        self.validate()

    @torch.no_grad()
    def keep_best(self) -> None:
        for now, kept in zip(self._state(), self.kept):
            now.copy_(kept)


def fit(
    model: nn.Module,
    graph: Any,
    x: Tensor | SparseFeatures,
    y: Tensor,
    split: Split,
    *,
    epochs: int = 200,
    lr: float = 0.01,
    weight_decay: float = 5e-4,
    capture: bool = False,
) -> Fitted:
    """Trains a model on the whole graph, and leaves it with the weights of the epoch that was best on validation.

    `capture` runs epochs from the third on as a CUDA graph: the same numbers, in less of the host's time. Raises
    RunFailed where the loss is not finite, InvalidArgument for a split without vertices.
    """
    if not isinstance(split, Split):
        raise TypeError(f"split is a {type(split).__name__}; expected a gnntune.models.Split of ids")
    for name, ids in zip(Split._fields, split):
        if ids.numel() == 0:
            raise InvalidArgument(f"the split has no vertices for {name}; expected at least one in each part")
    if epochs < 1:
        raise InvalidArgument(f"epochs is {epochs}; expected at least 1")
    training = Epochs(model, graph, x, y, split, lr=lr, weight_decay=weight_decay)
    begin = time.perf_counter()
    if capture and x.is_cuda and epochs > 3:
        # Streams and graphs are made on the current device, which need not be the model's.
        with torch.cuda.device(x.device):
            _captured(training, epochs)
    else:
        for _ in range(epochs):
            training.epoch()
    loss = float(training.loss)  # waits for the GPU
    seconds = time.perf_counter() - begin
    if not loss == loss or loss in (float("inf"), float("-inf")):
        raise RunFailed(f"the loss of the last epoch is {loss}; expected a finite number: try a smaller lr")
    training.keep_best()
    model.eval()
    with torch.no_grad():
        test = float(hits(model(x, graph), y, split.test).float().mean())
    return Fitted(test, float(training.best), int(training.best_epoch), loss, seconds)


def _captured(training: Epochs, epochs: int) -> None:
    current, side = torch.cuda.current_stream(), side_stream(training.x.device)
    side.wait_stream(current)
    with torch.cuda.stream(side):
        for _ in range(2):
            training.epoch()
        side.synchronize()
        # What waits for the GPU cannot be captured. Found out before: a capture that fails harms what runs after it.
        mode = torch.cuda.get_sync_debug_mode()
        torch.cuda.set_sync_debug_mode("error")
        try:
            training.epoch()
        except RuntimeError as error:
            raise RunFailed(f"the epoch waits for the GPU, so that it cannot be captured: {error}") from None
        finally:
            torch.cuda.set_sync_debug_mode(mode)
            current.wait_stream(side)
    training.optimiser.zero_grad(set_to_none=True)
    recorded = torch.cuda.CUDAGraph()
    # Not on torch's own stream for captures, which stays on the device of the first one.
    with torch.cuda.graph(recorded, stream=side):
        training.epoch()
    for _ in range(epochs - 3):
        recorded.replay()
    torch.cuda.synchronize()
