#!/bin/sh
# The checker can fail: every planted violation is reported, in these words, and nothing else is.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
mkdir "$tree"
: >"$work/expected"

# line PATH TEXT: appends a line to a file of the tree.
line() {
    mkdir -p "$tree/$(dirname "$1")"
    printf '%s\n' "$2" >>"$tree/$1"
}
fine() { line "$1" "#include $2"; }
# wrong PATH INCLUDE WORDS: an include that must be reported in these words.
wrong() {
    line "$1" "#include $2"
    echo "$1:$(wc -l <"$tree/$1" | tr -d ' '): $3" >>"$work/expected"
}
# expect "PATH: WORDS": a violation of a whole file or folder.
expect() { echo "$1" >>"$work/expected"; }
# variant FOLDER: what every folder of kernels/ must have.
variant() {
    line "$1/README.md" "words"
    line "$1/CMakeLists.txt" "words"
}

# What the rules allow.
fine core/graph/a.cpp '<vector>'
fine core/graph/a.cpp '"core/graph/a.hpp"'
fine core/graph/a.cpp '<cuda_runtime_api.h>'
fine core/graph/a.hpp '<cstdint>'
fine core/registry/op.hpp '"core/ops/list.hpp"'
fine core/ops/spmm/op.cpp '"core/include/gnntune/gnntune.h"'
fine core/io/zip.cpp '<zlib.h>'
fine core/io/zip.cpp '<lzma.h>'
fine core/io/zip.cpp '<fmt/format.h>'
fine core/generate/a.cpp '<nlohmann/json.hpp>'
fine core/include/gnntune/gnntune.h '<stdint.h>'
fine core/include/gnntune/gnntune.hpp '<gnntune/gnntune.h>'
fine kernels/register_all.hpp '"core/registry/registry.hpp"'
variant kernels/spmm/one
fine kernels/spmm/one/variant.cpp '"kernels/spmm/one/launch.hpp"'
fine kernels/spmm/one/variant.cpp '"kernels/common/host.hpp"'
fine kernels/spmm/one/variant.cpp '"kernels/formats/csr/csr.hpp"'
fine kernels/spmm/one/variant.cpp '"kernels/spmm/common/two.hpp"'
fine kernels/spmm/common/two.hpp '"kernels/common/host.hpp"'
fine kernels/spmm/one/launch.cu '<cub/device/device_scan.cuh>'
variant kernels/spmm/eigen
fine kernels/spmm/eigen/variant.cpp '<Eigen/SparseCore>'
variant kernels/formats/csr
fine kernels/formats/csr/build.cpp '"kernels/formats/coo/derive.hpp"'
fine tuner/a.cpp '<cupti.h>'
fine tuner/a.cpp '"kernels/register_all.hpp"'
fine tuner/a.cpp '"profiles/store/store.hpp"'
fine profiles/database/a.cpp '<sqlite3.h>'
fine profiles/store/a.cpp '"profiles/fields/values.hpp"'
fine profiles/document/a.cpp '"profiles/store/store.hpp"'
fine profiles/library/a.cpp '"kernels/register_all.hpp"'
fine tools/verbs/a.cpp '<boost/program_options.hpp>'
fine tools/verbs/a.cpp '"tuner/tune.hpp"'
line tools/verbs/a.cpp 'dlopen("libcupti.so", 1);'
line tools/verbs/a.cpp 'std::snprintf(text, sizeof text, "%d", 1);'
line tools/verbs/a.cpp 'out.print_line("warnings go to stderr, data to stdout");'
line tools/common/streams.cpp 'std::cout << text;'
line tools/run_once/a.cpp 'std::printf("%s", text);'
fine examples/a.c '<gnntune/gnntune.h>'
fine examples/a.c '<stdio.h>'

# Who may know whom.
wrong core/common/b.cpp '"core/graph/types.hpp"' 'core/common may not include core/graph/types.hpp'
wrong core/gpu/b.cpp '"core/graph/types.hpp"' 'core/gpu may not include core/graph/types.hpp'
wrong core/graph/b.cpp '"core/features/features.hpp"' 'core/graph may not include core/features/features.hpp'
wrong core/features/b.cpp '"core/registry/variant.hpp"' 'core/features may not include core/registry/variant.hpp'
wrong core/registry/b.cpp '"core/ops/op_record.hpp"' 'core/registry may not include core/ops/op_record.hpp'
wrong core/reference/b.cpp '"core/ops/arrays.hpp"' 'core/reference may not include core/ops/arrays.hpp'
wrong core/dispatch/b.cpp '"core/ops/arrays.hpp"' 'core/dispatch may not include core/ops/arrays.hpp'
wrong core/io/b.cpp '"core/registry/op.hpp"' 'core/io may not include core/registry/op.hpp'
wrong core/graph/b.cpp '"kernels/common/host.hpp"' 'core/graph may not include kernels/common/host.hpp'
wrong core/graph/b.cpp '"tuner/tune.hpp"' 'core/graph may not include tuner/tune.hpp'
wrong core/graph/b.cpp '"profiles/store/store.hpp"' 'core/graph may not include profiles/store/store.hpp'
wrong core/graph/b.cpp '"tools/common/output.hpp"' 'core/graph may not include tools/common/output.hpp'
wrong core/graph/b.cpp '<tools/common/output.hpp>' 'core/graph may not include tools/common/output.hpp'
variant kernels/spmm/two
wrong kernels/spmm/two/v.cpp '"kernels/spmm/one/launch.hpp"' 'kernels/*/* may not include kernels/spmm/one/launch.hpp'
wrong kernels/spmm/two/v.cpp '"kernels/register_all.hpp"' 'kernels/*/* may not include kernels/register_all.hpp'
wrong kernels/spmm/two/v.cpp '"profiles/store/store.hpp"' 'kernels/*/* may not include profiles/store/store.hpp'
wrong kernels/spmm/two/v.cpp '"../one/launch.hpp"' '"../one/launch.hpp" does not start at the source root'
wrong kernels/common/b.hpp '"kernels/formats/csr/csr.hpp"' 'kernels/common may not include kernels/formats/csr/csr.hpp'
wrong kernels/formats/csr/b.cpp '"kernels/spmm/one/launch.hpp"' \
    'kernels/formats/* may not include kernels/spmm/one/launch.hpp'
