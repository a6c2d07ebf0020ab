# Rows of one and of two threads are told apart, explain says what another environment differs in, and who tuned on CPUs is
# not answered by a GPU that is not here.
. "$(dirname "$0")/lib.sh"
need_python
tune() { OMP_NUM_THREADS=$1 run 0 tune "$cora" --dim "$2" --device cpu --max-samples 5 --variant spmm.eigen --db a.db -q; }
tune 1 4
OMP_NUM_THREADS=2 run 0 explain cora --dim 4 --db a.db
out_has "another environment than this one"
out_has "differs    there -> here: threads 1 -> 2"
OMP_NUM_THREADS=2 run 0 explain cora --dim 4 --db a.db --json
json "j['subject']['environment_differs'] == ['threads 1 -> 2']"
OMP_NUM_THREADS=1 run 0 explain cora --dim 4 --db a.db
out_has "this environment"
out_lacks "differs"

tune 2 4
for listing in "db ls" "db ls choices" "db show cora"; do
    # shellcheck disable=SC2086
    run 0 $listing --db a.db --json
    json "sorted({r['threads'] for r in (j['data'][0].get('measurements') or j['data'])}) == [1, 2]"
    # shellcheck disable=SC2086
    run 0 $listing --db a.db
    out_has "threads"
    grep -q "  1  .*spmm.eigen" out && grep -q "  2  .*spmm.eigen" out || fail "the text does not tell the rows apart"
    out_lacks " environment "
done
# What name and threads do not tell apart has the id of its environment.
run 0 db ls environments --db a.db --csv
cp a.db b.db
python3 -c 'import sqlite3
c = sqlite3.connect("b.db")
c.execute("update environment set multiprocessors = 1, memory_bytes = memory_bytes + id")
c.commit()'
run 0 db ls --db b.db
out_has "environment"

# A database that came with the program knows another problem of the graph, on a GPU.
mkdir profiles
cp a.db profiles/gpu.db
python3 -c 'import sqlite3
c = sqlite3.connect("profiles/gpu.db")
c.execute("update environment set backend = \"cuda\", device_name = \"H200\" || id, compute_capability = \"9.0\", driver = \"580\"")
c.execute("update problem set k = 8, text = replace(text, \"k=4\", \"k=8\")")
c.commit()'
export GNNTUNE_PROFILES="$work/profiles"
run 3 explain cora --dim 8 --db a.db
err_has "nothing was measured for spmm k=8"
err_has "--device cpu"
run 0 explain cora --dim 8 --db a.db --device cuda
out_has "H200"
run 0 explain cora --dim 8 --db profiles/gpu.db
out_has "H200"
