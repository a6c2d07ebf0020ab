"""What the functions of gnntune.plot share: numbers of a report, choices among them, and marks of matplotlib."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

from gnntune._errors import InvalidArgument
from gnntune._program import run_json
from gnntune._verbs import _options

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_Row = dict[str, Any]
_MARKERS = {"circle": "o", "square": "s", "triangle": "^", "diamond": "D", "turned triangle": "v", "cross": "P"}


@dataclass(frozen=True)
class Numbers:
    """What `gnntune report --json` says of a database (docs/report.md, As JSON). Times in microseconds.

    Give it to several functions, and the database is read once.
    """

    data: dict[str, Any]


Database = Union[str, "os.PathLike[str]", Numbers, None]
"""A database's file, or its numbers by `read`; None is the user's own."""


def read(
    db: str | os.PathLike[str] | None = None,
    *,
    graph: str | Iterable[str] | None = None,
    score: str | os.PathLike[str] | None = None,
    folds: int | None = None,
) -> Numbers:
    """The numbers of a database. `graph` names those that are wanted, `score` a database of another run whose times
    choices are scored by, `folds` in how many parts cost models are judged (0: they are not).

    Raises DatabaseError if the file is missing or damaged, InvalidGraph for a name that it does not have.
    """
    words = [] if graph is None else ["--graph", graph if isinstance(graph, str) else ",".join(graph)]
    whole, _ = run_json(["report", *words, *_options({"db": db, "score": score, "folds": folds})])
    return Numbers(whole["data"][0])


# What is chosen.


def numbers_of(db: Database, graph: str | Iterable[str] | None) -> Numbers:
    # The program looks names up, and says what is close to one that it does not have.
    return db if isinstance(db, Numbers) else read(db, graph=graph, folds=0)


def graph_by(numbers: Numbers, fingerprint: str) -> _Row:
    return next(g for g in numbers.data["graphs"] if g["fingerprint"] == fingerprint)


def _matching(numbers: Numbers, graph: str | Iterable[str] | None) -> list[_Row]:
    graphs: list[_Row] = numbers.data["graphs"]
    if graph is None:
        return graphs
    found = []
    for name in [graph] if isinstance(graph, str) else list(graph):
        named = [g for g in graphs if g["name"] == name]
        named = named or [g for g in graphs if len(name) >= 4 and g["fingerprint"].startswith(name)]
        if not named:
            known = ", ".join(repr(g["name"]) for g in graphs[:10])
            raise InvalidArgument(f"graph is {name!r}; expected one of {len(graphs)} of the database: {known}")
        found += named
    return found


def one_graph(numbers: Numbers, graph: str | None) -> _Row:
    graphs = _matching(numbers, graph)
    if not graphs:
        raise InvalidArgument("the database has no measurements; gnntune tune makes them")
    return max(graphs, key=lambda g: int(g["m"]))


def choose(
    db: Database,
    graph: str | Iterable[str] | None,
    op: str | None,
    what: str | None,
    k: int | Iterable[int] | None,
) -> tuple[Numbers, _Row, list[_Row]]:
    if graph is not None and not isinstance(graph, str):
        graph = list(graph)
    numbers = numbers_of(db, graph)
    prints = {g["fingerprint"] for g in _matching(numbers, graph)}
    widths = None if k is None else {k} if isinstance(k, int) else set(k)
    settings = numbers.data["settings"]
    for setting in settings:
        if op not in (None, setting["op"]) or what not in (None, setting["what"]):
            continue
        problems = [p for p in setting["problems"] if p["fingerprint"] in prints and (not widths or p["k"] in widths)]
        if problems:
            return numbers, setting, problems
    known = ", ".join(f"{s['what']!r} with k = {', '.join(map(str, s['widths']))}" for s in settings) or "nothing"
    raise InvalidArgument(f"no problem is as chosen (op {op}, what {what}, k {k}); the database has {known}")


def one_problem(
    db: Database, graph: str | None, op: str | None, what: str | None, k: int | None
) -> tuple[Numbers, _Row, _Row]:
    """Of the graph with most edges, the width in the middle, where they are not named."""
    numbers, setting, problems = choose(db, graph, op, what, k)
    largest = max((graph_by(numbers, p["fingerprint"]) for p in problems), key=lambda g: int(g["m"]))
    here = sorted((p for p in problems if p["fingerprint"] == largest["fingerprint"]), key=lambda p: int(p["k"]))
    return numbers, setting, here[len(here) // 2]


def largest(numbers: Numbers, problems: list[_Row], most: int) -> tuple[list[str], list[_Row]]:
    prints = sorted({p["fingerprint"] for p in problems}, key=lambda f: (-graph_by(numbers, f)["m"], f))[:most]
    return prints, [p for p in problems if p["fingerprint"] in prints]


# How it is drawn.


class Paint:
    """The report's colours, light or dark as the axes are."""

    def __init__(self, numbers: Numbers, ax: Axes) -> None:
        from matplotlib.colors import to_rgb

        self._variants = numbers.data["looks"]["variants"]
        red, green, blue = to_rgb(ax.get_facecolor())
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
        self._colors: dict[str, str] = numbers.data["looks"]["dark" if dark else "light"]

    def named(self, name: str) -> str:
        return self._colors[name]

    def mark(self, variant: str) -> str:
        return self._colors[self._look(variant)["color"]]

    def cell(self, variant: str) -> str:
        # "c0" is a mark, "t0" the paler cell of the same variant.
        return self._colors["t" + self._look(variant)["color"].removeprefix("c")]

    def marker(self, variant: str) -> str:
        return _MARKERS[self._look(variant)["shape"]]

    def _look(self, variant: str) -> dict[str, str]:
        return self._variants.get(variant, {"color": "other", "shape": "circle"})  # type: ignore[no-any-return]


