# A whole training step: tuned on cora, chosen together, stored, explained.
. "$(dirname "$0")/lib.sh"
export OMP_NUM_THREADS=1

run 0 tune "$cora" --device cpu --step gcn --dim 64,7 --db a.db --dry-run
out_has "spmm k=7 self_loop reversed"
err_has "step gcn 64,7, chosen together:"
err_has "normalisation, once: gcn_norm k=1 unweighted"
err_has "estimated time"
err_has "a search may measure more than"
[ ! -e a.db ] || fail "a plan left a database behind"

run 0 tune "$cora" --device cpu --step gcn --dim 64,7 --max-samples 5 --db a.db -q
out_has "step       gcn 64,7 on cora"
# Eigen takes no self loops.
out_has "no row \`library\`: no routine of a library that this build has does any of these calls (spmm.eigen: "
out_has "formats built: csr reversed"
out_has "backward of layer 1"
out_has "together"
out_has "default"
run 0 tune "$cora" --device cpu --step gat --dim 4 --heads 3 --layers 2 --max-samples 5 --db a.db --csv -q
[ "$(wc -l <out)" -eq 3 ] || fail "two layers of one width are two problems"
out_has "forward of layers 1 and 2,gat k=4 heads=3,2,0,"

run 0 db ls steps --db a.db --csv
[ "$(wc -l <out)" -eq 8 ] || fail "expected seven calls of two steps"
run 0 db check --db a.db
out_has "sound"

# Asked again from the rows, for other demands.
run 0 explain cora --device cpu --step gcn --dim 64,7 --db a.db
out_has "the same choice"
out_has "for 1000 steps, no limit"
run 0 explain cora --device cpu --step gcn --dim 64,7 --db a.db --expected-calls 3 --deterministic
out_has "cheapest over 3 steps"
run 0 explain cora --device cpu --step gcn --dim 64,7 --db a.db --format-limit 1KiB
out_has "formats and workspace may hold 1024 bytes together, and the least that any choice takes is"
err_has "warning: nothing is chosen"
! grep -q "formats and workspace may hold" err || fail "the reason stands twice"
run 0 explain cora --device cpu --step gcn --dim 64,7 --db a.db --format-limit 1KiB --csv
err_has "nothing is chosen: formats and workspace may hold 1024 bytes together"
run 3 explain cora --device cpu --step gcn --dim 99 --db a.db
err_has "nothing was measured for spmm k=99"
err_has "gnntune tune FILE --step gcn --dim 99,99 --device cpu --db a.db"
run 3 explain cora --device cpu --step agnn --dim 99 --db a.db
err_has "gnntune tune FILE --step agnn"

run 2 tune "$cora" --step sage --db a.db
err_has "expected gcn, gat or agnn"
run 2 tune "$cora" --step gcn --op spmm --db a.db
err_has "--op and --step contradict"
run 2 tune "$cora" --step gcn --heads 4 --db a.db
err_has "gcn has no heads"
run 2 tune "$cora" --step gat --dim 8,8,8 --layers 2 --db a.db
err_has "--dim has 3 values for 2 layers"
run 2 tune "$cora" --step gcn --variant spmm.cpu_rows --db a.db
run 2 tune "$cora" --format-limit 1MiB --db a.db
err_has "give --step too"

need_python
run 0 explain cora --device cpu --step gcn --dim 64,7 --db a.db --json --format-limit 4MiB
json 'j["schema"] == "gnntune.explain/1" and j["data"][0]["chosen"] and j["data"][0]["format_limit_bytes"] == 4 << 20'
json 'len(j["data"][0]["calls"]) == 5 and [c["shared"] for c in j["data"][0]["calls"]] == [False, False, False, True, True]'
json 'j["data"][0]["choices"][0]["choice"] == "together" and all(c["total_us"] >= 0.99 * j["data"][0]["choices"][0]["total_us"] for c in j["data"][0]["choices"])'
