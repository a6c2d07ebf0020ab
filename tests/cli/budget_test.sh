# A time that is too short leaves rows, a choice and a table that says what is missing; the same command goes on.
. "$(dirname "$0")/lib.sh"

export OMP_NUM_THREADS=1
run 0 generate uniform --n-rows 3000 --m 20000 -o graph.gnng
run 0 generate uniform --n-rows 100 --m 400 -o other.gnng
tune="tune graph.gnng other.gnng --device cpu --op spmm --dim 64,16 --db a.db"
# shellcheck disable=SC2086
run 7 $tune --budget 1ms --csv
cp out short.csv
# Beside other programs there may be no time at all.
if grep -q "could not be timed" err; then echo "skipped: other programs have the processor"; exit 77; fi
[ "$(wc -l <short.csv)" -eq 4 ] || fail "expected three rows: a choice, a problem and a graph that were left out"
sed -n 2p short.csv | grep -q '^graph,spmm,64,.*spmm\.cpu_rows' || fail "no choice in the first row"
sed -n 3p short.csv | grep -q '^graph,spmm,16,.*left out: the budget ended,0,' || fail "the second problem is not left out"
sed -n 4p short.csv | grep -q '^other,.*left out: the budget ended' || fail "the second graph is not left out"
err_has "1 problem and 1 graph, left out: the budget ended"
err_has "go on with: gnntune tune graph.gnng other.gnng"
run 0 explain graph --device cpu --op spmm --dim 64 --db a.db
out_has " of at least 20 calls were timed"
run 0 db check --db a.db
err_has "1 config stopped before all calls were timed; tune takes them again"

# A search that was cut says so, and what was done before is shown behind it.
run 0 tune other.gnng --device cpu --op spmm --dim 8 --policy hot --db c.db -q
run 7 tune other.gnng --device cpu --op spmm --dim 8 --policy cold,hot --db c.db --budget 1ms --csv
if ! grep -q "could not be timed" err; then
    err_has "other spmm k=8, policy cold, clock host: cut midway: "
    sed -n 2p out | grep -q '^other,spmm,8,spmm k=8,cold,' || fail "no row of what was cut"
    sed -n 3p out | grep -q '^other,spmm,8,spmm k=8,hot,host,spmm\.' || fail "no row of what was done before"
fi

# JSON has nothing where there is nothing.
run 7 tune graph.gnng --device cpu --op spmm --dim 8,32 --db b.db --budget 1ms --json
if command -v python3 >/dev/null; then
    json 'len(j["data"]) == 2 and j["data"][0]["config"].startswith("spmm.") and j["data"][1]["config"] is None'
    json 'j["data"][1]["measured"] == 0 and j["data"][1]["configs"] > 0'
fi

# shellcheck disable=SC2086
run 0 $tune --csv
! grep -q 'left out' out || fail "something is left out"
run 0 db check --db a.db
! grep -q "stopped before" err || fail "the first config was not measured to its end"
# With nothing left to measure no time is too short.
# shellcheck disable=SC2086
run 0 $tune --budget 1ms
