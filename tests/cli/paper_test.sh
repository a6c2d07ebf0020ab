# paper: what can be printed, figures of structure from files, times from a database, and what is missing.
. "$(dirname "$0")/lib.sh"

run 0 paper
out_has "gnntune paper tcgnn --figure 7"
out_has "gnntune paper fusegnn --crossing"
run 0 paper esspmm --csv
[ "$(wc -l <out)" -eq 13 ] || fail "expected four tables and figures of esspmm, and eight of whole models"
out_has "gnntune paper esspmm --table V --models FILE"
out_lacks "tcgnn"

# Structure: the graph given, the others missing with the command that adds them.
run 0 paper tcgnn --figure 7 "$cora"
out_has "1268"
out_has "84.30"
out_has "67.47"
out_has "gnntune paper tcgnn --figure 7 "
run 0 paper esspmm --table IV --csv
out_has "84.9"
out_has "paper_s16_percent"
run 0 paper esspmm --table 4 --csv -q
err_empty
# Nothing measured: dashes and commands, and the paper's figures as they are.
run 0 paper fusegnn --table 3
out_has "nothing measured"
out_has "OOM"
out_has "690.40"
out_has "gnntune tune data/cora.mtx.gz pubmed.mtx.gz standin/reddit --op gcn_norm"
out_has "sparse ops only"

# With a database: the CPU has none of the variants that the figures name, and says so by leaving cells empty.
export OMP_NUM_THREADS=1
run 0 tune "$cora" --device cpu --op gcn_norm,coo_to_csr --db a.db -q
run 0 paper fusegnn --figure 11 --db a.db
out_has "--variant spmm.gar,spmm.gas --exhaustive --db a.db"
run 0 paper tcgnn --figure 7 --db a.db --csv
out_has "Cora,cora,,8078,1268,"
run 0 paper fusegnn --crossing --db a.db --csv
[ "$(wc -l <out)" -eq 1 ] || fail "no graph has GAS and GAR here"

run 2 paper tcgn --figure 7
err_has "did you mean tcgnn?"
run 2 paper tcgnn --figure 99
err_has "expected one of 7, 8, 9, 10"
run 2 paper tcgnn --table 5 --figure 7
run 2 paper tcgnn --crossing
run 2 paper --table 5
run 6 paper tcgnn --table 5 --db missing.db
run 6 paper fusegnn --crossing --db missing.db

# Whole models: from the rows of python/bench/models.py, as the page has them.
models="$SOURCE/profiles/measured/nvidia_h100_80gb_hbm3_models.csv.gz"
run 0 paper esspmm --table V --models "$models" --csv
out_has "dblp_apcpa,GCN,fastrand,fastrand S=64 rescaled,"
run 0 paper fusegnn --table 3 --models "$models"
out_has "GCN-16, one layer"
out_has "7.75"
out_has "NVIDIA H100 80GB HBM3"
run 0 paper tcgnn --figure 6 --models "$models"
out_has "geometric mean"
echo "part,graph,n,m,model,side,form,way,what,value,low,high,device,torch,pyg,date,commit" >none.csv
run 0 paper tcgnn --table 1 --models none.csv
out_has "nothing measured"
err_has "python/bench/models.py GRAPHS --csv FILE --parts breakdown"
run 2 paper tcgnn --figure 6
err_has "figure 6 of tcgnn is of whole models; expected --models FILE"
run 2 paper esspmm --table II --models "$models"
err_has "has nothing of whole models"
run 2 paper tcgnn --figure 99 --models "$models"
err_has "expected one of 6"
run 2 paper tcgnn --models "$models"
err_has "expects --table N or --figure N"
run 2 paper tcgnn --figure 6 --models "$models" "$cora"
run 3 paper tcgnn --figure 6 --models "$cora"
err_has "has no column 'part'"
run 3 paper tcgnn --figure 6 --models missing.csv
err_has "missing.csv"

# Only what was named is tuned, and misspelt names are not taken for it.
run 0 tune "$cora" --device cpu --op spmm --dim 4 --variant spmm.cpu_rows --db b.db --csv -q
out_has "spmm.cpu_rows"
run 0 db show cora --db b.db --csv
out_lacks "spmm.cpu_edges"
run 2 tune "$cora" --device cpu --variant spmm.cpu_row --db b.db
err_has "did you mean spmm.cpu_rows?"

# A graph that no row is about.
echo "0 1" >strange.txt
run 0 paper tcgnn --figure 7 strange.txt --db a.db
err_has "warning: strange: none of the graphs of tcgnn"
need_python
run 0 paper tcgnn --figure 7 --db a.db --json
json "j['schema'] == 'gnntune.paper/1' and j['data'][0]['number'] == '7' and j['data'][0]['measured'] is None"
json "[r for r in j['data'][0]['rows'] if r['graph'] == 'cora'][0]['sgt_blocks_16x8'] == 1268"
json "j['data'][0]['missing']"
run 0 paper fusegnn --crossing --db a.db --json
json "j['data'][0]['rows'] == []"
run 0 paper esspmm --figure 3 --models "$models" --json
json "j['data'][0]['number'] == '3' and j['data'][0]['measured'] and j['data'][0]['paper_says']"
json "all(abs(r['share_percent'] - 100 * r['exact_us'] / r['inference_us']) < 1e-6 for r in j['data'][0]['rows'])"
# The page was made by tools/end-to-end-figures; the program says the same.
last="paper_page.py"
python3 "$SOURCE/tests/cli/paper_page.py" "$GNNTUNE" "$SOURCE" >"$work/out" 2>"$work/err" || fail "page and program differ"
