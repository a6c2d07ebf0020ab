# info: figures of Cora, golden text, fix-ups, folders, lists, stand-ins.
. "$(dirname "$0")/lib.sh"

(cd "$SOURCE" && "$GNNTUNE" info data/cora.mtx.gz) >out 2>err || fail "info data/cora.mtx.gz"
err_empty
out_is info_cora.txt

run 0 info --csv "$cora"
[ "$(wc -l <out)" -eq 2 ] || fail "expected a header and a row"
header=$(sed -n 1p out)
cp out as_file
# A pipe is read once.
gzip -dc "$cora" | "$GNNTUNE" info --csv /dev/stdin >out 2>err || fail "a pipe is not read"
[ "$(sed -n 2p out | cut -d, -f5-9)" = "$(sed -n 2p as_file | cut -d, -f5-9)" ] || fail "a pipe reads another graph"
row=$(sed -n 2p out)
column() {
    local at
    at=$(echo "$header" | tr , '\n' | grep -nx "$1" | cut -d: -f1)
    echo "$row" | cut -d, -f"$at"
}
[ "$(column n_rows)" = 2708 ] || fail "n_rows is $(column n_rows)"
[ "$(column m)" = 10556 ] || fail "m is $(column m)"
[ "$(column weighted)" = 0 ] || fail "weighted is $(column weighted)"
[[ "$(column sgt_reduction_16x8)" == 0.843* ]] || fail "sgt_reduction_16x8 is $(column sgt_reduction_16x8)"
same=$(column fingerprint)

# An edge list u v means u -> v: row v. Reversing changes the fingerprint of a directed graph, and twice gives it back.
printf '# Nodes: 4\n0 1\n1 2\n1 2\n3 3\n' >small.txt
run 0 info --csv small.txt
forward=$(fingerprint)
run 0 info --csv --reverse small.txt
[ "$(fingerprint)" != "$forward" ] || fail "--reverse changed nothing"
run 0 info --remove-self-loops --merge-duplicates small.txt
err_has "small: removed 1 self loop"
out_has "merged 1 duplicate"
run 0 info -q --remove-self-loops small.txt
err_empty
run 0 info --csv --l2-bytes 0 "$cora"
run 0 info --l2-bytes 4KiB "$cora"
out_has "L2 of 4.0 KiB (--l2-bytes)"

# What the store keeps of a graph has the same names, and whole numbers the same values.
run 0 info --csv small.txt
header=$(sed -n 1p out)
row=$(sed -n 2p out)
run 0 tune small.txt --device cpu --dim 4 --variant spmm.eigen --db kept.db -q
run 0 db sql "SELECT key || ' ' || iif(type = 'integer', value, '') FROM graph, json_each(features) WHERE type <> 'array'" --db kept.db --csv
sed 1d out >kept
[ "$(wc -l <kept)" -ge 25 ] || fail "the store keeps few features"
while read -r name value; do
    [ -n "$(column "$name")" ] || fail "info has no $name"
    [ -z "$value" ] || [ "$(column "$name")" = "$value" ] || fail "$name is $(column "$name"), the store has $value"
done <kept

# Sampling rates, where they are asked for: sum of min(degree, S) over the rows by the number of edges.
run 0 info "$cora"
out_lacks "sampling rate"
run 0 info --sampling "$cora"
out_has "sampling rate %"
grep -qE '^ *16 +94\.1$' out || fail "sampling rate at S = 16"
grep -qE '^ *512 +100\.0$' out || fail "sampling rate at S = 512"
run 0 info --csv --sampling "$cora"
header=$(sed -n 1p out)
row=$(sed -n 2p out)
[ "$(column sampling_rate_S256)" = 1 ] || fail "sampling_rate_S256 is $(column sampling_rate_S256)"

# A folder: graphs are read, the rest is named on stderr and counted.
mkdir -p folder/deeper
cp "$cora" folder/
cp small.txt folder/deeper/
echo "some words" >folder/README.md
head -c 300 /dev/zero >folder/labels.bin
run 0 info --csv folder
[ "$(wc -l <out)" -eq 3 ] || fail "expected two graphs"
err_has "skipped folder/README.md:"
err_has "skipped folder/labels.bin:"
err_has "folder: 2 graphs, 2 other files skipped"
grep -q "$same" out || fail "cora is not among the folder's graphs"

printf 'folder/deeper\n%s\n' "$cora" >list.txt
run 0 info --csv @list.txt
sed -n 2p out | grep -q '^small,' || fail "the list's order is not kept"
run 0 info --csv standin/yeast
[ "$(sed -n 2p out | cut -d, -f1)" = standin/yeast ] || fail "a stand-in is not called standin/<name>"

# A graph that is cut short among good ones: named and left out, the others are there, the exit code tells.
mkdir -p mixed
cp "$cora" mixed/a.mtx.gz
gzip -dc "$cora" | head -100 >mixed/m.mtx
cp "$cora" mixed/z.mtx.gz
run 3 info --csv mixed
[ "$(sed 1d out | cut -d, -f1 | tr '\n' ' ')" = "a z " ] || fail "expected the graphs a and z, got $(cut -d, -f1 out)"
err_has "m is left out: mixed/m.mtx: ends at line 100 after 97 entries"
run 3 tune mixed --dim 4 --device cpu --variant spmm.cpu_rows --db mixed.db --csv
[ "$(sed 1d out | cut -d, -f1 | tr '\n' ' ')" = "a z " ] || fail "expected choices for a and z, got $(cut -d, -f1 out)"
run 3 verify mixed --dim 4 --device cpu --variant spmm.cpu_rows --csv
[ "$(sed 1d out | cut -d, -f1 | tr '\n' ' ')" = "a z " ] || fail "expected a and z to be checked, got $(cut -d, -f1 out)"
run 3 info mixed/m.mtx
# One whose first bytes show it, in a folder: a warning too. What is no graph stays a note.
mkdir -p fold
cp "$cora" fold/
head -c 20 "$cora" >fold/cut.mtx.gz
echo "some words" >fold/README.md
run 3 info -q --csv fold
err_has "warning: cut is left out: fold/cut.mtx.gz:"
[ "$(wc -l <err)" -eq 1 ] || fail "expected one line on stderr"
[ "$(wc -l <out)" -eq 2 ] || fail "expected one graph"
run 3 tune fold --dim 4 --device cpu --variant spmm.cpu_rows --db fold.db -q
run 0 convert fold whole.mtx
err_has "warning: cut is left out"
# More vertices than int32 counts.
printf '%%%%MatrixMarket matrix coordinate pattern general\n2147483647 2147483647 1\n1 1\n' >huge.mtx
run 3 info --csv small.txt huge.mtx
err_has "warning: huge is left out: huge.mtx: 2147483647 x 2147483647 exceeds the int32 formats, which hold 2^31-2"
run 3 info huge.mtx
