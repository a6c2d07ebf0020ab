"""Which times of the other side are of configs that were given up early: the tuner stops timing a config whose fastest call
of the first bursts took more than three times as long as the best (docs/measuring.md). Such a time has few samples: it says
that the config is slow, and less well how slow."""
from figures.suite import SPMM, composed, default_library, library

# (what is compared, its problems, the other side)
SIDES = (("`spmm` beside cuSPARSE's fastest", SPMM, library), ("`spmm` beside cuSPARSE's default", SPMM, default_library),
         ("`spmm` in f16 beside cuSPARSE", SPMM + " f16", library), ("`spmm` in bf16 beside cuSPARSE", SPMM + " bf16", library),
         ("`sddmm` beside cuSPARSE", r"sddmm k=(?P<k>\d+) unweighted", library),
         ("`gat` beside `gat.unfused`", r"gat k=(?P<k>\d+)( heads=\d+)?", composed),
         ("`gat_grad` beside `gat_grad.unfused`", r"gat_grad k=(?P<k>\d+)( heads=\d+)?", composed))


def given_up(suite, pattern, side):
    """(how many of the other side's times are of configs that were given up, of how many, widest interval of those)"""
    count, all_of_them, widest = 0, 0, 0.0
    for graph, problem, _ in suite.problems(pattern):
        case = suite.best(graph, problem, side)
        if case is None:
            continue
        all_of_them += 1
        interval = suite.early.get((graph, problem, case[1]))
        if interval is not None:
            count += 1
            widest = max(widest, interval / case[0])
    return count, all_of_them, widest


def early_table(suite):
    """Nothing where no such time is compared with."""
    found = [(what, *given_up(suite, pattern, side)) for what, pattern, side in SIDES]
    if not any(count for _, count, *_ in found):
        return []
    return ["Some times of the other side have few samples: the tuner [gave their configs up early](measuring.md), as over three times slower than "
            "the best.", "",
            "| comparison | cases | with such a time | its 95 % interval, at most |", "|---|---|---|---|"] + [
            f"| {what} | {cases} | {count} | {f'±{100 * widest:.1f} %' if count else ''} |" for what, count, cases, widest in found if cases]
