# fit, predict and eval: from measurements to ranks, without a GPU.
. "$(dirname "$0")/lib.sh"
export OMP_NUM_THREADS=1

run 6 fit --db none.db --device cpu
[ ! -e none.db ] || fail "nothing was fitted, and yet there is a database"
run 2 eval
err_has "expected one or two databases"
for n in 100 200 400; do run 0 generate uniform --n-rows $n --m $((n * 5)) -o $n.mtx -q; done
run 0 tune 100.mtx 200.mtx 400.mtx --device cpu --dim 4,8 --max-samples 5 --db a.db -q
run 3 predict 100.mtx --device cpu --db a.db
err_has "fit one first (gnntune fit)"
run 3 explain 100.mtx --device cpu --db a.db --dim 16
err_has "nothing was measured"
err_has "no cost model of spmm"
run 3 fit --db a.db --op sddmm --device cpu
run 0 fit --db a.db --device cpu --csv
out_has "spmm,cpu,hot,host,3,6,"
run 0 db ls models --db a.db --csv
out_has "spmm,cpu,hot,host,3,"
# The model is in the file itself, and the same measurements give the same one.
cp a.db b.db
run 0 db ls models --db b.db --csv
out_has "spmm,cpu,hot,host,3,"
run 0 fit --db b.db --device cpu -q
# A database of an older program: what it lacks is said once, with the way out, which is gone.
if command -v sqlite3 >/dev/null; then
    cp b.db old.db
    sqlite3 old.db "DELETE FROM model; UPDATE graph SET features = json_remove(features, '\$.blocks_32x32')"
    run 3 fit --db old.db --device cpu
    err_has "features of none of its graphs that this program understands"
    err_has "fills them in and measures nothing again"
    [ "$(grep -c 'graphs are left out' err)" -eq 1 ] || fail "said more than once, or never"
    run 3 explain 100.mtx --device cpu --db old.db --dim 16
    err_has "lacks features of the graph"
    run 0 tune 100.mtx 200.mtx 400.mtx --device cpu --dim 4,8 --max-samples 5 --db old.db -q
    run 0 fit --db old.db --device cpu -q
fi
run 0 predict 100.mtx --device cpu --db a.db --dim 16 --csv
# On a busy machine a variant may have been given up on every graph.
lines=$(wc -l <out)
[ "$lines" -ge 3 ] && [ "$lines" -le 6 ] || fail "expected a header and up to five configs"
cut -d, -f1-7 out >first
run 0 predict 100.mtx --device cpu --db b.db --dim 16 --csv
cut -d, -f1-7 out | diff first - || fail "two fits of the same measurements differ"
run 0 predict 100.mtx --device cpu --db a.db --dim 16 --top 0 --csv
out_lacks "cpu_sampled"
run 3 predict 100.mtx --device cpu --db a.db --on H200
err_has "came with the program have"
run 0 predict 100.mtx --device cpu --db a.db --op sddmm,spmm --dim 16
err_has "no cost model of sddmm"
run 3 predict 100.mtx --device cpu --db a.db --op sddmm --dim 16
err_has "there is nothing to rank: no cost model of sddmm for policy hot: fit one (gnntune fit --op sddmm --policy hot)"
run 2 explain 100.mtx --device cpu --db a.db --dim 16 --policy both
err_has "--policy: expected one of hot, cold or graph here"
run 0 tune 100.mtx --device cpu --op spmm,spmm_grad --dim 16 --max-samples 5 --db all.db -q
run 0 fit --db all.db --op spmm,spmm_grad --device cpu -q
run 0 predict 100.mtx --device cpu --db all.db --op spmm_grad --dim 16
# What models do not know: said, with the way out.
run 3 predict 100.mtx --device cpu --db a.db --dim 16 --dtype f16
err_has "the model has not learnt from storage in 16 bits; tune it instead"
err_has "tune such problems instead (gnntune tune)"
for op in spmm spmm_grad; do
    run 3 predict 100.mtx --device cpu --db all.db --op $op --dim 16 --reduce max
    err_has "the model has not learnt from maxima; tune it instead"
    err_has "tune such problems instead (gnntune tune)"
