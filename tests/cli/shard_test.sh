# Four processes share out a tuning and are killed at random, some of them several times: every config is measured once all
# the same, and the merged database has what one process measures.
. "$(dirname "$0")/lib.sh"

export OMP_NUM_THREADS=1
mkdir graphs
for i in 1 2 3 4 5 6; do
    run 0 generate uniform --n-rows $((700 * i)) --m $((6000 * i)) --seed $i -o graphs/g$i.gnng
done
options="--device cpu --op spmm,sddmm --dim 16,32 --weights both --exhaustive --max-samples 30 -q"

# attempts DATABASE: graph, problem, policy, clock, config and version of what was measured, each once.
# twice DATABASE: those that were measured again, but for what other programs spoilt or left without a narrow interval.
named="select graph.name, problem.text, policy, clock, config, variant_version from measurement
    join graph on graph.id = graph_id join problem on problem.id = problem_id where status in ('ok', 'abandoned')"
attempts() { "$GNNTUNE" db sql "$named group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6" --db "$1" --csv | tail -n +2; }
twice() {
    "$GNNTUNE" db sql "$named and reason not like 'stopped early:%' group by 1, 2, 3, 4, 5, 6 having count(*) > 1" \
        --db "$1" --csv | tail -n +2
}
for _ in 1 2 3; do  # what other programs have spoilt is measured again
    # shellcheck disable=SC2086
    run 0 tune graphs/ $options --db one.db
    "$GNNTUNE" db check --db one.db 2>&1 | grep -q "could not be timed" || break
done
attempts one.db >one
total=$(wc -l <one)
[ "$total" -gt 200 ] || fail "only $total configs to tune"

# start RANK: in the background, its process in `pids`.
start() {
    # shellcheck disable=SC2086
    "$GNNTUNE" tune graphs/ $options --db all.db --shard "$1/4" --work work >"out.$1" 2>"err.$1" &
    pids[$1]=$!
}
RANDOM=20261125
kills=0
pids=()
for rank in 0 1 2 3; do start "$rank"; done
for _ in 1 2 3 4 5 6 7 8; do
    rank=$((RANDOM % 4))
    last="rank $rank of 4, to be killed"
    for _ in $(seq 60); do  # in the middle of a unit, if it gets one
        kill -0 "${pids[rank]}" 2>/dev/null && grep -q " begun  *rank  *$rank " work/units 2>/dev/null && break
        sleep 0.02
    done
    sleep "0.0$((RANDOM % 10))"
    kill -KILL "${pids[rank]}" 2>/dev/null
    wait "${pids[rank]}" 2>/dev/null
    [ $? -ne 137 ] || kills=$((kills + 1))
    # Every other one stays dead: what it had begun is for the others.
    [ $((RANDOM % 2)) -eq 0 ] || start "$rank"
done
for rank in 0 1 2 3; do
    wait "${pids[rank]}" 2>/dev/null
    code=$?
    case $code in
        0 | 127 | 137) ;;
        7 | 1) ;;  # the last that ran, and units are left, or other programs had the processor
        *) cp "err.$rank" err; fail "rank $rank ended with $code" ;;
    esac
done
[ "$kills" -ge 3 ] || fail "only $kills processes were killed"

# A later session has fewer ranks, and takes up what is left, until other programs have spoilt nothing.
for _ in 1 2 3; do
    # shellcheck disable=SC2086
    last="gnntune tune, the rest"
    # shellcheck disable=SC2086
    "$GNNTUNE" tune graphs/ $options --db all.db --shard 0/1 --work work >out 2>err && ! grep -q ' left ' work/units && break
done
! grep -qv ' done ' work/units || fail "units are left: $(grep -v ' done ' work/units)"
attempts all.db >all
[ -z "$(twice all.db)" ] || fail "measured twice: $(twice all.db | head -3)"
diff -u one all >differ || { head -20 differ; fail "not what one process measures"; }
run 0 db check --db all.db
out_has "all.db: sound"
# Ranks stay apart: each of their runs has its rank in the merged database.
run 0 db sql "select count(distinct host) from run where host like '%rank _ of 4%'" --db all.db --csv
[ "$(tail -n 1 out)" -ge 3 ] || fail "ranks have become one run"
"$GNNTUNE" db sql "select graph.name, problem.text, config <> '' from choice join graph on graph.id = graph_id
    join problem on problem.id = problem_id order by 1, 2" --db all.db --csv >chosen
