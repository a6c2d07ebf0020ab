#!/usr/bin/env python3
"""tools/kernel-figures, tools/python-figures, tools/chip-figures, tools/scale-figures, tools/corpus and tools/scripts/figures on small tables that are written here: sides
of a ratio, policies kept apart, what a table says of a search, a run that goes on from another, two runs side by side, sums of two GPUs."""
import contextlib
import csv
import gzip
import importlib.machinery
import importlib.util
import io
import json
import lzma
import pathlib
import sqlite3
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True  # the source tree may be read-only


def program(name):
    """A script of tools/ as a module."""
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(ROOT / "tools" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


figures = program("kernel-figures")
models = program("model-figures")
whole = program("end-to-end-figures")
package = program("python-figures")
scale = program("scale-figures")
chosen = program("corpus")
chips = program("chip-figures")
from figures import aims, tables  # noqa: E402
from figures.compositions import compositions_table, parts_of  # noqa: E402
from figures.corpus import corpus_rows  # noqa: E402
from figures.database import short_problem, suite_rows  # noqa: E402
from figures.early import early_table, given_up  # noqa: E402
from figures.gcn import gcn_rows, gcn_tables  # noqa: E402
from figures.headline import headline_table  # noqa: E402
from figures.other_gpu import cells_beside  # noqa: E402
from figures.left_out import left_out, left_out_table, searched  # noqa: E402
from figures.loops import loops_tables, with_by_without  # noqa: E402
from figures.unpacked import unpacked  # noqa: E402
from figures.suite import UNDER_GRAPH, Suite, gradient_of_spmm, own  # noqa: E402
from figures.windows import windows_table  # noqa: E402

DEFAULT = "spmm.cusparse{alg=default,preprocess=0}"
OTHER = "spmm.cusparse{alg=csr_alg2,preprocess=0}"
OURS = "spmm.binned{vec=4}"
UNFUSED = "spmm_grad.unfused{spmm=spmm.rows{vec=4,split=1},sddmm=sddmm.edges{vec=2}}"


def row(problem, config, time, graph="g", policy="hot", **more):
    return {"graph": graph, "problem": problem, "config": config, "time_us": str(time), "ci_us": "0.1", "roofline_percent": "50",
            "clock": "events", "policy": policy, "status": "ok", "default": "", "configs": "", "run": "0", **more}


def suite(*rows):
    return Suite(rows, [{"name": name, "m": "1000000", "distinct_cols_16": "1000"} for name in sorted({r["graph"] for r in rows})])


def named(comparisons, start):
    found = [ratios for what, ratios in comparisons if what.startswith(start)]
    assert len(found) == 1, f"{len(found)} rows begin with {start}"
    return found[0]


def choice(part, op, strategy, geomean, worst, kind="all"):
    return {"part": part, "op": op, "kind": kind, "strategy": strategy, "cases": "7", "geomean_percent": str(geomean),
            "worst_percent": str(worst), "share_95_percent": "50", "lost_percent": "3"}


class Tables(unittest.TestCase):
    def test_packed_or_not_they_come_back(self):
        rows = [{"a": "1", "b": "é, \"x\""}, {"a": "", "b": "2"}]
        with tempfile.TemporaryDirectory() as folder:
            for name, begins in (("t.csv", b"a,b\n"), ("t.csv.gz", b"\x1f\x8b"), ("t.csv.xz", b"\xfd7zXZ")):
                path = pathlib.Path(folder) / name
                tables.write(path, ("a", "b"), rows)
                first = path.read_bytes()
                self.assertTrue(first.startswith(begins), name)
                self.assertEqual(tables.read(path), rows)
                tables.write(path, ("a", "b"), [{**r, "c": "3"} for r in rows], "ignore")
                self.assertEqual(path.read_bytes(), first)
            with self.assertRaises(ValueError):
                tables.write(path, ("a",), rows)
            missing = pathlib.Path(folder) / "none.csv.gz"
            self.assertEqual(tables.read(missing, optional=True), [])
            with self.assertRaises(FileNotFoundError):
                tables.read(missing)


class Windows(unittest.TestCase):
    def test_the_fastest_of_each_kind_beside_the_fastest_gathering_kernel(self):
        s = suite(row("spmm k=16", "spmm.binned{vec=4}", 20), row("spmm k=16", "spmm.rows{vec=4}", 25), row("spmm k=16", "spmm.mma{vec=1}", 10),
                  row("spmm k=16", "spmm.dense_blocks{vec=1}", 15), row("spmm k=16", "spmm.mma_tf32{vec=1}", 5), row("spmm k=16", DEFAULT, 1),
                  row("spmm k=16", "spmm.dense{array=run}", 2))
        table = "\n".join(windows_table(s, lambda _: True))
        self.assertIn("| `spmm` | at fp32 accuracy | 2.00x `mma` |", table)
        self.assertIn("| `spmm` | in TF32 | 4.00x `mma_tf32` |", table)
        self.assertNotIn("sddmm", table)
        self.assertEqual(windows_table(s, lambda _: False), [])


class Models(unittest.TestCase):
    def test_margins_have_a_row_for_each_op_with_a_default(self):
        rows = [choice("spmm", "spmm", f"model_or_default {m} %", 90 + m / 10, 50 + m) for m in models.MARGINS]
        rows += [choice("spmm", "spmm", "default", 80, 40), choice("ops", "agnn_grad", "model", 95, 70)]
        table = list(models.margins_table(rows))
        self.assertEqual(len(table), 3)
        self.assertIn("| **2 %** |", table[0])
        self.assertTrue(table[2].startswith("| `spmm`, plain | 7 | 80.00, 40.0 | 90.00, 50.0 | "), table[2])
        self.assertTrue(table[2].endswith(" | 91.00, 60.0 |"), table[2])

    def test_complete_ones_stand_beside_all(self):
        rows = [choice(part, "gat", strategy, mean, 60) for part, mean in (("kinds_ops", 94), ("kinds_complete", 97))
                for strategy in ("model", "model_or_default")]
        self.assertEqual(list(models.complete_table(rows))[2:], ["| `gat` | 7 | 94.00, 60.0 | 94.00, 60.0 | 97.00, 60.0 | 97.00, 60.0 |"])

    def test_what_two_sides_are_called(self):
        rows = [choice(part, "spmm", strategy, mean, 60) for part, mean in (("spmm", 94), ("spmm_both", 97))
                for strategy in ("model", "model_or_default", "model_3")]
        table = list(models.both_table(rows))
        self.assertIn("| `model`: by the H200 | `model`: by the H200 and the H100 |", table[0])
        self.assertEqual(table[2], "| `spmm`, plain | 7 | " + " | ".join(["94.00, 60.0 | 97.00, 60.0"] * 3) + " |")
        self.assertIn("Of the 1 rows of plain problems the mean of `model` is higher by both in 1, by up to 3.00, and lower in none.", table[-1])

    def test_what_was_made_again_leaves_history_as_it_was(self):
        rows = [choice(part, "spmm", strategy, mean, 60) for part, mean in (("spmm_before", 91), ("spmm_both", 97), ("spmm_both_then", 94))
                for strategy in ("model", "model_or_default", "model_3")]
        self.assertEqual(list(models.change_table(rows, "_before", "_both", superseded="_then"))[2],
                         "| `spmm`, plain | 7 | " + " | ".join(["91.00, 60.0 | 94.00, 60.0"] * 3) + " |")
        self.assertEqual(list(models.change_table(rows[:-3], "_before", "_both", superseded="_then"))[2],
                         "| `spmm`, plain | 7 | " + " | ".join(["91.00, 60.0 | 97.00, 60.0"] * 3) + " |")

    def test_aims_that_are_missed_name_the_op(self):
        rows = [choice("spmm_both", "spmm", "model_or_default", 96, 80), choice("kinds_spmm_both", "spmm", "model_or_default", 96, 80),
                *(choice("kinds_ops_both", op, "model_or_default", *((94, 70) if op == "gat" else (97, 90))) for op in aims.OPS[1:])]
        lines = list(aims.of_models(rows))
        self.assertTrue(lines[0].startswith("| first choice (`model_or_default`) of `spmm`, the H200's plain problems: mean | 97 | 96.00 | no |"), lines[0])
        self.assertIn("| 95 | 94.00 or more (`gat`) | no |", lines[2])
        self.assertIn("| 75 | 8 of 9 ops; not `gat` 70.0 | no |", lines[3])
        with self.assertRaises(SystemExit) as missing:
            list(aims.of_models(rows[:-1]))
        self.assertIn("no row of model_or_default of attention_grad in", str(missing.exception))
        with self.assertRaises(SystemExit) as missing:
            list(aims.of_chips([]))
        self.assertIn("no row of h200, spmm, 0, model", str(missing.exception))

    def test_defaults_of_two_builds_stand_side_by_side(self):
        rows = [choice(part, op, "default", mean, worst, kind) for part, mean, worst in (("widths_defaults_before", 80, 10), ("widths_defaults", 90, 50))
                for op in ("spmm",) + models.OPS for kind in ("all", "f32", "f16", "bf16")]
        table = list(models.changed_defaults_table(rows))
        self.assertEqual(table[0], "| op | problems | f32: before | f32: now | f16: before | f16: now | bf16: before | bf16: now |")
        self.assertEqual(table[2], "| `spmm` | 7 | " + " | ".join(["80.00, 10.0 | 90.00, 50.0"] * 3) + " |")
        self.assertEqual(len(table), 2 + 1 + len(models.OPS))

    def test_first_choices_are_of_the_corpus_that_is_named(self):
        rows = [choice(f"{corpus}_{part}_both", op, strategy, mean + shift, 50) for corpus, mean in (("kinds", 60), ("widths", 80))
                for part, ops in (("spmm", ("spmm",)), ("ops", models.OPS)) for op in ops for strategy, shift in (("model_or_default", 9), ("default", 0))]
        self.assertEqual(list(models.shipped_table(rows))[2], "| `spmm` | 7 | 69.00 | 50.0 | 60.00 | 50.0 |")
        self.assertEqual(list(models.shipped_table(rows, "widths"))[-1], "| `attention_grad` | 7 | 89.00 | 50.0 | 80.00 | 50.0 |")

    def test_what_is_missing_is_named(self):
        with self.assertRaises(SystemExit) as missing:
            list(models.defaults_table([choice("defaults", "spmm", "default", 90, 50)], "defaults_before"))
        self.assertIn("defaults_before", str(missing.exception))


class Chips(unittest.TestCase):
    """tools/chip-figures: scores of cases, and of those that both GPUs were asked about."""

    def cases(self):
        rows = [("cora", "spmm k=64 f32 sum weighted forward", 80), ("cora", "spmm k=16 f32 sum weighted forward", 100),
                ("cora", "spmm k=33 f32 sum weighted forward", 10), ("cora", "spmm k=64 f16 sum weighted forward", 20),
                ("cora", "spmm k=64 f32 sum weighted forward self_loop", 30), ("tiles_280", "spmm k=64 f32 sum weighted forward", 40),
                ("cora", "spmm k=32 f32 sum weighted forward", "")]  # no time: not counted
        return [{"op": "spmm", "graph": graph, "problem": problem, "strategy": "model", "efficiency_percent": str(percent)} for graph, problem, percent in rows]

    def test_scores(self):
        (score,) = chips.scored(self.cases())
        self.assertEqual((score["cases"], score["worst_percent"]), ("6", 10))
        self.assertAlmostEqual(score["geomean_percent"], (80 * 100 * 10 * 20 * 30 * 40) ** (1 / 6))
        self.assertAlmostEqual(score["share_95_percent"], 100 / 6)

    def test_problems_of_both(self):
        (score,) = chips.scored(chips.asked_of_both(self.cases()))
        self.assertEqual((score["cases"], score["worst_percent"]), ("2", 80))

    def test_a_seed_gives_both_rows(self):
        rows = [{**case, "strategy": "model_or_default"} for case in self.cases()]
        found = {r["few"]: r for r in chips.seeded("today", "h100", "0", "3", rows)}
        self.assertEqual({few: r["worst_percent"] for few, r in found.items()}, {"0": "10.000", "0_alike": "80.000"})
        self.assertEqual([r["few"] for r in chips.seeded("today", "h200", "own", "3", rows)], ["own"])


class Sides(unittest.TestCase):
    def test_policies_are_kept_apart(self):
        s = suite(row("spmm k=16", OURS, 8), row("spmm k=16", DEFAULT, 20), row("spmm k=16", OTHER, 12),
                  row("spmm k=16", OURS, 2, policy="graph"), row("spmm k=16", DEFAULT, 18, policy="graph"),
                  row("spmm k=16", OTHER, 10, policy="graph"))
        self.assertEqual([c[0] for c in figures.over_library(s).cases], [1.5])
        self.assertEqual([c[0] for c in figures.over_default(s).cases], [2.5])
        self.assertEqual([c[0] for c in figures.over_library(s, UNDER_GRAPH).cases], [5.0])
        self.assertEqual([c[0] for c in figures.over_default(s, UNDER_GRAPH).cases], [9.0])
        text = "\n".join(figures.tables(s, [], [{"gpu": "G", "driver": "1", "cuda": "13", "date": "d", "commit": "c", "cases": ""}], []))
        self.assertIn("| `spmm` under policy graph, both sides replayed, beside the best cuSPARSE algorithm | 1 | 5.00x |", text)
        self.assertIn("`spmm under graph` on 1 graph", text)

    def test_a_part_of_the_library_is_not_ours(self):
        self.assertTrue(own("spmm_grad.unfused", UNFUSED))
        self.assertFalse(own("spmm_grad.unfused", UNFUSED.replace("spmm.rows", "spmm.cusparse")))

    def test_gradients_count_the_fastest_composition(self):
        rows = [row("spmm k=16 reversed", DEFAULT, 20), row("sddmm k=16 unweighted", "sddmm.cusparse", 10),
                row("spmm_grad k=16", "spmm_grad.binned{vec=4}", 15), row("spmm_grad k=16", UNFUSED, 10)]
        self.assertEqual([c[0] for c in gradient_of_spmm(suite(*rows)).cases], [3.0])
        # Another run's product is no side of it.
        self.assertEqual(gradient_of_spmm(suite(dict(rows[0], run="1"), *rows[1:])).cases, [])
        # Forward, cuSPARSE has nothing to permute.
        s = suite(row("spmm k=16", DEFAULT, 15), *rows[1:])
        self.assertEqual([c[0] for c in gradient_of_spmm(s, direction="").cases], [2.5])

    def test_parts_of_compositions(self):
        self.assertEqual(parts_of(UNFUSED), [("spmm", "spmm.rows"), ("sddmm", "sddmm.edges")])
        self.assertEqual(parts_of("gat.unfused{spmm=default}"), [("spmm", "default")])
        lines = compositions_table(suite(row("spmm_grad k=16", "spmm_grad.binned{vec=4}", 20), row("spmm_grad k=16", UNFUSED, 10),
                                         row("spmm_grad k=64", "spmm_grad.binned{vec=4}", 5), row("spmm_grad k=64", UNFUSED, 10)))
        self.assertEqual(lines[-1], "| `spmm_grad` | 2 | 1 | 2.00x | sddmm `sddmm.edges` 1, spmm `spmm.rows` 1 |")


class Hidden(unittest.TestCase):
    def test_the_default_alone_and_long_calls(self):
        s = suite(row("spmm k=16", OURS, 40, default="1"), row("spmm k=16", "spmm.rows{vec=4}", 20), row("spmm k=16", OTHER, 60),
                  row("spmm k=16", DEFAULT, 80), row("spmm k=32", OURS, 5, default="1"), row("spmm k=32", OTHER, 4))
        found = list(left_out(s, [], []))
        self.assertEqual([c[0] for c in named(found, "`spmm`, our default config alone").cases], [1.5, 0.8])
        self.assertEqual([c[0] for c in named(found, "`spmm`, our default beside cuSPARSE's").cases], [2.0])
        self.assertEqual([c[0] for c in named(found, "`spmm`, best beside best, where cuSPARSE").cases], [3.0])
        self.assertEqual([c[0] for c in named(found, "`spmm`, best beside best, where ours").cases], [0.8])
        table = left_out_table(s, [], [])
        self.assertIn("| `spmm`, our default config alone beside the best cuSPARSE algorithm | 2 | 1.10x | 1 | 1 | 0.80x (`g`, k=32) |", table)

    def test_the_faster_type_of_the_library(self):
        half = "spmm.cusparse_f16{alg=default,preprocess=0}"
        s = suite(row("spmm k=16", DEFAULT, 12), row("spmm k=16 f16", half, 20), row("spmm k=16 f16", OURS, 4))
        self.assertEqual([c[0] for c in named(left_out(s, [], []), "`spmm` in f16").cases], [3.0])

    def test_own_tf32_alone(self):
        peer = {"op": "spmm", "precision": "tf32", "graph": "g", "k": "16", "heads": "1", "time_us": "30", "ours": OURS, "ours_us": "10"}
        s = suite(row("spmm k=16", OURS, 10), row("spmm k=16", "spmm.mma_tf32{warps=4}", 20))
        ratios = named(left_out(s, [peer], []), "`spmm` in TF32")
        self.assertEqual([c[0] for c in ratios.cases], [1.5])
        self.assertIn("it is an fp32 kernel in 1 of 1", "\n".join(left_out_table(s, [peer], [])))

    def test_the_corpus(self):
        corpus = [{"graph": "a", "k": "16", "own_us": "10", "library_us": "9", "default_library_us": "20", "default_us": ""},
                  {"graph": "b", "k": "16", "own_us": "10", "library_us": "20", "default_library_us": "", "default_us": "16"}]
        found = list(left_out(suite(row("spmm k=16", OURS, 1)), [], corpus))
        self.assertEqual([c[0] for c in named(found, "`spmm`, best beside best, 2 graphs").cases], [0.9, 2.0])
        self.assertEqual([c[0] for c in named(found, "our default config alone beside the best").cases], [1.25])

    def test_what_was_given_up_early_is_said(self):
        unfused, mine = "gat.unfused{spmm=default}", "gat.rows{vec=4}"
        s = suite(row("gat k=8", mine, 10), row("gat k=8", unfused, 40, status="abandoned", ci_us="2"),
                  row("gat k=16", mine, 10), row("gat k=16", unfused, 50, status="abandoned", ci_us="10"),
                  row("gat k=64", mine, 10), row("gat k=64", unfused, 20, ci_us="15"),
                  row("gat k=64", "gat.unfused{spmm=spmm.rows{vec=4}}", 90, status="abandoned", ci_us="45"),
                  row("gat_grad k=8", "gat_grad.rows{vec=4}", 10), row("gat_grad k=8", "gat_grad.unfused{spmm=default}", 20),
                  row("spmm k=16", OURS, 8), row("spmm k=16", DEFAULT, 20))
        gat = r"gat k=(?P<k>\d+)( heads=\d+)?"
        self.assertEqual(given_up(s, gat, figures.composed), (2, 3, 0.2))
        table = early_table(s)
        self.assertIn("| `gat` beside `gat.unfused` | 3 | 2 | ±20.0 % |", table)
        self.assertIn("| `spmm` beside cuSPARSE's fastest | 1 | 0 |  |", table)
        self.assertIn("| `gat_grad` beside `gat_grad.unfused` | 1 | 0 |  |", table)
        self.assertFalse([line for line in table if "f16" in line], "none of it was measured")
        about = [{"gpu": "G", "driver": "1", "cuda": "13", "date": "d", "commit": "c", "cases": ""}]
        page = figures.tables(s, [], about, [])
        self.assertEqual(page[page.index(table[0]):][:len(table)], table)
        self.assertIn("2 of 3 cases of `gat` (95 % interval", "\n".join(headline_table(s, about, [], "n", "link")))
        self.assertEqual(early_table(suite(row("spmm k=16", OURS, 8), row("spmm k=16", DEFAULT, 20))), [])

    def test_a_search_is_said(self):
        of = {"configs": "3"}
        s = suite(row("spmm k=16", OURS, 8, policy="graph", **of), row("spmm k=16", DEFAULT, 9, policy="graph", **of),
                  *(row("spmm k=16", config, 9, configs="2") for config in (OURS, DEFAULT)))
        self.assertEqual(searched(s)[-1], "| `spmm under graph` | 2 | 3 |")
        self.assertFalse([line for line in searched(s) if line.startswith("| `spmm` ")], "all of it was measured")


class Headline(unittest.TestCase):
    ABOUT = [{"gpu": "G", "driver": "1", "cuda": "13", "date": "d", "commit": "c"}, {"gpu": "G", "driver": "1", "cuda": "13", "date": "e", "commit": "b"}]

    def lines(self, *rows, spread=()):
        return headline_table(suite(*rows), self.ABOUT, spread, "note", "link")

    def test_every_ratio_says_how_many_times_as_fast_ours_is(self):
        lines = self.lines(row("spmm k=16", OURS, 10), row("spmm k=16", DEFAULT, 40), row("spmm k=16", OTHER, 20), row("spmm k=16 self_loop", OURS, 12.5))
        self.assertIn("| `spmm` | cuSPARSE's fastest algorithm for the case | 2.00x | 2.00x (`g`, k=16) | 16 | 1, 1 |", lines)
        self.assertIn("| `spmm` | cuSPARSE's default algorithm | 4.00x | 4.00x (`g`, k=16) | 16 | 1, 1 |", lines)
        self.assertNotIn("self loops", "\n".join(lines), "nothing else is timed with them")

    def test_what_the_means_do_not_show(self):
        rows = [row("spmm k=16", OURS, 20, default="1"), row("spmm k=16", "spmm.rows{vec=4}", 10), row("spmm k=16", OTHER, 15),
                row("spmm k=16", OURS, 5, policy="graph"), row("spmm k=16", OTHER, 15, policy="graph")]
        spread = [{"graph": "a", "k": "16", "own_us": "10", "library_us": "8", "default_us": "12"},
                  {"graph": "b", "k": "16", "own_us": "10", "library_us": "8", "default_us": ""}]
        text = "\n".join(self.lines(*rows, spread=spread))
        self.assertIn("Our plain `spmm` is the fastest of 2 configs that were timed, cuSPARSE's the fastest of 1.\n", text)
        self.assertIn("`spmm` on 1 graphs (G, widths of 16) is 0.67x as fast as cuSPARSE's fastest, slower in 1 of 1 cases, 0.67x at worst.", text)
        self.assertIn("both sides replayed) `spmm` is 3.00x as fast as cuSPARSE's fastest, slower in none of 1 cases", text)
        self.assertIn("*On more graphs,* most of them generated: `spmm` on 2 graphs (G, widths of 16) is 0.80x", text)

    def test_what_was_searched_is_said(self):
        rows = [row("spmm k=16", config, 10, configs="2") for config in (OURS, OTHER)]
        for problem in ("spmm_grad k=16", "spmm k=16 self_loop", "sddmm k=16 unweighted"):
            rows.append(row(problem, OURS, 10, configs="9"))
        self.assertIn(" Of `spmm` with self loops and `spmm_grad` ours were [searched](docs/measuring.md#search), cuSPARSE's all timed.\n",
                      "\n".join(self.lines(*rows)))

    def test_attention_without_its_gradient_in_one_run_is_said(self):
        sides = ("gat.unfused{spmm=default}", 40), ("gat.rows{vec=4}", 10)
        rows = [row("gat k=8", config, time, run="0") for config, time in sides] + [row("gat k=16", config, time) for config, time in sides]
        for k, run in ((8, "1"), (16, "0")):
            rows += [row(f"gat_grad k={k}", config.replace("gat", "gat_grad"), time, run=run) for config, time in sides]
        rows.append(row("gat k=64", sides[0][0], 90, status="abandoned", ci_us="1"))
        text = "\n".join(self.lines(*rows))
        self.assertIn("The table leaves out 1 cases (on `g`), whose `gat` and `gat_grad` were not timed in one run.", text)

    def test_widths_and_graphs_that_take_no_part_are_said(self):
        wide = [row(f"spmm k={k}", config, time) for k in (16, 32, 64, 128) for config, time in ((OURS, 10), (OTHER, 20))]
        made = [row("spmm k=16", OURS, 10, graph="standin/h"), row("spmm k=16", OTHER, 20, graph="standin/h")]
        replayed = [row("spmm k=16", config, time, policy="graph") for config, time in ((OURS, 10), (OTHER, 20))]
        text = "\n".join(self.lines(*wide, *made, *replayed))
        self.assertIn("| 16 to 128 | 5, 2 |", text)
        self.assertIn("slower in none of 1 cases, 2.00x at worst (without the generated graphs).", text)

    def test_another_gpu_has_a_column_of_the_cases_that_it_has(self):
        first = suite(*(row(f"spmm k={k}", config, time) for k in (16, 32) for config, time in ((OURS, 10), (OTHER, 20))),
                      row("spmm k=16", DEFAULT, 40))
        cells = cells_beside(suite(row("spmm k=16", OURS, 10), row("spmm k=16", OTHER, 30)), first)
        self.assertEqual(cells[:3], ["3.00x, 3.00x (1 of the cases)", "", ""])
        wide = suite(*(row(f"spmm k={k}", config, time) for k in (16, 32, 64) for config, time in ((OURS, 10), (OTHER, 20))))
        self.assertEqual(cells_beside(suite(row("spmm k=16", OURS, 10), row("spmm k=16", OTHER, 30)), wide)[0], "",
                         "less than half of the cases stand for nothing")
        lines = headline_table(first, self.ABOUT, [], "note", "link", [("MAKER H1", cells, False)])
        self.assertIn("The last column is of one MAKER H1, another day and commit", lines[0])
        self.assertNotIn("searched", lines[0])
        lines = headline_table(first, self.ABOUT, [], "note", "link", [("MAKER H1", cells, True)])
        self.assertIn("Our configs were searched there, not all timed. A search leaves out slow configs; a cell is empty where", lines[0])
        self.assertTrue(lines[2].endswith("| cases, graphs | H1: mean, worst case |"))
        self.assertTrue(lines[4].endswith("| 16, 32 | 2, 1 | 3.00x, 3.00x (1 of the cases) |"), lines[4])
        self.assertTrue(lines[5].endswith("| 16 | 1, 1 |  |"), "another side has rows of its own, or none")

    def test_the_runs_that_count_are_named(self):
        theirs, ours = row("spmm k=16", OTHER, 15, run="1"), row("spmm k=16", OURS, 10, run="1")
        self.assertIn("commits `b` (e); link.", self.lines(theirs, ours)[-2])
        self.assertEqual(self.lines(row("sgt", "sgt.cuda", 1)), [])


class Loops(unittest.TestCase):
    ROWS = [row("spmm k=16", OURS, 10), row("spmm k=16 self_loop", OURS, 10.5), row("spmm k=64 self_loop", OURS, 13), row("spmm k=64", OURS, 10),
            row("spmm k=16 self_loop", DEFAULT.replace("cusparse", "cusparse_loops"), 21)]

    def test_with_by_without(self):
        lines = loops_tables(suite(*self.ROWS))
        self.assertIn("| 16 | 1 | 1.05x | 1.050x (`g`, k=16 self_loop) | 2.00x | 2.00x (`g`, k=16 self_loop) | 2.00x |", lines)
        self.assertIn("| all | 1 | 1.17x | 1.300x (`g`, k=64 self_loop) | 2.00x | 2.00x (`g`, k=16 self_loop) | 2.00x |", lines)
        self.assertIn("a mean of 1.10x, not reached; none above 1.3x, reached", lines[0])
        self.assertIn("a mean of 1.10x, reached; none above 1.3x, reached", loops_tables(suite(*self.ROWS[:2]))[0])
        # Two decimals would show it as reached.
        over = loops_tables(suite(*self.ROWS[:3], row("spmm k=64", OURS, 9.969)))
        self.assertIn("none above 1.3x, not reached", over[0])
        self.assertTrue(any("| 1.304x (`g`, k=64 self_loop) |" in line for line in over))
        self.assertIn("| `g` | 10.5 / 10.0 | 13.0 / 10.0 |  |", lines)

    def test_runs_are_not_mixed(self):
        s = suite(dict(self.ROWS[0], run="1"), *self.ROWS[1:])
        self.assertEqual([c[3] for c in with_by_without(s).cases], [64])

    def test_what_they_cost_is_said_in_time(self):
        about = [{"gpu": "G", "driver": "1", "cuda": "13", "date": "d", "commit": "c"}]
        text = "\n".join(headline_table(suite(*self.ROWS, row("spmm k=16", OTHER, 20)), about, [], "n", "link"))
        self.assertIn("They cost `spmm` 17 % more time in the mean, 30 % at worst. With them `spmm` is 2.00x as fast as the fastest of cuSPARSE", text)
        self.assertNotIn("| what self loops cost", text)


class Covered(unittest.TestCase):
    @staticmethod
    def row(graph, problem, time="", **more):
        return {"graph": graph, "problem": problem, "op": problem.split()[0], "kinds": "plain", "config": OURS, "time_us": time, "sibling": "",
                "sibling_us": "", "ratio": "", "bound": "", "verdict": "ok" if time else "left_out", "must": "1", "fails": "0", "policy": "hot",
                "clock": "events", "reason": "", **more}

    def test_what_was_never_timed_is_said_of_each_graph(self):
        looped = {"kinds": "self_loop", "ratio": "1.1", "bound": "1.15", "sibling_us": "10"}
        rows = [self.row("g", "spmm k=64", "10"), self.row("g", "spmm k=64 self_loop", "11", **looped), self.row("g", "gat k=64"),
                self.row("h", "spmm k=64", "10"), self.row("h", "spmm k=64 self_loop", kinds="self_loop"), self.row("h", "gat k=64", "9")]
        lines = figures.coverage_tables(rows, None, "")
        self.assertIn("Of 3 legal problems 2 on `g` and 2 on `h` have a time.", lines[0])
        self.assertIn("Never timed on `g`: `gat`.", lines)
        self.assertFalse(any(line.startswith("Never timed on `h`") for line in lines))
        self.assertIn("| self_loop | 1.15x | 1 | 1.10x | 1.10x | `spmm k=64 self_loop` on `g` | 0 | 0 | 1 |", lines)


    def test_what_was_compared_again_counts_as_it_came_out_then(self):
        looped = {"kinds": "self_loop", "bound": "1.15", "sibling_us": "10", "fails": "1", "verdict": "over"}
        first = [self.row("g", f"spmm k={k} self_loop", "13", ratio="1.3", **looped) for k in (16, 64)]
        again = [self.row("g", "spmm k=16 self_loop", "11", ratio="1.1", **{**looped, "fails": "0", "verdict": "ok"})]
        rows = figures.newest_comparisons(first, again)
        self.assertEqual([r["ratio"] for r in rows], ["1.1", "1.3"])
        self.assertIn("| self_loop | 1.15x | 2 | 1.20x | 1.30x | `spmm k=64 self_loop` on `g` | 1 | 0 | 0 |", figures.coverage_tables(rows, None, ""))
        about = {"gpu": "G", "driver": "1", "cuda": "13", "date": "d", "commit": "c"}
        table = figures.again_table(first, again, about, "")
        self.assertTrue(table[0].startswith("1 comparisons were made again. 1 of them had been over their bound in the first run, 0 were in the second."))
        self.assertIn("| self_loop | `spmm` | 1 | 1 | 0 | 1.10x | `spmm k=16 self_loop` on `g` |", table)

    def test_of_what_fails_the_furthest_are_shown_and_the_others_counted(self):
        rows = [self.row("g", f"spmm k={k} self_loop", "20", kinds="self_loop", ratio=f"{1.2 + k / 100}", bound="1.15", sibling_us="10", verdict="over", fails="1")
                for k in (1, 2, 3)]
        lines = figures.coverage_tables(rows, None, "", 2)
        self.assertIn("3 are over their bound, the furthest first; the files have the other 1:", lines)
        self.assertEqual([line.split("|")[2].strip() for line in lines if line.startswith("| `g`")], ["`spmm k=3 self_loop`", "`spmm k=2 self_loop`"])


class Packing(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.addCleanup(setattr, figures, "MEASURED", figures.MEASURED)
        self.addCleanup(setattr, figures, "ROOT", figures.ROOT)
        figures.MEASURED = figures.ROOT = self.root

    def write(self, path, rows):
        path.parent.mkdir(exist_ok=True)
        with open(path, "w", newline="") as file:
            out = csv.DictWriter(file, tuple(rows[0]))
            out.writeheader()
            out.writerows(rows)

    def run_of(self, name, rows, commit):
        folder = self.root / name
        self.write(folder / "suite_rows.csv", rows)
        self.write(folder / "about.csv", [{"gpu": "A B", "driver": "1", "cuda": "13", "date": "d", "commit": commit}])
        self.write(folder / "graphs.csv", [{"name": "g", "n_rows": 1, "n_cols": 1, "m": 1, "distinct_cols_16": 1, "fingerprint": "f"}])
        return folder

    def pack(self, *arguments):
        with contextlib.redirect_stdout(io.StringIO()):
            figures.pack(*arguments)
        return figures.read(self.root / "a_b_suite.csv.xz"), figures.read(self.root / "a_b_suite_about.csv")

    def test_a_summary_says_whether_configs_were_searched(self):
        self.pack(self.run_of("first", [row("spmm k=16", OURS, 8)], "one"), None, False)
        for configs, told in (("9", "1"), ("2", "0")):
            folder = self.run_of("other", [row("spmm k=16", config, 8, configs=configs) for config in (OURS, OTHER)], "two")
            figures.pack_other(folder)
            self.assertEqual([r["searched"] for r in figures.read(self.root / "a_b_suite_summary_about.csv")], [told])

    def test_what_a_run_did_not_reach_is_kept(self):
        old = [{k: v for k, v in row("spmm k=16", OURS, 8).items() if k not in ("default", "configs", "run")}, ]
        self.pack(self.run_of("old", old, "one"), None, False)
        rows, about = self.pack(self.run_of("new", [row("spmm k=16", OURS, 2, policy="graph", default="1", configs="9")], "two"), None, True)
        self.assertEqual([(r["policy"], r["time_us"], r["default"], r["configs"], r["run"]) for r in rows],
                         [("graph", "2.000", "1", "9", "0"), ("hot", "8.000", "", "", "1")])
        self.assertEqual([(a["commit"], a["cases"]) for a in about], [("two", ""), ("one", "`spmm` on 1 graph")])
        # The same policy again takes its place.
        rows, _ = self.pack(self.run_of("again", [row("spmm k=16", OURS, 7)], "three"), None, True)
        self.assertEqual([(r["policy"], r["time_us"], r["run"]) for r in rows], [("hot", "7.000", "0"), ("graph", "2.000", "1")])

    def test_a_step(self):
        folder = self.root / "out" / "gcn"
        folder.mkdir(parents=True)
        choices = [{"choice": name, "step_us": time, "once_us": 1.0, "build_us": 2.0, "total_us": 3.0, "formats": "csr"}
                   for name, time in (("together", 10.0), ("default", 40.0), ("library", 25.0))]
        step = {"graph": "g", "step": "gcn 16,16", "policy": "hot", "clock": "events", "choices": choices,
                "calls": [{"problem": "spmm k=16 self_loop", "config": OURS}]}
        unchosen = {**step, "graph": "h", "choices": [], "calls": []}
        (folder / "gcn_16.json").write_text(json.dumps({"data": [step, unchosen]}))
        self.write(folder / "about.csv", [{"gpu": "A B", "driver": "1", "cuda": "13", "date": "d", "commit": "c"}])
        with contextlib.redirect_stdout(io.StringIO()):
            figures.pack_gcn(self.root / "out")
        rows = figures.read(self.root / "a_b_gcn.csv")
        self.assertEqual([(r["choice"], r["configs"]) for r in rows],
                         [("together", f"spmm k=16 self_loop: {OURS}"), ("default", ""), ("library", "")])
        lines = gcn_tables(rows, figures.read(self.root / "a_b_gcn_about.csv")[0])
        self.assertIn("| `gcn 16,16` | hot | `g` | 10.0 | 40.0 | 25.0 | 4.00x | 2.50x |", lines)
        self.assertEqual(list(gcn_rows([])), [])


class Trainings(unittest.TestCase):
    """Rows of whole models from several runs: accuracies may be of another GPU, times may not."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(setattr, whole, "ROOT", whole.ROOT)
        self.addCleanup(setattr, whole, "MEASURED", whole.MEASURED)
        whole.ROOT = whole.MEASURED = self.root

    def packed(self, *rows):
        path = self.root / "rows.csv"
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, ["part", "job", "graph", "m", "model", "side", "seed", "what", "value", "device"])
            writer.writeheader()
            writer.writerows(rows)
        with contextlib.redirect_stdout(io.StringIO()):
            whole.pack([path])
        with gzip.open(whole.source(), "rt", newline="") as file:
            return list(csv.DictReader(file))

    def test_trainings_of_another_gpu_join_the_file_that_is_shown(self):
        time = {"part": "step", "job": "a", "what": "step", "value": "2", "device": "GPU 1"}
        tests = [{"part": "train", "job": f"a, seed {seed}", "graph": "a", "m": "9", "model": "GCN", "side": side, "seed": str(seed),
                  "what": "test accuracy", "value": str(80 + seed), "device": f"GPU {1 + seed}"} for seed in range(2) for side in ("theirs", "ours")]
        full = {"part": "train", "job": "a GCN, seed 2", "what": "out of memory", "device": "GPU 2"}
        self.packed(time, *tests[:2])
        found = self.packed(*tests[2:], full)
        self.assertEqual(len(list(self.root.glob("*_models.csv.gz"))), 1)
        self.assertEqual([r["device"] for r in found], ["GPU 1"] * 3 + ["GPU 2"] * 3)
        table = whole.training(whole.Rows(found))
        self.assertIn("| a | GCN | 2 | GPU 1: 1, GPU 2: 1 | 80.50 +- 0.71 | 80.50 +- 0.71 | +0.00 | yes |", table)
        self.assertTrue(any(line.endswith(": 2 on a: GCN.") for line in table))
        self.assertTrue(any(line.endswith(": 1 of a GCN.") for line in table))
        self.assertEqual(self.packed(*found), found)  # packed again it is the same

    def test_times_of_two_gpus_are_not_mixed(self):
        rows = [{"part": "step", "job": str(i), "what": "step", "value": "2", "device": f"GPU {i}"} for i in (1, 2)]
        with self.assertRaisesRegex(SystemExit, "times of GPU 1 and GPU 2; expected those of one GPU"):
            self.packed(*rows)


class Database(unittest.TestCase):
    """A database as a later schema may have more of, with what is asked of it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "suite.db"
        self.database = sqlite3.connect(self.path)
        self.addCleanup(self.database.close)
        for script in sorted((ROOT / "profiles" / "schema").glob("*.sql")):
            self.database.executescript(script.read_text())
        self.execute("insert into graph (id, fingerprint, n_rows, n_cols, m, name) values (1, ?, 9, 9, 9, 'g')", "0" * 32)
        self.environment(1, "1")
        for variant, version in (("spmm.binned", 1), ("spmm.binned", 2), ("spmm.cusparse", 1), ("spmm.mma", 1), ("spmm_grad.unfused", 1)):
            self.execute("insert into variant (id, version) values (?, ?)", variant, version)
        columns = [r[1] for r in self.database.execute("pragma table_info(run)")]
        values = {"id": 1, "command": "", "tool_version": "", "git_commit": "", "started_at": "", "seed": 1, "host": "", "identity": "1" * 32}
        names = [c for c in columns if c in values]
        self.execute(f"insert into run ({', '.join(names)}) values ({', '.join('?' * len(names))})", *(values[n] for n in names))
        self.problem(1, "spmm", 16)

    def execute(self, statement, *values):
        return self.database.execute(statement, values)

    def environment(self, number, driver):
        self.execute("insert into environment values (?, 'cuda', 'A B', '9.0', 1, 1, 1, ?, '13', '')", number, driver)

    def problem(self, number, op, k, heads=1, dtype="f32", reduce="sum", weighted=1, direction="forward", self_loop=0):
        text = f"{op} k={k} {dtype} {reduce} {'weighted' if weighted else 'unweighted'} {direction}"
        self.execute("insert into problem values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", number, op, k, heads, dtype, reduce, weighted, direction,
                 self_loop, text)

    def measured(self, config, time, version=1, status="ok", problem=1, environment=1, policy="hot"):
        variant = config.partition("{")[0]
        return self.execute("""insert into measurement (graph_id, environment_id, problem_id, run_id, config, variant, variant_version, policy, clock,
            status, median_us, ci_low_us, ci_high_us, samples, sm_clock_mhz, prepare_us, workspace_bytes, format_bytes, deterministic,
            approximate, taken_at) values (1, ?, ?, 1, ?, ?, ?, ?, 'events', ?, ?, ?, ?, 9, 0, 0, 0, 0, 1, 0, '')""", environment, problem,
                        config, variant, version, policy, status, time, time and time - 1, time and time + 1).lastrowid

    def rows(self, *results):
        self.database.commit()
        return list(suite_rows(self.path, results))

    def result(self, **more):
        return {"graph": "g", "problem": "spmm k=16", "policy": "hot", "clock": "events", "config": OURS, "default_config": OURS,
                "roofline_us": "4", "configs": "7", **more}

    def test_the_newest_row_of_the_newest_version_counts(self):
        self.measured(OURS, 3, version=1)
        self.measured(OURS, 9, version=2)
        self.measured(OURS, 8, version=2)
        self.measured(DEFAULT, 20, status="abandoned")
        self.measured("spmm.mma", None, status="refused")  # is not for this problem
        self.measured(OTHER, None, status="refused")       # cannot be captured
        rows = self.rows(self.result(), self.result(config=DEFAULT, configs="2", default_config=""))
        self.assertEqual([r["config"] for r in rows], [OURS, DEFAULT, OTHER])
        found = {r["config"]: r for r in rows}
        ours = found[OURS]
        self.assertEqual((ours["time_us"], ours["ci_us"], ours["roofline_percent"], ours["default"], ours["configs"]), (8, 1, 50, 1, "7"))
        self.assertEqual((found[DEFAULT]["default"], found[DEFAULT]["status"]), (0, "abandoned"))
        self.assertEqual(found[OTHER]["time_us"], "")

    def test_a_composition_falls_with_its_parts(self):
        self.problem(2, "spmm_grad", 16)
        for part_version in (1, 2):
            config = UNFUSED.replace("vec=2", f"vec={part_version}")
            number = self.measured(config, 5, problem=2)
            self.execute("insert into part values (?, 0, ?, 'spmm.binned', ?)", number, OURS, part_version)
        self.assertEqual([r["config"] for r in self.rows()], [UNFUSED])

    def test_a_problem_that_nothing_is_said_of(self):
        self.measured(OURS, 8, version=2)
        self.assertEqual([(r["default"], r["configs"], r["roofline_percent"]) for r in self.rows()], [("", "", "")])

    def test_two_machines_are_no_run(self):
        self.environment(2, "2")
        self.measured(OURS, 8, version=2)
        self.measured(DEFAULT, 9, environment=2)
        with self.assertRaises(SystemExit):
            self.rows()

    def test_problems_as_the_program_names_them(self):
        def text(**more):
            return short_problem({"op": "spmm", "k": 16, "heads": 1, "dtype": "f32", "reduce": "sum", "weighted": 1, "direction": "forward",
                                  "self_loop": 0, **more})

        self.assertEqual(text(), "spmm k=16")
        self.assertEqual(text(heads=8, dtype="f16", reduce="mean", self_loop=1, weighted=0, direction="reversed"),
                         "spmm k=16 heads=8 f16 mean self_loop unweighted reversed")
        self.assertEqual(text(op="gat", weighted=0), "gat k=16")

    def test_the_corpus(self):
        self.problem(2, "spmm", 64, weighted=0)
        self.measured(OURS, 8, version=2)
        self.measured("spmm.binned{vec=2}", 10, version=2)
        self.measured(OTHER, 12)
        self.measured(DEFAULT, 16, status="abandoned")
        self.measured(OURS, 1, version=2, problem=2)
        self.measured(OURS, 1, version=2, policy="cold")
        self.database.commit()
        cases = [{"graph": "g", "problem": "spmm k=16 f32 sum weighted forward", "strategy": "default", "precision": "fp32",
                  "chosen": "spmm.binned{vec=2}"}]
        device, rows = corpus_rows(self.path, cases)
        self.assertEqual(device, "A B")
        self.assertEqual(rows, [{"graph": "g", "k": 16, "own": OURS, "own_us": "8.000", "library": OTHER, "library_us": "12.000",
                                 "default_library_us": "16.000", "default": "spmm.binned{vec=2}", "default_us": "10.000"}])


class Package(unittest.TestCase):
    """tools/python-figures: one run judges, that of another GPU stands beside."""

    def rows(self, gpu, *measured, **run):
        """Rows of (part, graph, m, model, what, value)."""
        return [{"part": part, "graph": graph, "m": str(m), "model": model, "what": what, "value": str(value), "side": "", "device": f"NVIDIA {gpu}",
                 "torch": "2", "pyg": "3", "date": "2026-01-02", "commit": "c", **run} for part, graph, m, model, what, value in measured]

    def eager(self, graph, value, limit, model="AGNN-4x32"):
        return (("epochs", graph, 10, model, "their best eager over ours", value),
                ("epochs", graph, 10, model, "their best eager over linear maps alone", limit))

    def call(self, name, alone, plain, grad):
        return (("overhead", "g", 10, name, "gnntune_run alone", alone), ("overhead", "g", 10, name, "above gnntune_run, no gradient", plain),
                ("overhead", "g", 10, name, "above gnntune_run, with gradient", grad))

    def agnn(self, here, there):
        """The row of AGNN's eager epochs; each run is (ratio, limit)."""
        a, b = (next(f for f in package.epochs(self.rows("A", *self.eager("g", *run))) if f.name == "AGNN" and f.label.startswith("both eager"))
                for run in (here, there))
        return a.cells(b)

    def test_a_part_of_another_run_is_named(self):
        epochs = self.rows("A", *self.eager("g", 2, 3), *self.eager("h", 2, 3))
        later = self.rows("A", *self.call("spmm", 1, 2, 3), date="2026-01-03", commit="d")
        most, sentences = package.origin([*epochs, *later])
        self.assertEqual(most, "2026-01-02, commit `c`")
        self.assertEqual(sentences, ["Times of a call on the host are of 2026-01-03, commit `d`."])
        _, sentences = package.origin([*epochs, *later, *self.rows("A", *self.call("gat", 1, 2, 3))])
        self.assertEqual(sentences, ["Overhead of spmm on `g` are of 2026-01-03, commit `d`."])

    def test_the_first_run_judges(self):
        self.assertEqual(self.agnn((4, 7), (3, 5)), "4.00x of 1 | 4.00x (`g`, AGNN-4x32) | 6x | no | 3.00x of 1 | 3.00x (`g`, AGNN-4x32)")
        self.assertEqual(self.agnn((4, 5), (3, 5)), "4.00x of 1 | 4.00x (`g`, AGNN-4x32) | 6x | no: past the limit | 3.00x of 1 | 3.00x (`g`, AGNN-4x32)")
        self.assertEqual(self.agnn((6, 7), (4, 9)), "6.00x of 1 | 6.00x (`g`, AGNN-4x32) | 6x | yes | 4.00x of 1 | 4.00x (`g`, AGNN-4x32)")

    def test_how_often_the_other_sides_fastest_form_is_eager(self):
        def epoch(graph, model, form, value, m=10**6):
            return {"part": "epochs", "graph": graph, "m": str(m), "model": model, "side": "theirs", "form": form, "what": "epoch", "value": str(value)}

        rows = [epoch("g", "GCN-16", "adj_t, cached=True, eager, one thread", 2), epoch("g", "GCN-16", "edge_index, captured", 3),
                epoch("h", "GCN-16", "adj_t, eager", 2), epoch("h", "GCN-16", "edge_index, captured", 1), epoch("g", "GAT-8x8", "edge_index, captured", 1),
                epoch("small", "GAT-8x8", "edge_index, eager", 1, m=10)]
        self.assertEqual(package.eager_is_fastest(rows), "it is an eager one with `adj_t` in 1 of 3 cases (GCN 1 of 2), else in a CUDA graph too")
        self.assertEqual(package.eager_is_fastest(rows[2:]), "it is in a CUDA graph too in every case")

    def test_readmes_lines_have_cases_and_the_worst_of_each_mean(self):
        rows = self.rows("A", ("epochs", "g", 10**6, "GCN-16", "their best over ours", 2), ("epochs", "g", 10**6, "GCN-64", "their best over ours", 8),
                         *self.eager("h", 3, 9))
        rows += [{**rows[0], "model": model, "side": "theirs", "form": form, "what": "epoch", "value": "2"} for model, form in
                 (("GCN-16", "adj_t, eager"), ("GCN-64", "edge_index, captured"))]
        said = package.in_readme(rows)
        self.assertIn("on one NVIDIA A. *Eager* is without a CUDA graph. In brackets stand cases and worst case", said)
        self.assertIn("\n- Ours in a CUDA graph, over 300,000 edges: GCN 4.00x (2, 2.00x). "
                      "PyG's fastest form is an eager one in 1 of these 2 cases, else in a CUDA graph too.\n"
                      "- Both without one, on smaller graphs: AGNN 3.00x (1, 3.00x).\n", said)

    def test_aims_that_are_reached(self):
        figures = package.epochs(self.rows("A", *self.eager("g", 6, 9), *self.eager("g", 2, 9, "GAT-8x8")))
        self.assertEqual(package.aims_reached(figures, "A"), "The A reaches 1 of 2 aims.")

    def test_what_the_calling_thread_is_worth(self):
        def step(side, form, value, m=10):
            return {"part": "epochs", "graph": "g", "m": str(m), "model": "GCN-16", "side": side, "form": form, "what": "epoch", "value": str(value)}

        rows = [step("ours", "Graph, eager", 4), step("ours", "Graph, eager, one thread", 2), step("ours", "Graph, captured", 1),
                step("theirs", "edge_index, eager", 9), step("theirs", "edge_index, cached=True, eager", 6),
                step("theirs", "edge_index, cached=True, eager, one thread", 8),
                step("ours", "Graph, eager", 3, 10**6), step("ours", "Graph, eager, one thread", 3, 10**6)]
        self.assertEqual(package.ways_table(rows)[2:], ["| ours | 2.00x of 1; 2.00x | 1.00x of 1; 1.00x | - |",
                                                        "| PyG, each form a case | 0.75x of 1; 0.75x | - | - |",
                                                        "| linear maps alone | - | - | - |"])

    def test_less_is_better_on_the_host(self):
        rows = [self.rows(gpu, *self.call("spmm", 1, 2, 9), *self.call("gat", 1, above, 9)) for gpu, above in (("A", 3), ("B", 8))]
        a, b = (package.host(run)[0] for run in rows)
        self.assertEqual(a.cells(b), "2.45 us of 2 | 3 us (gat) | 3 us | yes | 4 us of 2 | 8 us (gat)")

    def test_of_memory_more_is_better_too(self):
        (peak,) = package.memory(self.rows("A", ("memory", "g", 10, "GAT-8x8", "ours over theirs", 0.25), ("memory", "h", 10, "GAT-8x8", "ours over theirs", 0.4)))
        self.assertEqual((f"{peak.mean():.2f}", peak.worst(), peak.reached()), ("3.16", "2.50x (`h`)", "yes"))

    def test_a_whole_call_is_what_is_above_and_the_run(self):
        here = self.rows("A", *self.call("spmm", 3.33, 3.92, 9.19), ("overhead", "g", 10, "torch.add", "host time", 8.18))
        there = self.rows("B", *self.call("spmm", 5, 2.5, 8))
        self.assertEqual(package.calls_table(here, there, "B")[2:],
                         ["| `torch.add` |  |  | 8.2 |  |  |  |  |", "| `gnntune.torch.spmm` | 3.3 | 3.9 | 7.2 | 9.2 | 12.5 | 7.5 | 13.0 |"])

    def test_footnotes_name_every_run_and_what_was_not_measured(self):
        rows = self.rows("A", *self.eager("g", 4, 7), *self.eager("h", 4, 7), *self.eager("g", 2, 3, "GAT-8x8"))
        self.assertEqual(package.footnote("x", rows, package.SOURCE),
                         f"[^x]: NVIDIA A, torch 2, PyG 3, 2026-01-02, commit `c`: [`{package.SOURCE.name}`](../profiles/measured/{package.SOURCE.name}). "
                         "Epochs of GAT-8x8 on `h` were not measured.")
        rows += self.rows("A", ("epochs", "h", 10, "GAT-8x8", "epoch", 1), date="2026-01-01", commit="b")
        self.assertEqual(package.origin(rows), ("2026-01-02, commit `c`", ["Epochs of GAT on `h` are of 2026-01-01, commit `b`."]))


def sums(graph, k, mode, one, split, said_one, said, renewed=None, kernels=()):
    """Rows of one sum that python/bench/distributed.py would write: a split one of two ranks, a slice each."""
    part = {"part": "spmm", "graph": graph, "k": str(k), "device": "GPU", "commit": "c"}
    form = f"{k // 2} by blocks"
    whole_us = {**part, "ranks": "1", "form": "whole", "note": f"turns {one} {one}, 1980 MHz"}
    split_us = {**part, "ranks": "2", "form": form, "note": f"turns {split} {split}, 1980 MHz"}
    chosen = {**part, "ranks": "2", "form": form, "note": f"{mode}: forecast"}
    found = [{**whole_us, "what": "time", "value": one}, {**split_us, "what": "time", "value": split},
             {**whole_us, "what": "time with gradient", "value": one}, {**split_us, "what": "time with gradient", "value": split},
             {**chosen, "what": "chosen", "value": ""}, {**chosen, "what": "chosen: forecast", "value": said},
             {**chosen, "what": "chosen: forecast of one", "value": said_one}]
    if renewed:
        found.append({**chosen, "what": "chosen: forecast, host meanwhile", "value": renewed})
    for columns, us in kernels:
        base = {**part, "ranks": "1", "form": f"{columns} columns"}
        found += [{**base, "what": "kernel", "value": us, "note": ""}, {**base, "what": "config", "value": "", "note": f"spmm.c{columns}{{vec=4}}"}]
    return [{name: str(value) for name, value in row.items()} for row in found]


class Scale(unittest.TestCase):
    """One graph over two GPUs: what is forecast of the side that is taken, and of the other."""

    LINK = {"part": "link", "ranks": "2", "device": "GPU", "torch": "2", "nccl": "2", "date": "today", "commit": "c"}

    def page(self, *rows):
        return "\n".join(scale.spmm([self.LINK, *(row for one in rows for row in one)]))

    def test_the_side_that_is_taken_is_what_the_aim_is_judged_by(self):
        pays = sums("a", 128, "features", 200, 100, 210, 98)
        loses = sums("b", 128, "one", 100, 400, 101, 600, renewed=420)
        page = self.page(pays, loses)
        self.assertIn("| `a` | 128 | 200.0 | 100.0 | 2.00x | 2.00x | split | -2.0 % | -2.0 % | no | 64 by blocks |", page)
        self.assertIn("| `b` | 128 | 100.0 | 400.0 | 0.25x | 0.25x | one GPU | +1.0 % | +50.0 % | +5.0 % | 64 by blocks |", page)
        self.assertIn("takes: reached, 2 of 2 within 10 %, at worst -2.0 %", page.replace('`mode="auto"` ', ""))
        self.assertIn("not taken are less near: 0 of 1 within 10 %, at worst +50.0 %; renewed, 1 of 1", page)
        self.assertIn("the aim would be missed: 1 of 2 within 10 %, at worst +50.0 %; renewed, 2 of 2", page)
        self.assertIn("at least 4.00 times as long as one GPU there", page)
        self.assertIn("at least 4.16 times as long.", page)

    def test_a_forecast_of_what_is_taken_that_is_far_off(self):
        self.assertIn("missed, 0 of 1 within 10 %, at worst -20.0 %", self.page(sums("a", 128, "features", 200, 100, 210, 80)))

    def test_a_speed_up_over_the_number_of_gpus_names_the_kernels(self):
        page = self.page(sums("a", 128, "features", 230, 100, 230, 100, kernels=[(64, 94), (128, 231)]))
        self.assertIn("**Why over 2x.** At k = 128 one GPU's kernel (`spmm.c128`) takes 1.8 us a column, one of 64 columns (`spmm.c64`) 1.5.", page)
        self.assertIn("take 188.0 us at k = 128. Beside these the split sum is 1.88x as fast; 0 of 1 reach 1.9x so.", page)
        self.assertNotIn("Why over", self.page(sums("a", 128, "features", 190, 100, 230, 100, kernels=[(64, 94), (128, 231)])))


class Corpus(unittest.TestCase):
    """What tools/corpus packs, and what is unpacked of it."""

    def database(self, folder, versions):
        path = pathlib.Path(folder) / "rows.db"
        with sqlite3.connect(path) as db:
            db.executescript("""create table measurement (id integer primary key, problem_id, config, variant, variant_version);
                create table part (measurement_id, config, variant, variant_version);
                create table counter (measurement_id); create table problem (id); create table variant (id, version);""")
            for number, version in enumerate(versions):
                db.execute("insert into measurement values (?, ?, 'spmm.rows{lanes=8}', 'spmm.rows', ?)", (number, number, version))
                db.execute("insert into problem values (?)", (number,))
                db.execute("insert into variant values ('spmm.rows', ?)", (version,))
        return path

    def listing(self, folder):
        listed = {"data": [{"id": "spmm.rows", "version": 2, "params": "lanes=4|8"}]}
        path = pathlib.Path(folder) / "gnntune"
        path.write_text(f"#!/bin/sh\necho '{json.dumps(listed)}'\n")
        path.chmod(0o755)
        return str(path)

    def test_rows_of_another_version_are_left_out_with_what_only_they_used(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()) as said:
            chosen.PROGRAM = self.listing(folder)
            path = self.database(folder, (1, 2))
            chosen.drop_outdated(path)
            with sqlite3.connect(path) as db:
                self.assertEqual(db.execute("select variant_version from measurement").fetchall(), [(2,)])
                self.assertEqual(db.execute("select id from problem").fetchall(), [(1,)])
                self.assertEqual(db.execute("select version from variant").fetchall(), [(2,)])
        self.assertIn("1 of 2 rows", said.getvalue())

    def test_a_program_that_runs_none_of_the_rows_packs_nothing(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
            chosen.PROGRAM = self.listing(folder)
            with self.assertRaises(SystemExit):
                chosen.drop_outdated(self.database(folder, (1, 3)))

    def test_what_is_not_there_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(SystemExit, "none.db: no such file"):
                chosen.pack(f"{folder}/none.db", f"{folder}/out.db.xz", "events", False)
            with self.assertRaisesRegex(SystemExit, "folder that can be written to"):
                chosen.require_folder_of(f"{folder}/none/out.db.xz")

    def test_manifests_are_what_is_committed(self):
        for shared, name in ((False, "corpus.csv"), (True, "corpus_shared.csv")):
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                chosen.manifest(shared)
            self.assertEqual(said.getvalue(), (ROOT / "data" / name).read_text())

    def test_another_archive_is_unpacked_anew(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            found = []
            for text in (b"one", b"two", b"two"):
                (folder / "a.db.xz").write_bytes(lzma.compress(text))
                found.append(unpacked(folder, "a", lambda one: folder / f"{one}.db.xz", lambda one: (), "gnntune"))
                self.assertEqual(found[-1].read_bytes(), text)
            self.assertNotEqual(found[0], found[1])
            self.assertEqual(found[1], found[2])


if __name__ == "__main__":
    unittest.main()
