"""Self loops: how many times the time without them it takes with them, and ours beside cuSPARSE on the graph with its loops."""
from figures.suite import UNDER_GRAPH, Ratios, compare, default_library, library, own, place, us

WIDTHS = (16, 64, 256)
MEAN, WORST = 1.10, 1.3  # what was aimed at
LOOPS = r"spmm k=(?P<k>\d+) self_loop"


def pair(suite, graph, problem):
    """Our fastest times with self loops and without, of one run; None where there are not both."""
    plain = problem.replace(" self_loop", "")
    times = tuple(us(suite.best(graph, p, own)) for p in (problem, plain))
    return times if all(times) and suite.together(graph, problem, plain) else None


def with_by_without(suite, under=""):
    ratios = Ratios()
    for graph, problem, match in suite.problems(LOOPS + under):
        times = pair(suite, graph, problem)
        if times:
            ratios.add(graph, problem, match["k"], *times)
    return ratios


def highest(ratios, k=None):
    return max(c for c in ratios.cases if k is None or c[3] == k)


def cost(ratios):
    """In time: 4 % more in the mean, 30 % at worst."""
    return f"{100 * (ratios.geomean() - 1):.0f} % more time in the mean, {100 * (highest(ratios)[0] - 1):.0f} % at worst"


def by_width(suite, under):
    """A table, a row for each width."""
    ratios, best, standard = with_by_without(suite, under), *(compare(suite, LOOPS + under, side, own) for side in (library, default_library))
    if not ratios.cases:
        return []
    reached = ["reached" if is_so else "not reached" for is_so in (ratios.geomean() <= MEAN, highest(ratios)[0] <= WORST)]
    lines = [f"`spmm`{under}, fp32, weighted, our fastest configs. *Times the time* without self loops: 1.04x takes 4 % longer with them (aim: a mean "
             f"of {MEAN:.2f}x, {reached[0]}; none above {WORST}x, {reached[1]}). *Times as fast* as cuSPARSE on the graph with its loops "
             "(`spmm.cusparse_loops`): 2x takes half of its time.", "",
             "| k | graphs | times the time without: mean | times the time without: worst case "
             "| times as fast as the best cuSPARSE algorithm: mean | times as fast as it: worst case | times as fast as its default: mean |",
             "|---" * 7 + "|"]
    for k in [*sorted({c[3] for c in ratios.cases}), None]:
        worst = highest(ratios, k)
        least = f"{best.worst(k)[0]:.2f}x ({place(best.worst(k))})" if best.values(k) else ""
        means = [f"{r.geomean(k):.2f}x" if r.values(k) else "" for r in (ratios, best, standard)]
        lines.append(f"| {k or 'all'} | {len({c[1] for c in ratios.cases if k in (None, c[3])})} | {means[0]} | {worst[0]:.3f}x ({place(worst)}) | "
                     f"{means[1]} | {least} | {means[2]} |")
    return lines + [""]


def loops_tables(suite):
    graphs = sorted({graph for graph, _, _ in suite.problems(LOOPS)})
    if not graphs:
        return []
    lines = by_width(suite, "") + by_width(suite, UNDER_GRAPH)
    lines += ["Microseconds with self loops / without:", "", "| graph | " + " | ".join(f"k = {k}" for k in WIDTHS) + " |",
              "|---" * (len(WIDTHS) + 1) + "|"]
    for graph in graphs:
        pairs = [pair(suite, graph, f"spmm k={k} self_loop") for k in WIDTHS]
        lines.append(f"| `{graph}` | " + " | ".join("{:.1f} / {:.1f}".format(*times) if times else "" for times in pairs) + " |")
    return lines
