# Sourced by every test here. A test runs in an empty folder, with a home of its own and without a GPU, so that its
# output does not depend on the machine. The first expectation that fails ends it.
set -u
: "${GNNTUNE:?the program}" "${SOURCE:?the source tree}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export HOME="$work/home" CUDA_VISIBLE_DEVICES=-1 LC_ALL=C GNNTUNE_PROFILES=
unset GNNTUNE_DB GNNTUNE_DEVICE XDG_DATA_HOME NO_COLOR FORCE_COLOR
mkdir "$HOME"
cora="$SOURCE/data/cora.mtx.gz"
last="nothing"

fail() {
    echo "FAILED: $1"
    echo "  after: $last"
    echo "--- stdout"; head -c 3000 "$work/out" 2>/dev/null
    echo "--- stderr"; head -c 3000 "$work/err" 2>/dev/null
    exit 1
}

# run CODE ARGUMENTS...: the program must end with that exit code.
run() {
    local expected=$1
    shift
    last="gnntune $*"
    "$GNNTUNE" "$@" >"$work/out" 2>"$work/err"
    local code=$?
    [ "$code" -eq "$expected" ] || fail "exit code $code, expected $expected"
}

out_has() { grep -qF -- "$1" "$work/out" || fail "stdout lacks: $1"; }
out_lacks() { ! grep -qF -- "$1" "$work/out" || fail "stdout has: $1"; }
err_has() { grep -qF -- "$1" "$work/err" || fail "stderr lacks: $1"; }
out_empty() { [ ! -s "$work/out" ] || fail "stdout is not empty"; }
err_empty() { [ ! -s "$work/err" ] || fail "stderr is not empty"; }
# out_is FILE: stdout is that file of tests/cli/golden.
out_is() { diff -u "$SOURCE/tests/cli/golden/$1" "$work/out" || fail "stdout differs from golden/$1"; }
# The fingerprint in the CSV that the last run printed.
fingerprint() { grep -oE '[0-9a-f]{32}' "$work/out" | head -n 1; }

need_python() {
    command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
}
need_sqlite3() {
    command -v sqlite3 >/dev/null || { echo "skipped: sqlite3 is not installed"; exit 77; }
}
# json EXPRESSION: stdout is JSON and the expression, about `j`, holds.
json() {
    python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))
sys.exit(not eval(sys.argv[2]))' "$work/out" "$1" || fail "JSON: not so: $1"
}
