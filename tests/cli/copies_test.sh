# Many copies of one edge: like terms, whose rounding errors add up where they are summed one after the other.
. "$(dirname "$0")/lib.sh"

for copies in 1000 20000; do
    { printf '%%%%MatrixMarket matrix coordinate pattern general\n3 3 %s\n' $copies
      yes "2 3" | head -n $copies; } >copies.mtx
    run 0 verify copies.mtx --device cpu --op spmm --dim 1,16,33 --variant spmm.cpu_edges,spmm.cpu_rows
    out_lacks "WRONG"
done
