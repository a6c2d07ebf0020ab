#!/usr/bin/env bash
# An op is one folder, an enumerator and a number of the C interface; a kernel is one folder. A copy of the tree gets an op
# and a kernel of it, which cost two changed files outside of their folders, and is built. Then another kernel is added, and
# a plain `cmake --build` has it in the program, in the tuner's oracle check and in the conformance suite; no other file
# changes. Both are held to the oracles by `verify`, by `tune` and by the suite.
set -u
: "${SOURCE:?the source tree}" "${WORK:?a folder to build in}" "${GENERATOR:?of CMake}" "${CXX:?the compiler}"
export LC_ALL=C CUDA_VISIBLE_DEVICES=-1
unset GNNTUNE_DB GNNTUNE_DEVICE
# The copy lies elsewhere than the tree, but its objects are the same.
export CCACHE_BASEDIR="$WORK" CCACHE_NOHASHDIR=1

log="$WORK/log"
fail() {
    echo "FAILED: $1"
    tail -n 40 "$log"
    exit 1
}
# step WORDS COMMAND...: the command must succeed.
step() {
    local words=$1
    shift
    local begin=$SECONDS
    "$@" >"$log" 2>&1 || fail "$words"
    echo "$words: $((SECONDS - begin)) s"
}
build() { cmake --build "$WORK/build" --parallel 2 --target "$@"; }
# Every file of the copy with its checksum.
state() { (cd "$WORK/source" && find . -type f -exec cksum {} + | sort -k 3); }
gnntune="$WORK/build/bin/gnntune"

rm -rf "$WORK"
mkdir -p "$WORK/source" || exit 1
for name in CMakeLists.txt LICENSE cmake core kernels profiles tuner tools tests data; do
    cp -r "$SOURCE/$name" "$WORK/source/" || exit 1
done

# The op: its room, a kernel, its name at the end of the list and its number in the C interface.
state >"$WORK/before_op"
cp -r "$SOURCE/tests/variant/example_op/room" "$WORK/source/core/ops/example_degree" || exit 1
mkdir -p "$WORK/source/kernels/example_degree" || exit 1
cp -r "$SOURCE/tests/variant/example_op/variant" "$WORK/source/kernels/example_degree/cpu" || exit 1
sed -i '$ s|$| \\|' "$WORK/source/core/ops/list.hpp"
echo '    X(example_degree)' >>"$WORK/source/core/ops/list.hpp"
sed -i 's|^    GNNTUNE_SPMM = 1,|    GNNTUNE_EXAMPLE_DEGREE = 1000,\n&|' "$WORK/source/core/include/gnntune/gnntune.h"
state >"$WORK/after_op"
diff "$WORK/before_op" "$WORK/after_op" >"$log"
touched=$(grep '^[<>]' "$log" | grep -v ' \./core/ops/example_degree/\| \./kernels/example_degree/' | sed 's/.* //' | sort -u | wc -l)
[ "$touched" -ge 1 ] && [ "$touched" -le 5 ] || fail "an op touches $touched files outside of its folders, expected 5 at most"

step "configure" cmake -S "$WORK/source" -B "$WORK/build" -G "$GENERATOR" -DCMAKE_CXX_COMPILER="$CXX" \
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DGNNTUNE_CUDA=OFF -DGNNTUNE_BUILD_TOOLS=ON \
    -DGNNTUNE_BUILD_TESTS=ON -DGNNTUNE_INSTALL=OFF -DCMAKE_UNITY_BUILD_BATCH_SIZE=200
step "build without the folder" build gnntune_cli
step "list" "$gnntune" list --json
grep -q '"spmm\.' "$log" || fail "list names no variant"
! grep -q 'example_trivial' "$log" || fail "the variant is there before it was added"
grep -q '"example_degree.cpu"' "$log" || fail "list lacks the variant of the new op"
step "list of ops" "$gnntune" list ops --csv
grep -q '^example_degree,1,0,sums of the weights of each row' "$log" || fail "list lacks the new op"
step "verify the op" "$gnntune" verify "$SOURCE/data/cora.mtx.gz" --op example_degree --device cpu --csv
rows=$(grep -c 'example_degree.cpu,1,0,.*,ok' "$log")
[ "$rows" -ge 1 ] || fail "verify checked no problem of the new op"
step "tune the op" "$gnntune" tune "$SOURCE/data/cora.mtx.gz" --op example_degree --device cpu --db "$WORK/op.db" -q
step "its choice" "$gnntune" explain "$SOURCE/data/cora.mtx.gz" --op example_degree --device cpu --db "$WORK/op.db"
grep -q 'example_degree.cpu' "$log" || fail "the tuner chose nothing for the new op"
state >"$WORK/before"

cp -r "$SOURCE/tests/variant/example_trivial" "$WORK/source/kernels/spmm/"
step "build with the folder" build gnntune_cli gnntune_conformance
if compgen -G "$WORK/build/build.ninja" >/dev/null; then
    compiled=$(grep -cE 'Building CXX object .*(spmm/cpu_rows|tools)/' "$log")
    [ "$compiled" -eq 0 ] || fail "files that did not change were compiled again"
fi

step "list" "$gnntune" list --json
grep -q '"spmm.example_trivial"' "$log" || fail "list lacks the new variant"
step "verify" "$gnntune" verify "$SOURCE/data/cora.mtx.gz" --variant spmm.example_trivial --device cpu --csv
rows=$(grep -c 'spmm.example_trivial,1,0,.*,ok' "$log")
[ "$rows" -ge 4 ] || fail "verify checked $rows problems, expected four at least"
step "tune" "$gnntune" tune "$SOURCE/data/cora.mtx.gz" --device cpu --dim 16 --db "$WORK/a.db" -q
step "database" "$gnntune" db export --db "$WORK/a.db" --csv -
grep -q 'spmm.example_trivial,1,\(ok\|abandoned\),' "$log" || fail "the tuner did not measure the new variant"

for name in example_degree example_trivial; do
    GNNTUNE_CONFORMANCE_SHORT=1 step "conformance of $name" "$WORK/build/bin/gnntune_conformance" "--gtest_filter=*$name*"
    passed=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) tests\{0,1\}\.$/\1/p' "$log")
    [ "${passed:-0}" -ge 20 ] || fail "${passed:-0} conformance cases of $name passed, expected 20 at least"
    grep -qE '^conformance: [1-9][0-9]* configs executed' "$log" || fail "no config of $name was executed"
done

state >"$WORK/after"
diff "$WORK/before" "$WORK/after" >"$log"
[ "$(grep -c '^<' "$log")" -eq 0 ] || fail "a file changed or vanished"
[ "$(grep '^>' "$log" | grep -vc ' \./kernels/spmm/example_trivial/')" -eq 0 ] || fail "another file was added"
[ "$(grep -c '^>' "$log")" -eq 3 ] || fail "expected three new files"
echo "an op touched $touched files outside of its folders, a kernel none; $passed conformance cases"
rm -rf "$WORK"
