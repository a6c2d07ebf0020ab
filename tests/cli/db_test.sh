# db on a database that a short tuning on the CPU has filled.
. "$(dirname "$0")/lib.sh"

printf '# Nodes: 40\n' >ring.txt
for i in $(seq 0 39); do echo "$i $(((i + 1) % 40))"; done >>ring.txt
export OMP_NUM_THREADS=1
run 0 tune ring.txt --device cpu --op spmm --dim 8,16 --db a.db -q

# The same command measures nothing again, and has what the table says of the library and of our own default.
run 0 tune ring.txt --device cpu --op spmm --dim 8,16 --db a.db --json -q
json 'len(j["data"]) == 2 and all(r["vs_library"] > 0 and r["vs_untuned"] > 0 for r in j["data"])'
json 'all(r["vs_untuned"] == 1 for r in j["data"] if r["config"] == r["default_config"])'
# On the CPU the library is Eigen.
run 0 db ls --db a.db --json
json 'all(abs(r["library_us"] / r["time_us"] - r["vs_library"]) < 1e-9 for r in j["data"]) and len(j["data"]) == 2'
run 0 db show ring --db a.db --json
json 'all(b["vs_library"] > 0 and any(m["config"].startswith("spmm.eigen") and abs(m["median_us"] / b["time_us"] - b["vs_library"]) < 0.01 * b["vs_library"] for m in j["data"][0]["measurements"]) for b in j["data"][0]["best"])'
run 0 db ls --db a.db
out_has "ring"
# A name that another program wrote cannot move the cursor, nor end a line.
run 0 db sql --db a.db "SELECT 'a' || char(27) || '[2Jb' || char(10) || 'c' AS name"
out_has 'a\x1b[2Jb\x0ac'
GNNTUNE_DB=a.db run 0 db ls --csv
[ "$(wc -l <out)" -eq 3 ] || fail "expected a best config for two problems"
for what in best graphs problems runs choices environments; do
    run 0 db ls $what --db a.db --csv
    [ "$(wc -l <out)" -ge 2 ] || fail "db ls $what is empty"
done

run 0 db show ring --db a.db --dim 8 --csv
rows=$(tail -n +2 out | wc -l)
[ "$rows" -ge 2 ] || fail "expected several measurements"
tail -n +2 out | grep -qv 'spmm k=8' && fail "--dim lets others through"
run 0 db show ring.txt --db a.db --dim 8 --csv
[ "$(tail -n +2 out | wc -l)" -eq "$rows" ] || fail "by content there are other rows than by name"
run 0 info --csv ring.txt
prefix=$(fingerprint | cut -c1-8)
run 0 db show "$prefix" --db a.db --dim 8 --csv
[ "$(tail -n +2 out | wc -l)" -eq "$rows" ] || fail "by fingerprint there are other rows than by name"
run 0 db show ring --db a.db --op sddmm --csv
[ "$(wc -l <out)" -eq 1 ] || fail "sddmm was never measured"
err_has "ring: nothing was measured of what --op and --dim leave over; there are spmm k=8, spmm k=16"
run 3 db show rign --db a.db
err_has "did you mean ring?"
run 3 db show elsewhere --db a.db
err_has "there are ring (gnntune db ls graphs)"

run 0 db export --db a.db --csv all.csv
out_empty
run 0 db export --db a.db --csv -
cmp -s out all.csv || fail "the file and stdout differ"
run 0 db export --db a.db --best --csv -
[ "$(wc -l <out)" -eq 3 ] || fail "expected two best rows"
run 0 db export --db a.db --csv --run 1 run.csv
cmp -s run.csv all.csv || fail "the only run is not everything"
run 2 db export --db a.db --csv --run 99 -
run 2 db export --db a.db --run 1 -
err_has "give --csv too"
run 2 db export --db a.db --best
run 3 db export --db a.db no/such/folder.csv
run 2 db export --db a.db a.db
err_has "the database itself"
run 0 db check --db a.db

run 0 db sql 'select graph, k, time_us, null as missing from best order by k;' --db a.db --csv
[ "$(head -n 1 out)" = "graph,k,time_us,missing" ] || fail "other columns: $(head -n 1 out)"
[ "$(cut -d, -f1,2 out | tail -n +2 | tr '\n' ' ')" = "ring,8 ring,16 " ] || fail "other rows"
run 0 db sql 'select count(*) as n, 0.5 as half from measurement where 0' --db a.db --json
out_has '"n": 0'
run 2 db sql 'delete from measurement' --db a.db
err_has "that reads"
run 2 db sql "vacuum into 'copy.db'" --db a.db
[ ! -e copy.db ] || fail "a query has written a file"
run 2 db sql 'select 1; delete from measurement' --db a.db
err_has "one SQL statement"
run 2 db sql ' ' --db a.db
run 2 db sql 'select colour from best' --db a.db
err_has "no such column: colour"
run 2 db sql 'selec 1' --db a.db
err_has "syntax error"
# No column is lost for its name, and infinity is not taken for nothing.
run 0 db sql 'select 1 as a, 2 as a, 3 as a_2, 4 as a, 1e999 as up, -1e999 as down, null as none' --db a.db --csv
[ "$(head -n 1 out)" = "a,a_3,a_2,a_4,up,down,none" ] || fail "other columns: $(head -n 1 out)"
[ "$(tail -n 1 out)" = "1,2,3,4,inf,-inf," ] || fail "other cells: $(tail -n 1 out)"
run 0 db sql 'select 1 as a, 2 as a, 1e999 as up, null as none' --db a.db --json
out_has '"a_2": 2'
out_has '"up": "inf"'
out_has '"none": null'