done
# Where no variant can do a problem, its own reason.
printf '%%%%MatrixMarket matrix coordinate pattern general\n3 5 3\n1 1\n2 3\n3 5\n' >rect.mtx
run 3 predict rect.mtx --device cpu --db all.db --dim 16 --self-loop yes
err_has "self loops need a square graph, this one has 3 rows and 5 columns"
cp all.db planted.db
run 0 db errata add op=spmm --reason planted --db planted.db -q
run 3 predict rect.mtx --device cpu --db planted.db --dim 16
err_has "erratum: planted"
# A variant that came after the model was fitted is told, by who ranks and by who looks at what was measured.
run 0 tune 100.mtx 200.mtx --device cpu --dim 8 --variant spmm.cpu_rows --max-samples 5 --db few.db -q
run 0 fit --db few.db --device cpu -q
run 0 predict 100.mtx --device cpu --db few.db --dim 8
err_has "the model does not know spmm.cpu_edges: gnntune tune measures it"
run 0 explain 100 --device cpu --db few.db --dim 8
grep -q "^unmeasured .*spmm.cpu_edges" out || fail "explain does not say what nobody measured"
run 0 explain 100 --device cpu --db a.db --dim 8
out_lacks "unmeasured"

# A model of one's own takes the place of a shipped one, and fit says so.
mkdir shipped
cp a.db shipped/ours.db
GNNTUNE_PROFILES=shipped run 0 tune 100.mtx --device cpu --dim 4 --max-samples 5 --db own.db -q
GNNTUNE_PROFILES=shipped run 0 fit --db own.db --device cpu
err_has "the model of spmm, fitted to 1 graph, answers from now on instead of the one that came with the program, fitted to 3"
run 0 fit --db own.db --device cpu
! grep -q "answers from now on" err || fail "nothing came with the program"
run 2 fit --clock nonsense --db none.db
err_has "--clock: expected span, events or host, not 'nonsense'"

# Rows of another policy or clock in one's own database do not hide the model that came with the program.
run 0 tune 100.mtx --device cpu --dim 4 --policy cold --max-samples 5 --db cold.db -q
run 0 fit --db cold.db --device cpu --policy cold -q
mkdir shipped_cold
cp cold.db shipped_cold/cold.db
run 0 tune 100.mtx --device cpu --dim 16 --max-samples 5 --db hot.db -q
GNNTUNE_PROFILES=shipped_cold run 0 explain 100 --device cpu --dim 16 --policy cold --db hot.db
out_has "measured   nothing of this graph and problem, policy cold"
out_has "model      spmm, cpu, policy cold"
GNNTUNE_PROFILES=shipped_cold run 0 explain 100 --device cpu --dim 4 --policy cold --db hot.db
out_has "measured   on"
run 3 explain 100 --device cpu --dim 16 --policy cold --db hot.db
err_has "nothing was measured for spmm k=16"
err_has "a plan takes the default config, spmm."
err_has "policy cold, and the database has no cost model of spmm"
run 2 explain 100 --device cpu --dim 16 --clock nonsense --db hot.db
# What there is instead is named.
run 3 predict 100.mtx --device cpu --dim 16 --clock span --db a.db
err_has "no cost model for cpu, policy hot, clock span"
err_has "there is one of policy hot, clock host"
run 3 predict 100.mtx --device cpu --dim 16 --policy cold --db a.db
err_has "there is one of policy hot, clock host"
run 3 predict 100.mtx --device cuda --dim 16 --db a.db
err_has "nothing was measured on cuda"
cp a.db gpu.db
python3 -c 'import sqlite3
with sqlite3.connect("gpu.db") as db:
    db.execute("insert into environment (backend, device_name, compute_capability, multiprocessors, memory_bytes, l2_bytes, driver, cuda_runtime, libraries) select \"cuda\", \"NVIDIA H200\", \"9.0\", 132, 1, 1, \"\", \"\", \"\"")' 2>/dev/null &&
    { run 3 predict 100.mtx --dim 16 --on h200 --db gpu.db; err_has "--device cuda has NVIDIA H200"; }

# What a dispatcher does with a problem, and with a graph, that was not measured.
run 0 generate uniform --n-rows 300 --m 1500 -o 300.mtx -q
for graph in 100.mtx 300.mtx; do
    run 0 explain $graph --device cpu --db a.db --dim 16
    out_has "measured   nothing of this graph and problem"
    grep -Eq '^model      spmm, cpu, policy hot, clock host, fitted 20[0-9T:-]+Z by gnntune [0-9.]+' out || fail "no model"
    grep -Eq '^chosen     spmm\.[a-z_]+\{?.* us \+- [0-9]+ %  \(source (model|default)\)$' out || fail "nothing is chosen"
    run 0 explain $graph --device cpu --db a.db --dim 16 --csv
    out_has "config,time_us,sigma_percent,source,note"
    grep -q ',default,' out || fail "the default is not among what is tried"
