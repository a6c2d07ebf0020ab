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

# Lists mark them: of the width at which it was measured before, and only there.
run 0 db show ring --db a.db --dim 8 --csv
grep 'spmm.cpu_edges' out | grep -qv 'erratum: wrong on rings' && fail "a row of an erratum is not marked"
grep 'spmm.cpu_rows' out | grep -q 'erratum' && fail "a row of another variant is marked"
cp a.db held.db
run 0 db errata add op=spmm --reason 'wrong at all widths' --db held.db
run 0 db ls --db held.db
out_has "held back"
out_has "erratum: wrong at all widths"
run 0 db show ring --db held.db
out_has "erratum: wrong at all widths"
run 0 db export --csv --best --db held.db
head -1 out | grep -q ',held_back$' || fail "no column for what is held back"
# The best one of a width may be what the older erratum names.
[ "$(tail -n +2 out | grep -vcE 'erratum: wrong (at all widths|on rings)$')" -eq 0 ] || fail "a best config is not marked"
run 0 db ls graphs --db held.db
out_lacks "held back"

# Where they leave nothing over, it was measured all the same.
cp a.db all.db
run 0 db errata add op=spmm --reason 'wrong everywhere' --db all.db
run 0 explain ring.txt --device cpu --op spmm --dim 8 --db all.db
out_has "nothing of it can be used: it was measured, and errata keep what could run from running (gnntune db errata)"

run 0 db export a.json --db a.db
run 0 db import a.json b.db
run 0 db errata --db b.db --csv
out_has "wrong on rings"
run 0 tune ring.txt --device cpu --op spmm --dim 8 --db c.db -q
run 0 db merge a.db --db c.db
err_has "a.db: the erratum 'variant=spmm.cpu_edges k<=64' comes along: what it holds for runs no more here (wrong on rings)"
run 0 db errata --db c.db --csv
out_has "wrong on rings"
cp c.db removed.db
run 0 db errata remove 1 --db removed.db
run 0 db merge a.db --db removed.db
err_has "it stays removed"
run 0 db errata --db removed.db --csv
[ "$(wc -l <out)" -eq 1 ] || fail "a removed erratum came back"

# From the file beside the shipped databases.
mkdir shipped
echo 'variant=spmm.cpu_rows reason="shipped words"' >shipped/errata.txt
GNNTUNE_PROFILES=shipped run 0 db errata --db a.db --csv
out_has "shipped words"

# bench and the choice for a whole step say what they leave out, and why.
run 0 bench ring.txt --device cpu --dim 8 --db a.db --csv
grep 'spmm.cpu_edges' out | grep -q 'refused,erratum: wrong on rings' || fail "bench does not refuse an erratum"
grep -q 'failed' out && fail "bench fails where it refuses"
err_has "refused, erratum: wrong on rings (gnntune db errata)"
run 0 tune ring.txt --device cpu --step gcn --dim 4 --layers 1 --db s.db -q --exhaustive
run 0 db sql "select config from step_call where config like 'spmm%{%' limit 1" --db s.db --csv
chosen=$(tail -n 1 out | tr -d '"' | sed 's/^/variant=/; s/{/ param./; s/,/ param./g; s/}//')
run 0 db errata add "$chosen" --reason 'wrong on steps' --db s.db
run 0 explain ring --device cpu --step gcn --dim 4 --layers 1 --db s.db
err_has "which must not run: erratum: wrong on steps (gnntune db errata)"
run 0 db errata add 'op=spmm' --reason 'wrong on steps' --db s.db
run 1 explain ring --device cpu --step gcn --dim 4 --layers 1 --db s.db
err_has "no measured config of spmm k=4"
err_has "may run: erratum: wrong on steps (gnntune db errata)"

# check names the lines of errata.txt that nobody understands; add refuses what no document can carry.
printf '# fine\nvariant=spmm.cpu_rows reason=x\nvariant=spmm.cpu_rows colour=blue reason=x\n' >shipped/errata.txt
GNNTUNE_PROFILES=shipped run 6 db check --db a.db
out_has "errata.txt line 3: erratum: there is no condition colour="
out_has "1 problem"
rm shipped/errata.txt
mkdir shipped/errata.txt
GNNTUNE_PROFILES=shipped run 6 db check --db a.db
out_has "cannot be read"
run 2 db errata add "$(printf 'variant=spmm.cpu_rows device=\377')" --reason x --db a.db
err_has "is not UTF-8"

# What this build does not know is stored, for another may, and said; a build without CUDA cannot tell for CUDA's.
run 0 tune ring.txt --device cpu --op spmm --dim 8 --max-samples 5 --db odd.db -q
run 0 db errata add 'variant=spmm.cpu_rosw' --reason x --db odd.db
err_has "no variant of this build is called spmm.cpu_rosw; did you mean spmm.cpu_rows?"
err_has "it keeps nothing from running here"
run 0 db errata add 'variant=spmm.cpu_rows param.nosuch=3' --reason x --db odd.db
err_has "no variant of this build that it names has a param 'nosuch'"
run 0 db errata add 'variant=spmm.cpu_rows param.tile=64' --reason x --db odd.db
! grep -q "keeps nothing" err || fail "a param that there is is called unknown"
run 6 db check --db odd.db
out_has "variant=spmm.cpu_rows param.nosuch=3: no variant of this build that it names has a param 'nosuch'"
if [ "$WITH_CUDA" = 1 ]; then
    out_has "variant=spmm.cpu_rosw: no variant of this build is called spmm.cpu_rosw"
    out_has "2 problems"
else
    err_has "variant=spmm.cpu_rosw: not in this build, which has no CUDA variants; not checked"
    out_has "1 problem"
fi

run 2 db errata remove 7 --db a.db
err_has "there is no erratum 7"
run 0 db errata remove 1 --db a.db
err_has "erratum 1 removed: "
run 0 db errata --db a.db --csv
[ "$(wc -l <out)" -eq 1 ] || fail "it is still there"
run 6 db errata remove 1 --db missing.db
[ ! -e missing.db ] || fail "a database was made"

# What is not there is not removed, and a file of an older schema stays as it is.
need_sqlite3
sqlite3 c.db 'drop table erratum; drop table removed_erratum; drop table run_identity; drop view accuracies; drop table accuracy_call;
               drop table accuracy; pragma user_version = 1' || fail "sqlite3"
run 2 db errata remove 1 --db c.db
err_has "there is no erratum 1"
[ "$(sqlite3 c.db 'pragma user_version')" -eq 1 ] || fail "the file was moved to another schema"
[ ! -e c.db.schema-1.backup ] || fail "a backup was made"

# Without a table of errata all of them would be void: no verb that answers by the file believes it. Who only asks it
# for errata warns.
run 0 fit --db c.db --device cpu -q
sqlite3 c.db 'alter table erratum rename column reason to because' || fail "sqlite3"
for verb in "explain ring.txt --device cpu --dim 8" "predict ring.txt --device cpu --dim 8"; do
    run 6 $verb --db c.db
    err_has "the table erratum is not as gnntune makes it, so that nothing in it is believed"
done
for verb in bench verify; do
    run 0 $verb ring.txt --device cpu --dim 8 --variant spmm.cpu_rows --db c.db
    err_has "warning: c.db: its errata cannot be read, and keep nothing from running: c.db: the table erratum is not"
done
run 6 db check --db c.db
out_has "the table erratum is not as gnntune makes it"
