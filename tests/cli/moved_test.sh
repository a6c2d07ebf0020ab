# A database that goes away while it is written to: the run says so, ends with 6, and nothing that it measured is lost.
. "$(dirname "$0")/lib.sh"
export OMP_NUM_THREADS=1

rows_of() { "$GNNTUNE" db sql 'select count(*) from measurement' --db "$1" --csv 2>/dev/null | tail -1 | tr -cd '0-9'; }
# tune_while COMMAND: runs it when the first measurements are there.
tune_while() {
    rm -rf van
    mkdir van
    last="gnntune tune, and $*"
    "$GNNTUNE" tune "$cora" --op spmm --dim 8,16,32,64,128,256 --exhaustive --max-samples 100 --device cpu --db van/x.db >out 2>err &
    local tuning=$!
    local rows=0
    for _ in $(seq 1 600); do
        [ -e van/x.db ] && rows=$(rows_of van/x.db)
        [ "${rows:-0}" -ge 2 ] && break
        sleep 0.02
    done
    kill -STOP $tuning  # so that it meets what was done as a whole
    "$@"
    kill -CONT $tuning
    wait $tuning
    local code=$?
    [ "$code" -eq 6 ] || fail "exit code $code, expected 6"
    err_has "was removed, renamed or replaced while it was in use"
}
has_rows() {
    run 0 db check --db "$1"
    [ "$(rows_of "$1")" -ge 2 ] || fail "$1 has lost rows"
}
# The copy that the sentence names, which comes back as it says.
comes_back() {
    saved=$(grep -oE 'is in [^;]+' err | cut -d' ' -f3)
    [ -n "$saved" ] || fail "the sentence names no file"
    err_has "take it in with: ${1:-}gnntune db merge $saved --db van/x.db"
    has_rows "$saved"
    [ -z "${1:-}" ] || eval "${1% && }"
    run 0 db merge "$saved" --db van/x.db
    has_rows van/x.db
}

tune_while mv van/x.db van/moved.db
err_has "it is $PWD/van/moved.db now, with everything that was measured"
has_rows van/moved.db
[ ! -e van/x.db-wal ] || fail "a log without a database stays"

tune_while rm -rf van
comes_back "mkdir -p van && "

# Somebody writes to it under its new name already, with a log of his own.
need_sqlite3
move_and_write() {
    mv van/x.db van/moved.db
    coproc OTHER { sqlite3 van/moved.db >/dev/null; }
    printf "%s\n" "insert into run (command, tool_version, git_commit, started_at, seed, host)" \
        "values ('other', '', '', '2026-11-21T09:30:00Z', 1, '');" ".shell touch written" >&"${OTHER[1]}"
    for _ in $(seq 1 500); do
        [ -e written ] && break
        sleep 0.02
    done
}
tune_while move_and_write
other=$OTHER_PID
echo .quit >&"${OTHER[1]}"
wait "$other"
comes_back
[ "$(sqlite3 van/moved.db 'pragma integrity_check')" = ok ] || fail "the file under its new name is damaged"
[ "$(sqlite3 van/moved.db "select count(*) from run where command = 'other'")" = 1 ] || fail "the row of the other is lost"
exit 0
