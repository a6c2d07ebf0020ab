"""`gnntune paper --models` and docs/papers.md say the same of one file: python3 paper_page.py PROGRAM SOURCE."""
import csv
import gzip
import io
import pathlib
import re
import subprocess
import sys

program, source = sys.argv[1], pathlib.Path(sys.argv[2])
measured = sorted((source / "profiles/measured").glob("*_models.csv.gz"))[-1]
page = (source / "docs/papers.md").read_text(encoding="utf-8")
# The page's table, what the program is asked, and columns: the page's beside the program's.
EPOCHS = {"PyG, fastest form ms": "pyg_ms", "ours, fastest form ms": "ours_ms", "ours eager ms": "ours_eager_ms", "our peak / PyG's": "memory"}
TABLES = (
    ("tcgnn6", "tcgnn --figure 6", ("graph", "model"), EPOCHS),
    ("fusegnn3", "fusegnn --table 3", ("graph", "model"), {"paper: DGL ms": "paper_dgl_ms", "PyG eager ms": "pyg_eager_ms"}),
    ("fusegnn3", "fusegnn --figure 12", ("graph", "model"), {"our peak / PyG's": "memory"}),
    ("breakdown", "fusegnn --figure 4", ("graph", "model", "layers of"), {"idle %": "idle_percent", "kernels": "kernels"}),
    ("breakdown", "tcgnn --table 1", ("graph", "model", "layers of"), {"aggregation of both %": "aggregation_percent"}),
    ("esspmm5", "esspmm --table V", ("graph", "model", "sampler"), {"times as fast as CSR_ALG2": "over_alg2", "times as fast as our best exact": "over_exact"}),
    ("esspmm8", "esspmm --figure 8", ("graph", "model", "way"), {f"S={s}, points lost": f"s{s}_points" for s in (8, 64, 2048)}),
    ("esspmm5edges", "esspmm --figure 5", ("graph", "model"), {"no edge dropped, test %": "dropped_0_percent"}),
    ("esspmm9", "esspmm --figure 3", ("graph", "model"), {"of it sums %": "share_percent"}),
)


def page_rows(name):
    block = re.search(rf"<!-- models {name}:begin -->\n(.*?)<!-- models {name}:end -->", page, re.S)[1]
    lines = [line.strip("|").split("|") for line in block.splitlines() if line.startswith("|")]
    head = [word.strip() for word in lines[0]]
    return [dict(zip(head, (word.strip() for word in line))) for line in lines[2:]]


compared = 0
for name, words, keys, columns in TABLES:
    done = subprocess.run([program, "paper", *words.split(), "--models", measured, "--csv"], capture_output=True, text=True, check=True)
    known = {}
    for row in csv.DictReader(io.StringIO(done.stdout)):
        known[tuple(row[k] for k in ("graph", "model", "of") if k in row)] = row
    for row in page_rows(name):
        mine = known.get(tuple(row[key] for key in keys))
        for column, key in columns.items():
            shown = row.get(column, "").removesuffix("-") or ""
            if not shown:
                continue
            if mine is None or not mine[key]:
                sys.exit(f"{words}: nothing for {column} of {[row[k] for k in keys]}, where the page has {shown}")
            if not re.fullmatch(r"[-+]?[0-9.]+", shown):
                continue
            digits = len(shown.partition(".")[2])
            if abs(float(shown) - float(mine[key])) > 0.5001 * 10**-digits:
                sys.exit(f"{words}: {column} of {[row[k] for k in keys]} is {mine[key]}, on the page {shown}")
            compared += 1
with gzip.open(measured, "rt") as file:
    rows = sum(1 for _ in file)
if compared < 100:
    sys.exit(f"compared {compared} figures of {rows} rows; expected a hundred and more")
print(f"{compared} figures of the page are the program's")
