"""The fastest way for a model's sums that costs no more accuracy than is allowed, by what the database knows."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import torch
from torch import nn

from gnntune._errors import InvalidArgument
from gnntune.torch._accuracy_rows import Accuracy, known_accuracies
from gnntune.torch._graph import Graph
from gnntune.torch._ways import scope


def _run(approximated: Approximated, *args: Any, **options: Any) -> Any:
    with scope(approximated.ways):
        return approximated.model(*args, **options)


# _run, which the compiler leaves as it is. Made when the first model needs it: to say so imports the compiler, which
# takes longer than importing torch.
_untraced_run: Any = None


def _make_untraced_run() -> None:
    global _untraced_run
    if _untraced_run is None:
        _untraced_run = torch.compiler.disable(_run)  # type: ignore[no-untyped-call]


class Approximated(nn.Module):
    """A model whose sums run in the ways that were measured to lose little. `row` says which; None: all are exact."""

    def __init__(self, model: nn.Module, row: Accuracy | None, reason: str) -> None:
        super().__init__()
        self.model, self.row, self.reason = model, row, reason
        self.ways = None if row is None else [layer.way for layer in row.layers]
        if self.ways is not None:
            _make_untraced_run()

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]
        if self.ways is not None:
            _make_untraced_run()

    def forward(self, *args: Any, **options: Any) -> Any:
        if self.ways is None:
            return self.model(*args, **options)
        return _untraced_run(self, *args, **options)

    def extra_repr(self) -> str:
        return self.reason


def approximated(
    model: nn.Module,
    graph: Graph,
    *,
    max_accuracy_loss: float,
    sure: bool = True,
    db: str | os.PathLike[str] | None = None,
) -> Approximated:
    """The model with the fastest way for its sums that loses at most `max_accuracy_loss` (0.01: one percentage point).

    By the rows of accuracy() for this graph, model and device: those of these weights, else those of several trainings
    of this structure. `sure` asks that the upper end of the loss's 95 % interval is allowed, else its mean. Without
    such a row, and where none is faster than exact sums, nothing is sampled; `reason` says so. `row.layers` has the
    config of each sum, which a program in C names in gnntune_problem.config.
    """
    if not 0 <= max_accuracy_loss < 1:
        raise InvalidArgument(f"max_accuracy_loss is {max_accuracy_loss}; expected a share from 0 to below 1")
    known = known_accuracies(model, graph, db=db)
    if not known:
        return Approximated(model, None, "no accuracy of this model on this graph is known: gnntune.torch.accuracy()")
    best = fastest(known, max_accuracy_loss, sure)
    if best is None:
        words = "is sure to lose" if sure else "loses, in the mean,"
        return Approximated(model, None, f"exact: no faster way of {len(known)} {words} at most {max_accuracy_loss:g}")
    bound = f"{100 * best.loss:.2f} % (95 %: {100 * best.loss_low:.2f} to {100 * best.loss_high:.2f})"
    return Approximated(model, best, f"{best.way}: loses {bound}, sums {best.speedup:.2f} times as fast")


def fastest(rows: Iterable[Accuracy], max_loss: float, sure: bool = True) -> Accuracy | None:
    """The rule: the fastest of the rows that lose at most `max_loss`; None if exact sums are as fast."""
    allowed = [r for r in rows if (r.loss_high if sure else r.loss) <= max_loss and r.time_us < r.exact_us]
    return min(allowed, key=lambda r: (r.time_us, r.loss_high), default=None)
