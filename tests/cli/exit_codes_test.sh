# Exit codes 0, 1, 3, 4 and 6 (2 is in usage_test.sh).
. "$(dirname "$0")/lib.sh"

run 0 info "$cora"
run 3 info missing.mtx
err_has "gnntune: missing.mtx: no such file or folder"
echo "some words" >words.txt
run 3 info words.txt
err_has "gnntune: words.txt: not a graph:"
out_empty
mkdir empty
run 3 info empty
err_has "empty: no graph in this folder"
printf '%%%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 1\n' >short.mtx
run 3 info short.mtx
out_empty
printf '%s\n\n# a comment\nmissing.mtx\n' "$cora" >list.txt
run 3 info @list.txt
err_has "list.txt line 4: missing.mtx: no such file"
run 3 info @nolist.txt
err_has "nolist.txt: the list of graphs cannot be read: No such file or directory"
run 3 info @empty
err_has "empty: the list of graphs cannot be read: it is a folder; name it without @"
printf '\357\273\277%s \r\n  # a comment\n \t%s\n' "$cora" "$cora" >list.txt
run 0 info @list.txt --csv
[ "$(grep -c '^cora,' out)" -eq 2 ] || fail "a list of two graphs is read otherwise"

# A directed graph is none that METIS can hold.
printf '0 1\n1 2\n' >directed.txt
run 1 convert directed.txt directed.graph
err_has "METIS"

run 4 info --device cuda "$cora"
run 4 doctor --device cuda
out_has "build"
grep -q "^problem  *cuda " out || fail "a GPU that was asked for and is not there is a problem"
run 0 doctor
run 0 doctor --device cpu
GNNTUNE_DEVICE=cuda run 4 info "$cora"
GNNTUNE_DEVICE=cuda run 0 info --device cpu "$cora"

# So many threads crash inside the OpenMP runtime.
OMP_NUM_THREADS=100000 run 2 info "$cora"
err_has "OpenMP is told to start 100000 threads, and at most 8192 can be"
OMP_NUM_THREADS=100000 run 0 --version

OMP_NUM_THREADS=abc run 0 doctor
out_has "OMP_NUM_THREADS is 'abc', expected a number from 1 to 8192, so it is passed over"
OMP_NUM_THREADS=0 run 0 doctor
grep -q "^note  *openmp  *OMP_NUM_THREADS is '0'" out || fail "no threads are a note"
OMP_NUM_THREADS=' 2 , 1' run 0 doctor
out_lacks "passed over"
GNNTUNE_PROFILES=/nope run 6 doctor
[ "$(cat out err | grep -c 'no folder that can be read')" -eq 1 ] || fail "a missing folder is not said once"

# Verbs that need no database work where nothing says where it would be, and beside one that cannot be used.
homeless() {
    local expected=$1
    shift
    last="gnntune $*, without HOME"
    env -u HOME "$GNNTUNE" "$@" >out 2>err
    code=$?
    [ "$code" -eq "$expected" ] || fail "exit code $code, expected $expected"
}
for verb in "verify $cora" "bench $cora --max-samples 5 --variant spmm.cpu_rows" "tune $cora --dry-run"; do
    # shellcheck disable=SC2086
    homeless 0 $verb --dim 4 --device cpu
done
homeless 0 coverage --list --op spmm --device cpu
homeless 3 explain "$cora" --dim 4 --device cpu
homeless 6 tune "$cora" --dim 4 --device cpu
err_has "set GNNTUNE_DB, XDG_DATA_HOME or HOME"
for verb in "verify $cora" "bench $cora --max-samples 5 --variant spmm.cpu_rows"; do
    # shellcheck disable=SC2086
    run 0 $verb --dim 4 --device cpu --db words.txt
    err_has "warning: words.txt: its errata cannot be read"
done
for verb in tune explain; do
    run 6 $verb "$cora" --dim 4 --device cpu --db words.txt
    [ "$(grep -c words.txt err)" -eq 1 ] || fail "an unusable database is not told once"
done
# A database that is not there is no error to a plan.
run 3 explain "$cora" --dim 4 --device cpu --db none.db
err_has "none.db is not there, and nothing came with the program"
err_has "a plan takes the default config, spmm."
err_has "tune it first: gnntune tune $cora --op spmm --dim 4 --device cpu --db none.db"
run 6 explain cora --dim 4 --device cpu --db none.db
err_has "no such database"
# Nothing is advised that is then refused.
run 3 explain "$cora" --dim 4 --device cpu --db none.db --policy graph
err_has "CUDA graphs need a GPU: give --device cuda, or --policy hot or cold"
run 3 explain "$cora" --dim 4 --device cpu --db none.db --clock events
err_has "--clock events is for GPUs, and the CPU is timed by the host's clock: leave it out"
run 3 explain "$cora" --dim 4 --device cpu --db none.db --clock host
err_has "tune it first: gnntune tune $cora --op spmm --dim 4 --device cpu --db none.db"
# A rectangle is told no number of vertices.
printf '%%%%MatrixMarket matrix coordinate pattern general\n68000000 3 1\n1 1\n' >tall.mtx
run 3 info tall.mtx
err_has "if it is right, leave out the rows or columns without entries"
# Errata that cannot be read are no finding, and told all the same.
mkdir broken && echo garbage >broken/errata.txt
GNNTUNE_PROFILES=broken run 0 doctor
err_has "broken/errata.txt"

