# One tuning answers every objective later: explain reads rows and measures nothing.
. "$(dirname "$0")/lib.sh"
export OMP_NUM_THREADS=1
need_sqlite3

run 0 tune "$cora" --device cpu --dim 32 --exhaustive --policy both --max-samples 5 --db a.db -q
# Three configs of the file with times made up, the others away: hot, then cold the other way round.
sqlite3 a.db "
delete from choice;
delete from measurement where status = 'ok' and id not in (
    select id from (select id, row_number() over (partition by policy order by id) as place from measurement
                    where status = 'ok' and variant in ('spmm.cpu_rows', 'spmm.cpu_edges')) where place <= 3);
create temp table pick as select id, policy, row_number() over (partition by policy order by id) as place
    from measurement where status = 'ok';
update measurement set median_us = 20, prepare_us = 0, workspace_bytes = 0, deterministic = 1
    where id in (select id from pick where place = 1);
update measurement set median_us = 10, prepare_us = 500, workspace_bytes = 4096, deterministic = 1
    where id in (select id from pick where place = 2);
update measurement set median_us = 5, prepare_us = 3000, workspace_bytes = 65536, deterministic = 0
    where id in (select id from pick where place = 3);
update measurement set median_us = 40 - median_us where policy = 'cold' and status = 'ok';
update measurement set ci_low_us = median_us, ci_high_us = median_us, q1_us = median_us, q3_us = median_us,
    min_us = median_us where status = 'ok';" || fail "sqlite3"
config() { sqlite3 a.db "select config from measurement where status = 'ok' and policy = '$1' order by id limit 1 offset $2 - 1"; }
first=$(config hot 1); second=$(config hot 2); third=$(config hot 3)
[ -n "$third" ] || fail "expected three configs"
cp a.db before.db

chosen() { # CONFIG OPTIONS...
    local expected=$1
    shift
    run 0 explain cora --device cpu --dim 32 --db a.db "$@"
    grep -qF "chosen     $expected " out || fail "expected $expected"
}
chosen "$third"
chosen "$first" --expected-calls 1
chosen "$first" --expected-calls 49
chosen "$second" --expected-calls 51
chosen "$second" --expected-calls 499
chosen "$third" --expected-calls 520
chosen "$second" --deterministic
chosen "$second" --workspace-limit 4KiB
chosen "$first" --workspace-limit 4095
chosen "$(config cold 1)" --policy cold

chosen "$second" --expected-calls 100
out_has "break-even 50 calls: below that $first is cheaper, 0 us of building against 500"
out_has "cheapest from calls"
chosen "$second" --expected-calls 400
out_has "break-even 500 calls: from there $third is cheaper, 3000 us of building against 500"
run 0 explain cora --device cpu --dim 32 --db a.db --expected-calls 100 --csv
[ "$(grep -c ',chosen,' out)" = 1 ] || fail "expected one row that says that it is chosen"
grep -F ',chosen,' out | grep -qF "$second" || fail "expected $second to be chosen"
need_python
run 0 explain cora --device cpu --dim 32 --db a.db --expected-calls 100 --all --json
json "{d['config']: (d['break_even_calls'], d['cheapest_from_calls']) for d in j['data'] if d['status'] == 'ok'} == {'$first': (50, 1), '$second': (None, 50), '$third': (None, 500)}"
json "j['subject']['graph'] == 'cora' and j['subject']['problem'].startswith('spmm k=32') and j['subject']['clock'] == 'host'"
json "'over 100 calls' in j['subject']['reason'] and j['subject']['model'] is None and j['subject']['database'].endswith('a.db')"
json "{d['config']: d['chosen_from_error'] for d in j['data'] if d['status'] == 'ok'}['$second'] == 0"

# What measurements have rejected is not chosen as the default either.
run 0 tune "$cora" --device cpu --op gat_grad --dim 4 --max-samples 5 --db w.db -q
run 0 explain cora --device cpu --op gat_grad --dim 4 --db w.db --workspace-limit 0
out_has "chosen     nothing"
out_has "why        gat_grad.cpu_rows_cols, the last that a dispatcher tries, may not run: needs "
run 0 explain cora --device cpu --op gat_grad --dim 4 --db w.db --workspace-limit 0 --json
json "j['subject']['chosen'] is None and 'breaks a constraint' in j['subject']['unusable'] and 'may not run: needs' in j['subject']['reason']"
run 0 explain cora --device cpu --op gat_grad --dim 4 --db w.db --json
json "j['subject']['chosen'].startswith('gat_grad.') and j['subject']['source'] == 'measured' and j['subject']['unusable'] is None"
run 3 explain cora --device cpu --op gat_grad --dim 5 --db w.db
err_has "tune it first: gnntune tune FILE --op gat_grad --dim 5 --device cpu --db w.db"
run 3 explain cora --device cpu --op gat_grad --dim 4 --db w.db --policy cold
err_has "policy cold"
err_has "gnntune tune FILE --op gat_grad --dim 4 --policy cold --device cpu --db w.db"
run 3 explain cora --device cpu --op gat_grad --dim 4 --dtype f16 --db w.db
err_has "no variant of this build can do"

# Sampled rows: labelled, and only for who allows them.
run 0 tune "$cora" --device cpu --dim 8 --exhaustive --allow-sampling --max-error 1 --max-samples 5 --db b.db -q
sqlite3 b.db "
update measurement set median_us = iif(variant = 'spmm.cpu_sampled', 1, 100), max_error = iif(variant = 'spmm.cpu_sampled', 0.25, max_error)
    where status = 'ok';
update measurement set ci_low_us = median_us, ci_high_us = median_us, q1_us = median_us, q3_us = median_us,
    min_us = median_us where status = 'ok';"
run 0 explain cora --device cpu --dim 8 --db b.db
grep "^chosen" out | grep -qF cpu_sampled && fail "a sample was chosen unasked"
out_has "with error up to"
out_has "--max-error 0.25 --allow-sampling: drops edges"
run 0 explain cora --device cpu --dim 8 --db b.db --max-error 0.24 --allow-sampling
grep "^chosen" out | grep -qF cpu_sampled && fail "a sample with more error than allowed was chosen"
run 0 explain cora --device cpu --dim 8 --db b.db --max-error 0.25 --allow-sampling
grep "^chosen" out | grep -qF cpu_sampled || fail "the sample is the fastest"
