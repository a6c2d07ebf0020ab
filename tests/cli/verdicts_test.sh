# db diff and bench --compare: verdicts, their summary and exit codes, on a database and copies with planted changes.
. "$(dirname "$0")/lib.sh"
need_python

printf '# Nodes: 40\n' >ring.txt
for i in $(seq 0 39); do echo "$i $(((i + 1) % 40))"; done >>ring.txt
export OMP_NUM_THREADS=1
run 0 tune ring.txt --device cpu --op spmm --dim 8,16 --db a.db -q

# plant FILE SQL: a copy of a.db with changes.
plant() {
    cp a.db "$1"
    python3 -c 'import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as db: db.executescript(sys.argv[2])' "$1" "$2" || fail "planting $1"
}
times="median_us = median_us * f, q1_us = q1_us * f, q3_us = q3_us * f, min_us = min_us * f"
times="$times, ci_low_us = ci_low_us * f, ci_high_us = ci_high_us * f"
# Without noise, so that verdicts do not depend on the machine: 1 ms in every interval.
quiet="update measurement set median_us = 1000, q1_us = 1000, q3_us = 1000, min_us = 1000, ci_low_us = 1000,
       ci_high_us = 1000, samples = 20 where status in ('ok', 'abandoned');"
plant quiet.db "$quiet"
cp quiet.db a.db
rows=$(python3 -c 'import sqlite3
print(sqlite3.connect("a.db").execute("select count(*) from measurement where median_us > 0").fetchone()[0])')
[ "$rows" -ge 4 ] || fail "too few measurements to compare"

run 0 db diff a.db a.db
out_has "geomean B/A"
! grep -q "^SLOW" out || fail "a copy is slower"
err_has "$rows configs in both: $rows SAME, 0 FAST, 0 SLOW, 0 AMBIGUOUS; none only in a.db, none only in a.db"
err_has "choices: 0 of 2 problems changed"
run 0 db diff a.db a.db --fail-on SLOW,FAST,ambiguous -q
err_empty
run 1 db diff a.db a.db --fail-on SAME

one="(select max(id) from measurement where median_us > 0)"
plant slow.db "update measurement set ${times//f/1.05} where id = $one;"
run 0 db diff a.db slow.db
out_has "SLOW"
! grep -q "^FAST" out || fail "nothing was made faster"
err_has "$((rows - 1)) SAME, 0 FAST, 1 SLOW, 0 AMBIGUOUS"
run 1 db diff a.db slow.db --fail-on SLOW
err_has "--fail-on SLOW: 1 of $rows configs"
run 0 db diff a.db slow.db --fail-on FAST
run 1 db diff slow.db a.db --fail-on FAST
run 0 db diff a.db slow.db --csv
[ "$(wc -l <out)" -eq $((rows + 1)) ] || fail "CSV has not every verdict"
run 0 db diff a.db slow.db --csv --only SLOW,AMBIGUOUS
[ "$(wc -l <out)" -eq 2 ] || fail "--only lets others through"
grep -q '^SLOW,ring,spmm,' out || fail "no row of the planted config"
run 0 db diff a.db slow.db --only all
out_has "SAME"
run 0 db diff a.db slow.db --json
json "len(j['data'][0]['verdicts']) == $rows and j['data'][0]['summary'][-1]['slow'] == 1"
json "abs(j['data'][0]['verdicts'][0]['ratio'] - 1.05) < 1e-9 and j['data'][0]['only_a'] == []"
json "list(j['data'][0]) == ['a', 'b', 'verdicts', 'status_changes', 'choices_compared', 'choices_changed', 'only_a', 'only_b', 'summary']"

# Noise and few samples are no verdict.
plant noisy.db "update measurement set ${times//f/1.05}, ci_low_us = 800, ci_high_us = 1500 where id = $one;"
run 0 db diff a.db noisy.db --only AMBIGUOUS
out_has "is noise between runs"
plant few.db "update measurement set ${times//f/2}, samples = 1 where id = $one;"
run 0 db diff a.db few.db --only AMBIGUOUS
out_has "the second has 1 samples, 6 are needed"

# One side only, and timed on one side only.
plant less.db "delete from part where measurement_id = $one; delete from choice; delete from measurement where id = $one;"
run 0 db diff a.db less.db
err_has "1 only in a.db, none only in less.db"
plant wrong.db "update measurement set status = 'wrong', reason = 'misses the oracle', median_us = null, q1_us = null,
                q3_us = null, min_us = null, ci_low_us = null, ci_high_us = null, samples = 0 where id = $one;"
run 0 db diff a.db wrong.db
out_has "timed on one side only, tried on both"
out_has "misses the oracle"
err_has "1 configs were timed on one side and wrong, refused or failed on the other"

# Another environment is another thing, unless asked for.
plant driver.db "update environment set libraries = 'other 1.0';"
run 3 db diff a.db driver.db
out_empty
err_has "have timed no config in common on the same graph, problem and device"
err_has "--across judges $rows of other devices or versions"
run 0 db diff a.db driver.db --across --csv
out_has "libraries "
err_has "$rows SAME"

run 0 db diff a.db slow.db --graph ring --op spmm --dim 8 --csv
tail -n +2 out | grep -qv 'spmm,8,' && fail "--dim lets others through"
run 3 db diff a.db slow.db --graph rign
err_has "did you mean ring?"
run 3 db diff a.db slow.db --op sddmm
run 2 db diff a.db
run 2 db diff a.db slow.db --only SLOWER
err_has "--only: expected SAME, FAST, SLOW, AMBIGUOUS"
run 6 db diff a.db ring.txt

# bench measures now; every verdict is legal, but a database of times 100 times shorter or longer leaves one only.
plant long.db "update measurement set ${times//f/100000};"
run 0 bench ring.txt --device cpu --op spmm --dim 8 --compare long.db --csv
head -n 1 out | grep -q ',stored_us,vs_stored,verdict,across,verdict_reason$' || fail "bench lacks the verdict's columns"
out_has ",FAST,"
out_lacks ",SLOW,"
err_has "against long.db:"
run 1 bench ring.txt --device cpu --op spmm --dim 8 --compare long.db --fail-on FAST
plant other.db "update environment set libraries = 'other 1.0'; update measurement set ${times//f/100000};"
run 3 bench ring.txt --device cpu --op spmm --dim 8 --compare other.db
err_has "has timed none of this on this device"
run 1 bench ring.txt --device cpu --op spmm --dim 8 --compare other.db --across --fail-on FAST
out_has "libraries other 1.0 -> "
run 2 bench ring.txt --device cpu --fail-on SLOW
err_has "give --compare FILE too"
run 2 bench ring.txt --device cpu --suite unreal
err_has "expected real"
run 6 bench ring.txt --device cpu --compare missing.db
# Nothing to judge is no pass, and neither is a config that has lost its time.
run 1 bench ring.txt --device cpu --op attention --dim 8 --dtype f16
err_has "no variant of this build does"
plant wrong.db "update measurement set status = 'wrong', reason = 'planted'; delete from choice;"
run 0 db diff a.db wrong.db
run 1 db diff a.db wrong.db --fail-on SLOW
err_has "are wrong, refused or failed now"
run 0 db diff a.db wrong.db --fail-on FAST