def axes_for(ax: Axes | None, size: tuple[float, float]) -> Axes:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("gnntune.plot needs matplotlib: pip install matplotlib") from None
    return plt.subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def scatter(
    ax: Axes, paint: Paint, items: Sequence[Any], place: Callable[[Any], tuple[float, float, str, bool]]
) -> None:
    """A mark for each item: x, y, variant, and whether it is filled. The legend has each variant once."""
    variants: dict[str, list[tuple[float, float, bool]]] = {}
    for item in items:
        x, y, variant, filled = place(item)
        variants.setdefault(variant, []).append((x, y, filled))
    for variant, marks in variants.items():
        color = paint.mark(variant)
        label = plain(short_name(variant))
        for filled in (True, False):
            some = [(x, y) for x, y, is_filled in marks if is_filled == filled]
            if some:
                face = color if filled else "none"
                xs, ys = zip(*some)
                marker = paint.marker(variant)
                ax.scatter(xs, ys, s=26, zorder=2, facecolors=face, edgecolors=color, marker=marker, label=label)
                label = "_" + label


def named(ax: Axes, title: str, about: str, setting: _Row | None) -> Axes:
    where = "" if setting is None else f"\n{setting['where']}"
    words = plain(f"{about}{where}")
    ax.set_title(plain(title), loc="left", fontweight="bold", pad=12 + 11 * (words.count("\n") + 1))
    ax.annotate(words, (0, 1), xytext=(0, 5), xycoords="axes fraction", textcoords="offset points", fontsize="small")
    return ax


def time_axis(ax: Axes) -> None:
    ax.set_xscale("log")
    plain_ticks(ax.xaxis, number_words)
    ax.set_xlabel("time, µs")


def plain_ticks(axis: Any, words: Callable[[float], str]) -> None:
    """Round numbers in words on a logarithmic axis that has its data; several of them however short it is."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)) if high > 6 * low else MaxNLocator(5))
    axis.set_major_formatter(FuncFormatter(lambda value, _: words(value)))
    axis.set_minor_formatter(NullFormatter())


def whole_ticks(axis: Any) -> None:
    """Whole numbers on a linear axis."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True))


def number_words(value: float) -> str:
    """The number with at most six digits: 0.5, 1500."""
    return f"{value:g}"


def byte_words(value: float) -> str:
    """Bytes in binary units: 64 KiB."""
    for scale, unit in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if value >= scale:
            return f"{value / scale:g} {unit}"
    return f"{value:g} B"


def plain(text: str, most: int = 400) -> str:
    """Text as it is: a name may hold what matplotlib would read as a formula, or no letter at all."""
    return shortened(text, most).replace("$", r"\$")


def shortened(text: str, most: int) -> str:
    text = "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)
    return text if len(text) <= most else text[: most - 1] + "…"


def time_words(us: float) -> str:
    for scale, unit in ((1e6, "s"), (1e3, "ms")):
        if us >= scale:
            return f"{us / scale:.3g} {unit}"
    return f"{us:.3g} µs"


def variant_of(config: str) -> str:
    return config.partition("{")[0]


def short_name(config: str) -> str:
    return variant_of(config).partition(".")[2] or config


def is_exact(row: _Row) -> bool:
    return bool(row["answer"] == "exact")


def geomean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def count_words(items: Sequence[Any], word: str = "problem") -> str:
    return f"{len(items)} {word}{'' if len(items) == 1 else 's'}"


def rgb(color: str) -> Any:
    from matplotlib.colors import to_rgb

    return to_rgb(color)
