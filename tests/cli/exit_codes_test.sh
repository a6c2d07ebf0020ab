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
