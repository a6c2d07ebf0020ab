"""The geometric means of our fastest `spmm` beside cuSPARSE's fastest algorithm: which figure is of which graphs, widths and day."""
from figures.corpus import ratios_of
from figures.headline import runs, span
from figures.other_gpu import common, short
from figures.suite import UNDER_GRAPH, Ratios, over_library

CORPUS_LINK = "[other GPUs](chips.md#kernels)"


def of_both_gpus(rows, gpu):
    """Ratios of chips_kernels.csv."""
    ratios = Ratios()
    for r in rows:
        if r["gpu"] == gpu:
            ratios.add(r["graph"], f"spmm k={r['k']}", r["k"], float(r["library_us"]), float(r["own_us"]))
    return ratios


def row(ratios, what, gpu, when, link):
    graphs = len({c[1] for c in ratios.cases})
    return (f"| {ratios.geomean():.2f}x | {ratios.worst()[0]:.2f}x | {len(ratios.cases):,} | {graphs} {what} | {span({c[3] for c in ratios.cases})} | {gpu} | "
            f"{when} | {link} |")


def which_table(suite, about, spread, spread_about, others, both):
    """`spread`: of the corpus; `others`: (about, suite) of other GPUs; `both`: rows of chips_kernels.csv."""
    first, replayed, here = over_library(suite), over_library(suite, UNDER_GRAPH), short(about[0]["gpu"])
    if not first.cases:
        return []
    lines = ["| mean | worst case | cases | graphs | widths | GPU | measured | where |", "|---|---|---|---|---|---|---|---|",
             row(first, "of the suite", here, runs(suite, about, [first]), "[below](#the-suite)")]
    for about_it, suite_it in others:
        found, _ = common(over_library(suite_it), first)
        if found.cases:
            lines.append(row(found, "of the suite", short(about_it["gpu"]), f"`{about_it['commit'][:12]}` ({about_it['date']})", "[another GPU](#the-same-on-another-gpu)"))
    if replayed.cases:
        lines.append(row(replayed, "of the suite; both sides in a CUDA graph", here, runs(suite, about, [replayed]), "[below](#the-suite)"))
    for gpu in sorted({r["gpu"] for r in both}, reverse=True):
        lines.append(row(of_both_gpus(both, gpu), "real ones of the corpus, one run", gpu, "2026-11-27", CORPUS_LINK))
    if spread:
        lines.append(row(ratios_of(spread, "library_us", "own_us"), "of the corpus, most of them generated", here,
                         f"`{spread_about['commit'][:12]}` ({spread_about['date']})" if spread_about else "", "[what the means leave out](#the-suite)"))
    return lines
