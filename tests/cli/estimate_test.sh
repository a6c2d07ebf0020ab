# What `tune --dry-run` expects is what tune then does, within a factor: the time of the calls that count, which other
# programs do not lengthen, beside the estimate.
. "$(dirname "$0")/lib.sh"
[ -z "${SANITIZED:-}" ] || { echo "skipped: sanitizers are slow"; exit 77; }

export OMP_NUM_THREADS=1
run 0 generate rmat --scale 13 --m 100000 -o graph.gnng -q
for problem in "--op spmm,sddmm,gat,agnn --dim 16" "--op spmm --dim 128"; do
    tune="tune graph.gnng --device cpu $problem --db $(echo "$problem" | tr -dc a-z0-9).db"
    # shellcheck disable=SC2086
    run 0 $tune --dry-run --csv
    # A column for the configs to measure, and one for seconds.
    expected=$(awk -F, 'NR > 1 { n += $(NF - 1); s += $NF } END { printf "%d %.3f", n, s }' out)
    err_has "where nothing else runs (a guess from sizes, not a measurement"
    last="gnntune $tune"
    # shellcheck disable=SC2086
    "$GNNTUNE" $tune -q >out 2>err
    if grep -q "could not be timed" err; then continue; fi  # beside other programs
    run 0 db sql "select count(*) as n, sum(samples * median_us) / 1e6 as s from measurement where samples > 0" \
        --db "${tune##* }" --csv
    actual=$(tail -n 1 out | tr , ' ')
    awk -v e="$expected" -v a="$actual" 'BEGIN {
        split(e, x, " "); split(a, y, " ")
        exit !(x[1] <= 1.5 * y[1] && y[1] <= 1.5 * x[1] && x[2] <= 4 * y[2] && y[2] <= 4 * x[2])
    }' || fail "expected $expected configs and seconds, measured $actual"
done
