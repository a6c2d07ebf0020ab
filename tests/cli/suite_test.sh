# The steps suite, papers and gcn of tools/gpu-check, on the CPU and a small graph: what they leave for tools/kernel-figures, that
# a part goes on where it stopped, and that a part which is none is said.
. "$(dirname "$0")/lib.sh"
need_python
export OMP_NUM_THREADS=1 DEVICE=cpu

run 0 generate uniform --n-rows 90 --m 700 -o "$work/small.gnng"
# check STEP VARIABLES...: a row for each part in its table.
check() {
    local step=$1
    shift
    last="tools/gpu-check, step $step, $*"
    env "$@" STEPS="$step" GRAPHS="$work/small.gnng" BUILD="$(dirname "$(dirname "$GNNTUNE")")" bash "$SOURCE/tools/gpu-check" \
        "$work/checked" >"$work/out" 2>"$work/err" || fail "it ended with $?"
}
rows_of() { python3 -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("select count(*) from measurement").fetchone()[0])' "$1"; }
# rows EXPRESSION: holds of `rows`, those for tools/kernel-figures.
rows() {
    python3 -c 'import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
sys.exit(not eval(sys.argv[2]))' "$work/checked/suite/suite_rows.csv" "$1" || fail "not so of the rows: $1"
}

check suite SUITE_PARTS=loops,grad
grep -Eq '^suite: grad +ok ' "$work/checked/table.txt" || fail "no part grad"
grep -Eq '^suite: loops +ok +6 problems ' "$work/checked/table.txt" || fail "not six problems with self loops and without"
grep -Eq '^suite: rows +ok ' "$work/checked/table.txt" || fail "no rows"
rows 'rows[0].keys() == {"graph", "problem", "config", "time_us", "ci_us", "roofline_percent", "clock", "policy", "status", "default", "configs"}'
rows '{r["problem"] for r in rows} == ({f"spmm k={k}{w}" for k in (16, 64, 256) for w in ("", " self_loop")}
      | {p.format(k) for k in (16, 32, 64, 128, 256) for p in ("spmm k={} reversed", "sddmm k={} unweighted", "spmm_grad k={}")})'
# Every problem has its default; all configs of one that was not searched are there, and the library of one that was.
rows 'all(sum(r["default"] == "1" for r in rows if r["problem"] == p) == 1 for p in {r["problem"] for r in rows})'
rows 'all(len([r for r in rows if r["problem"] == p]) == int(rows[i]["configs"]) for i, p in enumerate(r["problem"] for r in rows) if "reversed" not in p)'
rows 'sum(r["config"] == "spmm.eigen" for r in rows if "reversed" in r["problem"]) == 5'
grep -q '^small,' "$work/checked/suite/graphs.csv" || fail "the graph is not described"
[ -s "$work/checked/suite.tar.gz" ] || fail "no archive"

# What is there is not measured again; a part more adds to it.
before=$(rows_of "$work/checked/suite.db")
cp "$work/checked/suite/suite_rows.csv" first.csv
check suite SUITE_PARTS=loops
[ "$(rows_of "$work/checked/suite.db")" -eq "$before" ] || fail "measured again"
cmp -s first.csv "$work/checked/suite/suite_rows.csv" || fail "other rows"
check suite SUITE_PARTS=spmm_mean SUITE_SEARCH=1
rows 'any(r["problem"] == "spmm k=16 mean" for r in rows) and any(r["problem"] == "spmm k=16 self_loop" for r in rows)'
# A part whose time is over says so, and is no failure.
check suite SUITE_PARTS=spmm_max SUITE_SECONDS=1
grep -Eq '^suite: spmm_max +ok .*, cut short$' "$work/checked/table.txt" || fail "it is not said that the time was over"
check suite SUITE_PARTS=spmm_maxx
grep -Eq '^suite: spmm_maxx +FAILED ' "$work/checked/table.txt" || fail "there is no such part"

check papers PAPER_PARTS='no such part'
grep -Eq '^papers: PAPER_PARTS +FAILED +finds no part: no such part$' "$work/checked/table.txt" || fail "there is no such part of the papers"

check gcn
grep -Eq '^gcn step, --dim 64,7 +ok +1 graphs ' "$work/checked/table.txt" || fail "no step of 64 and 7"
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$SOURCE/tools/scripts" python3 -c 'import pathlib, sys
from figures.gcn import gcn_rows
rows = list(gcn_rows(sorted(pathlib.Path(sys.argv[1]).glob("*.json"))))
sys.exit({(r["step"], r["choice"]) for r in rows} != {(s, c) for s in ("gcn 16,16", "gcn 64,7") for c in ("together", "apart", "default")})' \
    "$work/checked/gcn" || fail "the choices of two steps; Eigen has no self loops, so there is no library"
exit 0