# Pruning takes what was measured again, and changes no answer.
cp a.db p.db
run 0 tune ring.txt --device cpu --op spmm --dim 8 --max-samples 5 --again --db p.db -q
run 0 db ls --db p.db --csv && cp out before
run 0 db prune --db p.db --csv --dry-run && cp out planned
[ "$(tail -1 planned | tr -d '\r"' | cut -d, -f4)" = "" ] || fail "a dry run knows how large the file would be"
run 0 db prune --db p.db --csv
[ "$(tail -1 out | cut -d, -f1,2)" = "$(tail -1 planned | cut -d, -f1,2)" ] || fail "a dry run counts otherwise"
superseded=$(tail -1 out | cut -d, -f1)
[ "$superseded" -ge 1 ] || fail "nothing was measured again"
run 0 db ls --db p.db --csv
cmp -s out before || fail "the best configs are others"
run 0 db check --db p.db
run 0 db sql 'select count(*) as n from measurement' --db p.db --csv && kept=$(tail -1 out)
run 0 db prune --db p.db --csv
[ "$(tail -1 out | cut -d, -f1,2)" = "0,0" ] || fail "a second time takes something"
run 6 db prune --db missing.db
[ ! -e missing.db ] || fail "a missing database was made"
[ "$kept" -ge 2 ] || fail "too little was kept"

# A file that lost a page: tuning sets it aside and goes on, and what can be read comes back.
sqlite3 a.db 'vacuum into "d.db"'
page=$(sqlite3 d.db "select rootpage from sqlite_schema where name = 'measurement'")
dd if=/dev/zero of=d.db bs=4096 seek=$((page - 1)) count=1 conv=notrunc 2>dd.log
run 6 db prune --db d.db
run 6 db merge d.db --db untouched.db
err_has "d.db: the file is damaged"
cp d.db 'my d.db'
run 6 db merge 'my d.db' --db untouched.db
err_has "gnntune db rescue 'my d.db' FILE"
run 6 db prune --db 'my d.db'
err_has "gnntune db rescue '$PWD/my d.db' FILE"
run 0 tune ring.txt --device cpu --op spmm --dim 8 --max-samples 5 --db 'my d.db' -q
err_has "gnntune db rescue '$PWD/my d.db.damaged-"
err_has "gnntune db merge FILE --db '$PWD/my d.db'"
[ ! -e untouched.db ] || fail "a target was made for nothing"
run 6 tune ring.txt --device cpu --op spmm --dim 8 --db d.db --dry-run
[ -z "$(ls d.db.damaged-* 2>/dev/null)" ] || fail "a dry run moved the database"
err_has "gnntune db rescue"
run 0 tune ring.txt --device cpu --op spmm --dim 8 --max-samples 5 --db d.db -q
err_has "is damaged"
err_has "gnntune db merge FILE --db $PWD/d.db"
aside=$(ls d.db.damaged-* | grep -v -e -wal -e -shm)
run 0 db check --db d.db
run 0 db rescue "$aside" rescued.db --csv
grep -qE '^measurement,[0-9]+,[0-9]+,damaged$' out || fail "measurement is not said to be damaged"
grep -qE '^choice,0,2,rows left out$' out || fail "choice is not said to have lost rows"
grep -qE "^.*: ([0-9]+) of [0-9]+ tables lost rows: " err || fail "no head line"
[ "$(grep -oE '[0-9]+ of [0-9]+ tables' err | cut -d' ' -f1)" -eq "$(tail -n +2 out | grep -cv ',0,whole$')" ] ||
    fail "head line and table count otherwise"
err_has "measurement (damaged, rows that cannot be read are lost and not counted"
err_has "choice (2 left out)"
err_has "gnntune db merge rescued.db --db d.db"
cp "$aside" unnamed.db
run 0 db rescue unnamed.db yet.db
err_has "gnntune db merge yet.db --db YOUR.db"
run 0 db check --db rescued.db
run 0 db merge rescued.db --db d.db
run 6 db rescue "$aside" rescued.db
err_has "exists already"
run 2 db rescue "$aside"

# Two databases become one; the choices that have new rows beside them are made again.
run 0 generate uniform --n-rows 60 --m 300 -o other.mtx -q
run 0 tune other.mtx --device cpu --dim 8 --max-samples 5 --db b.db -q
run 0 db merge b.db --db merged.db --csv
run 0 db merge a.db b.db --db merged.db --csv
grep -q '^b.db,0,' out || fail "rows that were there already were taken again"
run 0 db ls graphs --db merged.db --csv
[ "$(wc -l <out)" -eq 3 ] || fail "expected two graphs"
run 0 db check --db merged.db
run 0 tune other.mtx --device cpu --dim 8 --max-samples 5 --db c.db -q
run 0 db merge c.db --db merged.db --csv
[ "$(tail -1 out | cut -d, -f9)" -eq 1 ] || fail "the choice was not made again"
# What stands after a conflict is said, once.
run 0 tune other.mtx --device cpu --dim 8 --max-samples 5 --variant spmm.cpu_edges --db e.db -q
run 0 tune other.mtx --device cpu --dim 8 --max-samples 5 --variant spmm.cpu_rows --db r.db -q
run 0 db merge r.db --db e.db
grep -qE 'spmm\.cpu_rows.* was chosen there and spmm\.cpu_edges.* here; spmm\.cpu_.* stands$' err || fail "no word of what stands"
stands=$(sed -n 's/.* here; \(.*\) stands$/\1/p' err)
run 0 db ls choices --db e.db --csv
grep -qF "$stands" out || fail "something else stands than was said"
run 0 db merge r.db --db e.db
! grep -q "was chosen there" err || fail "what was taken in before is said again"
run 2 db merge merged.db --db merged.db
err_has "the database itself"
run 6 db merge nosuch.db --db merged.db
run 2 db merge --db merged.db

# What this build cannot read, or db check has something against, is refused whole, whatever else is merged.
hip="insert into environment (backend, device_name, compute_capability, multiprocessors, memory_bytes, l2_bytes, driver,
     cuda_runtime, libraries) values ('hip', 'MI300', 'gfx942', 304, 1, 1, '', '', '')"
