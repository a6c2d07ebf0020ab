"""What the means of docs/kernels.md leave out: the default alone, long calls alone, own TF32 kernels alone, the corpus."""
import statistics

from figures.corpus import ratios_of
from figures.suite import (LARGE, SPMM, UNDER_GRAPH, Ratios, across, cases, composed, default_library, gradient_of_spmm, is_tf32,
                           library, own, own_tf32, place, us)

LONG_US, SHORT_US = 50, 10
LITTLE = 1.2


def left_out(suite, peer_rows, corpus):
    """(what, Ratios)"""
    def best(wanted):
        return lambda graph, problem: suite.best(graph, problem, wanted)

    for under in ("", UNDER_GRAPH):
        yield f"`spmm`{under}, our default config alone beside the best cuSPARSE algorithm", \
            cases(suite, SPMM + under, best(library), suite.default)
        yield f"`spmm`{under}, our default beside cuSPARSE's", \
            cases(suite, SPMM + under, best(default_library), suite.default)
    yield "`spmm`, best beside best, all", cases(suite, SPMM, best(library), best(own))
    yield f"`spmm`, best beside best, where cuSPARSE takes over {LONG_US} us", \
        cases(suite, SPMM, best(library), best(own), lambda theirs, _: theirs and theirs > LONG_US)
    yield "the same beside cuSPARSE's default", \
        cases(suite, SPMM, best(default_library), best(own), lambda theirs, _: theirs and theirs > LONG_US)
    yield f"`spmm`, best beside best, where ours takes under {SHORT_US} us", \
        cases(suite, SPMM, best(library), best(own), lambda _, ours: ours < SHORT_US)
    for dtype in ("f16", "bf16"):
        theirs = across(suite, lambda m: f"spmm k={m['k']}", f"{SPMM} {dtype}", library, own)
        same = {c[1:]: c[0] for c in cases(suite, f"{SPMM} {dtype}", best(library), best(own)).cases}
        faster = Ratios()
        faster.cases = [(min(c[0], same[c[1:]]), *c[1:]) for c in theirs.cases if c[1:] in same]
        yield f"`spmm` in {dtype} beside cuSPARSE in {dtype} or fp32, whichever is faster", faster
    yield "`sddmm`, our default beside cuSPARSE", cases(suite, r"sddmm k=(?P<k>\d+) unweighted", best(library), suite.default)
    yield "`spmm_grad`, our default beside cuSPARSE's two calls", gradient_of_spmm(suite, ours=suite.default)
    yield "`spmm_grad`, cuSPARSE's SpMM forward, where it need not permute the weights", gradient_of_spmm(suite, direction="")
    yield "`gat`, our default beside `gat.unfused`", \
        cases(suite, r"gat k=(?P<k>\d+)( heads=\d+)?", best(composed), suite.default)
    tf32 = [r for r in peer_rows if r["op"] == "spmm" and r["precision"] == "tf32"]
    if tf32:
        plain = sum(not is_tf32(r["ours"].partition("{")[0]) for r in tf32)
        alone = Ratios()
        for r in tf32:
            problem = f"spmm k={r['k']}"
            alone.add(r["graph"], problem, r["k"], float(r["time_us"]), us(suite.best(r["graph"], problem, own_tf32)))
        yield (f"`spmm` in TF32, our TF32 kernels alone beside the best correct public one (where any of ours counts, it is an fp32 "
               f"kernel in {plain} of {len(tf32)})"), alone
    graphs = len({r["graph"] for r in corpus})
    yield f"`spmm`, best beside best, {graphs} graphs of the corpus", ratios_of(corpus, "library_us", "own_us")
    yield "the same beside cuSPARSE's default", ratios_of(corpus, "default_library_us", "own_us")
    yield "our default config alone beside the best cuSPARSE algorithm, there", ratios_of(corpus, "library_us", "default_us")
    yield "our default beside cuSPARSE's, there", ratios_of(corpus, "default_library_us", "default_us")


def roofline_line(suite):
    """Shares of the roofline as they are, and on all graphs."""
    found = [(suite.edges(graph) > LARGE, suite.best(graph, problem, own)) for graph, problem, _ in suite.problems(SPMM)]
    shares = [(large, case[2]) for large, case in found if case and case[2]]
    large = [share for is_large, share in shares if is_large]
    if not large:
        return []
    capped = statistics.geometric_mean(min(share, 100) for _, share in shares)
    return ["", f"Of the roofline: {sum(share >= 100 for share in large)} of {len(large)} cases on graphs of over {LARGE:,} edges are beyond "
                f"it. Counted as they are, and not as 100 %, the mean is {statistics.geometric_mean(large):.0f} %; on all graphs, each counted "
                f"as 100 % at most, {capped:.0f} %."]


def left_out_table(suite, peer_rows, corpus):
    found = [c for c in left_out(suite, peer_rows, corpus) if c[1].cases]
    if not found:
        return []
    return [f"What the means above leave out. *Below {LITTLE}x* and *behind* (below 1x) count cases:", "",
            f"| what | cases | geomean | below {LITTLE}x | behind | worst case |", "|---|---|---|---|---|---|"] + [
            f"| {what} | {len(r.cases)} | {r.geomean():.2f}x | {r.below(LITTLE)} | {r.below(1)} | {r.worst()[0]:.2f}x ({place(r.worst())}) |"
            for what, r in found] + roofline_line(suite)


def searched_kinds(suite):
    """Kinds of problems of which not all configs were measured -> (measured, all) of each such problem."""
    kinds = {}
    for (graph, problem), (measured, of) in suite.of.items():
        kind = " ".join(w for w in problem.split() if "=" not in w)
        if measured < of:
            kinds.setdefault(kind, []).append((measured, of))
    return kinds


def searched(suite):
    """A table of them."""
    kinds = searched_kinds(suite)
    return ["Of these problems our configs were searched, not all measured. The library's were all measured.", "",
            "| problems | configs measured of a problem, in the mean | configs that it has, in the mean |", "|---|---|---|"] + [
            f"| `{kind}` | {sum(m for m, _ in some) / len(some):.0f} | {sum(n for _, n in some) / len(some):.0f} |"
            for kind, some in sorted(kinds.items())] if kinds else []
