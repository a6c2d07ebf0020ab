# profile: what it refuses, and what needs a GPU. What it counts is tested where there is one (unit tests, tools/gpu-check).
. "$(dirname "$0")/lib.sh"

run 4 profile "$cora" --device cpu --db a.db
err_has "hardware counters are read on a GPU, and the device is the CPU"
[ ! -e a.db ] || fail "nothing was profiled, and yet there is a database"
run 4 profile "$cora" --config spmm.cpu_rows --db a.db
run 4 profile "$cora" --device cuda
run 2 profile
err_has "gnntune profile [options] GRAPH..."
run 2 profile "$cora" --config spmm.cpu_row
err_has "did you mean spmm.cpu_rows?"
run 2 profile "$cora" --config 'spmm.cpu_rows{threads'
run 2 profile "$cora" --config spmm.cpu_rows --op sddmm
err_has "a config names its op"

# Tuning goes on without counters, and says once why there are none.
export OMP_NUM_THREADS=1
run 0 tune "$cora" --device cpu --op spmm --dim 4,8 --variant spmm.cpu_rows --counters --db b.db --csv
[ "$(wc -l <out)" -eq 3 ] || fail "expected a row for each width"
[ "$(grep -c "hardware counters are read on a GPU" err)" -eq 1 ] || fail "expected one warning about counters"
run 0 explain cora --dim 4 --db b.db
out_lacks "counters"
run 0 db export --db b.db --csv -
out_has ",dram_read_bytes,"