done
run 0 explain 100.mtx --device cpu --db a.db --dim 8
out_has "measured   on"
out_lacks "model      "
run 0 eval a.db --device cpu --csv
err_has "decided and scored by the same measurements"
out_has "spmm,fp32,oracle,6,100,100,100,100,0"
out_has "spmm,fp32,model,6,"
out_has "spmm,fp32,model_or_default,6,"
# Without models: the rules that need none. The library has its fastest, and is not behind itself.
run 0 eval a.db b.db --device cpu --no-model --csv
out_has ",behind_library,library_worst_percent"
out_has "spmm,fp32,default,6,"
out_lacks "spmm,fp32,model"
out_lacks "guided"
grep -q '^spmm,fp32,library_best,6,.*,0,100$' out || fail "the library is behind itself"
grep -Eq '^spmm,fp32,default,6,.*,[0-6],[0-9.]+$' out || fail "nothing is said of the default beside the library"
run 2 eval a.db b.db --no-model --ablation
err_has "leave out --no-model"
# By kind: all, and each.
run 0 eval a.db b.db --device cpu --no-search --by k,kind --csv
out_has "op,precision,by,kind,strategy,cases,"
out_has "spmm,fp32,all,all,model,6,"
out_has "spmm,fp32,k,k=4,model,3,"
out_has "spmm,fp32,k,k=8,default,3,"
grep -q '^spmm,fp32,kind,f32 sum [a-z]* forward no_self_loop heads=1,model,6,' out || fail "no row of the kind"
run 2 eval a.db b.db --by dtipe
err_has "did you mean dtype?"
run 2 eval a.db b.db --by k --cases
err_has "leave out --ablation and --cases"
run 2 eval --retunings a.db b.db --by k
err_has "leave out --by"
run 0 eval a.db b.db --device cpu --cases --held-out 400 --csv
[ "$(grep -c '^spmm,fp32,400,' out)" -gt 0 ] || fail "the graph that was held out is not scored"
[ "$(grep -c '^spmm,fp32,100,' out)" -eq 0 ] || fail "a graph that was learnt from is scored"
run 3 eval a.db --device cpu --op gat
err_has ": no measurements of"
run 2 eval a.db --held-out 400,nosuch
err_has "nosuch"
printf 'family,name\n"small, really",100\nlarge,200\nlarge,400\n' >families.csv
run 0 eval a.db b.db --families families.csv --csv
out_has "spmm,fp32,model,6,"
run 2 eval a.db b.db --families families.csv --folds 2
err_has "leave out --folds"
printf 'name,family\nnosuch,x\n' >bad.csv
run 2 eval a.db b.db --families bad.csv
err_has "names none of the 3 graphs"
run 2 eval a.db b.db --ablation --cases
printf 'name,kind\n100,x\n' >bad.csv
run 3 eval a.db b.db --families bad.csv
err_has "bad.csv:1"
printf 'name,family\n100,x\n200\n' >bad.csv
run 3 eval a.db b.db --families bad.csv
err_has "bad.csv:3"
printf 'name,family\n100,x\n100,y\n' >bad.csv
run 3 eval a.db b.db --families bad.csv
err_has "twice"
run 3 eval a.db b.db --families nosuch.csv
err_has "nosuch.csv"
run 0 eval a.db b.db --ablation --csv
out_has "spmm,fp32,nothing,"
out_has "spmm,fp32,cost terms,"
out_lacks "guided"
run 2 eval a.db --without nosuch
err_has "no feature 'nosuch'"
err_has "locality"
run 0 fit --db b.db --device cpu --without locality,k -q
run 3 eval a.db --folds 1
err_has "nothing of spmm is left to learn from"
run 0 tune 100.mtx --device cpu --dim 16 --max-samples 5 --db c.db -q
run 3 eval a.db c.db
err_has "have no problem of spmm in common"
# Without --device the database decides, and another database teaches all the same.
run 0 eval a.db b.db --learn b.db --csv
out_has "spmm,fp32,model,6,"
run 2 fit --db a.db --device gpu
run 2 predict --db a.db
run 2 tune 100.mtx --device cpu --db a.db --policy graph
err_has "give --device cuda"
run 2 tune 100.mtx --device cpu --db a.db --policy warm
err_has "expected hot, cold, graph"
run 3 predict 100.mtx --db a.db --policy cold
err_has "policy cold"
run 3 eval a.db --policy cold
err_has "policy cold, by variants that this build has; there are: hot and host of spmm;"

