"""Tensor-core kernels beside gathering ones, graph by graph, where windows of 16 rows share what they gather."""
from figures.suite import SPMM, gathering, is_windowed, us

# (op, what a problem has behind its width, arithmetic, side)
KINDS = (("spmm", "", "at fp32 accuracy", lambda v, _: is_windowed(v)),
         ("spmm", "", "in TF32", lambda v, _: v in ("spmm.mma_tf32", "spmm.dense_tf32")),
         ("sddmm", " unweighted", "at fp32 accuracy", lambda v, _: is_windowed(v)))


def windows_table(suite, shared):
    """`shared`: whether a graph is one of them."""
    graphs = sorted((g for g in {g for g, _, _ in suite.problems(SPMM)} if shared(g)), key=suite.reuse)
    widths = sorted({int(m["k"]) for g, _, m in suite.problems(SPMM) if g in graphs})
    lines = ["| graph | edges a gathered row | op | tensor cores | " + " | ".join(f"k = {k}" for k in widths) + " |",
             "|---" * (len(widths) + 4) + "|"]
    for graph in graphs:
        for op, rest, what, kind in KINDS:
            cells = []
            for k in widths:
                theirs, best = (suite.best(graph, f"{op} k={k}{rest}", side) for side in (gathering, kind))
                cells.append(f"{us(theirs) / us(best):.2f}x `{best[1].partition('{')[0].partition('.')[2]}`" if theirs and best else "")
            if any(cells):
                lines.append(f"| `{graph}` | {suite.reuse(graph):.1f} | `{op}` | {what} | " + " | ".join(cells) + " |")
    return [*lines, ""] if graphs else []
