# A database that another build has written, which has a variant that this one lacks, is tuned on as any other.
. "$(dirname "$0")/lib.sh"
export OMP_NUM_THREADS=1
tune="tune $cora --dim 4 --device cpu --max-samples 5 --variant spmm.eigen,spmm.cpu_edges"
# shellcheck disable=SC2086
run 0 $tune --db a.db
run 0 db export --db a.db a.json
sed 's/spmm\.eigen/spmm.of_tomorrow/g' a.json >b.json
run 0 db import b.json b.db
run 0 db sql --db b.db --csv "select count(*) from measurement where variant = 'spmm.of_tomorrow'"
[ "$(tail -n 1 out)" -ge 1 ] || fail "the variant of another build is not there"
# shellcheck disable=SC2086
run 0 $tune --db b.db
run 0 db sql --db b.db --csv "select count(*) from measurement where variant = 'spmm.eigen' and status = 'ok'"
[ "$(tail -n 1 out)" = 1 ] || fail "what this build has was not measured"
