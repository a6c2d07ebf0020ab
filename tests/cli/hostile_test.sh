# Databases whose schema somebody has changed: every verb ends, with a sentence where it cannot believe them.
. "$(dirname "$0")/lib.sh"
need_sqlite3
printf '# Nodes: 40\n' >ring.txt
for i in $(seq 0 39); do echo "$i $(((i + 1) % 40))"; done >>ring.txt
export OMP_NUM_THREADS=1
run 0 tune ring.txt --device cpu --op spmm --dim 8 --max-samples 5 --db good.db -q

# ends CODE ARGUMENTS...: like run, and in time.
ends() {
    local expected=$1
    shift
    last="gnntune $*"
    timeout 60 "$GNNTUNE" "$@" >out 2>err
    local code=$?
    [ "$code" -eq "$expected" ] || fail "exit code $code, expected $expected"
}

endless='with recursive c(x) as (select 1 union all select x+1 from c)'
instead() {
    echo "pragma legacy_alter_table=on; alter table $1 rename to moved; create view $1 as $endless select moved.* from moved, c where c.x<0;"
}
try() { # FAULT SQL
    local fault=$1
    rm -f bad.db bad.db-* saved.db target.db target.db-*
    cp good.db bad.db
    sqlite3 bad.db "$2" >/dev/null || fail "sqlite3: $2"
    ends 6 db check --db bad.db
    out_has "$fault"
    for verb in "db ls" "db show ring" "db export -" "db errata add op=spmm --reason x" "db errata remove 1" "db prune" \
        "db prune --dry-run" "explain ring.txt --device cpu --dim 8" "tune ring.txt --device cpu --op spmm --dim 8" \
        "tune ring.txt --device cpu --op spmm --dim 8 --dry-run" "fit --device cpu" "db merge good.db" "predict ring.txt --device cpu"; do
        ends 6 $verb --db bad.db
        err_has "$fault"
    done
    ends 6 db merge bad.db --db target.db
    err_has "$fault"
    [ ! -e target.db ] || fail "a target was made for nothing"
    ends 6 doctor --db bad.db
    out_has "$fault"
    timeout 60 "$GNNTUNE" db rescue bad.db saved.db >out 2>err
    [ $? -le 6 ] || fail "db rescue does not end"
    [ -e saved.db ] || fail "nothing was saved"
    ends 0 db ls --db saved.db
}
try "the table graph is a view" "$(instead graph)"
try "the table erratum is a view" "$(instead erratum)"
try "the view best is not as gnntune makes it" "drop view best; create view best as $endless select * from c where x<0"
try "the table erratum is missing" "drop table erratum"
try "the table device_constant is missing" "drop table device_constant"
try "the view usable is missing" "drop view usable"

cp good.db tr.db
sqlite3 tr.db 'create trigger tr after insert on measurement begin delete from choice where problem_id<>new.problem_id; end'
run 6 db check --db tr.db
out_has "the trigger tr on measurement is not gnntune's"
run 0 tune ring.txt --device cpu --op spmm --dim 16 --max-samples 5 --db tr.db -q
[ "$(sqlite3 tr.db 'select count(*) from choice')" -eq 2 ] || fail "a trigger has deleted a choice"

# What a person asks for may take for ever, until that person has had enough.
timeout --signal=INT 4 "$GNNTUNE" db sql "$endless select count(*) from c" --db good.db >out 2>err
[ $? -eq 124 ] || fail "it ended by itself"
exit 0