wrong tuner/b.cpp '"kernels/spmm/one/launch.hpp"' 'tuner may not include kernels/spmm/one/launch.hpp'
wrong tuner/b.cpp '"tools/common/output.hpp"' 'tuner may not include tools/common/output.hpp'
wrong profiles/b.cpp '"profiles/store/store.hpp"' 'profiles may not include profiles/store/store.hpp'
wrong profiles/fields/b.cpp '"profiles/store/store.hpp"' 'profiles/fields may not include profiles/store/store.hpp'
wrong profiles/store/b.cpp '"profiles/document/document.hpp"' 'profiles/store may not include profiles/document/document.hpp'
wrong profiles/snapshot/b.cpp '"profiles/document/document.hpp"' 'profiles/snapshot may not include profiles/document/document.hpp'
wrong profiles/store/b.cpp '"kernels/register_all.hpp"' 'profiles/store may not include kernels/register_all.hpp'
wrong profiles/store/b.cpp '"tuner/tune.hpp"' 'profiles/store may not include tuner/tune.hpp'
wrong profiles/library/b.cpp '"kernels/common/host.hpp"' 'profiles/library may not include kernels/common/host.hpp'
wrong profiles/library/b.cpp '"tuner/tune.hpp"' 'profiles/library may not include tuner/tune.hpp'
wrong tools/common/b.cpp '"tools/db/db.hpp"' 'tools/common may not include tools/db/db.hpp'
wrong tools/db/b.cpp '"tools/verbs/reference.hpp"' 'tools/db may not include tools/verbs/reference.hpp'
wrong tools/paper/b.cpp '"tuner/tune.hpp"' 'tools/paper may not include tuner/tune.hpp'
wrong tools/verbs/b.cpp '"kernels/common/host.hpp"' 'tools/verbs may not include kernels/common/host.hpp'
wrong examples/b.cpp '"core/registry/graph.hpp"' 'examples may not include core/registry/graph.hpp'
wrong examples/b.cpp '<unistd.h>' 'examples may not use posix (<unistd.h>)'

# One writer of the streams.
for words in 'std::cout << name;' 'std::fprintf(stderr, "%s", name);' 'fputs(name, stdout);' 'fmt::print("{}", name);'; do
    line tools/verbs/e.cpp "$words"
    expect "tools/verbs/e.cpp:$(wc -l <"$tree/tools/verbs/e.cpp" | tr -d ' '): only tools/common/streams.cpp writes to stdout and stderr"
done

# A graph is asked where the rules say so, and so often.
line core/dispatch/plan.cpp 'const Query query = graph.query(problem);'
line core/dispatch/plan.cpp 'return part_config(graph.registry(), graph.query(part.problem), params, part);'
line tuner/tune_session.cpp 'query_ = graph.graph().query({});'
line tuner/asked.cpp 'tell(search, workload_.query(), m);'
for words in 'graph_->query(problem);' 'workload.graph().query(problem);' 'graph.query(problem);'; do
    line profiles/library/run.cpp "$words"
done
expect 'profiles/library/run.cpp: lines that ask a graph about a problem: 3, allowed 1; hand the query on (tests/layering/rules.txt)'
line tuner/asks.cpp 'const Query query = graph_.query(problem);'
expect 'tuner/asks.cpp: lines that ask a graph about a problem: 1, allowed 0; hand the query on (tests/layering/rules.txt)'
line tuner/profile.cpp '// no more'
expect 'tuner/profile.cpp: lines that ask a graph about a problem: 0, the rules say 1'

