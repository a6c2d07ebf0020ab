"""gnntune.plot: the program's numbers as axes of matplotlib."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys

import pytest

import gnntune

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.colors import to_hex

from gnntune import plot

GENERAL = [plot.won, plot.limit, plot.gain]
OF_A_GRAPH = [plot.degrees, plot.configs, plot.errors, plot.building]


def program(*words):
    done = subprocess.run([gnntune.program_path(), *map(str, words)], check=True, capture_output=True, text=True)
    return done.stdout


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    """Two graphs, two widths, exact and sampled configs, a step; numbers that matter are set, not measured."""
    folder = tmp_path_factory.mktemp("plot")
    path = folder / "two.db"
    program("generate", "uniform", "--n-rows", 300, "--m", 1500, "-o", folder / "plain.gnng", "-q")
    program("generate", "rmat", "--scale", 8, "--m", 2000, "-o", folder / "skewed.gnng", "-q")
    graphs = [folder / "plain.gnng", folder / "skewed.gnng"]
    common = ["--device", "cpu", "--max-samples", 5, "--db", path, "-q"]
    sampled = ["--allow-sampling", "--max-error", 1]
    program("tune", *graphs, "--op", "spmm", "--dim", "8,16", "--exhaustive", *sampled, *common)
    program("tune", graphs[0], "--step", "gcn", "--dim", 8, *common)
    return path


@pytest.fixture(scope="module")
def numbers(db):
    return plot.read(db)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def words_of(ax):
    return [text.get_text() for text in ax.texts] + [ax.get_title(loc="left")]


@pytest.mark.parametrize("draw", [*GENERAL, *OF_A_GRAPH, plot.step], ids=lambda draw: draw.__name__)
def test_draws_on_given_axes_and_says_how_many_and_where(numbers, draw, tmp_path):
    figure, ax = plt.subplots()
    assert draw(numbers, ax=ax) is ax
    assert draw(numbers) is not ax
    about = "\n".join(words_of(ax))
    device = numbers.data["settings"][0]["environment"]["device_name"]
    assert "n = " in about
    if draw is not plot.degrees:
        assert device in about and "clock" in about and "hot" in about
    figure.savefig(tmp_path / "figure.png")


def test_won_has_a_cell_for_each_problem(numbers):
    setting = numbers.data["settings"][0]
    ax = plot.won(numbers)
    words = "\n".join(words_of(ax))
    assert ax.images[0].get_array().shape[:2] == (2, 2)
    for problem in setting["problems"]:
        assert problem["won"].partition("{")[0].partition(".")[2] + "\n" in words
    assert [label.get_text() for label in ax.get_xticklabels()] == ["k = 8", "k = 16"]
    assert {label.get_text() for label in ax.get_yticklabels()} == {"plain", "skewed"}
    assert "1 smaller graphs" not in words
    assert "n = 2 problems; 1 smaller graphs are not shown" in "\n".join(words_of(plot.won(numbers, most=1)))


def test_limit_has_the_rates_of_the_program(numbers):
    ax = plot.limit(numbers)
    drawn = sorted(value for dots in ax.collections for point in dots.get_offsets() for value in point)
    problems = [p for p in numbers.data["settings"][0]["problems"] if p["gbps"] is not None]
    wanted = sorted(value for p in problems for value in (p["table_bytes"], p["gbps"]))
    assert problems and drawn == pytest.approx(wanted)
    assert f"n = {len(problems)} problem" in words_of(ax)[0]


@pytest.mark.parametrize("over", ["library_default", "library_best", "untuned"])
def test_gain_counts_each_problem_once(numbers, over):
    ax = plot.gain(numbers, over=over)
    wanted = [p[f"over_{over}"] for p in numbers.data["settings"][0]["problems"] if p[f"over_{over}"] is not None]
    assert wanted and sum(bar.get_height() for bar in ax.patches) == len(wanted)
    slower = sum(ratio < 0.995 for ratio in wanted)
    assert f"worst {min(wanted):.2f}x" in words_of(ax)[0] and f"{slower} slower" in words_of(ax)[0]
    red = numbers.data["looks"]["light"]["c3"]
    assert sum(bar.get_height() for bar in ax.patches if to_hex(bar.get_facecolor()) == red) == slower


def test_degrees_count_every_row_and_column(numbers):
    ax = plot.degrees(numbers, graph="skewed")
    graph = next(g for g in numbers.data["graphs"] if g["name"] == "skewed")
    for line, key in zip(ax.lines, ("row_degrees", "col_degrees")):
        pairs = list(zip(line.get_xdata(), line.get_ydata()))
        assert pairs == [(d, n) for d, n in graph[key] if d > 0]
        assert sum(d * n for d, n in pairs) == graph["m"]


def test_configs_have_times_and_intervals_and_are_hollow_where_not_exact(numbers):
    ax = plot.configs(numbers, graph="plain", k=16)
    problem = next(p for p in numbers.data["settings"][0]["problems"] if (p["graph"], p["k"]) == ("plain", 16))
    rows = {r["config"]: r for r in problem["configs"] if r["median_us"] is not None}
    dots = [d for d in ax.collections if d.get_zorder() == 2]
    drawn = sorted(x for d in dots for x, _ in d.get_offsets())
    assert drawn == pytest.approx(sorted(r["median_us"] for r in rows.values()))
    intervals = sorted(tuple(line.get_xdata()) for line in ax.lines)
    assert intervals == sorted((r["ci_low_us"], r["ci_high_us"]) for r in rows.values())
    hollow = sum(len(d.get_offsets()) for d in dots if len(d.get_facecolors()) == 0)
    assert hollow == sum(r["answer"] != "exact" for r in rows.values()) > 0


def test_building_meets_where_the_program_says(numbers):
    for graph in ("plain", "skewed"):
        ax = plot.building(numbers, graph=graph, k=16)
        problem = next(p for p in numbers.data["settings"][0]["problems"] if (p["graph"], p["k"]) == (graph, 16))
        curves = [line for line in ax.lines if len(line.get_xdata()) > 1]
        cheapest = {call["config"] for call in problem["calls"]} | {problem["library_default"]}
        assert len(curves) == len(cheapest - {None})
        row = next(r for r in problem["configs"] if r["config"] == problem["calls"][-1]["config"])
        assert min(line.get_ydata()[-1] for line in curves) == pytest.approx(row["median_us"] + row["prepare_us"] / 1e6)
        rings = sum(1 < call["from_calls"] <= 1e6 for call in problem["calls"])
        assert sum(len(line.get_xdata()) == 1 for line in ax.lines) == rings


def test_step_is_as_long_as_its_calls(numbers):
    ax = plot.step(numbers)
    ways = numbers.data["steps"][0]["ways"]
    ends = [max(bar.get_x() + bar.get_width() for bar in ax.patches if abs(bar.get_y() + 0.4 - i) < 0.1)
            for i in range(len(ways))]  # fmt: skip
    assert ends == pytest.approx([way["step_us"] for way in ways])


def test_model_draws_what_was_judged(numbers):
    judged = [m for m in numbers.data["models"] if m["problems"]]
    if not judged:
        judged = [
            {"op": "spmm", "backend": "cpu", "policy": "hot", "clock": "host", "folds": 2, "problems": [
                {"measured_us": 10.0, "expected_us": 12.0, "efficiency": {"model": 0.8}},
                {"measured_us": 40.0, "expected_us": 35.0, "efficiency": {"model": 0.2}}]}
        ]  # fmt: skip
        numbers = plot.Numbers({**numbers.data, "models": judged})
    ax = plot.model(numbers, op="spmm")
    dots = ax.lines[1]
    found = max(judged, key=lambda m: len(m["problems"]))["problems"]
    assert list(zip(dots.get_xdata(), dots.get_ydata())) == [(p["measured_us"], p["expected_us"]) for p in found]
    assert "% of the best" in dots.get_label()
    with pytest.raises(gnntune.InvalidArgument, match="folds"):
        plot.model(plot.Numbers({**numbers.data, "models": []}))


def test_colours_are_those_of_the_report_light_and_dark(numbers, db, tmp_path):
    program("report", db, "--graph", "plain", "--folds", 0, "--figures", tmp_path, "--out", tmp_path / "p.html", "-q")
    style = next(tmp_path.glob("configs-*.svg"), None) or next(tmp_path.glob("*.svg"))
    text = style.read_text()
    with plt.style.context("default"):
        light = {to_hex(d.get_edgecolors()[0]) for d in plot.configs(numbers).collections if d.get_zorder() == 2}
    with plt.style.context("dark_background"):
        dark = {to_hex(d.get_edgecolors()[0]) for d in plot.configs(numbers).collections if d.get_zorder() == 2}
    assert light.isdisjoint(dark) and all(color in text for color in light | dark)


def test_reads_what_the_program_says_of_a_file(db):
    whole = json.loads(program("report", db, "--graph", "plain", "--folds", 0, "--json"))
    numbers = plot.read(db, graph="plain", folds=0)
    assert numbers.data["settings"] == whole["data"][0]["settings"]
    assert [g["name"] for g in plot.read(db, graph=["plain", "skewed"], folds=0).data["graphs"]] == ["plain", "skewed"]
    assert "n = 1 problem" in "\n".join(words_of(plot.won(db, graph="plain", k=8)))


def test_a_name_is_no_formula(db, tmp_path):
    name = "$\\frac{1}$ <script> \x07\u202e" + "long" * 1000
    other = tmp_path / "hostile.db"
    other.write_bytes(db.read_bytes())
    with sqlite3.connect(other) as connection:
        connection.execute("update graph set name = ? where name = 'plain'", (name,))
    connection.close()
    numbers = plot.read(other, folds=0)
    assert any(g["name"] == name for g in numbers.data["graphs"])
    for draw in (*GENERAL, *OF_A_GRAPH, plot.step):
        ax = draw(numbers, **({} if draw in GENERAL else {"graph": name}))
        ax.figure.savefig(tmp_path / "figure.png")


def test_errors_name_what_there_is(numbers, db, tmp_path):
    with pytest.raises(gnntune.InvalidArgument, match="'plain'"):
        plot.configs(numbers, graph="nobody")
    with pytest.raises(gnntune.InvalidGraph, match="did you mean plain"):
        plot.won(db, graph="plian")
    with pytest.raises(gnntune.InvalidArgument, match="k = 8, 16"):
        plot.won(numbers, k=7)
    with pytest.raises(gnntune.InvalidArgument, match="library_best"):
        plot.gain(numbers, over="everything")
    with pytest.raises(gnntune.InvalidArgument, match="gcn"):
        plot.step(numbers, step="gat")
    with pytest.raises(gnntune.DatabaseError):
        plot.won(tmp_path / "none.db")


def test_without_matplotlib_an_error_has_the_line_for_pip(db):
    code = (
        "import sys\nsys.modules['matplotlib'] = None\nsys.modules['matplotlib.pyplot'] = None\n"
        "from gnntune import plot\n"
        f"try:\n    plot.won({str(db)!r})\nexcept ImportError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "pip install matplotlib" in done.stdout
