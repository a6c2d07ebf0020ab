"""The measurements of a suite, asked by problem and kind of variant, and ratios between two sides of them."""
import re
import statistics
from collections import defaultdict

LARGE = 300_000  # edges from which the roofline is averaged
SPMM = r"spmm k=(?P<k>\d+)"
UNDER_GRAPH = " under graph"  # behind a problem that was timed in a CUDA graph


# Variants by what they are. Whatever is none of these is our own, exact, at the accuracy of the storage type.
def is_library(variant):
    return ".cusparse" in variant


def is_tf32(variant):
    return variant.endswith("_tf32") or variant.endswith(".tcgnn") or variant == "spmm.cusparse_bell"


def is_composed(variant):
    return variant.endswith(".unfused")


def is_windowed(variant):
    return variant in ("spmm.mma", "spmm.dense_blocks", "sddmm.mma", "sddmm.dense_blocks")


def is_dense(variant):
    return variant in ("spmm.dense", "sddmm.dense", "spmm.dense_tf32")


# What a side of a ratio takes of a problem's configs.
def library(variant, _):
    return is_library(variant) and variant != "spmm.cusparse_bell"


def default_library(variant, config):
    return library(variant, config) and "alg=default" in config and "preprocess=0" in config


def own(variant, config):
    """A composition with a part of the library's is not our own."""
    return not is_tf32(variant) and ".cusparse" not in config


def own_tf32(variant, config):
    return is_tf32(variant) and ".cusparse" not in config


def composed(variant, _):
    return is_composed(variant)


def fused(variant, config):
    return own(variant, config) and not is_composed(variant)


def gathering(variant, config):
    return own(variant, config) and not is_windowed(variant) and not is_dense(variant)


def shown_problem(row):
    """The problem of a row, with the policy where that is not `hot`."""
    policy = row.get("policy") or "hot"
    return row["problem"] + ("" if policy == "hot" else f" under {policy}")


class Suite:
    """The measurements, asked by problem and kind of variant."""

    def __init__(self, rows, graphs):
        self.graphs = {g["name"]: g for g in graphs}
        self.cases = defaultdict(list)  # (graph, problem) -> [(us, config, roofline %)]
        self.run = {}  # (graph, problem) -> of which run they are
        self.standard = {}  # (graph, problem) -> what runs where nothing is known
        self.of = {}  # (graph, problem) -> (configs that were measured, all)
        self.early = {}  # (graph, problem, config) that was given up early -> half of its interval, us
        for r in rows:
            key = r["graph"], shown_problem(r)
            self.run[key] = r.get("run") or "0"
            if r.get("default") == "1":
                self.standard[key] = r["config"]
            if r.get("configs"):
                self.of[key] = (self.of.get(key, (0, 0))[0] + 1, int(r["configs"]))
            # A config that was given up early has a time of few samples: good enough to say that it is slow.
            if r["status"] in ("ok", "abandoned") and r["time_us"]:
                roof = float(r["roofline_percent"]) if r["roofline_percent"] else None
                self.cases[key].append((float(r["time_us"]), r["config"], roof))
                if r["status"] == "abandoned":
                    self.early[*key, r["config"]] = float(r["ci_us"] or 0)

    def problems(self, pattern):
        """(graph, problem, match) of every problem whose text the pattern matches whole."""
        for graph, problem in sorted(self.cases, key=lambda case: (case[0], len(case[1]), case[1])):
            match = re.fullmatch(pattern, problem)
            if match:
                yield graph, problem, match

    def best(self, graph, problem, wanted):
        found = [c for c in self.cases.get((graph, problem), ()) if wanted(c[1].partition("{")[0], c[1])]
        return min(found) if found else None

    def default(self, graph, problem):
        """The case of the config that runs where nothing is known; None if the run did not say which that is."""
        config = self.standard.get((graph, problem))
        return self.best(graph, problem, lambda _, text: text == config) if config else None

    def together(self, graph, *problems):
        """Whether one run measured them: times of two are not compared."""
        return len({self.run.get((graph, p)) for p in problems}) == 1

    def edges(self, graph):
        return int(self.graphs[graph]["m"])

    def reuse(self, graph):
        return self.edges(graph) / max(1, int(self.graphs[graph]["distinct_cols_16"]))


