# Reading graphs from the outside: ids that stay, limits that hold, files that are nearly a graph, standard output.
. "$(dirname "$0")/lib.sh"

# An edge list with gaps is the graph that an application has, with the same fingerprint.
printf '0 2\n2 5\n5 0\n' >gap.txt
printf '%%%%MatrixMarket matrix coordinate pattern general\n6 6 3\n3 1\n6 3\n1 6\n' >application.mtx
run 0 info --csv application.mtx
same=$(fingerprint)
run 0 info --csv gap.txt
[ "$(fingerprint)" = "$same" ] || fail "ids with gaps give another graph"
run 0 info --csv --vertices 7 gap.txt
[ "$(fingerprint)" != "$same" ] || fail "--vertices changes nothing"
err_has "gap: set vertices to 7"
run 0 info --csv --relabel gap.txt
[ "$(fingerprint)" != "$same" ] || fail "--relabel changes nothing"
err_has "gap: relabelled 3 ids"
run 2 info --relabel --base 0 gap.txt
err_has "--relabel numbers the ids that occur anew: it goes with neither --base nor --vertices"
run 3 info --vertices 3 gap.txt
err_has "id 5 is outside 0..2, the 3 vertices of --vertices"
printf '0 1\n1 500\n' >sparse.txt
run 0 info --csv sparse.txt
err_has "sparse: kept 498 ids without edges; --relabel leaves out ids without edges"
printf '0 1\n1 2000000000\n' >hash.txt
run 3 info hash.txt
err_has "hash.txt: claims 2000000001 vertices"
err_has "give --relabel"
printf '0 1\n1 99999999999\n' >wide.txt
run 3 info wide.txt
err_has "wide.txt line 2: id 99999999999 is beyond the 2^31-2 vertices"
run 0 info --relabel wide.txt
# Rows remember how their graph was read: db verify reads it so again.
run 0 tune gap.txt --relabel --dim 4 --device cpu --max-samples 5 --variant spmm.cpu_rows --db again.db -q
last="gnntune db verify again.db"
"$GNNTUNE" db verify again.db --sample 1 -q >out 2>err
[ $? -le 1 ] || fail "the graph is not read as it was"  # 1: it was faster or slower
printf '1 2\n2 3\n3 1\n' >edges.mtx
run 0 tune edges.mtx --from edges --base 0 --dim 4 --device cpu --max-samples 5 --variant spmm.cpu_rows --db from.db -q
last="gnntune db verify from.db"
"$GNNTUNE" db verify from.db --sample 1 -q >out 2>err
[ $? -le 1 ] || fail "the graph is not read as it was"

# One file that claims more columns than it can have, in a folder: named, and left out; the others are there.
mkdir folder
cp "$cora" folder/cora.mtx.gz
printf '%%%%MatrixMarket matrix coordinate pattern general\n1 2147483646 1\n1 1\n' >folder/wide.mtx
run 3 info folder --csv
err_has "warning: wide is left out: folder/wide.mtx: claims 2147483646 columns but holds only"
[ "$(sed 1d out | cut -d, -f1)" = cora ] || fail "cora is not described"
run 3 tune folder --dim 4 --device cpu --variant spmm.cpu_rows --max-samples 5 --db wide.db -q
run 3 info folder/wide.mtx
rm folder/wide.mtx
# So does one whose banner is nearly right.
printf '%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n' >folder/near.mtx
run 3 info folder --csv
err_has "warning: near is left out: folder/near.mtx: line 1 is nearly the banner of a Matrix Market file"
rm folder/near.mtx

# What has no end.
run 3 info /dev/zero
err_has "/dev/zero: is a device, expected a file or a pipe"
run 3 info @/dev/zero
err_has "/dev/zero: "
err_has "expected a list with one file, folder or stand-in on each line"

if [ -z "${SANITIZED:-}" ]; then  # sanitizers take more address space than a limit leaves
    # Memory that runs out while a file is read: which, and for what. The program takes some for itself, with CUDA's libraries
    # over a GB.
    own=20000
    until (ulimit -v $own && exec "$GNNTUNE" --version) >out 2>err; do own=$((own + 20000)); done
    printf '%%%%MatrixMarket matrix coordinate pattern general\n66000000 1 1\n1 1\n' >long.mtx
    last="info long.mtx in little memory"
    (ulimit -v $((own + 240000)) && OMP_NUM_THREADS=1 exec "$GNNTUNE" info long.mtx) >out 2>err
    [ $? -eq 3 ] || fail "expected exit code 3"
    err_has "gnntune: long.mtx: memory ran out while it was read, where the "
    err_has " were to take 252 MiB"
    # The same once it is read and looked at: alone an error, in a folder it is left out.
    printf '%%%%MatrixMarket matrix coordinate pattern general\n1 60000000 1\n1 1\n' >folder/wide.mtx
    last="info in little memory"
    (ulimit -v $((own + 360000)) && OMP_NUM_THREADS=1 exec "$GNNTUNE" info folder/wide.mtx) >out 2>err
    [ $? -eq 3 ] || fail "expected exit code 3"
    err_has "gnntune: folder/wide.mtx (1 x 60000000, 1 entries): memory ran out"
    for verb in info tune verify; do
        rest="--csv"
        [ $verb = info ] || rest="--csv --dim 4 --device cpu --variant spmm.cpu_rows"
        [ $verb = tune ] && rest="$rest --db wide.db"
        # shellcheck disable=SC2086
        (ulimit -v $((own + 360000)) && OMP_NUM_THREADS=1 exec "$GNNTUNE" $verb folder $rest) >out 2>err
        [ $? -eq 3 ] || fail "$verb: expected exit code 3"
        err_has "warning: folder/wide.mtx (1 x 60000000, 1 entries) is left out: memory ran out"
        grep -q '^cora,' out || fail "$verb: cora is missing"
    done
    rm folder/wide.mtx
fi

# Weights that are no numbers.
printf '0 1 nan\n1 2 abc\n2 0 1e999\n' >strange.txt
run 3 info strange.txt
run 0 info --ignore-weights strange.txt
err_has "strange: ignored 3 weights"
printf '%%%%MatrixMarket matrix coordinate complex hermitian\n3 3 2\n2 1 1 inf\n3 3 2 0\n' >complex.mtx
run 3 info complex.mtx
run 0 info --csv --ignore-weights complex.mtx
err_has "mirrored 1 symmetric entry, ignored 3 weights"

# TU data sets whose ids start at 0.
mkdir tu
printf '0, 1\n1, 2\n' >tu/DS_A.txt
printf '1\n1\n2\n' >tu/DS_graph_indicator.txt
run 3 info tu
err_has "DS_A.txt line 1: id 0 is below 1; if ids start at 0 here, give --base 0"
run 0 info --csv --base 0 tu
err_has "DS: took ids from 0"

# Standard output.
run 0 convert application.mtx - --to edges
cp out list.el
[ ! -e ./- ] || fail "a file called - was written"
err_has "application: 6 x 6 with 3 edges written as edges, fingerprint $same"
run 0 info --csv list.el
[ "$(fingerprint)" = "$same" ] || fail "what convert wrote to standard output is another graph"
for to in mtx npz gnng; do
    "$GNNTUNE" convert application.mtx - --to $to 2>err | "$GNNTUNE" info --csv /dev/stdin >out 2>>err
    [ "$(fingerprint)" = "$same" ] || fail "convert to a pipe as $to gives another graph"
done
run 2 convert application.mtx -
err_has "standard output has no name that says which format to write; give --to"

run 0 list formats
out_has "src and dst (src_li and dst_li)"