# Other margins of leaving the default are scored beside the dispatcher's own.
run 0 eval a.db b.db --device cpu --no-search --least-gain 0,10 --csv
out_has "spmm,fp32,model_or_default,6,"
out_has "spmm,fp32,model_or_default 0 %,6,"
out_has "spmm,fp32,model_or_default 10 %,6,"
run 2 eval a.db b.db --least-gain much
run 2 eval a.db b.db --no-model --least-gain 5
err_has "leave out --no-model"
run 2 eval --retunings a.db b.db --complete
err_has "leave out --complete"
run 2 eval a.db --no-model --complete
err_has "leave out --no-model"

# A config that this build does not take any more is passed over, not stumbled upon.
need_sqlite3

# --complete learns from problems alone on which every config was tried. What a busy machine took counts as tried here.
run 0 tune 100.mtx 200.mtx 400.mtx --device cpu --dim 4,8 --max-samples 5 --exhaustive --db whole.db -q
sqlite3 whole.db "update measurement set reason = 'planted' where status = 'failed'"
run 0 fit --db whole.db --device cpu --complete --csv
out_has "spmm,cpu,hot,host,3,6,"
! grep -q "left out by --complete" err || fail "nothing was left out"
cp whole.db part.db
sqlite3 part.db "delete from measurement where id = (select min(id) from measurement where variant = 'spmm.cpu_edges' and
    problem_id = (select id from problem where k = 4) and status <> 'refused')"
run 0 fit --db part.db --device cpu --csv
out_has "spmm,cpu,hot,host,3,6,"
run 0 fit --db part.db --device cpu --complete --csv
out_has "spmm,cpu,hot,host,3,5,"
err_has "spmm: 1 of 6 problems are left out by --complete: configs were not tried of spmm.cpu_edges in 1; gnntune tune --exhaustive"
run 0 eval part.db --device cpu --complete --no-search --folds 3 --csv
out_has "spmm,fp32,model,6,"
err_has "1 of 6 problems are left out by --complete"
run 0 eval whole.db --learn part.db --device cpu --complete --no-search --folds 3 --csv
err_has "1 of 6 problems are left out by --complete"
sqlite3 part.db "delete from measurement where variant = 'spmm.cpu_edges'"
cp part.db none_whole.db
run 3 fit --db none_whole.db --device cpu --complete
err_has "configs were not tried of spmm.cpu_edges in 6"
err_has "on no problem of spmm was every config of this build tried"
run 3 eval part.db --device cpu --complete
err_has "on no problem of spmm was every config of this build tried"
cp a.db d.db
sqlite3 d.db "update measurement set config = 'spmm.cpu_rows{tile=17,row_block=64}' where id =
    (select min(id) from measurement where variant = 'spmm.cpu_rows')"
run 0 fit --db d.db -q
run 0 eval d.db --csv

# Two configs of each problem that trade places: by less than runs differ, only who forgets the last choice follows them.
run 2 eval --retunings a.db
err_has "two or more runs"
trade() {
    cp a.db $1
    sqlite3 $1 "with place as (select id, row_number() over (partition by graph_id, problem_id order by id) as n
            from measurement where status = 'ok' and approximate = 0)
        update measurement set median_us = (select case n when 1 then $2 when 2 then $3 else 1000 end from place
            where place.id = measurement.id) where id in (select id from place);
        update measurement set ci_low_us = 0.999 * median_us, ci_high_us = 1.001 * median_us, prepare_us = 0
            where status = 'ok'"
}
trade r1.db 100 101.5
trade r2.db 101.5 100
trade r3.db 100 101.5
trade r4.db 100 90
run 0 eval --retunings r1.db r2.db r3.db --csv
out_has "spmm,alone,6,12,12,100,100,"
out_has "spmm,kept,6,12,0,0,0,0,0,"
run 0 eval --retunings r1.db r2.db r4.db --csv
out_has "spmm,kept,6,12,6,50,100,"
run 3 eval a.db b.db --precision tf32
err_has ": no measurements of"
run 2 eval a.db b.db --precision fp8
err_has "expected fp32, tf32"
# Half a run is none, and the same run twice no second one.
cp r2.db half.db
sqlite3 half.db "delete from measurement where id in (select max(id) from measurement group by graph_id, problem_id)"
run 3 eval --retunings r1.db half.db
err_has "problems are left out"
run 2 eval --retunings r1.db r1.db
err_has "given twice"
run 2 eval --retunings r1.db r2.db --cases
err_has "leave out --cases"
