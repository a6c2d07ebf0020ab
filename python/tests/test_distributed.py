"""One graph over several ranks: on the CPU with gloo, in processes of their own; and the cost model."""

from __future__ import annotations

import csv
import importlib
import json
import runpy
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")
import itertools

import distributed_ranks
from scripts import run_script

import gnntune
import gnntune.torch as gt
import gnntune.torch.distributed as gd
from gnntune.torch.distributed import _model, _split, _timing

BENCH = Path(__file__).parents[1] / "bench/distributed.py"
FIGURES = Path(__file__).parents[2] / "tools/scale-figures"

if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
    pytest.skip("torch was built without gloo", allow_module_level=True)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What the ranks of each group found; they are started once."""
    path = tmp_path_factory.mktemp("ranks") / "results.json"
    # A thread each: they are several on few cores.
    done = run_script(distributed_ranks.__file__, path, env={"OMP_NUM_THREADS": "1"}, timeout=400)
    assert done.returncode == 0, done.stderr
    return json.loads(path.read_text())


def failures(found, size, check):
    """Of the ranks of a group, those that did not find it well, and how."""
    return {rank: found.get(str(rank), {}).get(check, "not reached") for rank in range(size)
            if found.get(str(rank), {}).get(check) != "ok"}  # fmt: skip


@pytest.mark.parametrize("check", [check.__name__ for check in distributed_ranks.CHECKS])
@pytest.mark.parametrize("size", distributed_ranks.SIZES)
def test_ranks(found, size, check):
    assert failures(found[str(size)], size, check) == {}


@pytest.mark.parametrize(("size", "check"), [(size, check.__name__) for size, check in distributed_ranks.LOST])
def test_a_rank_that_is_lost_is_an_error_for_the_others(found, size, check):
    assert failures(found[check], size - 1, check) == {}
    assert (str(size - 1) in found[check]) == (check == "a_rank_does_not_come")


# ---- Numbers ----


@pytest.mark.parametrize("n", [0, 1, 4, 5, 301])
@pytest.mark.parametrize("parts", [1, 2, 3, 5])
def test_parts_are_all_and_differ_by_one(n, parts):
    sizes = _split.even(n, parts)
    assert sum(sizes) == n and len(sizes) == parts and max(sizes) - min(sizes) <= 1


def test_columns_are_filled_up_to_whole_vectors():
    found = {(k, size): _split.whole_vectors(k, 2, size) for k in (7, 8, 41, 64) for size in (4, 2)}
    assert found == {(7, 4): 7, (7, 2): 7, (8, 4): 8, (8, 2): 8, (41, 4): 44, (41, 2): 48, (64, 4): 64, (64, 2): 64}
    assert _split.columns(44, 2, 4) == [24, 20] and _split.columns(48, 2, 2) == [24, 24]


@pytest.mark.parametrize("parts", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("k", [0, 1, 2, 7, 16, 33, 128, 602, 1433])
def test_columns_are_all_even_and_wide(k, parts):
    k = _split.whole_vectors(k, parts, 4)
    sizes = _split.columns(k, parts, 4)
    assert sum(sizes) == k and max(sizes) - min(sizes) <= 8
    if k >= 4 * parts:
        assert not any(size % 4 for size in sizes)
    if (k, parts) == (604, 2):
        assert sizes == [304, 300]
    for width in {max(sizes)} - {0}:
        for pattern in _split.patterns(width, 4):
            assert sum(pattern) == width and min(pattern) >= min(32, width)
            slices = _split.slices_of(sizes, pattern)
            for rank, size in enumerate(sizes):
                cuts = [part.by_rank[rank] for part in slices]
                assert cuts[-1][1] - cuts[0][0] == size and all(a <= b for a, b in cuts)
                assert all(a[1] == b[0] for a, b in itertools.pairwise(cuts))


def link(gbps, latency_us=20.0, size=2):
    points = tuple((b, latency_us + b / gbps / 1e3) for b in (1 << 12, 1 << 20, 1 << 26))
    return gd.Link(size, points, tuple((b, 5 + b / 1e6) for b in (1 << 12, 1 << 20, 1 << 26)), (100.0, 150.0, 200.0))


def times(k, size, us_per_column):
    widths = {k, *(w for p in _split.patterns(max(_split.columns(k, size, 4)), 4) for w in p)}
    return {width: _model.Kernel(width * us_per_column) for width in widths}


def test_the_model_knows_when_splitting_pays():
    # About the stand-ins for Reddit and com-Amazon on an H200.
    dense = _model.choose(link(330), 232_965, 128, 2, 4, times(128, 2, 50.0), True)
    sparse = _model.choose(link(330), 334_863, 128, 2, 4, times(128, 2, 1.8), True)
    assert 1.8 < dense.speed_up < 2 and sparse.speed_up < 0.9
    assert len(dense.pattern) > 1, "nothing is hidden behind a single slice"
    # More ranks with the same link and rates: faster, by less than their number.
    more = [_model.choose(link(330), 232_965, 256, p, 4, times(256, p, 50.0), p == 2).speed_up for p in (2, 4, 8)]
    assert more[0] < more[1] < more[2] < 8 and more[1] < 4


def kernels(us_per_column, beside_us=0.0):
    return {width: _model.Kernel(width * us_per_column, beside_us) for width in range(1, 65)}


def test_a_pipeline_takes_what_nothing_hides():
    free = gd.Link(2, ((1, 0.0), (2, 0.0)), ((1, 0.0), (2, 0.0)), (0.0, 0.0, 0.0))
    assert _model.pipeline_us(free, 1000, 2, [40, 24], kernels(1.0), 4, False) == pytest.approx(64)
    # An exchange takes 10 us whatever its size: the first one's way in and the last one's way out are seen.
    ten = free._replace(exchange=((1, 10.0), (2, 10.0)))
    assert _model.pipeline_us(ten, 1000, 2, [64], kernels(1.5625), 4, False) == pytest.approx(120)
    assert _model.pipeline_us(ten, 1000, 2, [32, 32], kernels(1.5625), 4, False) == pytest.approx(120)
    # By blocks of rows, the way out is hidden behind this rank's own block.
    assert _model.pipeline_us(ten, 1000, 2, [64], kernels(1.5625), 4, True) == pytest.approx(110)
    # What runs beside kernels costs them something: one exchange in, one out, and the last one's by blocks.
    costly = kernels(1.5625, beside_us=3.0)
    assert _model.pipeline_us(ten, 1000, 2, [64], costly, 4, False) == pytest.approx(120)
    assert _model.pipeline_us(ten, 1000, 2, [32, 32], costly, 4, False) == pytest.approx(126)
    assert _model.pipeline_us(ten, 1000, 2, [32, 32], costly, 4, True) == pytest.approx(119)
    # Blocks take what they take by their own plans.
    blocks = {width: kernel._replace(blocks_us=0.9 * kernel.us) for width, kernel in kernels(1.5625).items()}
    assert _model.pipeline_us(ten, 1000, 2, [64], blocks, 4, True) == pytest.approx(100)
    assert _model.pipeline_us(ten, 1000, 2, [64], blocks, 4, False) == pytest.approx(120)
    # Where exchanges are slow, they queue: two in, two out, and the last kernel between.
    slow = free._replace(exchange=((1, 100.0), (2, 100.0)))
    assert _model.pipeline_us(slow, 1000, 2, [32, 32], kernels(1 / 32), 4, False) == pytest.approx(400)


def test_the_host_binds_where_it_takes_longer():
    none = gd.Link(2, ((1, 0.0), (2, 0.0)), ((1, 0.0), (2, 0.0)), (50.0, 200.0, 30.0))
    ways = {(f.pattern, f.tail): f for f in _model.ranked(none, 1000, 256, 2, 4, times(256, 2, 2.5), True)}
    assert ways[(128,), False].split_us == ways[(64, 64), False].split_us - 130 == 320
    assert ways[(64, 64), True].split_us == 480 == ways[(64, 64), True].host_us
    best = _model.choose(none, 1000, 256, 2, 4, times(256, 2, 2.5), True)
    assert best.split_us == 320 and best.expected_us == 320 and best.speed_up == 2
    slow = best._replace(tried_us=800.0)
    assert slow.speed_up == 0.8 and "800 us when tried, forecast 320 us" in slow.words()
    assert best.words().endswith("slices of 128 columns")
    assert best._replace(tail=True).words().endswith("slices of 128 columns, the last by blocks of rows")
    # A host that has become slower, or faster than the device: the same split, and what was tried no longer counts.
    later = slow.with_host(none._replace(host=(100.0, 400.0, 30.0)))
    assert later == best._replace(split_us=500, host_us=500) and later.device_us == 320 and later.expected_us == 500
    assert later.with_host(none) == best
    # A long call is tried only where that may show a gain.
    assert _model.worth_a_try(slow) and not _model.worth_a_try(slow._replace(split_us=20_000.0))
    assert _model.worth_a_try(slow._replace(split_us=20_000.0, one_us=11_000.0))


def test_a_round_in_which_all_was_slow_does_not_count(monkeypatch):
    seen, rounds = [], []

    def kernel(graph, ranks, width, dtype, blocks):
        slow = 1.25 if 1 <= len(seen) < 3 else 1.0
        seen.append((width, blocks))
        return _model.Kernel(slow * width, slow, slow * 2 * width if blocks else None)

    monkeypatch.setattr(_timing, "_kernel", kernel)
    ranks = SimpleNamespace(size=2)
    found = _timing.spmm_times(None, ranks, 64, torch.float32, [2], ["a"], lambda: rounds.append(len(seen)))
    assert found == {32: _model.Kernel(32.0, 1.0, 64.0), 64: _model.Kernel(64.0, 1.0, None)}
    assert seen == 2 * [(32, ["a"]), (64, ())] + [(64, ()), (32, ["a"])] and rounds == [1, 2, 3, 4, 5, 6]


def test_what_is_compared_is_called_in_turns():
    made = []
    # Of another rank, which takes twice as long.
    ranks = SimpleNamespace(gather_objects=lambda mine: [mine, [2 * us for us in mine]])
    ways = [
        (_model.Forecast(64, 2, 9.0, us, (32,), False, us, True), lambda us=us: made.append(us))
        for us in (1.2e4, 1.4e4)
    ]
    found = _timing.tried(ranks, torch.device("cpu"), ways)
    assert made == [1.2e4, 1.4e4] * (3 + 15) and [way.split_us for way in found] == [1.2e4, 1.4e4]
    mine = _timing._between_us(torch.device("cpu"), [lambda: time.sleep(0.02), lambda: None], 3)
    assert mine[0] > 20_000 > 10_000 > mine[1]
    assert _timing.in_turns_us(ranks, torch.device("cpu"), [lambda: time.sleep(0.01)], 3)[0] > 20_000


def test_rates_between_and_beyond_what_was_measured():
    found = link(100, 20.0)
    assert found.exchange_us(1) == found.exchange_us(1 << 12)
    assert found.exchange_us(1 << 27) == pytest.approx(20 + (1 << 27) / 1e5)
    assert found.host_us(1) == 250 and found.host_us(2, 1) == 600
    assert found.gbps == pytest.approx(100, rel=0.1)
    assert "GB/s from each of 2 ranks" in found.words()


def test_without_a_group_it_says_what_is_missing():
    graph = gt.Graph(torch.tensor([[0], [1]]), 2)
    with pytest.raises(gnntune.InvalidArgument, match="init_process_group"):
        gd.DistributedGraph(graph)
    with pytest.raises(gnntune.InvalidArgument, match="init_process_group"):
        gd.new_group()


# ---- Devices ----


def test_a_group_of_one_rank_goes_the_same_ways(device, tmp_path):
    """On a GPU: the streams, and NCCL as far as one rank needs it."""
    graph = gt.Graph(torch.randint(0, 400, (2, 5000), device=device), 400)
    x = torch.randn(400, 4, 24, device=device)
    scores = torch.randn(2, 400, 4, device=device)
    backend = "nccl" if device == "cuda" else "gloo"
    torch.distributed.init_process_group(backend, init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        for options in ({}, {"slices": 3}, {"slices": 2, "tail": True}, {"mode": "rows"}, {"mode": "one"}):
            split = gd.DistributedGraph(graph, gd.new_group(), **{"mode": "features", **options})
            for ours, theirs in (
                (lambda t, g=split: gd.spmm(g, t), lambda t: gt.spmm(graph, t)),
                (lambda t, g=split: gd.gcn(g, t.flatten(1)), lambda t: gt.gcn(graph, t.flatten(1))),
                (lambda t, g=split: gd.gat(g, t, *scores), lambda t: gt.gat(graph, t, *scores)),
            ):
                mine, whole = x.clone().requires_grad_(), x.clone().requires_grad_()
                y, wanted = ours(mine), theirs(whole)
                for t in (y, wanted):
                    t.square().sum().backward()
                torch.testing.assert_close(y, wanted, rtol=1e-4, atol=1e-4)
                torch.testing.assert_close(mine.grad, whole.grad, rtol=1e-3, atol=1e-3)
        assert gd.measure_link(split.ranks, split.device).gbps > 0
    finally:
        torch.distributed.destroy_process_group()


@pytest.mark.cuda
def test_two_gpus(tmp_path, cora):
    if torch.cuda.device_count() < 2:
        pytest.skip("there is one CUDA device")
    words = [sys.executable, str(BENCH), str(cora), "--out", str(tmp_path), "--parts", "check", "--tune", "0"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "checks: 75, 0 wrong" in done.stdout, done.stdout + done.stderr


# ---- A tuning that is shared out ----


def test_torchrun_starts_the_ranks_of_a_tuning(tmp_path, cora):
    words = ["--nproc-per-node", "2", "--no-python", str(gnntune.program_path()), "tune", "--shard", "auto", str(cora)]
    words += ["--work", "work", "--db", "all.db", "--device", "cpu", "--op", "spmm", "--dim", "8,16"]
    words += ["--max-samples", "5"]
    launch = [sys.executable, "-m", "torch.distributed.run", *words]
    done = subprocess.run(launch, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    # A unit that other programs spoilt is left, which torchrun tells as a failure.
    for rank in range(2):
        assert f"rank {rank} of 2 (RANK and WORLD_SIZE)" in done.stderr, done.stderr
        assert (tmp_path / f"work/rank-{rank}.db").exists()
    assert len((tmp_path / "work/units").read_text().splitlines()) == 2


# ---- The benchmark ----


def test_the_benchmark_writes_rows_a_table_and_the_page(cora, tmp_path):
    words = [
        cora,
        "--out",
        tmp_path,
        "--backend",
        "gloo",
        "--dims",
        "16",
        "--calls",
        "3",
        "--turns",
        "2",
        "--tune",
        "0.02",
    ]
    words += ["--parts", "link,spmm,gcn"]  # the checks are those of the ranks above
    done = run_script(BENCH, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    with (tmp_path / "distributed.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["part"] for row in rows} == {"link", "spmm", "gcn"}
    losses = [float(row["value"]) for row in rows if row["what"] == "loss"]
    assert len(losses) == 20 and losses[-1] < losses[0]
    assert losses[::2] == pytest.approx(losses[1::2], rel=1e-5)
    # So small a graph is bound by the host, but beside other programs: the forecast is then renewed before each turn.
    found = [row for row in rows if row["what"] == "chosen: forecast, host meanwhile"]
    assert len(found) <= 1
    for renewed in found:
        turns = [float(word) for word in renewed["note"].removeprefix("turns ").split()]
        assert len(turns) == 2 and float(renewed["value"]) == pytest.approx(sum(turns) / 2, rel=1e-4)
    line = next(line for line in done.stdout.splitlines() if line.startswith("cora"))
    (form,) = [row["form"] for row in rows if row["what"] == "chosen"]
    times = {row["form"]: float(row["value"]) for row in rows if row["part"] == "spmm" and row["what"] == "time"}
    one, split = times["whole"], times[form]
    assert float(line.split()[4]) == pytest.approx(one / split, abs=0.006)
    if not FIGURES.exists():
        return
    figures = runpy.run_path(str(FIGURES))
    page = figures["shown"](figures["PAGE"].read_text(), rows)
    assert f"| `cora` | 16 | {one:.1f} |" in page and "Forecast, not measured" in page
    assert "Not measured yet" not in page


def test_a_unit_is_written_whole_and_known_afterwards(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(BENCH.parent))
    rows = runpy.run_path(str(BENCH.with_name("distributed_rows.py")))["Rows"]
    first = rows(tmp_path / "rows.csv", {"device": "cpu"}, True)
    first.add(part="spmm", graph="a", k=64, value=1.5)
    assert not rows(tmp_path / "rows.csv", {}, False).has("spmm", "a", 64)
    first.done()
    again = rows(tmp_path / "rows.csv", {}, True)
    assert again.has("spmm", "a", 64) and not again.has("spmm", "a", 128) and not again.has("gcn", "a", 64)
    again.add(part="gcn", graph="a", k=64, value=2)
    again.done()
    with (tmp_path / "rows.csv").open(newline="") as file:
        assert [row["part"] for row in csv.DictReader(file)] == ["spmm", "gcn"]


def test_what_drifts_is_summed_up(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(BENCH.parent))
    drift = importlib.import_module("drift")
    base = {"rank": 0, "part": "load", "form": "64+64 by blocks", "rest": 2.0}
    # A call each 10 ms, longer from 100 to 150 ms; the driver is late.
    calls = [(10 * i, 1150 if 100 <= 10 * i < 150 else 1000, 1100 if 100 <= 10 * i < 150 else 1700) for i in range(40)]
    rows = [{**base, "what": "call", "ms": ms, "us": us, "mhz": mhz} for ms, us, mhz in calls]
    rows += [
        {**base, "what": "driver", "ms": ms, "mhz": 1980, "watts": 700, "why": why}
        for ms, why in ((120, "0x4"), (140, "0x1"))
    ]
    rows += [{"rank": 0, "part": "x", "form": "64 columns", "round": i, "what": f"place {p}", "us": us}
             for p, times in enumerate(((10, 30, 11), (12, 12, 12))) for i, us in enumerate(times)]  # fmt: skip
    rows.append({"rank": 0, "part": "host", "form": "parts", "what": "copy, host", "why": "20 30"})
    with (tmp_path / "drift_0.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, drift.COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    (tmp_path / "facts.json").write_text(json.dumps({"device": "a GPU", "commit": "abc", "date": "today"}))
    drift.summarise(tmp_path, tmp_path / "found.csv")
    with (tmp_path / "found.csv").open(newline="") as file:
        found = list(csv.DictReader(file))
    load = [row for row in found if row["part"] == "load"]
    assert [row["ms"] for row in load] == [str(ms) for ms in range(0, 400, 50)] and load[0]["watts"] == ""
    assert (load[2]["us"], load[2]["mhz"], load[2]["watts"], load[2]["why"]) == ("1150.0", "1100", "700", "0x5")
    assert [(row["what"], row["us"], row["most"]) for row in found if row["part"] == "x"] == [
        ("place 0", "11.0", "30.0"), ("place 1", "12.0", "12.0")]  # fmt: skip
    assert [row["us"] for row in found if row["part"] == "host"] == ["20", "30"]
    if FIGURES.exists():
        figures = runpy.run_path(str(FIGURES))
        (line,) = [line for line in figures["load"](found) if "64+64" in line]
        assert "| 1,150 | 1,100 | +15.0 % | 0.10 to 0.15 |" in line, line
        assert [line for line in figures["host"](found) if line.endswith("| 20 | 30 | 1.5 |")]
