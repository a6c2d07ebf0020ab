# coverage: every legal problem is there, a missing variant and a time over its bound fail, and nothing is measured twice.
. "$(dirname "$0")/lib.sh"

export OMP_NUM_THREADS=1

# What is drawn is measured and not compared; the same command draws the same, another seed something else.
run 0 generate uniform --n-rows 80 --m 600 -o drawn.gnng
run 0 generate uniform --n-rows 90 --m 600 -o other.gnng
draw="coverage drawn.gnng other.gnng --device cpu --op spmm,gat --dim 5,8 --heads 1,8 --max-configs 1 --max-samples 5"
# shellcheck disable=SC2086
run 0 $draw --draw 3 --db d.db --csv
cp out drawn.csv
err_has "12 problems on 2 graphs: "
! grep '^drawn\|^other' drawn.csv | grep -v ',alone,' || fail "something is compared with a sibling"
[ "$(grep -c '^drawn,spmm ' drawn.csv)" -eq 3 ] && [ "$(grep -c '^other,gat ' drawn.csv)" -eq 3 ] || fail "not three of each op"
[ "$(grep '^drawn' drawn.csv | cut -d, -f2)" != "$(grep '^other' drawn.csv | cut -d, -f2)" ] || fail "both graphs have the same draw"
# shellcheck disable=SC2086
run 0 $draw --draw 3 --db d.db --csv
cut -d, -f1-4 drawn.csv >first
cut -d, -f1-4 out | diff first - || fail "the same command draws something else"
# shellcheck disable=SC2086
run 0 $draw --draw 3 --db e.db --seed 2 --csv
! cut -d, -f1-4 out | diff -q first - >/dev/null || fail "the seed does not count"
# Ten turns of six deal all sixty, wherever the first graph stands.
for first in 0 4 8; do
    # shellcheck disable=SC2046
    run 0 coverage $(yes drawn.gnng | head -n 4) --device cpu --op spmm --dim 5 --heads 1 --max-configs 1 --max-samples 5 --draw 6 \
        --turn $first --db d.db --csv
    cut -d, -f2 out >>turns
done
[ "$(grep '^spmm' turns | sort -u | wc -l)" -eq 60 ] || fail "turns do not deal every problem"
run 2 coverage drawn.gnng --turn 2
err_has "give --draw N"
run 0 coverage drawn.gnng --device cpu --op spmm --dim 5 --heads 1 --draw 1 --max-edges 599 --db none_left.db
err_has "drawn: left out, it has 600 edges (--max-edges 599)"
run 2 coverage drawn.gnng --draw 2 --bound max=2
err_has "leave out --draw"
run 2 coverage --list --draw 2
err_has "leave out --draw"

# Without a graph and without a device. The CPU has every problem in f32 with one head; of 16 bits a part.
run 0 coverage --list --device cpu --heads 1 --csv
cp out list.csv
head -n 1 list.csv | grep -qx 'graph,problem,op,kinds,variants,names,verdict,must,fails,reason' || fail "other columns"
err_has " legal problems for cpu, "
for op in $("$GNNTUNE" list ops --csv | tail -n +2 | cut -d, -f1); do
    grep -q "^any,$op k=[0-9]*,$op,plain," list.csv || fail "no plain problem of $op"
done
for text in "spmm k=64,spmm,plain" "spmm k=33 f16 mean self_loop unweighted reversed,spmm,f16+mean+unweighted+reversed+self_loop" \
    "spmm_grad k=64 bf16 max,spmm_grad,bf16+max" "edge_softmax k=1,edge_softmax,plain"; do
    grep -q "^any,$text," list.csv || fail "the list lacks $text"
done
! grep -q 'max self_loop' list.csv || fail "a maximum with self loops is not legal"
grep -q '^any,sddmm k=64 f16,sddmm,f16,0,,no_variant,0,0,' list.csv || fail "a missing variant of 16 bits fails, or is not said"
[ "$(cut -d, -f2 list.csv | sort | uniq -d | wc -l)" -eq 0 ] || fail "a problem stands there twice"
run 0 coverage --list --device cpu --op spmm,gat --dim 12
out_lacks "spmm k=12 "
out_has "gat k=12 heads=8 f16"
run 0 coverage --list --device cpu --op spmm --dim 12 --heads 1 --only all --csv
[ "$(wc -l <out)" -eq 61 ] || fail "spmm of one width has 60 problems"
# Nothing of the CPU's counts for CUDA: a build without its kernels lacks all, one with them is to lack none.
if [ "$WITH_CUDA" = 0 ]; then
    run 1 coverage --list --device cuda --op spmm,csr_to_csc --csv
    grep -q '^any,spmm k=64 f16,.*,no_variant,1,1,this build has no exact variant of the op$' out || fail "no reason"
    ! grep -q ',ok,' out || fail "a CPU variant counts for CUDA"
    err_has "this build has no variants for GPUs"
fi

# Of a rectangular graph problems that need a square one are left out.
run 0 generate uniform --n-rows 60 --n-cols 40 --m 300 -o wide.gnng
run 0 coverage --list --device cpu wide.gnng --op spmm --dim 4 --only all --csv
out_lacks "self_loop"
out_has "wide,spmm k=4 max,"

