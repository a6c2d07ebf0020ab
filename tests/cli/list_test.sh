# list has every variant of the build, as the sources name them.
. "$(dirname "$0")/lib.sh"

if [ "$WITH_CUDA" = 1 ]; then
    sources=$(ls "$SOURCE"/kernels/*/*/*.cpp)
else
    sources=$(grep -l 'BACKEND cpu' "$SOURCE"/kernels/*/*/CMakeLists.txt | sed 's|CMakeLists.txt$|*.cpp|')
fi
# shellcheck disable=SC2086
ids=$(grep -ohE 'v\.id = "[a-z0-9_.]+"' $sources | cut -d'"' -f2 | sort)
[ -n "$ids" ] || fail "no variant id found in the sources"

run 0 list --csv
[ "$(tail -n +2 out | cut -d, -f1 | sort)" = "$ids" ] || fail "list and sources differ"
# Every variant can do a typical problem: it has configs, defaults and an answer to "deterministic".
header=$(head -n 1 out)
[ "$header" = "id,op,backend,version,storage,reduce,weights,self_loops,heads,direction,precision,answer,deterministic,configs,default_params,params,summary" ] ||
    fail "other columns: $header"
run 0 list --op sddmm
out_has "sddmm."
out_lacks "spmm."
run 0 list ops
for op in spmm sddmm gat attention attention_grad sgt; do out_has "$op"; done
run 0 list formats
for format in mtx edges npz tu metis gnng; do out_has "$format"; done
run 0 list standins
out_has "standin/reddit"
run 2 list ops --device cpu
err_has "--device applies to gnntune list variants only"
run 2 generate --list -o graph.mtx
err_has "--list makes no graph"
need_python
# The tables of docs/kernels.md that nobody generates say the same; a page that does not is found.
run 0 list --csv
cp out list.csv
python3 "$SOURCE/tests/cli/kernels_page.py" list.csv "$SOURCE/docs/kernels.md" >out || fail "docs/kernels.md: $(cat out)"
sed 's/`cpu_rows`, `cpu_edges`/`cpu_rows`/' "$SOURCE/docs/kernels.md" >page.md
python3 "$SOURCE/tests/cli/kernels_page.py" list.csv page.md >out && fail "a page without spmm.cpu_edges is right"
out_has "cpu_edges"
run 0 list --json
json "sorted(v['id'] for v in j['data']) == '''$ids'''.split()"
json "all(isinstance(v['configs'], int) and v['configs'] > 0 for v in j['data'])"
json "[v['storage'] for v in j['data'] if v['id'] in ('spmm.cpu_rows', 'spmm.eigen')] == ['f32|f16|bf16', 'f32']"
# What each can do: a cell says nothing where problems of the op have one value only.
can() { # can ID STORAGE REDUCE WEIGHTS SELF_LOOPS HEADS
    json "[[str(v[c]) for c in 'storage reduce weights self_loops heads'.split()] for v in j['data'] if v['id'] == '$1'] == ['$2 $3 $4 $5 $6'.split()]"
}
can spmm.cpu_rows 'f32|f16|bf16' 'sum|mean|max' yes yes yes
can spmm.eigen f32 sum yes no no
can gat.cpu_rows f32 None None None yes
can sddmm.cpu_rows f32 None yes None yes
can coo_to_csr.cpu f32 None None None None
json "all(v['direction'] in ('forward|reversed', None) for v in j['data'])"
run 0 list --op spmm
for title in reduce 'self loops' heads 'sum|mean|max'; do out_has "$title"; done
