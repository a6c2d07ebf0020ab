# What this user may not reach is said in a sentence, with the documented exit code, and is not taken for missing.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -ne 0 ] || drop=$(command -v setpriv) || { echo "skipped: root may do everything, and setpriv is not installed"; exit 77; }
chmod 755 "$work"
export OMP_NUM_THREADS=1
tune="tune $cora --dim 4 --device cpu --max-samples 5 --variant spmm.eigen"
mkdir locked
# shellcheck disable=SC2086
run 0 $tune --db locked/mine.db
mkdir shown && cp locked/mine.db shown/
cp "$cora" locked/graph.mtx.gz
# What may be read and not written: a database, and what the ranks of a tuning have measured.
mkdir kept open && cp locked/mine.db kept/
# shellcheck disable=SC2086
run 0 $tune --shard 0/1 --work kept/work --db kept/all.db
cp -r kept/work kept/begun && rm kept/begun/*.lock kept/begun/units
cp -r kept/work kept/secret && chmod 000 kept/secret/units
chmod -R a-w kept
chmod 777 open
chmod 000 locked "$HOME"

# as_user CODE ARGUMENTS...: as run(), as somebody who is not root.
as_user() {
    local expected=$1 code
    shift
    last="gnntune $* (not as root)"
    ${drop:+"$drop" --reuid 65534 --regid 65534 --clear-groups} "$GNNTUNE" "$@" >"$work/out" 2>"$work/err"
    code=$?
    [ "$code" -eq "$expected" ] || fail "exit code $code, expected $expected"
    ! grep -qE 'filesystem error|terminate|what\(\)' "$work/err" || fail "a raw exception"
}
if [ -n "${drop:-}" ]; then
    "$drop" --reuid 65534 --regid 65534 --clear-groups "$GNNTUNE" --version >/dev/null 2>&1 ||
        { echo "skipped: another user cannot run the program"; exit 77; }
fi

# shellcheck disable=SC2086
for verb in "$tune" "db ls" "db check" "db errata" "explain cora --dim 4" "predict $cora --dim 4" "db show cora" "db export" \
    "db errata remove 1" "db prune" "paper tcgnn --table 5"; do
    as_user 6 $verb
    err_has "cannot be reached: Permission denied"
    as_user 6 $verb --db locked/mine.db
    err_has "locked/mine.db: cannot be reached: Permission denied"
done
as_user 6 doctor
out_has "cannot be reached: Permission denied"
as_user 6 db merge locked/mine.db --db new.db
err_has "locked/mine.db: cannot be reached"
as_user 0 db merge kept/mine.db --db open/new.db
as_user 0 db merge --from kept/work --db open/from.db
run 0 db diff kept/all.db open/from.db
grep -qF "1 configs in both" "$work/out" "$work/err" || fail "not all of it was taken in"
as_user 0 db merge --from kept/begun --db open/begun.db
err_has "of 1 units are not done"
as_user 3 db merge --from kept/secret --db open/secret.db
err_has "kept/secret/units cannot be read: Permission denied; let this user read it"
as_user 6 db merge open/new.db --db kept/mine.db
err_has "kept/mine.db: "
# shellcheck disable=SC2086
as_user 3 $tune --shard 0/1 --work kept/work --db open/new.db
err_has "name a folder that this user may write to with --work"
as_user 6 db diff shown/mine.db locked/mine.db
as_user 6 eval shown/mine.db locked/mine.db
as_user 3 info locked/graph.mtx.gz
err_has "locked/graph.mtx.gz: cannot be reached: Permission denied"
as_user 3 explain locked/graph.mtx.gz --db shown/mine.db
# Its errata do not count, and that is said.
as_user 0 info --l2-bytes 1MiB "$cora" --db locked/mine.db
err_lacks() { ! grep -qF -- "$1" "$work/err" || fail "stderr has: $1"; }
err_lacks "no such database"

# A name that no file can have.
long=$(printf 'x%.0s' $(seq 300))
run 3 info "$long"
err_has "File name too long"
run 3 db show "$long" --db shown/mine.db
run 3 explain "$long" --db shown/mine.db
run 6 db ls --db "$long"
run 6 db ls --db "shown/mine.db/below"
chmod 755 locked "$HOME"
chmod -R u+w kept