run 6 db ls
err_has "no such database"
run 6 db ls --db words.txt
err_has "expected a gnntune database (SQLite), found a text file"
run 6 db check --db "$cora"
run 6 doctor --db words.txt
out_has "problem"
GNNTUNE_DB=words.txt run 6 db ls
run 3 convert "$cora" missing/folder/out.mtx
err_has "cannot be written"

# A problem that no variant can do on a graph is passed over by name, with one problem as with several.
printf '%%%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n' >one.mtx
printf '%%%%MatrixMarket matrix coordinate pattern general\n3 5 3\n1 1\n2 3\n3 5\n' >rect.mtx
cpu() { run "$1" "$2" --device cpu --max-samples 5 --db tuned.db "${@:3}"; }
cpu 0 tune one.mtx rect.mtx "$cora" --self-loop yes --dim 4 --csv
err_has "warning: rect: no variant of this build can do spmm"
[ "$(sed 1d out | cut -d, -f1 | tr '\n' ' ')" = "one cora " ] || fail "expected choices for one and cora"
cpu 0 tune rect.mtx one.mtx --op gcn_norm --csv
err_has "warning: rect: no variant of this build can do gcn_norm"
# Nothing at all was tuned.
cpu 1 tune rect.mtx --self-loop yes --dim 4
cpu 1 tune rect.mtx --self-loop yes --dim 4,5
cpu 1 tune rect.mtx one.mtx --op gat --dtype f16
cpu 1 tune one.mtx --variant gat.cpu_rows
cpu 1 tune rect.mtx --step gcn --dim 8
cpu 1 bench rect.mtx --self-loop yes
# What was tuned before counts, and what was wrong before.
cpu 0 tune one.mtx --self-loop yes --dim 4
if command -v python3 >/dev/null; then
    python3 -c 'import sqlite3
db = sqlite3.connect("tuned.db")
db.execute("UPDATE measurement SET status = \"wrong\" WHERE status IN (\"ok\", \"abandoned\")")
db.commit()' || fail "the database cannot be changed"
    cpu 5 tune one.mtx --self-loop yes --dim 4
    err_has "no result agrees with the oracle"
fi
run 0 db errata add 'op=spmm' --reason planted --db errata.db -q
run 1 bench one.mtx --device cpu --db errata.db -q
out_has "refused"

# Square roots of sums of weights: another weight than this one is drawn, and nothing is called wrong for it.
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 -3\n2 1 0.5\n' >negative.mtx
run 0 verify negative.mtx --device cpu --op gcn_norm,spmm --dim 4 --weights both
err_has ", 0 wrong"
# A file has one weight for each edge, heads have one each.
run 0 verify negative.mtx --device cpu --op spmm,spmm_grad --dim 1,8 --heads 2,3,32 --dtype f32,f16,bf16
err_has ", 0 wrong"
# Sums of weights beyond f16 would be no numbers.
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 3.4e38\n1 3 3.4e38\n' >large.mtx
run 0 verify large.mtx --device cpu --op spmm --dim 4 --dtype f16,bf16
err_has ", 0 wrong"

# Variants that were named and have nothing to do are told, and why.
run 0 verify one.mtx --device cpu --dim 4 --variant spmm.cpu_rows,gat.cpu_rows
err_has "warning: --variant: gat.cpu_rows computes gat, which --op does not ask for; add --op gat"
run 1 verify one.mtx --device cpu --variant gat.cpu_rows
err_has "gnntune: --variant: gat.cpu_rows computes gat"
run 1 bench one.mtx --device cpu --variant spmm.cpu_sampled
err_has "spmm.cpu_sampled drops edges by design; add --allow-sampling"
run 0 tune one.mtx --device cpu --variant spmm.cpu_sampled --dim 4 --db sampled.db
err_has "every measured config breaks a constraint: spmm.cpu_sampled drops edges by design, and sampling was not allowed"
run 2 tune one.mtx --device cpu --variant 'spmm.cpu_rows{tile=16,row_block=64}' --db none.db
err_has "--variant: expected variants without params"

# A problem that memory does not hold is left out, and the others are done.
export OMP_NUM_THREADS=1
[ -z "${SANITIZED:-}" ] || exit 0  # they take more address space than a limit leaves
for verb in tune bench verify; do
    timed="--max-samples 5"
    [ $verb = verify ] && timed=""
    last="gnntune $verb in little memory"
    # shellcheck disable=SC2086
    (ulimit -v 2000000 && exec "$GNNTUNE" $verb "$cora" --device cpu --dim 4,262144 $timed --db small.db --csv) >out 2>err
    code=$?
    [ $code -eq 1 ] || fail "exit code $code, expected 1"
    err_has "warning: cora spmm k=262144 is left out:"
    grep -q '^cora,' out || fail "the small problem is missing"
done
