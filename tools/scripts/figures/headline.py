"""The figures of README.md: means with their worst cases, and what they do not show."""
import collections

from figures.corpus import ratios_of
from figures.early import given_up
from figures.left_out import searched_kinds
from figures.loops import LOOPS, cost, with_by_without
from figures.suite import (UNDER_GRAPH, attention_with_gradient, compare, composed, fused, gradient_of_spmm, library, own,
                           over_default, over_library)

GAT = r"gat k=(?P<k>\d+)( heads=\d+)?"
OF_KINDS = {"spmm self_loop": "`spmm` with self loops", "spmm_grad": "`spmm_grad`", "spmm under graph": "`spmm` in a CUDA graph"}


def headline(suite):
    """(what is timed, against what, Ratios)"""
    yield "`spmm`", "cuSPARSE's fastest algorithm for the case", over_library(suite)
    yield "`spmm`", "cuSPARSE's default algorithm", over_default(suite)
    yield "`spmm_grad`", "two calls of cuSPARSE, SpMM and SDDMM", gradient_of_spmm(suite)
    yield "`gat` and `gat_grad`, times added", "the same with a kernel for each step (*unfused*)", attention_with_gradient(suite)


def place(case):
    """Where a case of headline() is; the table says what is timed."""
    return f"`{case[1]}`, " + " ".join(word for word in case[2].split() if "=" in word)


def against(ratios, whom="cuSPARSE's fastest"):
    slower = ratios.below(1)
    return (f"{ratios.geomean():.2f}x as fast as {whom}, slower in {f'{slower:,}' if slower else 'none'} of {len(ratios.cases):,} cases, "
            f"{ratios.worst()[0]:.2f}x at worst")


def span(numbers):
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def widths(ratios):
    """Those of its cases, by name where they are few."""
    found = sorted({c[3] for c in ratios.cases})
    return ", ".join(str(k) for k in found) if len(found) <= 3 else span(found)


def without(suite, ratios):
    """Says so where the generated graphs take no part in them that the table has."""
    missing = {c[1] for c in over_library(suite).cases} - {c[1] for c in ratios.cases}
    generated = missing and all(graph.startswith("standin/") for graph in missing)
    return " (without the generated graphs)" if generated else f" (without {len(missing)} of the graphs)" if missing else ""


def configs(suite, side):
    """How many configs of a side each case of `spmm` has."""
    both = {(c[1], c[2]) for c in over_library(suite).cases}
    return [sum(side(config.partition("{")[0], config) for _, config, _ in suite.cases[case]) for case in sorted(both)]


def listed(names):
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def measured(about):
    """When, and by what commit, where that is known."""
    return f", {about['date']}, commit `{about['commit'][:12]}`" if about else ""


def hidden(suite, spread, gpu, spread_about=None):
    """Sentences on what the means do not show. `spread`: of the corpus, on `gpu`."""
    if over_library(suite).cases:
        some = [words for kind, words in OF_KINDS.items() if kind in searched_kinds(suite)]
        yield (f"*Choosing.* Our plain `spmm` is the fastest of {span(configs(suite, own))} configs that were timed, cuSPARSE's the fastest of "
               f"{span(configs(suite, library))}."
               + (f" Of {listed(some)} ours were [searched](docs/measuring.md#search), cuSPARSE's all timed." if some else ""))
    replayed = over_library(suite, UNDER_GRAPH)
    if replayed.cases:
        yield f"*In a CUDA graph* (policy `graph`, both sides replayed) `spmm` is {against(replayed)}{without(suite, replayed)}."
    if spread:
        def of(rows):
            return f"`spmm` on {len({r['graph'] for r in rows})} graphs ({gpu}, widths of {span([int(r['k']) for r in rows])}{measured(spread_about)})"

        yield f"*On more graphs,* most of them generated: {of(spread)} is {against(ratios_of(spread, 'library_us', 'own_us'))}."
        untuned = [r for r in spread if r["default_us"]]
        if untuned:
            yield ("*Without tuning.* Our default config runs where nothing was measured and no cost model answers. With it "
                   f"{of(untuned)} is {against(ratios_of(untuned, 'library_us', 'default_us'))}.")
    loops = compare(suite, LOOPS, library, own)
    if loops.cases:
        yield f"*Self loops* add an edge to each vertex.{cost_of_loops(suite)} With them `spmm` is {against(loops, 'the fastest of cuSPARSE on the graph that has them')}."
    given = list(unfused_given_up(suite))
    if given:
        yield ("*Unfused kernels* that took over three times as long as the fastest were given up after few samples, so their times are less sure. "
               f"That was so in {' and in '.join(given)}.{apart(suite)}")
    gradient, forward = gradient_of_spmm(suite, ours=suite.default), gradient_of_spmm(suite, direction="")
    if gradient.cases and forward.cases:
        yield (f"*Gradients.* `spmm_grad` by our default config is {against(gradient, 'the two calls')}. cuSPARSE's side includes a kernel of ours that "
               f"reorders the weights. The tuned one of the table, beside cuSPARSE's SpMM on the graph as it is, which reorders nothing, has a mean of {forward.geomean():.2f}x, at worst {forward.worst()[0]:.2f}x.")


