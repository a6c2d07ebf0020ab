# Options for reading graphs that mean nothing to what is read: an error where they contradict it, a note where a folder or
# a list brings files that they are not for, nothing where they say what is so anyway.
. "$(dirname "$0")/lib.sh"

printf '0 1\n1 2\n2 0\n' >list.txt
run 0 convert list.txt pattern.mtx
run 0 convert list.txt pattern.gnng
run 0 convert list.txt scipy.npz
run 0 convert --symmetric list.txt both.graph
mkdir tu
printf '1, 2\n2, 3\n' >tu/DS_A.txt
printf '1\n1\n2\n' >tu/DS_graph_indicator.txt

for file in pattern.mtx pattern.gnng scipy.npz both.graph tu tu/DS_A.txt; do
    run 2 info --relabel $file
    err_has "--relabel does not apply to "
    err_has "it numbers the ids of edge lists; leave it out"
    out_empty
    run 2 info --vertices 4 $file
    err_has "--vertices 4 does not apply to "
    err_has "that says itself it is 3 x 3"
    run 0 info --csv --vertices 3 $file
    ! grep -q apply err || fail "what is so anyway is said"
done
for file in pattern.mtx both.graph; do
    run 2 info --base 0 $file
    err_has "--base 0 does not apply to "
    err_has "where ids start at 1"
    run 0 info --csv --base 1 $file
    ! grep -q apply err || fail "what is so anyway is said"
done
for file in pattern.gnng scipy.npz; do
    run 2 info --base 1 $file
    err_has "where ids start at 0"
    run 0 info --csv --base 0 $file
    ! grep -q apply err || fail "what is so anyway is said"
done
run 2 info --from edges tu
err_has "--from edges does not apply: this is a TU data set; name its file DS_A.txt to read that one so"
# Other verbs that read graphs.
run 2 tune --relabel pattern.mtx --dim 4 --device cpu --db a.db
run 2 convert --base 1 pattern.gnng out.mtx
[ ! -e out.mtx ] || fail "it was written all the same"
run 2 bench --vertices 9 scipy.npz --dim 4 --device cpu

# Where graphs come by the folder or a list, options are for those that have a use for them, and the others say so.
mkdir folder
cp list.txt pattern.mtx folder
run 0 info --csv --vertices 5 folder
[ "$(wc -l <out)" -eq 3 ] || fail "expected two graphs"
err_has "folder/pattern.mtx: --vertices 5 does not apply to mtx that says itself it is 3 x 3"
err_has "list: set vertices to 5"
printf 'list.txt\npattern.gnng\n' >names
run 0 info --csv --relabel @names
err_has "pattern.gnng: --relabel does not apply to gnng"
# Of several that are named, one that cannot be read so is left out.
run 3 info --csv --vertices 5 list.txt pattern.mtx
err_has "warning: pattern is left out: pattern.mtx: --vertices 5 does not apply"
[ "$(wc -l <out)" -eq 2 ] || fail "expected one graph"

# What has no self loops to remove.
printf '%%%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 3\n' >wide.mtx
run 0 info --csv --remove-self-loops wide.mtx
err_has "wide: found no self loops in a 2 x 3 matrix"

# What is no file: a stand-in, a graph of the database, none.
run 2 info --reverse standin/ppi
err_has "the options for reading graphs do not apply: standin/ppi: a stand-in is generated as its recipe says"
run 0 tune list.txt --dim 4 --device cpu --variant spmm.cpu_rows --max-samples 5 --db a.db -q
run 2 explain list --dim 4 --device cpu --db a.db --reverse
err_has "the options for reading graphs do not apply: 'list' is a graph of the database"
run 2 db show list --relabel --db a.db
err_has "'list' is a graph of the database"
run 0 db show list.txt --base 0 --db a.db -q
run 2 paper tcgnn --figure 7 --symmetric
err_has "the options for reading graphs do not apply: no graph is given"

# A header that the list does not bear out is a warning: -q leaves it, JSON has it.
printf '# Nodes: 3 Edges: 4\n0 1\n1 2\n2 0\n' >snap.txt
run 0 info -q --csv snap.txt
err_has "warning: snap.txt: its comment says 4 edges, but the list holds 3"
# The target may stand first, if the names say so.
printf 'dst,src\n1,0\n2,1\n0,2\n' >turned.csv
run 0 info --csv list.txt
same=$(fingerprint)
run 0 info --csv turned.csv
[ "$(fingerprint)" = "$same" ] || fail "names of columns do not count"
err_has "turned: skipped 1 header line, took columns 'dst', 'src' by their names"
printf 'id,src,dst\n1,0,1\n2,1,2\n3,2,0\n' >index.csv
run 3 info index.csv
err_has "index.csv line 1: names the columns 'id', 'src', 'dst'; expected the source and the target in the first two"

# What convert advises are options that it has, and they do it.
printf '0 0\n0 1\n0 1\n1 2\n' >loops.txt
run 1 convert loops.txt loops.graph
advice=$(grep -oE 'gnntune convert mends that with( --[a-z-]+)+' err | grep -oE ' --[a-z-]+' | tr -d '\n')
[ "$advice" = " --remove-self-loops --merge-duplicates --symmetric" ] || fail "the advice is:$advice"
# shellcheck disable=SC2086
run 0 convert $advice loops.txt loops.graph
