"""Pictures of a tuning with matplotlib, one function for each question of `gnntune report`.

The numbers are the program's (`gnntune report --json`, docs/report.md), and so are colours and shapes: nothing is
worked out here but means over what is shown. Every function takes a database and choices, draws on `ax` or on new axes,
and returns the axes. Below the title stand the number of problems, the device, the policy and the clock.

matplotlib is no dependency of the package: `pip install matplotlib`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from gnntune._drawing import (
    Database,
    Numbers,
    Paint,
    axes_for,
    byte_words,
    choose,
    count_words,
    geomean,
    graph_by,
    is_exact,
    largest,
    named,
    number_words,
    numbers_of,
    one_graph,
    one_problem,
    plain,
    plain_ticks,
    read,
    rgb,
    scatter,
    short_name,
    shortened,
    time_axis,
    time_words,
    variant_of,
    whole_ticks,
)
from gnntune._errors import InvalidArgument

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Numbers", "building", "configs", "degrees", "errors", "gain", "limit", "model", "read", "step", "won"]

_MOST_CALLS = 1e6  # where the axis of `building` ends, as in the report
_SLOWER = 0.995  # ratios below it are slower, as in the report
_GAINS = {
    "library_default": "over the library's default",
    "library_best": "over the library's best algorithm",
    "untuned": "over what runs untuned",
}


def won(
    db: Database = None,
    *,
    graph: str | Iterable[str] | None = None,
    op: str | None = None,
    what: str | None = None,
    k: int | Iterable[int] | None = None,
    most: int = 30,
    ax: Axes | None = None,
) -> Axes:
    """What won? A cell for each graph and width: variant, time, and how many times as fast as the library's default.

    The `most` graphs with most edges are shown; ≈ marks a config whose answer is not exact. `op` ("spmm") or `what`
    ("spmm f32 sum weighted forward") chooses a setting; without them it is the one with most problems.
    """
    import numpy as np

    numbers, setting, problems = choose(db, graph, op, what, k)
    names, shown = largest(numbers, problems, most)
    widths = sorted({p["k"] for p in shown})
    ax = axes_for(ax, (1.6 * len(widths) + 3, 0.42 * len(names) + 1.6))
    paint = Paint(numbers, ax)
    cells = np.ones((len(names), len(widths), 3)) * rgb(paint.named("paper"))
    size = "x-small" if len(widths) > 6 else "small"
    for p in shown:
        if p["won"] is None:
            continue
        row, column = names.index(p["fingerprint"]), widths.index(p["k"])
        cells[row, column] = rgb(paint.cell(variant_of(p["won"])))
        over = p["over_library_default"]
        exact = any(is_exact(row) for row in p["configs"] if row["config"] == p["won"])
        words = f"{'' if exact else '≈ '}{short_name(p['won'])}\n{time_words(p['won_us'])}" + (
            f"  {over:.2f}x" if over is not None else ""
        )
        ax.text(column, row, plain(words), ha="center", va="center", fontsize=size, color=paint.named("cell"))
    ax.imshow(cells, aspect="auto")
    ax.set_xticks(range(len(widths)), [f"k = {width}" for width in widths])
    ax.set_yticks(range(len(names)), [plain(graph_by(numbers, name)["name"], 25) for name in names])
    ax.tick_params(length=0)
    rest = len({p["fingerprint"] for p in problems}) - len(names)
    more = f"; {rest} smaller graphs are not shown" if rest else ""
    return named(ax, "What won?", f"{setting['what']}, n = {count_words(shown)}{more}", setting)


def limit(
    db: Database = None,
    *,
    graph: str | Iterable[str] | None = None,
    op: str | None = None,
    what: str | None = None,
    k: int | Iterable[int] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """How close to the limit? The rate of each problem in GB/s against the bytes of the table that rows are gathered
    from, beside the device's measured rates of copying and gathering.

    A filled dot counts the bytes that it gathers, a hollow one those that it moves at least: whichever limit is higher.
    """
    numbers, setting, problems = choose(db, graph, op, what, k)
    dots = [p for p in problems if p["gbps"] is not None and p["table_bytes"]]
    if not dots:
        raise InvalidArgument("limit: nothing exact was timed on these graphs, or the database lacks their features")
    ax = axes_for(ax, (8, 5))
    paint = Paint(numbers, ax)
    scatter(ax, paint, dots, lambda p: (p["table_bytes"], p["gbps"], variant_of(p["won"]), p["limit"] == "gather"))
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    hot = paint.named("hot")
    if setting["copy_gbps"]:
        ax.axhline(setting["copy_gbps"], color=hot, label=f"copy {setting['copy_gbps']:.0f} GB/s")
    measured = sorted({rate["row_bytes"] for rate in setting["gather"]})
    if measured:
        gathered = {float(p["row_bytes"]) for p in dots if p["row_bytes"]}
        near = sorted(min(measured, key=lambda m, g=g: abs(math.log(m / g))) for g in gathered)  # type: ignore[misc]
        for row_bytes, style in zip(dict.fromkeys(near[:1] + near[-1:]), ("--", ":")):
            line = sorted((r["table_bytes"], r["gbps"]) for r in setting["gather"] if r["row_bytes"] == row_bytes)
            label = f"gather rows of {row_bytes:.0f} B, measured"
            ax.plot(*zip(*line), color=hot, linestyle=style, label=label)
    ax.xaxis.set_major_formatter(lambda value, _: byte_words(value))
    plain_ticks(ax.yaxis, number_words)
    ax.set_xlabel("size of the table that rows are gathered from")
    ax.set_ylabel("GB/s of the higher limit's bytes")
    ax.legend(fontsize="small")
    return named(ax, "How close to the limit?", f"{setting['what']}, n = {count_words(dots)}", setting)


def gain(
    db: Database = None,
    *,
    over: str = "library_default",
    graph: str | Iterable[str] | None = None,
    op: str | None = None,
    what: str | None = None,
    k: int | Iterable[int] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """What did choosing gain? How often the alternative takes how many times as long as what was chosen.

    `over` is "library_default", "library_best" or "untuned". The worst case is named, the geometric mean marked. A
    choice is scored by the times that made it, unless `read` got a database of another run as `score`.
    """
    import numpy as np

    if over not in _GAINS:
        raise InvalidArgument(f"over is {over!r}; expected one of {', '.join(_GAINS)}")
    numbers, setting, problems = choose(db, graph, op, what, k)
    found = sorted((p[f"over_{over}"], p["graph"], p["k"]) for p in problems if p[f"over_{over}"] is not None)
    if not found:
        raise InvalidArgument(f"gain: no problem has a time to hold the choice against ({over})")
    ratios = np.array([ratio for ratio, _, _ in found])
    ax = axes_for(ax, (8, 4))
    paint = Paint(numbers, ax)
    mean = float(np.exp(np.log(ratios).mean()))
    # An edge of a bin stands where slower ends, so that no bin has both colours.
    step = math.log(max(ratios[-1] / ratios[0], 1.2)) / 40
    low = math.floor(math.log(ratios[0] / _SLOWER) / step)
    bins = _SLOWER * np.exp(step * np.arange(low, math.floor(math.log(ratios[-1] / _SLOWER) / step) + 2))
    _, _, bars = ax.hist(ratios, bins=list(bins))
    for edge, bar in zip(bins, bars):  # type: ignore[arg-type]
        bar.set_facecolor(paint.named("c3" if edge < _SLOWER * 0.9999 else "c0"))
        bar.set_edgecolor(paint.named("paper"))
    ax.set_xscale("log")
    plain_ticks(ax.xaxis, lambda value: f"{value:g}x")
    ax.axvline(1, color=paint.named("soft"), linestyle=":")
    ax.axvline(mean, color=paint.named("ink"), linewidth=2, label=f"geometric mean {mean:.2f}x")
    ax.set_xlabel("how many times as fast as the alternative")
    whole_ticks(ax.yaxis)
    ax.set_ylabel("problems")
    ax.legend(fontsize="small")
    slower = int((ratios < _SLOWER).sum())
    worst = f"worst {ratios[0]:.2f}x ({shortened(found[0][1], 40)}, k = {found[0][2]}), {slower} slower"
    title = "What did choosing gain " + _GAINS[over] + "?"
    return named(ax, title, f"{setting['what']}, n = {count_words(found)}, {worst}", setting)


def degrees(db: Database = None, *, graph: str | None = None, ax: Axes | None = None) -> Axes:
    """What happens on this graph? How many rows and columns have a degree, on logarithmic axes.

    Rows are the targets of edges. `graph` is a name or the first digits of a fingerprint; without it, the graph with
    most edges.
    """
    numbers = numbers_of(db, graph)
    facts = one_graph(numbers, graph)
    if facts["row_degrees"] is None:
        raise InvalidArgument(f"degrees: the database does not have the degrees of {facts['name']!r}; tune it again")
    ax = axes_for(ax, (6, 4))
    paint = Paint(numbers, ax)
    empty = []
    # Where both are alike, a dot stands in each ring.
    looks = (("row_degrees", "rows", "c0", "o", 3.0, True), ("col_degrees", "columns", "c1", "D", 7.0, False))
    for key, word, color, marker, size, filled in looks:
        pairs = [(degree, count) for degree, count in facts[key] if degree > 0]
        none = sum(count for degree, count in facts[key] if degree == 0)
        empty.append(f"{none:,} empty {word}")
        if pairs:
            ink = paint.named(color)
            face = ink if filled else "none"
            xs, ys = zip(*pairs)
            ax.plot(xs, ys, marker, color=ink, markerfacecolor=face, markersize=size, label=word)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("degree")
    ax.set_ylabel("rows or columns of that degree")
    ax.legend(fontsize="small")
    sizes = f"n = {facts['n_rows']:,} rows, {facts['n_cols']:,} columns, {facts['m']:,} edges; " + ", ".join(empty)
    return named(ax, f"Degrees of {shortened(facts['name'], 40)}", sizes, None)


def configs(
    db: Database = None,
    *,
    graph: str | None = None,
    op: str | None = None,
    what: str | None = None,
    k: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """What happens on this graph? Every config of one problem that was timed, the fastest first, with the 95 % interval
    of its median in microseconds.

    Hollow: the answer is not exact (sampled, or products in less than fp32). Faint: given up early.
    """
    numbers, setting, problem = one_problem(db, graph, op, what, k)
    rows = sorted((r for r in problem["configs"] if r["median_us"] is not None), key=lambda r: float(r["median_us"]))
    if not rows:
        raise InvalidArgument(f"configs: nothing was timed on {problem['graph']!r}, k = {problem['k']}")
    ax = axes_for(ax, (7, max(3.0, min(9.0, 0.12 * len(rows) + 1.5))))
    paint = Paint(numbers, ax)
    for place, row in enumerate(rows, 1):
        ax.plot([row["ci_low_us"], row["ci_high_us"]], [place, place], color=paint.named("soft"), linewidth=1, zorder=1)
    scatter(ax, paint, list(enumerate(rows, 1)), lambda r: (r[1]["median_us"], r[0], r[1]["variant"], is_exact(r[1])))
    early = [(row["median_us"], place) for place, row in enumerate(rows, 1) if row["status"] != "ok"]
    if early:
        xs, ys = zip(*early)
        ax.scatter(xs, ys, s=40, color=ax.get_facecolor(), alpha=0.6, zorder=3)
    time_axis(ax)
    ax.invert_yaxis()
    whole_ticks(ax.yaxis)
    ax.set_ylabel("place, the fastest first")
    ax.legend(fontsize="small")
    where = f"{problem['problem']}, n = {count_words(rows, 'config')}"
    return named(ax, f"Configs on {shortened(problem['graph'], 40)}", where, setting)


def errors(
    db: Database = None,
    *,
    graph: str | None = None,
    op: str | None = None,
    what: str | None = None,
    k: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """What does exactness cost? Measured error (scaled, docs/measuring.md) against time in microseconds, of each config
    of one problem that was timed; the line joins those that are chosen where so much error is allowed.
    """
    numbers, setting, problem = one_problem(db, graph, op, what, k)
    rows = [r for r in problem["configs"] if r["median_us"] is not None and r["status"] == "ok"]
    positive = [r["max_error"] for r in rows if r["max_error"] > 0]
    if not positive:
        raise InvalidArgument(f"errors: no config of {problem['graph']!r}, k = {problem['k']} has a measured error")
    least = min(positive) / 2  # where an error of 0 is drawn
    ax = axes_for(ax, (7, 4.5))
    paint = Paint(numbers, ax)
    scatter(ax, paint, rows, lambda r: (r["median_us"], max(least, r["max_error"]), r["variant"], is_exact(r)))
    by_name = {r["config"]: r for r in rows}
    line = [by_name[point["config"]] for point in problem["errors"] if point["config"] in by_name]
    if len(line) > 1:
        places = [(r["median_us"], max(least, r["max_error"])) for r in line]
        ax.plot(*zip(*places), color=paint.named("soft"), linestyle="--", drawstyle="steps-post", label="chosen")
    time_axis(ax)
    ax.set_yscale("log")
    ax.set_ylabel("largest scaled error")
    ax.legend(fontsize="small")
    where = f"{problem['problem']}, n = {count_words(rows, 'config')}"
    return named(ax, f"Error against time on {shortened(problem['graph'], 40)}", where, setting)


def building(
    db: Database = None,
    *,
    graph: str | None = None,
    op: str | None = None,
    what: str | None = None,
    k: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """When does building pay? Microseconds of a call with its share of building, by the number of calls: of the configs
    that are the cheapest for some number of calls, and of the library's default (dashed). Rings mark the break-even.
    """
    import numpy as np

    numbers, setting, problem = one_problem(db, graph, op, what, k)
    by_name = {row["config"]: row for row in problem["configs"]}
    starts = {call["config"]: max(1.0, math.ceil(call["from_calls"])) for call in problem["calls"]}
    default = problem["library_default"]
    names = [*starts, *([default] if default is not None and default not in starts else [])]
    if not starts:
        raise InvalidArgument(f"building: nothing exact was timed on {problem['graph']!r}, k = {problem['k']}")
    ax = axes_for(ax, (8, 4.5))
    paint = Paint(numbers, ax)
    calls = np.logspace(0, math.log10(_MOST_CALLS), 121)
    for name in names:
        row = by_name[name]
        label = f"{short_name(name)}: {time_words(row['prepare_us'])} + {time_words(row['median_us'])} a call"
        if 1 < starts.get(name, 1) <= _MOST_CALLS:
            label += f", cheapest from {starts[name]:,.0f} calls"
        ax.plot(
            calls,
            row["median_us"] + row["prepare_us"] / calls,
            color=paint.mark(row["variant"]),
            linestyle="-" if name in starts else "--",
            label=plain(label),
        )
        if 1 < starts.get(name, 1) <= _MOST_CALLS:
            at = row["median_us"] + row["prepare_us"] / starts[name]
            ax.plot(starts[name], at, "o", color=paint.named("paper"), markeredgecolor=paint.named("ink"), zorder=4)
    ax.set_xscale("log")
    ax.set_yscale("log")
    plain_ticks(ax.yaxis, number_words)
    ax.set_xlabel("calls on this graph")
    ax.set_ylabel("time of a call with its share of building, µs")
    ax.legend(fontsize="small")
    where = f"{problem['problem']}, n = {count_words(names, 'config')}"
    return named(ax, f"When does building pay on {shortened(problem['graph'], 40)}?", where, setting)


def model(db: Database = None, *, op: str | None = None, ax: Axes | None = None) -> Axes:
    """How good is the model? Expected against measured microseconds of what it chose, on graphs that it has not seen.

    The label has the mean efficiency of its first choice: the fastest config's time over that of the chosen one. Models
    are fitted for this, which takes a while; numbers of `read(..., folds=0)` have none.
    """
    numbers = db if isinstance(db, Numbers) else read(db)
    models = [m for m in numbers.data["models"] if op in (None, m["op"]) and m["problems"]]
    if not models:
        raise InvalidArgument(
            "model: none was judged; that needs at least two graphs of an op in the database, and folds other than 0"
        )
    found = max(models, key=lambda m: len(m["problems"]))
    ax = axes_for(ax, (5.5, 5.5))
    paint = Paint(numbers, ax)
    pairs = [(p["measured_us"], p["expected_us"]) for p in found["problems"]]
    ends = [min(min(pair) for pair in pairs) / 1.15, max(max(pair) for pair in pairs) * 1.15]
    ax.plot(ends, ends, color=paint.named("soft"), linestyle=":")
    shares = [p["efficiency"]["model"] for p in found["problems"] if "model" in p["efficiency"]]
    of_best = f"{100 * geomean(shares):.1f} % of the best, geometric mean" if shares else "chosen by the model"
    ax.plot(*zip(*pairs), "o", color=paint.named("c0"), markersize=4, label=of_best)
    ax.set_xscale("log")
    ax.set_yscale("log")
    for axis in (ax.xaxis, ax.yaxis):
        plain_ticks(axis, number_words)
    ax.set_xlabel("measured, µs")
    ax.set_ylabel("expected by the model, µs")
    ax.legend(fontsize="small")
    setting = {"where": f"{found['backend']}, {found['policy']}, clock {found['clock']}"}
    where = f"{found['op']}, n = {count_words(pairs)}, {found['folds']} folds"
    return named(ax, "How good is the model?", where, setting)


def step(db: Database = None, *, graph: str | None = None, step: str | None = None, ax: Axes | None = None) -> Axes:
    """What is a training step made of? Microseconds of its calls, stacked, a bar for each way to choose: together,
    apart, by default, by a library. `step` names one as `gnntune tune --step` does ("gcn 64,7").
    """
    numbers = numbers_of(db, graph)
    wanted = None if graph is None else one_graph(numbers, graph)["name"]
    found = [s for s in numbers.data["steps"] if wanted in (None, s["graph"]) and step in (None, s["step"])]
    if not found:
        known = ", ".join(sorted({s["step"] for s in numbers.data["steps"]})) or "none"
        raise InvalidArgument(f"step: there is no such step (of this database: {known}); gnntune tune --step makes one")
    one = found[0]
    ax = axes_for(ax, (8, 0.6 * len(one["ways"]) + 2))
    paint = Paint(numbers, ax)
    ways = one["ways"]
    ends = [0.0] * len(ways)
    for i, role in enumerate(one["calls"]):
        lengths = [way["call_us"][i] for way in ways]
        ax.barh(
            range(len(ways)),
            lengths,
            left=ends,
            color=paint.named(f"s{i % 6}"),
            edgecolor=paint.named("paper"),
            hatch="" if i < 6 else "//",
            label=plain(role, 60),
        )
        ends = [end + length for end, length in zip(ends, lengths)]
    for place, end in enumerate(ends):
        ax.text(end, place, " " + time_words(end), va="center", fontsize="small")
    ax.set_yticks(range(len(ways)), [plain(way["choice"], 40) for way in ways])
    ax.margins(x=0.12)
    ax.invert_yaxis()
    ax.set_xlabel("time of a step's calls, µs")
    ax.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.25), ncols=3)
    setting = {"where": f"{one['device']}, {one['policy']}, clock {one['clock']}"}
    where = f"{one['step']} on {shortened(one['graph'], 40)}, n = {count_words(one['calls'], 'call')}"
    return named(ax, "What is a training step made of?", where, setting)
