# A tuning that is cut short keeps what it measured and goes on from there: Ctrl-C (130), the budget (7), then to the end.
. "$(dirname "$0")/lib.sh"

# A shell starts background jobs with SIGINT ignored, which then stays so, unless it has job control.
set -m
export OMP_NUM_THREADS=1
run 0 generate uniform --n-rows 10000 --m 100000 -o graph.gnng
tune="tune graph.gnng --device cpu --op spmm --dim 8,16,32,64 --db a.db"

measurements() { "$GNNTUNE" db show graph --db a.db --csv 2>/dev/null | tail -n +2 | wc -l; }

# Interrupted once there is something to lose.
last="gnntune $tune, interrupted"
# shellcheck disable=SC2086
"$GNNTUNE" $tune >out 2>err &
pid=$!
for _ in $(seq 300); do
    [ "$(measurements)" -ge 1 ] && break
    sleep 0.1
done
kill -INT $pid 2>/dev/null || fail "it ended before it could be interrupted"
wait $pid
code=$?
[ $code -eq 130 ] || fail "exit code $code, expected 130"
err_has "$tune"
kept=$(measurements)
[ "$kept" -ge 1 ] || fail "nothing was kept"

# shellcheck disable=SC2086
run 7 $tune --budget 1ms
# shellcheck disable=SC2086
run 0 $tune
[ "$(measurements)" -gt "$kept" ] || fail "it did not go on"
all=$(measurements)
# shellcheck disable=SC2086
run 0 $tune
[ "$(measurements)" -eq "$all" ] || fail "what was measured is measured again"
run 0 db check --db a.db

# Too early for a model.
"$GNNTUNE" adapt --op spmm --device cpu --db adapted.db >out 2>err &
pid=$!
last="gnntune adapt, interrupted"
for _ in $(seq 300); do
    grep -q "^graph" err && break
    sleep 0.1
done
kill -INT $pid 2>/dev/null || fail "it ended before it could be interrupted"
wait $pid
code=$?
[ $code -eq 130 ] || fail "exit code $code, expected 130"
