"""Another GPU's suite, of which the fastest config of each side is kept, beside the first one's on the same cases."""
from figures.headline import headline, place
from figures.loops import cost, with_by_without
from figures.suite import Ratios, composed, default_library, fused, library, own, shown_problem

SIDES = (own, library, default_library, composed, fused)
COMPARED = ("spmm", "spmm self_loop", "spmm_grad", "gat", "gat_grad")  # kinds of problems of the table


def summary_rows(rows):
    """Of each problem the fastest config of each side and the default, in the order of the rows."""
    problems = {}
    for row in rows:
        problems.setdefault((row["graph"], shown_problem(row)), []).append(row)
    kept = []
    for of_problem in problems.values():
        timed = [r for r in of_problem if r["status"] in ("ok", "abandoned") and r["time_us"]]
        best = [min(found, key=lambda r: (float(r["time_us"]), r["config"])) for side in SIDES
                if (found := [r for r in timed if side(r["config"].partition("{")[0], r["config"])])]
        chosen = {id(r) for r in best} | {id(r) for r in of_problem if r.get("default") == "1"}
        kept += [r for r in of_problem if id(r) in chosen]
    return kept


def common(ratios, others):
    """Both, of the cases that both have."""
    found = {(c[1], c[2]) for c in ratios.cases} & {(c[1], c[2]) for c in others.cases}
    both = Ratios(), Ratios()
    for out, source in zip(both, (ratios, others)):
        out.cases = [c for c in source.cases if (c[1], c[2]) in found]
    return both


def pairs(suite, first):
    """(what, against what, ratios of the other GPU, those of the first)"""
    for (what, whom, ratios), (_, _, others) in zip(headline(suite), headline(first)):
        here, there = common(ratios, others)
        if here.cases:
            yield what, whom, here, there


def short(gpu):
    """The name without its maker: H100 80GB HBM3."""
    return gpu.removeprefix("NVIDIA ")


def cells_beside(suite, first):
    """A cell for each row of the first one's headline(): mean and worst case on the same cases, with their number where they are
    fewer; empty where they are less than half, which may be of another kind."""
    here = {(what, whom): found for what, whom, found, _ in pairs(suite, first)}
    cells = []
    for what, whom, ratios in headline(first):
        found = here.get((what, whom))
        if found and 2 * len(found.cases) < len(ratios.cases):
            found = None
        fewer = f" ({len(found.cases)} of the cases)" if found and len(found.cases) < len(ratios.cases) else ""
        cells.append(f"{found.geomean():.2f}x, {found.worst()[0]:.2f}x{fewer}" if found else "")
    return cells


def other_table(suite, about, first, first_about, link):
    """A table for docs/kernels.md."""
    here, there = short(about["gpu"]), short(first_about["gpu"])
    lines = [f"One {about['gpu']}, driver {about['driver']}, CUDA {about['cuda']}, {about['date']}, commit `{about['commit'][:12]}`, beside the {there} "
             f"of the tables above, whose rows are of several commits. Cases that both have: {link}.", "",
             f"| our fastest config of | against | cases | {here}: mean | {here}: worst case | {there}: mean | {there}: worst case |",
             "|---" * 7 + "|"]
    for what, whom, ratios, others in pairs(suite, first):
        cells = [cell for r in (ratios, others) for cell in (f"{r.geomean():.2f}x", f"{r.worst()[0]:.2f}x ({place(r.worst())})")]
        lines.append(f"| {what} | {whom} | {len(ratios.cases)} | " + " | ".join(cells) + " |")
    loops = [f"{cost(found)} on the {gpu}" for found, gpu in zip(common(with_by_without(suite), with_by_without(first)), (here, there)) if found.cases]
    if loops:
        lines += ["", f"Self loops cost `spmm` {' and '.join(loops)}."]
    return [*lines, ""]
