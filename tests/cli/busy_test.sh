# Beside as many spinning processes as the machine has processors: a time slice is never stored as a time. What could
# not be timed is said, shown and measured later.
. "$(dirname "$0")/lib.sh"

spinners=()
stop_spinning() {
    [ ${#spinners[@]} -eq 0 ] || kill "${spinners[@]}" 2>/dev/null
    wait 2>/dev/null
    spinners=()
}
trap 'stop_spinning; rm -rf "$work"' EXIT
for _ in $(seq "$(nproc)"); do
    timeout 100 sh -c 'while :; do :; done' &
    spinners+=($!)
done

run 0 generate uniform --n-rows 3000 --m 20000 -o small.gnng
tune="tune small.gnng --device cpu --op spmm --dim 16 --db a.db"
for threads in 1 "$(nproc)"; do
    export OMP_NUM_THREADS=$threads
    last="gnntune $tune, with $threads threads"
    # shellcheck disable=SC2086
    "$GNNTUNE" $tune >out 2>err
    code=$?
    # 1 where nothing at all could be timed.
    [ $code -eq 0 ] || { [ $code -eq 1 ] && grep -q "no config could be timed" err; } || fail "exit code $code"
done
# A call takes some 100 us, a time slice 2 to 12 ms.
run 0 db sql "select config, median_us from measurement where status = 'ok' and median_us > 1500" --db a.db --csv
[ "$(wc -l <out)" -le 1 ] || fail "time slices are stored as sound"
run 0 db check --db a.db
missing=$("$GNNTUNE" db show small --db a.db --csv | grep -c 'disturbed: ')
[ "$missing" -eq 0 ] || err_has "could not be timed beside other programs; tune takes them again"
stop_spinning

# What is marked is measured once the machine is quiet, marked by hand where all of it could be timed.
need_sqlite3
export OMP_NUM_THREADS=1
quiet="tune small.gnng --device cpu --op spmm --dim 16 --exhaustive --db b.db"
# shellcheck disable=SC2086
run 0 $quiet
sqlite3 b.db "update measurement set status = 'failed', reason = 'disturbed: 40 of 40 calls waited for a processor',
    median_us = NULL, samples = 0 where id = (select max(id) from measurement
    where status = 'ok' and config not in (select config from choice))" || fail "sqlite3"
run 0 db check --db b.db
err_has "1 config could not be timed beside other programs; tune takes them again"
out_has "sound"
run 0 explain small --device cpu --op spmm --dim 16 --db b.db
out_has "disturbed: 40 of 40 calls waited for a processor"
# shellcheck disable=SC2086
run 0 $quiet
run 0 db check --db b.db
! grep -q "could not be timed" err || fail "it was not measured again"
