# Killed without warning, a tuning loses nothing that it had stored, goes on with what is missing and measures nothing
# twice; beside a second process in the same file as well.
. "$(dirname "$0")/lib.sh"

export OMP_NUM_THREADS=1
run 0 generate uniform --n-rows 5000 --m 100000 -o graph.gnng
options="--device cpu --op spmm,sddmm --dim 16,64,128 --weights both --exhaustive --max-samples 30 -q"

# export_to FILE DATABASE: all measurements, in the order in which they were stored.
export_to() { "$GNNTUNE" db export --db "$2" --csv - 2>/dev/null | tail -n +2 >"$1"; }
# attempts FILE: what makes a measurement the same attempt: graph, problem, policy, clock, config, version; and its status.
# Commas inside quotes become semicolons, so that columns can be counted. A time that other programs spoilt is no attempt.
attempts() {
    awk -F'"' -v OFS= '{ for (i = 2; i <= NF; i += 2) gsub(",", ";", $i); $1 = $1; print }' "$1" | grep -v 'disturbed: ' |
        cut -d, -f1,5-17 | grep -v ',refused$' | sort
}
# expected FILE ARGUMENTS...: how many configs each graph and problem has, as the plan for an empty database says.
expected() {
    local file=$1
    shift
    # shellcheck disable=SC2086
    run 0 tune "$@" $options --csv --dry-run --db plan.db
    tail -n +2 out | cut -d, -f1-5 | sort >"$file"
}
# complete DATABASE PLAN: each config of the plan stands in the database once. What other programs spoilt is measured again
# first, a few times.
complete() {
    for _ in 1 2 3 4 5; do
        export_to all.csv "$1"
        # shellcheck disable=SC2086
        [ "$(attempts all.csv | wc -l)" -lt "$total" ] && grep -q 'disturbed: ' all.csv || break
        run 0 tune "$cora" graph.gnng $options --db "$1"
    done
    export_to all.csv "$1"
    attempts all.csv >all
    twice=$(cut -d, -f1-13 all | uniq -d)
    [ -z "$twice" ] || fail "measured twice: $twice"
    ! grep -vE ',(ok|abandoned)$' all || fail "a measurement failed"
    # graph, op, k, heads, weighted, ... -> the plan's "graph,spmm k=16 unweighted,hot,host,7"
    awk -F, '{ n[$1 "," $2 " k=" $3 ($5 ? "" : " unweighted") "," $10 "," $11]++ }
             END { for (problem in n) print problem "," n[problem] }' all | sort >counted
    diff -u "$2" counted || fail "other configs were measured than planned"
    run 0 db check --db "$1"
    out_has "$1: sound"
}
# kept FILE DATABASE: the rows of FILE are the first ones of the database.
kept() {
    export_to now.csv "$2"
    head -n "$(wc -l <"$1")" now.csv | cmp -s - "$1" || fail "a stored measurement was lost or changed"
}
rows() { "$GNNTUNE" db export --db "$1" --csv - 2>/dev/null | tail -n +2 | wc -l; }
# kill_at N DATABASE PID: SIGKILL once the database has more than N rows.
kill_at() {
    for _ in $(seq 600); do
        [ "$(rows "$2")" -gt "$1" ] && break
        sleep 0.05
    done
    [ "$(rows "$2")" -gt "$1" ] || fail "nothing was stored within 30 seconds"
    kill -KILL "$3" 2>/dev/null || fail "it ended before it could be killed"
    wait "$3" 2>/dev/null
    [ $? -eq 137 ] || fail "it ended before it could be killed"
}

# One process, killed three times at different places.
expected plan "$cora" graph.gnng
total=$(awk -F, '{ n += $NF } END { print n }' plan)
[ "$total" -gt 100 ] || fail "only $total configs to tune"
at=0
for round in 1 2 3; do
    last="gnntune tune, to be killed ($round)"
    # shellcheck disable=SC2086
    "$GNNTUNE" tune "$cora" graph.gnng $options --db a.db >out 2>err &
    kill_at "$at" a.db $!
    [ "$round" -eq 1 ] || kept before.csv a.db
    export_to before.csv a.db
    at=$(wc -l <before.csv)
    [ "$at" -lt "$total" ] || fail "everything was measured before the kill"
done
run 0 db check --db a.db
# shellcheck disable=SC2086
run 0 tune "$cora" graph.gnng $options --db a.db
kept before.csv a.db
complete a.db plan
before=$(rows a.db)
# shellcheck disable=SC2086
run 0 tune "$cora" graph.gnng $options --db a.db
[ "$(rows a.db)" -eq "$before" ] || fail "what was measured is measured again"

# Two processes in one new file, both to the end.
# shellcheck disable=SC2086
"$GNNTUNE" tune "$cora" $options --db b.db >out 2>err &
first=$!
# shellcheck disable=SC2086
"$GNNTUNE" tune graph.gnng $options --db b.db >out2 2>err2 &
second=$!
last="two tunings at once"
wait $first || fail "the first of two ended with $?"
wait $second || { cp err2 err; fail "the second of two ended with $?"; }
complete b.db plan

# One of two is killed: the other does not notice, and the killed one goes on.
# shellcheck disable=SC2086
"$GNNTUNE" tune graph.gnng $options --db c.db >out 2>err &
victim=$!
# shellcheck disable=SC2086
"$GNNTUNE" tune "$cora" $options --db c.db >out2 2>err2 &
survivor=$!
last="two tunings at once, one to be killed"
kill_at 5 c.db $victim
wait $survivor || { cp err2 err; fail "the survivor ended with $?"; }
export_to before.csv c.db
# shellcheck disable=SC2086
run 0 tune graph.gnng $options --db c.db
kept before.csv c.db
complete c.db plan