class Ratios:
    """Ratios of one comparison, case by case."""

    def __init__(self):
        self.cases = []  # (ratio, graph, problem, k)

    def add(self, graph, problem, k, theirs, ours):
        if theirs is not None and ours is not None:
            self.cases.append((theirs / ours, graph, problem, int(k)))

    def values(self, k=None):
        return [c[0] for c in self.cases if k is None or c[3] == k]

    def geomean(self, k=None):
        values = self.values(k)
        return statistics.geometric_mean(values) if values else None

    def worst(self, k=None):
        return min(c for c in self.cases if k is None or c[3] == k)

    def below(self, limit):
        return sum(value < limit for value in self.values())


def us(case):
    return case[0] if case else None


def compare(suite, pattern, theirs, ours, only=lambda graph: True):
    ratios = Ratios()
    for graph, problem, match in suite.problems(pattern):
        if only(graph):
            ratios.add(graph, problem, match["k"], us(suite.best(graph, problem, theirs)),
                       us(suite.best(graph, problem, ours)))
    return ratios


def across(suite, problem_of_theirs, pattern, theirs, ours):
    """As compare(), theirs of another problem."""
    ratios = Ratios()
    for graph, problem, match in suite.problems(pattern):
        other = problem_of_theirs(match)
        if suite.together(graph, problem, other):
            ratios.add(graph, problem, match["k"], us(suite.best(graph, other, theirs)), us(suite.best(graph, problem, ours)))
    return ratios


def gradient_of_spmm(suite, under="", direction=" reversed", ours=None):
    """Both gradients of cuSPARSE: its SpMM (A^T grad_y, or A for A^T), and the products of rows. `ours`: of a problem."""
    ratios = Ratios()
    mine = ours or (lambda graph, problem: suite.best(graph, problem, own))
    for graph, problem, match in suite.problems(r"spmm_grad k=(?P<k>\d+)" + under):
        k = match["k"]
        theirs = f"spmm k={k}{direction}{under}", f"sddmm k={k} unweighted{under}"
        product, dots = (us(suite.best(graph, p, library)) for p in theirs)
        if product and dots and suite.together(graph, problem, *theirs):
            ratios.add(graph, problem, k, product + dots, us(mine(graph, problem)))
    return ratios


def cases(suite, pattern, theirs, ours, keep=lambda best_of_theirs, ours: True):
    """Ratios of `theirs` over `ours`, both (graph, problem) -> case, where `keep` holds of the library's best and ours."""
    ratios = Ratios()
    for graph, problem, match in suite.problems(pattern):
        best, mine = us(suite.best(graph, problem, library)), us(ours(graph, problem))
        if mine and keep(best, mine):
            ratios.add(graph, problem, match["k"], us(theirs(graph, problem)), mine)
    return ratios


def attention_with_gradient(suite):
    ratios = Ratios()
    for graph, problem, match in suite.problems(r"gat k=(?P<k>\d+)( heads=\d+)?"):
        back = problem.replace("gat", "gat_grad", 1)
        sides = [(suite.best(graph, problem, side), suite.best(graph, back, side)) for side in (composed, fused)]
        if all(forward and backward for forward, backward in sides) and suite.together(graph, problem, back):
            (a, b), (c, d) = sides
            ratios.add(graph, problem, match["k"], a[0] + b[0], c[0] + d[0])
    return ratios


def over_library(suite, under=""):
    return compare(suite, SPMM + under, library, own)


def over_default(suite, under=""):
    return compare(suite, SPMM + under, default_library, own)


def number(value, percent=0):
    return f"{100 * value:.0f} %" if percent else f"{value:.2f}x"


def place(case):
    """Where a case of Ratios is."""
    return f"`{case[1]}`, {case[2].partition(' ')[2]}"
