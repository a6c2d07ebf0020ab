# A limited time goes to all graphs: a large one at the front does not take what the others need, and has what they leave.
. "$(dirname "$0")/lib.sh"
[ -z "${SANITIZED:-}" ] || { echo "skipped: sanitizers are slow"; exit 77; }

export OMP_NUM_THREADS=1
run 0 generate rmat --scale 16 --m 1500000 -o a_large.gnng -q
run 0 generate uniform --n-rows 200 --m 1000 -o b_small.gnng -q
run 0 generate uniform --n-rows 300 --m 1000 -o c_small.gnng -q
options="--device cpu --op spmm --dim 64,128,256 --exhaustive --csv"
# What the small ones need on this machine now, each of which gets a third.
begun=$(date +%s)
# shellcheck disable=SC2086
run 0 tune b_small.gnng c_small.gnng $options --db small.db
ended=$(date +%s)
budget=$((6 + 6 * (ended - begun)))
begun=$(date +%s)
# shellcheck disable=SC2086
run 7 tune a_large.gnng b_small.gnng c_small.gnng $options --budget ${budget}s --db a.db
ended=$(date +%s)
if grep -q "could not be timed" err; then echo "skipped: other programs have the processor"; exit 77; fi
grep '^a_large,' out | grep -q 'left out: the budget ended' || fail "the large graph was done: it is not large enough for this test"
grep '^a_large,spmm,64,.*spmm\.' out >/dev/null || fail "nothing is chosen for the large graph"
for small in b_small c_small; do
    [ "$(grep -c "^$small,spmm,.*spmm\\." out)" -eq 3 ] || fail "$small was not tuned"
    ! grep "^$small," out | grep -q 'left out' || fail "something of $small was left out"
done
# What the small ones left went to the large one.
[ $((ended - begun)) -ge $((budget - 1)) ] || fail "the time was not used"
[ "$(grep -c '^a_large,' out)" -eq 3 ] || fail "a graph that was taken up twice has its rows once"