# Measured. Bounds are not counted on the CPU unless they are named.
run 0 generate uniform --n-rows 80 --m 600 -o graph.gnng
cover="coverage graph.gnng --device cpu --op spmm --dim 5 --heads 1 --max-configs 1 --max-samples 5 --db a.db"
# shellcheck disable=SC2086
run 0 $cover
out_has "geomean"
out_has "over bound"
out_has "without a time"
out_has "self_loop"
err_has "60 problems on 1 graph: "
# shellcheck disable=SC2086
run 0 $cover --csv
cp out all.csv
grep -qE '^graph,spmm k=5,spmm,plain,"?spmm\..*,ok,1,0,hot,host,$' all.csv || fail "no plain row"
[ "$(grep -c '^graph,spmm k=5 bf16 mean self_loop unweighted reversed,' all.csv)" -eq 5 ] || fail "not compared in five ways"
grep -q '^graph,spmm k=5 bf16 max,spmm,max,.*,spmm k=5 bf16,' all.csv || fail "the maximum is not held against the sum of its type"
grep -q '^graph,spmm k=5 bf16 max,spmm,bf16,.*,spmm k=5 max,' all.csv || fail "bf16 is not held against f32 of the same rest"

# Times are planted, so that the verdicts do not depend on the machine.
need_python
python3 -c 'import sqlite3
with sqlite3.connect("a.db") as db:
    db.executescript("""
    update measurement set median_us = 1000, q1_us = 1000, q3_us = 1000, min_us = 1000, ci_low_us = 1000, ci_high_us = 1000
    where status in (\x27ok\x27, \x27abandoned\x27);
    update measurement set median_us = 1160, q1_us = 1160, q3_us = 1160, min_us = 1160, ci_low_us = 1160, ci_high_us = 1160
    where median_us > 0 and problem_id in (select id from problem where self_loop and dtype = \x27f32\x27);""")
    print(db.execute("select count(*) from measurement").fetchone()[0])' >rows || fail "planting"
# shellcheck disable=SC2086
run 0 $cover
out_has "over"
# Self loops in f32: sum and mean, weighted and not, both directions.
# shellcheck disable=SC2086
run 1 $cover --bound self_loop=1.15 --only over --csv
[ "$(wc -l <out)" -eq 9 ] || fail "eight problems are over the bound"
[ "$(grep -c ',self_loop,.*,1\.16,1\.15,over,1,1,' out)" -eq 8 ] || fail "rows that are not over, or do not fail"
err_has "8 comparisons over their bound; 8 rows fail"
# shellcheck disable=SC2086
run 0 $cover --bound self_loop=1.16,mean=1,max=1,reversed=1,unweighted=1,f16=1
# shellcheck disable=SC2086
run 1 $cover --bound self_loop=1.15 --json
json 'j["schema"] == "gnntune.coverage/1" and len(j["data"][0]["kinds"]) == 8'
json '[k["failing"] for k in j["data"][0]["kinds"] if k["kind"] == "self_loop"] == [8]'
json 'all(abs(k["worst"] - 1.16) < 1e-9 for k in j["data"][0]["kinds"] if k["kind"] == "self_loop")'
json 'sum(r["fails"] for r in j["data"][0]["rows"]) == 8'
python3 -c 'import sqlite3; print(sqlite3.connect("a.db").execute("select count(*) from measurement").fetchone()[0])' >now
cmp -s rows now || fail "what was measured is measured again"
# What docs/kernels.md would show of it.
# shellcheck disable=SC2086
run 1 $cover --bound self_loop=1.15 --csv
python3 "$SOURCE/tools/kernel-figures" --coverage out >figures || fail "tools/kernel-figures"
grep -q '^| self_loop | 1.15x | 24 | 1.05x | 1.16x | `spmm k=5' figures || fail "no row of self loops in the figures"
grep -q '^| `graph` | `spmm k=5 self_loop` | self_loop | .* | 1160.0 | 1000.0 | 1.16x | 1.15x |$' figures || fail "no row of what fails"

# What need not be there is a row for each op and storage type, unless rows are asked for.
folded="coverage graph.gnng --device cpu --op sddmm --dim 5 --heads 1 --max-configs 1 --max-samples 5 --db f.db"
# shellcheck disable=SC2086
run 0 $folded
[ "$(grep -c ' no_variant ' out)" -eq 2 ] || fail "expected a row for f16 and one for bf16"
out_has "sddmm bf16, 4 problems"
# shellcheck disable=SC2086
run 0 $folded --only no_variant
[ "$(grep -c ' no_variant ' out)" -eq 8 ] || fail "rows that were asked for are folded"
# shellcheck disable=SC2086
run 0 $folded --csv
[ "$(grep -c ',no_variant,' out)" -eq 8 ] || fail "rows of CSV are folded"

# A budget that is too short leaves problems out, which is no failure of theirs; the same command goes on.
short="coverage graph.gnng --device cpu --op spmm,gat --dim 3 --heads 1 --max-samples 5 --db b.db"
# shellcheck disable=SC2086
run 7 $short --budget 1ms --csv
grep -q ',left_out,1,0,.*left out: the budget ended' out || fail "nothing is left out"
err_has "go on with: gnntune coverage"
# A wrong word.
run 2 coverage graph.gnng --bound self_lop=2
err_has "did you mean self_loop?"
run 2 coverage graph.gnng --only slow
run 2 coverage graph.gnng --device cpu --clock both
run 2 coverage
