# adapt: models of another device are corrected by what is measured here, and who has none of his own is told so.
. "$(dirname "$0")/lib.sh"
need_sqlite3
export OMP_NUM_THREADS=1

for n in 100 200 400; do run 0 generate uniform --n-rows $n --m $((n * 5)) -o u$n.mtx -q; done
for m in 300 900 1500; do run 0 generate rmat --set scale=7,m=$m -o r$m.mtx -q; done
run 0 tune u100.mtx u200.mtx u400.mtx --device cpu --dim 8,16 --max-samples 5 --exhaustive --db made.db -q
# There the slow ones are fast: its model is wrong here.
sqlite3 made.db "UPDATE measurement SET median_us = 10000 / median_us WHERE median_us > 0"
run 0 fit --db made.db --device cpu -q

# What was shipped was made on another device.
mkdir profiles
cp made.db profiles/other.db
sqlite3 profiles/other.db "PRAGMA journal_mode = delete; UPDATE environment SET device_name = 'Elsewhere'" >/dev/null
export GNNTUNE_PROFILES="$work/profiles"
stands_in="those of Elsewhere stand in; \`gnntune adapt\` brings them here"
run 0 doctor --device cpu --db mine.db
out_has "$stands_in"
run 0 tune r300.mtx --device cpu --dim 8 --max-samples 5 --db mine.db
err_has "$stands_in"
run 0 explain r900.mtx --device cpu --dim 8 --db mine.db
out_has "$stands_in"

run 1 adapt r300.mtx --device cpu --op sddmm --dim 8 --db none.db
err_has "nothing was measured that a model could be corrected by"
run 2 adapt --device cpu --symmetric
err_has "without GRAPH the graphs are generated"
run 2 adapt --device cpu --count 1

run 0 adapt r300.mtx r900.mtx r1500.mtx --device cpu --dim 8,16 --max-samples 5 --db mine.db --csv
out_has "op,graphs,problems,before_percent,before_worst_percent,after_percent,after_worst_percent,before_3_percent,after_3_percent,stored"
grep -Eq '^spmm,3,6,([0-9.]+,){6}[01]$' "$work/out" || fail "not a row of three graphs at two widths"
python3 -c 'import csv, sys
row = next(csv.DictReader(open(sys.argv[1])))
sys.exit(any(not 0 < float(v) <= 100 for k, v in row.items() if k.endswith("percent")))' "$work/out" || fail "no per cents"
# It is stored if it gains something, and says what it was made of.
stored=$(sqlite3 mine.db "SELECT count(*) FROM model WHERE json_extract(training, '\$.adapted_from.file') = 'other.db'")
[ "$stored" = "$(grep -oE '[01]$' "$work/out" | tail -1)" ] || fail "stored: $stored"
[ "$stored" = 1 ] || fail "a model that takes the slowest for the fastest was not corrected"
# Nothing is measured twice, and the model of the other device is what is corrected again.
before=$(sqlite3 mine.db "SELECT count(*) FROM measurement")
run 0 adapt r300.mtx r900.mtx r1500.mtx --device cpu --dim 8,16 --max-samples 5 --db mine.db --csv
[ "$(sqlite3 mine.db "SELECT count(*) FROM measurement")" -eq "$before" ] || fail "measured again"
# What was disturbed is measured again, behind the graphs that nothing is known of yet.
cp mine.db disturbed.db
graph="(SELECT id FROM graph WHERE name LIKE 'r%s%%')"
first=$(sqlite3 disturbed.db "SELECT min(id) FROM measurement WHERE status = 'ok' AND graph_id IN $(printf "$graph" 300) AND config NOT IN (SELECT config FROM choice)")
sqlite3 disturbed.db "UPDATE measurement SET status = 'failed', reason = 'disturbed: 40 of 40 calls waited for a processor',
    median_us = NULL, samples = 0 WHERE id = $first; DELETE FROM measurement WHERE graph_id IN $(printf "$graph" 1500)"