# Which package belongs where.
wrong core/graph/c.cpp '<sqlite3.h>' 'core/graph may not use sqlite (<sqlite3.h>)'
wrong core/graph/c.cpp '<Eigen/Dense>' 'core/graph may not use eigen (<Eigen/Dense>)'
wrong core/graph/c.cpp '<fmt/format.h>' 'core/graph may not use fmt (<fmt/format.h>)'
wrong core/graph/c.cpp '<zlib.h>' 'core/graph may not use zlib (<zlib.h>)'
wrong core/generate/c.cpp '<fmt/format.h>' 'core/generate may not use fmt (<fmt/format.h>)'
wrong core/include/gnntune/gnntune.hpp '<nlohmann/json.hpp>' 'core/include may not use json (<nlohmann/json.hpp>)'
wrong core/include/gnntune/gnntune.hpp '<cuda_runtime_api.h>' 'core/include may not use cuda (<cuda_runtime_api.h>)'
wrong core/include/gnntune/gnntune.hpp '"core/graph/types.hpp"' 'core/include may not include core/graph/types.hpp'
wrong kernels/spmm/two/c.cpp '<cupti.h>' 'kernels/*/* may not use cupti (<cupti.h>)'
wrong kernels/spmm/two/c.cpp '<Eigen/Dense>' 'kernels/*/* may not use eigen (<Eigen/Dense>)'
wrong profiles/store/c.cpp '<sqlite3.h>' 'profiles/store may not use sqlite (<sqlite3.h>)'
wrong profiles/store/c.cpp '<boost/program_options.hpp>' 'profiles/store may not use boost (<boost/program_options.hpp>)'
wrong profiles/library/c.cpp '<cupti.h>' 'profiles/library may not use cupti (<cupti.h>)'
wrong tuner/c.cpp '<sqlite3.h>' 'tuner may not use sqlite (<sqlite3.h>)'
wrong tuner/c.cpp '<nlohmann/json.hpp>' 'tuner may not use json (<nlohmann/json.hpp>)'
wrong tools/verbs/c.cpp '<cupti_activity.h>' 'tools/verbs may not use cupti (<cupti_activity.h>)'
wrong tools/verbs/c.cpp '<sqlite3.h>' 'tools/verbs may not use sqlite (<sqlite3.h>)'
wrong tools/verbs/c.cpp '<spdlog/spdlog.h>' '<spdlog/spdlog.h> belongs to no package in tests/layering/rules.txt'
wrong tools/verbs/c.cpp 'HEADER' 'writes an include that this test cannot read: #include HEADER'

# No package in CUDA code, not through headers either.
fine profiles/library/words.hpp '<fmt/format.h>'
fine profiles/library/between.hpp '"profiles/library/words.hpp"'
fine profiles/library/d.cu '"profiles/library/between.hpp"'
expect 'profiles/library/d.cu: CUDA code reaches fmt through profiles/library/words.hpp'
fine tuner/d.cu '<fmt/format.h>'
expect 'tuner/d.cu: CUDA code reaches fmt'

# Long files and folders without a README.
awk 'BEGIN { for (i = 0; i < 450; ++i) print "" }' >"$tree/core/just_fits.cpp"
for path in core/long.cpp core/long_with_reason.cpp; do
    awk 'BEGIN { for (i = 0; i < 451; ++i) print "" }' >"$tree/$path"
done
mkdir "$tree/tests"
cp "$tree/core/long.cpp" "$tree/tests/long_test.cpp"
cat >"$work/long_files.txt" <<'LIST'
# a comment
core/long_with_reason.cpp a table that reads best in one piece
core/just_fits.cpp it was long once
core/unexplained.cpp
LIST
expect 'core/long.cpp: 451 lines; split it, or give a reason in tests/layering/long_files.txt'
expect 'tests/long_test.cpp: 451 lines; split it, or give a reason in tests/layering/long_files.txt'
expect 'core/just_fits.cpp: is no longer over 450 lines; take it off the list of long files'
expect 'core/unexplained.cpp: is no longer over 450 lines; take it off the list of long files'
expect 'core/unexplained.cpp: stands in the list of long files without a reason'
line kernels/spmm/bare/CMakeLists.txt "words"
expect 'kernels/spmm/bare: has no README.md'

status=0
"$here/check.sh" "$tree" "$work/long_files.txt" >"$work/reported" || status=$?
[ "$status" -eq 1 ] || { echo "exit code $status, expected 1"; exit 1; }
LC_ALL=C sort "$work/expected" | diff -u - "$work/reported" || { echo "the checker reported other violations"; exit 1; }

# Without them the tree passes; an empty tree does not.
cut -d: -f1 "$work/expected" | sort -u | while read -r path; do rm -rf "${tree:?}/$path"; done
printf '# nothing\n' >"$work/long_files.txt"
rm -f "$tree/core/long_with_reason.cpp"
fine core/include/gnntune/gnntune.hpp '<gnntune/gnntune.h>'
"$here/check.sh" "$tree" "$work/long_files.txt" >"$work/reported" || { cat "$work/reported"; exit 1; }
mkdir "$work/empty"
! "$here/check.sh" "$work/empty" >/dev/null || { echo "an empty tree passes"; exit 1; }
echo "$(wc -l <"$work/expected" | tr -d ' ') planted violations were reported, and nothing else"
