# A budget beside a program that has the processor: what could not be timed is left for the next run, exit code 7. Without
# a budget it is what failed, 1.
. "$(dirname "$0")/lib.sh"
[ -z "${SANITIZED:-}" ] || { echo "skipped: sanitizers are slow"; exit 77; }
command -v taskset >/dev/null || { echo "skipped: taskset is not installed"; exit 77; }

processor=$(taskset -cp $$ | grep -oE '[0-9]+' | tail -n 1)
taskset -c "$processor" timeout 280 sh -c 'while :; do :; done' &
spinner=$!
trap 'kill $spinner 2>/dev/null; rm -rf "$work"' EXIT
export OMP_NUM_THREADS=1
# A call of some 10 ms at a tenth of the processor: it is never without an interruption.
run 0 generate rmat --scale 15 --m 400000 -o graph.gnng -q
for budget in "--budget 1ms" "--budget 1h" ""; do
    last="gnntune tune $budget beside another program"
    # shellcheck disable=SC2086
    taskset -c "$processor" nice -n 10 "$GNNTUNE" tune graph.gnng --device cpu --op spmm --dim 64 \
        --variant spmm.eigen --db a.db $budget >out 2>err
    code=$?
    # Where it could be timed all the same there is nothing to see.
    if ! grep -qE "no config could be timed|could not be timed, since" err; then
        [ $code -eq 0 ] || [ $code -eq 7 ] || fail "exit code $code"
        echo "skipped: the other program did not get in the way"
        exit 77
    fi
    if [ -n "$budget" ]; then
        [ $code -eq 7 ] || fail "exit code $code, expected 7"
        err_has "go on with: gnntune tune graph.gnng"
    else
        [ $code -eq 1 ] || fail "exit code $code, expected 1"
        err_has "no config could be timed, since other programs had the processor"
    fi
done
