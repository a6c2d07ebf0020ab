# Dot-product attention and its gradient: listed, tuned, explained, verified; storage that no variant has is refused in words.
. "$(dirname "$0")/lib.sh"
export OMP_NUM_THREADS=1

run 0 list --op attention,attention_grad
out_has "attention.cpu_rows"
out_has "attention_grad.cpu_rows_cols"

run 0 tune "$cora" --device cpu --op attention,attention_grad --dim 8 --heads 1,2 --max-samples 5 --db a.db --csv -q
for op in attention attention_grad; do
    for problem in "$op k=8" "$op k=8 heads=2"; do
        grep -q "^cora,$op,8,$problem," out || fail "no row of $problem: $(cat out)"
    done
done
run 0 explain cora --device cpu --op attention --dim 8 --heads 2 --db a.db
out_has "attention.cpu_rows"

run 0 verify "$cora" --device cpu --op attention,attention_grad --dim 8 --heads 2 --direction both
run 1 bench "$cora" --device cpu --op attention --dim 8 --dtype f16
err_has "no variant of this build does attention k=8 f16"
