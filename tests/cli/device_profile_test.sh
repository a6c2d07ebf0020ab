# tools/device-profile and the step of tools/gpu-check that calls it, on the CPU and small graphs: what each piece leaves, that it
# goes on where it stopped, and that a model can be fitted to it.
. "$(dirname "$0")/lib.sh"
need_python
export OMP_NUM_THREADS=1

cat >manifest.csv <<'END'
name,family,kind,params
real,social,file,
uniform_1,uniform,uniform,"n_rows=90,m=700"
rmat_1,rmat,rmat,"scale=6,m=300"
uniform_2,uniform,uniform,"n_rows=200,m=700"
missing,social,file,
uniform_3,uniform,uniform,"n_rows=120,m=900"
uniform_4,uniform,uniform,"n_rows=90,m=100"
uniform_5,uniform,uniform,"n_rows=90,m=200"
uniform_6,uniform,uniform,"n_rows=90,m=300"
uniform_7,uniform,uniform,"n_rows=90,m=400"
rmat_2,rmat,rmat,"scale=6,m=900"
END
mkdir real
cat >real/real.mtx <<'END'
%%MatrixMarket matrix coordinate pattern general
4 4 5
1 2
2 3
3 4
4 1
1 1
END
profile() {
    local expected=$1 code
    shift
    last="tools/device-profile $*"
    python3 "$SOURCE/tools/device-profile" "$work/profile" --device cpu --manifest manifest.csv --graphs real "$@" >"$work/out" 2>"$work/err"
    code=$?
    [ $code -eq "$expected" ] || fail "it ended with $code"
}
count() { python3 -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchone()[0])' "$work/profile/$1.db" "$2"; }

# Every fifth graph and all real ones that are there: real, uniform_3 and rmat_2; every tenth: the first and the last of them.
profile 0 --pieces constants,spmm,twice
grep -Eq '^constants +0 of 0 ' "$work/out" || fail "a CPU has no constants"
grep -Eq '^spmm +3 of 3 ' "$work/out" || fail "not three graphs of spmm"
[ "$(count gpu0 "select count(distinct graph_id || ' ' || problem_id) from measurement")" -eq 15 ] || fail "not three graphs at five widths"
[ "$(count gpu0 "select count(*) from graph where name = 'real'")" -eq 1 ] || fail "the real graph is missing"
# Two runs of the same problems, each in a database of its own.
[ "$(count twice_a "select count(distinct graph_id || ' ' || problem_id) from measurement where status = 'ok'")" -eq 10 ] || fail "no run a"
[ "$(count twice_b "select count(distinct graph_id || ' ' || problem_id) from measurement where status = 'ok'")" -eq 10 ] || fail "no run b"
run 0 eval profile/twice_a.db profile/twice_b.db --no-model --csv
grep -q '^spmm,fp32,oracle,10,' "$work/out" || fail "two runs are not compared"

# Nothing is measured twice, a piece more adds to it, and heads, 16 bits and self loops are among what is drawn.
before=$(count gpu0 'select count(*) from measurement')
profile 0 --pieces spmm
[ "$(count gpu0 'select count(*) from measurement')" -eq "$before" ] || fail "measured again"
profile 7 --pieces ops --minutes 0.01
grep -Eq '^ops +0 of 2 .* cut short$' "$work/out" || fail "it is not said that the time was over"
profile 0 --pieces ops
[ "$(count gpu0 "select count(*) from problem where op = 'gat_grad' and heads = 4")" -ge 1 ] || fail "no gradient with heads"
[ "$(count gpu0 "select count(*) from problem where op = 'attention' and heads = 8")" -ge 1 ] || fail "no attention with heads"
before=$(count gpu0 "select count(*) from problem where dtype <> 'f32' or self_loop or reduce <> 'sum' or direction = 'reversed'")
profile 0 --pieces kinds
[ "$(count gpu0 "select count(*) from problem where dtype <> 'f32' or self_loop or reduce <> 'sum' or direction = 'reversed'")" -gt "$before" ] ||
    fail "no kinds of problems"
run 0 fit --db profile/gpu0.db --op spmm --folds 2 --trees 5 --clock host
run 0 db check --db profile/gpu0.db

profile 2 --pieces spmm,none
err_has 'expected some of constants, spmm, ops, twice, kinds, not none'

# The step of tools/gpu-check is the same.
last="tools/gpu-check, step profile"
env DEVICE=cpu STEPS=profile PROFILE_PIECES=spmm PROFILE_MANIFEST="$work/manifest.csv" PROFILE_GRAPHS="$work/real" \
    BUILD="$(dirname "$(dirname "$GNNTUNE")")" bash "$SOURCE/tools/gpu-check" "$work/checked" >"$work/out" 2>"$work/err" || fail "it ended with $?"
grep -Eq '^profile of this GPU +ok +1 pieces ' "$work/checked/table.txt" || fail "no row of the step"
grep -Eq '^spmm +3 of 3 ' "$work/out" || fail "its table is not printed"
exit 0
