# Graphs that are not square: what needs a square one is refused in words before anything is computed, and the rest is
# right, down to graphs without rows or columns.
. "$(dirname "$0")/lib.sh"

matrix() { # ROWS COLUMNS [ENTRY]
    printf '%%%%MatrixMarket matrix coordinate pattern general\n%s %s %s\n' "$1" "$2" $(($# - 2))
    [ $# -eq 2 ] || echo "$3"
}
matrix 60000 3 "1 1" >tall.mtx
matrix 3 60000 "2 60000" >wide.mtx
matrix 5 0 >no_columns.mtx
matrix 0 5 >no_rows.mtx

for name in tall wide no_columns no_rows; do
    for op in spmm spmm_grad; do
        run 1 verify "$name.mtx" --device cpu --op $op --dim 64 --self-loop yes
        out_has "self loops need a square graph"
        err_has "nothing was checked"
    done
    run 1 verify "$name.mtx" --device cpu --op gcn_norm --dim 1
    out_has "self loops need a square graph"
    run 0 verify "$name.mtx" --device cpu --op all --dim 1,5 --direction both --self-loop both
    out_has "self loops need a square graph"
    out_lacks "WRONG"
done

# One problem that cannot be done does not keep the others from being timed.
run 0 bench tall.mtx --device cpu --op spmm --dim 4 --self-loop both
err_has "tall: spmm k=4 f32 sum weighted forward self_loop is left out: self loops need a square graph"
out_has "spmm.cpu_rows"
run 1 bench tall.mtx --device cpu --op spmm --dim 4 --self-loop yes
