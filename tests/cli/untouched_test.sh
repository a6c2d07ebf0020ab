# What only says what it would do changes nothing: not the database, its log or its folder; and what came with the
# installation is never written to.
. "$(dirname "$0")/lib.sh"
printf '# Nodes: 40\n' >ring.txt
for i in $(seq 0 39); do echo "$i $(((i + 1) % 40))"; done >>ring.txt
export OMP_NUM_THREADS=1
mkdir data tmp
export TMPDIR=$PWD/tmp
run 0 tune ring.txt --device cpu --op spmm --dim 8 --max-samples 5 --db data/a.db -q
run 0 tune ring.txt --device cpu --op spmm --dim 8 --max-samples 5 --again --db data/a.db -q

state() { (cd data && ls -la --time-style=full-iso && md5sum -- * 2>&1); }
unchanged() { # CODE ARGUMENTS...
    local before
    before=$(state)
    run "$@"
    [ "$(state)" = "$before" ] || fail "it has changed: $before --- $(state)"
    [ -z "$(ls tmp)" ] || fail "something was left in the folder for temporary files"
}
plans() {
    unchanged 0 db prune --dry-run --db data/a.db
    unchanged 0 tune ring.txt --device cpu --op spmm --dim 8,16 --dry-run --db data/a.db
    out_has "16"
    unchanged 0 tune ring.txt --device cpu --op spmm,sddmm --dim 8 --again --exhaustive --dry-run --db data/a.db
}
plans
run 0 tune ring.txt --device cpu --op spmm --dim 8 --dry-run --db data/a.db --csv
grep -q ',0,' out || fail "the plan does not know what was measured"
unchanged 0 tune ring.txt --device cpu --op spmm --dim 8 --dry-run --db data/none.db
unchanged 6 db prune --dry-run --db data/none.db
chmod 444 data/a.db
plans
chmod 644 data/a.db
if command -v sqlite3 >/dev/null; then
    # Beside a writer.
    coproc WRITER { sqlite3 data/a.db >/dev/null; }
    printf "%s\n" "update run set host = 'y';" ".shell touch written" >&"${WRITER[1]}"
    for _ in $(seq 1 500); do
        [ -e written ] && break
        sleep 0.02
    done
    [ -s data/a.db-wal ] || fail "there is no log"
    plans
    writer=$WRITER_PID
    echo .quit >&"${WRITER[1]}"
    wait "$writer"
    # As a process that is killed leaves it, with and without the index of its log.
    sqlite3 data/a.db "pragma wal_autocheckpoint = 0; update run set host = 'x'; select * from run" ".shell cp data/a.db-wal tmp/wal; cp data/a.db-shm tmp/shm" >/dev/null
    mv tmp/wal data/a.db-wal
    mv tmp/shm data/a.db-shm
    plans
    rm data/a.db-shm
    plans
    rm data/a.db-wal
    # A file of an older schema is planned with as it is.
    sqlite3 data/a.db 'drop table erratum; drop table removed_erratum; drop table run_identity; drop view accuracies; drop table accuracy_call;
               drop table accuracy; pragma user_version = 1' || fail "sqlite3"
    unchanged 0 tune ring.txt --device cpu --op spmm --dim 8,16 --dry-run --db data/a.db
fi

# By its own name, by a link to it.
mkdir shipped
run 0 tune ring.txt --device cpu --op spmm --dim 8 --max-samples 5 --db shipped/s.db -q
run 0 db export --db shipped/s.db document.json
ln -s shipped/s.db link.db
export GNNTUNE_PROFILES=$PWD/shipped
before=$(md5sum shipped/s.db)
for path in shipped/s.db link.db; do
    for verb in "tune ring.txt --device cpu --op spmm --dim 16" "db prune" "db errata add op=spmm --reason x" \
        "db merge data/a.db" "db import document.json" "doctor --measure --device cpu"; do
        run 6 $verb --db $path
        err_has "came with the installation, and is not written to"
    done
done
[ "$(md5sum shipped/s.db)" = "$before" ] || fail "a shipped database was written to"

# Where no plan can be made: no folder for its copy, a database that cannot be reached.
export GNNTUNE_PROFILES=
ln -s loop.db loop.db
run 6 tune ring.txt --device cpu --op spmm --dim 8 --dry-run --db loop.db
err_has "loop.db: cannot be reached: "
export TMPDIR=$PWD/nowhere
run 6 tune ring.txt --device cpu --op spmm --dim 8 --dry-run --db data/a.db
err_has "no plan can be made: the folder for temporary files cannot be written to; name another in TMPDIR"
exit 0
