# Signals: Ctrl-C ends a verb also where nothing is left to measure; one that the program was started with as ignored
# stays ignored; a limit on the size of files is an error in words.
. "$(dirname "$0")/lib.sh"

export OMP_NUM_THREADS=1
for name in a b c; do
    printf '%%%%MatrixMarket matrix coordinate pattern general\n4 4 4\n1 2\n2 3\n3 4\n4 %s\n' "$((1 + $(printf %d "'$name") % 3))" >$name.mtx
done
tune="--device cpu --op spmm --dim 4 --exhaustive --db a.db"
# shellcheck disable=SC2086
run 0 tune a.mtx b.mtx c.mtx $tune
mkfifo pipe.mtx

# interrupted_before_the_third VERB OPTIONS...: over three graphs of which the second comes through a pipe; SIGINT comes
# while the verb waits for it. Sets `code`.
interrupted_before_the_third() {
    local verb=$1
    shift
    last="gnntune $verb a.mtx pipe.mtx c.mtx $*, interrupted at the second"
    "$GNNTUNE" "$verb" a.mtx pipe.mtx c.mtx "$@" --csv >out 2>err &
    local pid=$!
    exec 9>pipe.mtx # goes on once the verb has opened it
    kill -INT $pid
    sleep 0.2
    cat b.mtx >&9
    exec 9>&-
    wait $pid
    code=$?
}

# With job control, so that the shell does not start its background jobs with SIGINT ignored.
set -m
# shellcheck disable=SC2086
interrupted_before_the_third tune $tune
[ "$code" -eq 130 ] || fail "exit code $code, expected 130: everything was measured, and it went on"
grep -q '^a,' out || fail "what came before is not in the table"
! grep -q '^c,spmm' out || fail "it went on to the third graph"
err_has "go on with: gnntune tune a.mtx"
# shellcheck disable=SC2086
interrupted_before_the_third tune $tune --dry-run
[ "$code" -eq 130 ] || fail "exit code $code, expected 130"
interrupted_before_the_third bench --device cpu --op spmm --dim 4 --max-samples 5
[ "$code" -eq 130 ] || fail "exit code $code, expected 130"
! grep -q '^c,spmm' out || fail "it went on to the third graph"
interrupted_before_the_third verify --device cpu --op spmm --dim 4
[ "$code" -eq 130 ] || fail "exit code $code, expected 130"
! grep -q '^c,spmm' out || fail "it went on to the third graph"
set +m

# Ignored by whoever started it: without job control the shell starts it so.
# shellcheck disable=SC2086
interrupted_before_the_third tune $tune
[ "$code" -eq 0 ] || fail "exit code $code: SIGINT was inherited as ignored, and ended it"
grep -q '^c,' out || fail "it did not go on to the third graph"

# A limit on the size of files.
run 0 generate uniform --n-rows 20000 --m 100000 -o big.gnng
# limited CODE ARGUMENTS...: as run, where files may have 100 KiB.
limited() {
    local expected=$1
    shift
    last="gnntune $*, with ulimit -f 100"
    (ulimit -f 100 && exec "$GNNTUNE" "$@") >out 2>err
    code=$?
    [ "$code" -eq "$expected" ] || fail "exit code $code, expected $expected"
}
for out in limited.mtx limited.gnng limited.npz limited.txt limited.mtx.gz; do
    limited 3 convert big.gnng $out
    err_has "$out: cannot be written (File too large); there is a limit on the size of files (ulimit -f)"
    [ ! -e $out ] || fail "$out is there"
done
limited 3 generate uniform --n-rows 20000 --m 100000 -o limited.gnng
err_has "cannot be written (File too large)"
limited 6 tune "$cora" --device cpu --op spmm --dim 4 --max-samples 5 --db limited.db -q
err_has "there is a limit on the size of files (ulimit -f): raise it"
# What is printed, past the limit from its first byte on.
last="gnntune list, with ulimit -f 0"
(ulimit -f 0 && exec "$GNNTUNE" list variants) >printed 2>/dev/null
code=$?
[ $code -eq 1 ] || fail "exit code $code, expected 1"