newest=$(sqlite3 disturbed.db "SELECT max(run_id) FROM measurement")
run 0 adapt r300.mtx r900.mtx r1500.mtx --device cpu --dim 8,16 --max-samples 5 --db disturbed.db
new() { sqlite3 disturbed.db "SELECT $1(id) FROM measurement WHERE run_id > $newest AND graph_id IN $(printf "$graph" "$2")"; }
[ -n "$(new max 1500)" ] && [ "$(new max 1500)" -lt "$(new min 300)" ] || fail "what was disturbed came first: $(new max 1500), $(new min 300)"
run 0 db check --db mine.db
run 0 explain r900.mtx --device cpu --dim 24 --db mine.db
out_lacks "stand in"
out_lacks "(shipped)"
# What knows these graphs already has little to gain, and where nothing is stored that is said.
cp mine.db again.db
sqlite3 again.db "PRAGMA journal_mode = delete" >/dev/null
mkdir good
run 0 fit --db again.db --device cpu -q
cp again.db good/here.db
sqlite3 good/here.db "PRAGMA journal_mode = delete" >/dev/null
sqlite3 again.db "DELETE FROM model"
GNNTUNE_PROFILES="$work/good" run 0 adapt r300.mtx r900.mtx r1500.mtx --device cpu --dim 8,16 --max-samples 5 --db again.db --csv
if grep -q ",0$" "$work/out"; then err_has "is not stored"; fi
# Who has fitted one keeps it.
run 0 fit --db mine.db --device cpu -q
sqlite3 mine.db "SELECT hex(bytes) FROM model" >fitted
run 0 adapt r300.mtx r900.mtx r1500.mtx --device cpu --dim 8,16 --max-samples 5 --db mine.db
err_has "fit it again to take in what was"
sqlite3 mine.db "SELECT hex(bytes) FROM model" | cmp -s - fitted || fail "the user's own model was replaced"
# One of features of another version is not what is corrected, and makes room.
sqlite3 mine.db "UPDATE model SET feature_version = 7"
run 0 adapt r300.mtx r900.mtx r1500.mtx --device cpu --dim 8,16 --max-samples 5 --db mine.db
err_has "in mine.db is not used: it was fitted on features of version 7"
if grep -q "fit it again to take in what was" "$work/err"; then fail "an unused model stays"; fi
[ "$(sqlite3 mine.db "SELECT json_extract(training, '\$.adapted_from.file') FROM model")" = other.db ] || fail "not of other.db"
# One of newer features is for a newer program, and stays.
sqlite3 mine.db "UPDATE model SET feature_version = 1000, training = '{}'; CREATE TABLE kept AS SELECT hex(bytes) AS bytes FROM model"
run 0 adapt r300.mtx r900.mtx r1500.mtx --device cpu --dim 8,16 --max-samples 5 --db mine.db
[ "$(sqlite3 mine.db "SELECT count(*) FROM model, kept WHERE hex(model.bytes) = kept.bytes AND feature_version = 1000")" = 1 ] || fail "a newer model was replaced"
sqlite3 mine.db "DROP TABLE kept; DELETE FROM model"
run 0 adapt r300.mtx r900.mtx r1500.mtx --device cpu --dim 8,16 --max-samples 5 --db mine.db
# Without any model to begin with there is one behind it.
GNNTUNE_PROFILES='' run 0 adapt r300.mtx r900.mtx r1500.mtx --device cpu --dim 8,16 --max-samples 5 --db alone.db --csv
grep -q '^spmm,3,6,.*,0$' "$work/out" || fail "a model of three graphs was stored, or none fitted"
err_has "a model that begins with nothing takes 6 graphs at least"
# What this verb stored before, and would not store now, is taken back.
sqlite3 alone.db "ATTACH 'mine.db' AS mine; INSERT INTO model SELECT * FROM mine.model"
# It was corrected from other.db, which is not there to be asked: it stays.
GNNTUNE_PROFILES='' run 0 adapt r300.mtx r900.mtx r1500.mtx --device cpu --dim 8,16 --max-samples 5 --db alone.db
[ "$(sqlite3 alone.db "SELECT count(*) FROM model")" = 1 ] || fail "a correction was removed without its beginning"
sqlite3 alone.db "UPDATE model SET training = json_set(training, '\$.adapted_from', json('null'))"
GNNTUNE_PROFILES='' run 0 adapt r300.mtx r900.mtx r1500.mtx --device cpu --dim 8,16 --max-samples 5 --db alone.db
err_has "the one that was stored before is removed"
[ "$(sqlite3 alone.db "SELECT count(*) FROM model")" = 0 ] || fail "a model that would not be stored stayed"
# Of two files with rows of a graph that of the device here answers, whichever is asked first; else the first.
rm -r profiles && mkdir profiles
for name in here there; do
    cp made.db profiles/$name.db
    sqlite3 profiles/$name.db "PRAGMA journal_mode = delete; UPDATE environment SET device_name = 'Elsewhere' WHERE '$name' = 'there'" >/dev/null
done
sqlite3 profiles/there.db "CREATE TABLE filler AS SELECT zeroblob(2000000)"
run 0 explain u100 --device cpu --dim 8 --db none.db
out_has "profiles/here.db (shipped)"
rm profiles/here.db
run 0 explain u100 --device cpu --dim 8 --db none.db
out_has "measured   on Elsewhere, another environment than this one, in"
exit 0