def cost_of_loops(suite):
    found = with_by_without(suite)
    return f" They cost `spmm` {cost(found)}." if found.cases else ""


def unfused_given_up(suite):
    for what, count, cases, widest in ((what, *given_up(suite, pattern, composed)) for what, pattern in
                                       (("`gat`", GAT), ("`gat_grad`", GAT.replace("gat", "gat_grad", 1)))):
        if count:
            yield f"{count} of {cases} cases of {what} (95 % interval up to ±{100 * widest:.1f} %)"


def apart(suite):
    """Says which cases of `gat` the sum with its gradient lacks."""
    both = {c[1:3] for c in attention_with_gradient(suite).cases}
    missing = [c[1] for c in compare(suite, GAT, composed, fused).cases if c[1:3] not in both]
    graphs = listed([f"`{graph}`" for graph in sorted(set(missing))])
    return f" The table leaves out {len(missing)} cases (on {graphs}), whose `gat` and `gat_grad` were not timed in one run." if missing else ""


def runs(suite, about, ratios):
    """Commits and dates of the runs that measured them."""
    used = collections.Counter(suite.run[c[1], c[2]] for found in ratios for c in found.cases)
    return ", ".join(f"`{about[int(i)]['commit'][:12]}` ({about[int(i)]['date']})" for i in sorted(used, key=int))


def headline_table(suite, about, spread, name, link, others=(), spread_about=None):
    """`spread_about`: when the corpus was measured, if that is known; `name`: of the footnote; `link`: to the measurements; `others`: GPUs that stand beside it, each with a cell
    for each row and whether our configs were searched there."""
    rows = [(*r, *more) for r, *more in zip(headline(suite), *(cells for _, cells, _ in others)) if r[2].cases]
    if not rows:
        return []
    found = [c for _, _, ratios, *_ in rows for c in ratios.cases]
    graphs = {c[1] for c in found}
    stand_ins = sum(graph.startswith("standin/") for graph in graphs)
    of_these = f" ({stand_ins} generated after published ones)" if stand_ins else ""
    lines = [f"Measured on one {about[0]['gpu']}, fp32, {len(graphs)} graphs{of_these} of {span([suite.edges(g) for g in graphs])} edges[^{name}]. "
             "A case is one graph at one width, of `gat` also with one number of heads. 1.65x is 1.65 times as fast as the other side. "
             "Means are geometric."
             + "".join(f" The last column is of one {gpu}, another day and commit ([side by side](docs/kernels.md#the-same-on-another-gpu))."
                       + (" Our configs were searched there, not all timed." if was_searched else "")
                       + (" A search leaves out slow configs; a cell is empty where under half of the cases have both sides."
                          if was_searched and not all(cells) else "")
                       for gpu, cells, was_searched in others), "",
             "".join(f"| {head} " for head in ("our fastest config of", "against", "mean", "worst case", "widths", "cases, graphs",
                                               *(f"{gpu.split()[1]}: mean, worst case" for gpu, *_ in others))) + "|",
             "|---" * (6 + len(others)) + "|"]
    lines += ["".join(f"| {cell} " for cell in (what, whom, f"{r.geomean():.2f}x", f"{r.worst()[0]:.2f}x ({place(r.worst())})", widths(r),
                                                f"{len(r.cases)}, {len({c[1] for c in r.cases})}", *more)) + "|" for what, whom, r, *more in rows]
    lines += ["", "What the means do not show:", ""] + [f"- {sentence}" for sentence in hidden(suite, spread, about[0]["gpu"].split()[-1], spread_about)]
    return lines + ["", f"[^{name}]: Driver {about[0]['driver']}, CUDA {about[0]['cuda']}, medians by CUDA events with warm caches (policy `hot`); "
                    f"commits {runs(suite, about, [r for _, _, r, *_ in rows])}; {link}.", ""]
