# Errata: added, listed and removed; the tuner and explain leave what they name out; merge and documents carry them.
. "$(dirname "$0")/lib.sh"

export GNNTUNE_PROFILES=
export OMP_NUM_THREADS=1
printf '# Nodes: 40\n' >ring.txt
for i in $(seq 0 39); do echo "$i $(((i + 1) % 40))"; done >>ring.txt
run 0 tune ring.txt --device cpu --op spmm --dim 8 --db a.db -q --exhaustive
run 0 db show ring --db a.db --csv
grep -q 'spmm.cpu_edges' out || fail "spmm.cpu_edges was not measured"

run 0 db errata --db a.db --csv
[ "$(wc -l <out)" -eq 1 ] || fail "there are errata already"
run 2 db errata add variant=spmm.cpu_edges --db a.db
err_has "the reason is empty"
run 2 db errata add variant=spmm.cpu_edges,k=3 colour=blue --db a.db --reason x
run 2 db errata add 'variant=spmm.cpu_edges colour=blue' --db a.db --reason x
err_has "there is no condition colour="
run 2 db errata --reason x --db a.db
run 2 db errata forget 1 --db a.db
run 0 db errata add 'k<=64 variant=spmm.cpu_edges' --db a.db --reason 'wrong on rings'
run 0 db errata --db a.db --csv
out_has "variant=spmm.cpu_edges k<=64,wrong on rings"

run 0 explain ring.txt --device cpu --op spmm --dim 8 --db a.db --all
out_has "erratum: wrong on rings"
grep '^chosen' out | grep -q cpu_edges && fail "explain names an erratum"
run 0 tune ring.txt --device cpu --op spmm --dim 16 --db a.db --exhaustive
err_has "configs left out, which must not run"
run 0 db show ring --db a.db --dim 16 --csv
grep -q 'spmm.cpu_edges' out && fail "tune has measured an erratum"
run 0 db check --db a.db

run 0 db export a.json --db a.db
run 0 db import a.json b.db
run 0 db errata --db b.db --csv
out_has "wrong on rings"
run 0 tune ring.txt --device cpu --op spmm --dim 8 --db c.db -q
run 0 db merge a.db --db c.db
run 0 db errata --db c.db --csv
out_has "wrong on rings"

# From the file beside the shipped databases.
mkdir shipped
echo 'variant=spmm.cpu_rows reason="shipped words"' >shipped/errata.txt
GNNTUNE_PROFILES=shipped run 0 db errata --db a.db --csv
out_has "shipped words"

run 2 db errata remove 7 --db a.db
err_has "there is no erratum 7"
run 0 db errata remove 1 --db a.db
run 0 db errata --db a.db --csv
[ "$(wc -l <out)" -eq 1 ] || fail "it is still there"
run 6 db errata remove 1 --db missing.db
[ ! -e missing.db ] || fail "a database was made"
