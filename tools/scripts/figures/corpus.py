"""The fastest config of each side on every graph of the corpus: a worst case beside that of the suite's graphs."""
from collections import defaultdict

from figures.database import newest
from figures.suite import Ratios, default_library, library, own

COLUMNS = ("graph", "k", "own", "own_us", "library", "library_us", "default_library_us", "default", "default_us")
PLAIN = "spmm k={} f32 sum weighted forward"


def corpus_rows(path, cases):
    """(name of the device, rows with COLUMNS) of a database that tools/corpus packed. `cases`: rows of
    `gnntune eval --cases --csv` over it, which name the default config."""
    measured = defaultdict(list)  # (graph, k) -> [(us, config)]
    device = ""
    for r in newest(path):
        if r["policy"] == "hot" and r["status"] in ("ok", "abandoned") and r["full_problem"] == PLAIN.format(r["k"]):
            device = r["device_name"]
            measured[r["graph"], r["k"]].append((r["median_us"], r["config"]))
    standard = {(c["graph"], c["problem"]): c["chosen"] for c in cases
                if c["strategy"] == "default" and c["precision"] == "fp32"}
    rows = []
    for (graph, k), configs in sorted(measured.items()):
        def best(wanted):
            found = [c for c in configs if wanted(c[1].partition("{")[0], c[1])]
            return min(found) if found else (None, "")

        chosen = standard.get((graph, PLAIN.format(k)))
        (own_us, mine), (library_us, theirs) = best(own), best(library)
        rows.append({"graph": graph, "k": k, "own": mine, "own_us": own_us, "library": theirs, "library_us": library_us,
                     "default_library_us": best(default_library)[0], "default": chosen or "",
                     "default_us": best(lambda _, text: text == chosen)[0]})
    for row in rows:
        for name in COLUMNS:
            if name.endswith("_us"):
                row[name] = f"{row[name]:.3f}" if row[name] else ""
    return device, rows


def ratios_of(rows, theirs, ours):
    """Of two columns."""
    ratios = Ratios()
    for r in rows:
        if r[theirs] and r[ours]:
            ratios.add(r["graph"], f"spmm k={r['k']}", r["k"], float(r[theirs]), float(r[ours]))
    return ratios