[ "$(wc -l <chosen)" -eq $((6 * 8 + 1)) ] || fail "choices are missing"

# All of it again from the folder, which adds nothing.
run 0 db merge --from work --db all.db --csv
[ "$(tail -n +2 out | cut -d, -f2 | sort -u)" = 0 ] || fail "merging twice adds rows"
run 0 db merge --from work --db again.db
attempts again.db | diff - one >/dev/null || fail "db merge --from has not all"

# Killed in the middle of a unit of several problems: another rank takes in what is measured of it, and measures the rest.
run 0 generate uniform --n-rows 20000 --m 200000 -o big.gnng
step="tune big.gnng --device cpu --step gcn --dim 64,16 --exhaustive --max-samples 20 --work work3 --db three.db"
rows() { "$GNNTUNE" db sql "select count(*) from measurement where status in ('ok', 'abandoned')" --db "$1" --csv 2>/dev/null | tail -n 1; }
last="gnntune $step, to be killed"
# shellcheck disable=SC2086
"$GNNTUNE" $step --shard 0/2 >out 2>err &
rank=$!
for _ in $(seq 600); do
    measured=$(rows work3/rank-0.db)
    [ "${measured:-0}" -ge 3 ] && break
    sleep 0.02
done
kill -KILL "$rank" 2>/dev/null
wait "$rank" 2>/dev/null
grep -q ' begun ' work3/units || fail "the unit was done, or not begun, before the kill"
measured=$(rows work3/rank-0.db)
# shellcheck disable=SC2086
"$GNNTUNE" $step --shard 1/2 >out 2>err
err_has "rank 0 ended before it was done: takes in what it has measured"
[ "$(rows three.db)" -gt "$measured" ] || fail "nothing was measured behind the kill"
[ -z "$(twice three.db)" ] || fail "measured twice: $(twice three.db | head -3)"

# What contradicts the folder is a sentence.
# shellcheck disable=SC2086
run 2 tune graphs/ $options --seed 2 --db all.db --shard 0/4 --work work
err_has "was begun with the options"
run 2 tune graphs/ --shard 0/4
err_has "--shard needs a folder"
run 2 tune graphs/ --work work
err_has "say which this is with --shard"
run 2 tune graphs/ --shard auto --work work
err_has "nothing in the environment says which rank this is"
run 2 tune graphs/ --shard 4/4 --work work
err_has "expected auto or I/N"
run 2 tune graphs/ --shard 0/4 --work work --db work/rank-1.db
err_has "is where a rank measures into"
run 3 tune graphs/ --shard 0/4 --work err --device cpu
err_has "err cannot be made"
run 3 db merge --from graphs --db all.db
err_has "is no folder of"
sed -i 's/"build": "/"build": "another /' work/work.json
# shellcheck disable=SC2086
run 2 tune graphs/ $options --db all.db --shard 0/4 --work work
err_has "go on with that build"

# The launcher's variables, from the outside; Ctrl-C ends a rank in order, and the same command goes on.
export RANK=0 WORLD_SIZE=2
# shellcheck disable=SC2086
"$GNNTUNE" tune graphs/ $options --db new.db --shard auto --work work2 >out 2>err &
rank=$!
for _ in $(seq 200); do
    [ -s work2/units ] && grep -q ' begun ' work2/units && break
    sleep 0.02
done
last="gnntune tune --shard auto, interrupted"
kill -TERM "$rank"
wait "$rank"
[ $? -eq 130 ] || fail "SIGTERM did not end it in order"
grep -q ' done \| begun ' work2/units || fail "nothing was begun"
[ ! -e new.db ] || fail "what is not finished was merged"
run 0 db merge --from work2 --db new.db
err_has "units are not done"
export RANK=1
# shellcheck disable=SC2086
"$GNNTUNE" tune graphs/ $options --db new.db --shard auto --work work2 >out 2>err
[ "$(cut -c13-17 work2/units | sort -u | tr -d ' ' | head -1)" != begun ] || fail "the other rank did not go on"
[ -z "$(twice new.db)" ] || fail "measured twice after SIGTERM: $(twice new.db | head -3)"
[ "$(attempts new.db | wc -l)" -gt 0 ] || fail "nothing was measured after SIGTERM"
