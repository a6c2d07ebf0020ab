"""What tuning, explaining and describing return: plain dataclasses, and tables of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

if TYPE_CHECKING:
    import pandas as pd

Row = TypeVar("Row")


@dataclass(frozen=True)
class Tuned:
    """What was chosen for one problem of a graph. Times in microseconds.

    `ci_us` is half the width of the median's confidence interval, `vs_library` how many times as fast as the fastest
    library config that was measured, `tied` the number of configs within the noise. `config` and `time_us` are None
    where nothing was chosen; `reason` says why.
    """

    graph: str
    op: str | None
    k: int | None
    problem: str | None
    policy: str | None
    clock: str | None
    config: str | None
    time_us: float | None
    ci_us: float | None
    vs_library: float | None
    roofline_percent: float | None
    tied: int | None
    reason: str | None
    measured: int | None
    configs: int | None


@dataclass(frozen=True)
class Best:
    """The fastest exact config of a graph's problem on a device. Times in microseconds."""

    graph: str
    op: str
    k: int
    problem: str
    device: str
    policy: str
    clock: str
    config: str
    time_us: float
    runner_up: str | None
    margin_percent: float | None
    deterministic: bool
    taken_at: str


@dataclass(frozen=True)
class Candidate:
    """A config that was measured or predicted for a problem. Times in microseconds."""

    config: str
    time_us: float | None
    note: str | None = None


@dataclass(frozen=True)
class Explanation:
    """Why a config is chosen. `source` is "measured", "model" or "default"; `chosen` is None where nothing may run."""

    graph: str
    fingerprint: str
    n_rows: int
    m: int
    problem: str
    policy: str
    clock: str | None
    database: str | None
    chosen: str | None
    source: str | None
    reason: str | None
    candidates: Table[Candidate]

    def __str__(self) -> str:
        lines = [
            f"graph    {self.graph}  n {self.n_rows}  m {self.m}  fingerprint {self.fingerprint}",
            f"problem  {self.problem}  policy {self.policy}",
            f"chosen   {self.chosen}  ({self.source}: {self.reason})",
        ]
        lines += [f"         {c.config}  {c.time_us:.2f} us" for c in self.candidates if c.time_us is not None]
        return "\n".join(lines)


@dataclass(frozen=True)
class GraphInfo:
    """A graph: sizes, degrees, fingerprint; `features` has all that `gnntune info` says, by its names in JSON."""

    name: str
    fingerprint: str
    n_rows: int
    n_cols: int
    m: int
    weighted: bool
    density: float
    degree_mean: float
    degree_max: int
    empty_rows: int
    features: dict[str, Any]

    def to_pandas(self) -> pd.DataFrame:
        """A table of one row. Raises ImportError where pandas is not installed."""
        return Table([self]).to_pandas()


class Table(Sequence[Row], Generic[Row]):
    """Rows of one dataclass, with the device that they are about and the program's warnings.

    `complete` is False where a budget ended before everything was done; the same call goes on. `raw` are the program's
    own rows, with every column.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        *,
        device: str | None = None,
        warnings: Sequence[str] = (),
        complete: bool = True,
        raw: Sequence[dict[str, Any]] = (),
    ) -> None:
        self._rows = list(rows)
        self.device = device
        self.warnings = list(warnings)
        self.complete = complete
        self.raw = list(raw)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __repr__(self) -> str:
        return "\n".join(repr(row) for row in self._rows) or "(no rows)"

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a DataFrame, with every column that the program has. Needs pandas."""
        try:
            import pandas
        except ImportError:
            raise ImportError("to_pandas() needs pandas: pip install pandas") from None
        return pandas.DataFrame(self.raw or [dataclasses.asdict(row) for row in self._rows])  # type: ignore[call-overload]


def row_of(kind: type[Row], data: dict[str, Any]) -> Row:
    """A row of the program's JSON. Columns that `kind` does not have are left out, those that are missing are None."""
    names = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    return kind(**{name: data.get(name) for name in names})


def table_of(kind: type[Row], whole: dict[str, Any], complete: bool = True) -> Table[Row]:
    """The table of a verb's JSON."""
    device = whole.get("device") or {}
    rows = [row_of(kind, data) for data in whole["data"]]
    return Table(rows, device=device.get("name"), warnings=whole["warnings"], complete=complete, raw=whole["data"])
