"""The hand-written tables of docs/kernels.md name the variants of a build and what they can do: python3 kernels_page.py LIST.csv PAGE.

LIST.csv is what `gnntune list --csv` prints. Without CUDA in the build the columns of CUDA are not asked about.
"""
import csv
import pathlib
import re
import sys

with open(sys.argv[1], newline="", encoding="utf-8") as file:
    variants = list(csv.DictReader(file))
page = pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")
page = page[page.index("## Ops and variants"):]
wrong = []


def table(first):
    """Rows of the table whose head begins with `first`, indented or not."""
    lines = page[re.search(rf"^ *\| {re.escape(first)}", page, re.MULTILINE).start():].split("\n\n")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines if line.lstrip().startswith("|")]
    return rows[0], [dict(zip(rows[0], row)) for row in rows[2:]]


def quoted(text):
    return set(re.findall(r"`([a-z0-9_]+)`", text))


def same(what, said, found):
    if said != found:
        wrong.append(f"{what}: the page says {', '.join(sorted(said)) or 'nothing'}, the build has {', '.join(sorted(found)) or 'nothing'}")


def name(v):
    return v["id"].partition(".")[2]


backends = [b for b in ("cuda", "cpu") if any(v["backend"] == b for v in variants)]
ops = {v["op"] for v in variants}

# Who there is. Rows of one op are told apart by a word; words in brackets explain.
named = {}
for row in table("op | on CUDA")[1]:
    of = quoted(row["op"])
    for backend, column in (("cuda", "on CUDA"), ("cpu", "on the CPU")):
        named.setdefault(tuple(sorted(of)), {}).setdefault(backend, set()).update(quoted(re.sub(r"\([^)]*\)", "", row[column])))
for of, by_backend in named.items():
    for backend in backends:
        found = {name(v) for v in variants if v["op"] in of and v["backend"] == backend}
        found = {re.sub(r"^(cusparse(_loops)?)_(b?f16)$", r"\1", n) for n in found}  # "both also in f16 and bf16"
        same(f"variants of {', '.join(of)} on {backend}", by_backend[backend], found)
missing = ops - {op for of in named for op in of}
if missing:
    wrong.append(f"the table of variants has no row for {', '.join(sorted(missing))}")

# What an op may be asked for: `yes`, words, or nothing.
SIXTEEN = ("f16", "bf16")
for row in table("op | what it computes")[1]:
    for op in quoted(row["op"]) & ops:
        of_op = {b: [v for v in variants if v["op"] == op and v["backend"] == b and not name(v).startswith("cusparse")] for b in backends}
        takes = {b: any(t in v["storage"].split("|") for v in of_op[b] for t in SIXTEEN) for b in backends}
        if "cpu" in backends:
            same(f"16 bits of {op} on the CPU", {str(row["16 bits on the CPU"] == "yes")}, {str(takes["cpu"])})
        if "cuda" not in backends:
            continue
        same(f"16 bits of {op}", {str(row["16 bits"] == "yes")}, {str(takes["cuda"])})
        same(f"reductions of {op}", set(row["reduce"].split(", ")) - {""}, {r for v in of_op["cuda"] for r in v["reduce"].split("|")} - {""})
        for column, key, words in (("heads", "heads", ("yes",)), ("self loops", "self_loops", ("yes", "only"))):
            same(f"{column} of {op}", {str(row[column] == "yes")}, {str(any(v[key] in words for v in of_op["cuda"]))})

# Who takes 16 bits, and who has a maximum, on CUDA.
if "cuda" in backends:
    words = re.search(r"^- \*max\* is in (.*?)$", page, re.MULTILINE)[1]
    found = {v["id"] for v in variants if v["backend"] == "cuda" and "max" in v["reduce"].split("|")}
    same("maximum on CUDA", set(re.findall(r"`([a-z_]+\.[a-z0-9_]+)`", words)), found)
    listed = {}
    for row in table("op | variants in 16 bits")[1]:
        names = quoted(row["variants in 16 bits"])
        if "both with loops" in row["variants in 16 bits"]:
            names |= {n.replace("cusparse_", "cusparse_loops_") for n in names if n.startswith("cusparse_")}
        for op in quoted(row["op"]):
            listed[op] = names
    for op in sorted(ops):
        found = {name(v) for v in variants if v["op"] == op and v["backend"] == "cuda" and set(SIXTEEN) & set(v["storage"].split("|"))}
        same(f"16 bits on CUDA, {op}", listed.get(op, set()), found - {"padded"})

for line in wrong:
    print(line)
print(f"{len(variants)} variants, {len(named)} rows of the page")
sys.exit(1 if wrong else 0)
