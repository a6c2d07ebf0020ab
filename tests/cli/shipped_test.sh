# What comes with the program answers where the user has nothing, wherever the program is started from.
. "$(dirname "$0")/lib.sh"
[ "$WITH_CUDA" = 1 ] || exit 77
unset GNNTUNE_PROFILES

run 0 doctor --csv
out_has "(shipped)"
# Found by the shell, beside something of the same name; and none of its models is of other features than this program's.
mkdir gnntune
last="gnntune predict, found by the shell"
for op in spmm sddmm spmm_grad gat gat_grad agnn agnn_grad; do
    PATH=$(dirname "$GNNTUNE"):$PATH "$(basename "$GNNTUNE")" predict "$cora" --op $op --dim 64 --csv >out 2>err || fail "no ranks of $op"
    err_has "(shipped)"
    [ "$(wc -l <out)" -ge 3 ] || fail "too few configs of $op"
done
run 0 predict "$cora" --op spmm --policy cold --dim 64 --on h200 --csv
# Each device has its own models, and the other's where it has none.
for device in h100 h200; do
    run 0 predict "$cora" --op spmm --dim 64 --on $device --csv
    err_has "nvidia_$device.db (shipped)"
done
run 0 predict "$cora" --op spmm --policy cold --dim 64 --on h100 --csv
err_has "nvidia_h200.db (shipped)"
run 0 explain wing --dim 64
out_has "measured   on NVIDIA H"
out_has ", which is not here, in"
run 0 explain wing --dim 64 --device cuda
out_has "measured   on NVIDIA H"
out_has ", which is not here, in"
# Graphs that the shipped file knows and the user's does not are not taken for those that stand there in their place.
run 0 tune "$cora" --device cpu --dim 64 --max-samples 5 --db a.db -q
for name in citeseer pubmed ca_astroph wing; do
    run 3 explain "$name" --device cpu --dim 64 --db a.db
    err_has "nothing was measured"
    run 3 explain "$name" --step gcn --dim 64 --db a.db
    err_has "nothing was measured"
done
# What nobody measured: the models of the GPU answer, wherever that is.
run 0 explain "$cora" --dim 48
out_has "(shipped)"
run 0 explain "$cora" --dim 48 --device cuda
out_has "(shipped)"
run 3 predict "$cora" --device cpu
err_has "--device"
export GNNTUNE_PROFILES=
run 6 predict "$cora" --dim 64
err_has "no such database"
exit 0