cp a.db newer.db && sqlite3 newer.db "$hip"
cp a.db spoilt.db && sqlite3 spoilt.db 'update measurement set median_us = 9e999 where id = 1'
cp a.db bent.db && sqlite3 bent.db "update measurement set config = replace(config, '{', '{speed=3,') where config like '%{%'"
cp b.db target.db && sqlite3 target.db .dump >before
for source in newer spoilt bent; do
    run 6 db merge c.db $source.db --db target.db
    err_has "$source.db: nothing of it was taken in: "
    sqlite3 target.db .dump | cmp -s - before || fail "a refused merge changed the target"
    run 6 db merge $source.db --db untouched.db
    [ ! -e untouched.db ] || fail "a target was made for nothing"
done
run 0 db check --db target.db

# A clock that was wrong is said, and its rows give way to honest ones. So does a wrong size to the graph in hand.
cp a.db future.db
sqlite3 future.db "update measurement set taken_at = '2940-01-01T00:00:00Z'; update graph set n_rows = 41 where n_rows = 40"
run 0 db check --db future.db
err_has "rows are stamped later than now, the last 2940-01-01T00:00:00Z"
run 0 tune ring.txt --device cpu --op spmm --dim 8 --max-samples 5 --db future.db
err_has "had 41 rows, 40 columns and"
err_has "that is corrected"
run 0 db merge future.db --db target.db
err_has "future.db: "
err_has "rows are stamped later than now"

# A database in which such a row stands already still works, and says so.
run 0 db show ring --db newer.db
err_has "newer.db: the backend 'hip' is none that this gnntune knows; a newer one may; rows with it are passed over"
[ "$(grep -c "'hip'" err)" -eq 1 ] || fail "it is said more than once"
run 0 tune ring.txt --device cpu --op spmm --dim 8 --max-samples 5 --db newer.db
run 0 explain ring --op spmm --dim 8 --device cpu --db newer.db
out_has "spmm."
[ "$(grep -c "'hip'" err)" -eq 1 ] || fail "explain does not say once what it passes over"
run 0 db ls choices --db newer.db
run 0 db ls --db newer.db
run 0 db merge b.db --db newer.db
run 6 db check --db newer.db

run 0 db check --db a.db
out_has "a.db: sound"
run 0 doctor --db a.db
out_has "1 graphs"
need_sqlite3
cp a.db odd.db
sqlite3 odd.db "update measurement set ci_high_us = 1e-3, samples = -5" || fail "sqlite3"
run 6 db check --db odd.db
out_has "numbers that no measuring gives"
run 0 explain ring --db odd.db --dim 8 --device cpu
sqlite3 a.db "update choice set config = 'spmm.cpu_rows{tile=3}'" || fail "sqlite3"
run 6 db check --db a.db
out_has "spmm.cpu_rows{tile=3}"
out_has "problem"

# A composition's parts may be configs of ops that nobody tuned by themselves.
run 0 tune ring.txt --device cpu --op gat --dim 4 --max-samples 5 --db parts.db -q
sqlite3 parts.db "insert into variant (id, version, op) values ('spmm.cpu_edges', 2, 'spmm');
    insert into part values (1, 0, 'spmm.cpu_edges{parts=8}', 'spmm.cpu_edges', 2)" || fail "sqlite3"
run 0 db check --db parts.db
