# A database as JSON and back: the same bytes, the same answers; into another one as merging; nothing of a wrong document.
. "$(dirname "$0")/lib.sh"
need_python

printf '# Nodes: 40\n' >ring.txt
for i in $(seq 0 39); do echo "$i $(((i + 1) % 40))"; done >>ring.txt
export OMP_NUM_THREADS=1
run 0 tune ring.txt --device cpu --op spmm,gat --dim 8,16 --max-samples 5 --db a.db -q
run 0 tune ring.txt --device cpu --step gcn --dim 8,7 --max-samples 5 --db a.db -q

run 0 db export --db a.db a.json
out_empty
err_has "a.json: written"
run 0 db export --db a.db
cmp -s out a.json || fail "the file and stdout differ"
run 0 db export --db a.db --json -
cmp -s out a.json || fail "JSON is the default"
python3 - a.json <<'PY' || fail "not what the page says"
import json, sys
text = open(sys.argv[1]).read()
j = json.loads(text)
assert list(j) == ['schema', 'graph', 'environment', 'variant', 'problem', 'run', 'measurement', 'choice', 'step_choice',
                   'format_build', 'device_constant', 'model', 'erratum', 'removed_erratum', 'accuracy'], list(j)
assert j['schema'] == 'gnntune.database/4'
lines = text.split('\n')
assert len(lines) == sum(len(j[s]) + 2 for s in list(j)[1:]) + 4, len(lines)
for line in lines:
    if line.startswith(('{"', ',{"')): json.loads(line.lstrip(','))
assert j['step_choice'][0]['step_call'] and 'id' not in j['measurement'][0]
PY

# A new database: the same bytes, and the same answers.
run 0 db import a.json b.db --csv
[ "$(head -1 out | cut -d, -f1-3)" = "from,measurements,known" ] || fail "other columns"
run 0 db export --db b.db b.json
cmp -s a.json b.json || fail "another text after a round trip"
run 0 db check --db b.db
for what in best choices steps runs; do
    run 0 db ls $what --db a.db --csv && cp out before
    run 0 db ls $what --db b.db --csv
    cmp -s out before || fail "db ls $what differs"
done
run 0 db diff a.db b.db
[ ! -e b.db-wal ] || fail "a side file was left"
"$GNNTUNE" db export --db a.db 2>err | "$GNNTUNE" db import - --db piped.db -q >out 2>err || fail "through a pipe"
run 0 db export --db piped.db piped.json
cmp -s a.json piped.json || fail "another text after a pipe"
run 0 db export --db a.db a.json.gz
run 0 db import a.json.gz zipped.db
run 0 db export --db zipped.db zipped.json
cmp -s a.json zipped.json || fail "another text after compression"
run 0 db import a.json
[ -s "$HOME/.local/share/gnntune/user.db" ] || fail "not into the user's database"
# What was added are lines that were added.
cp a.db more.db
run 0 tune ring.txt --device cpu --op spmm --dim 9 --max-samples 5 --db more.db -q
run 0 db export --db more.db more.json
diff a.json more.json | grep -v '"id":"spmm' >changes  # what is known of a variant may grow
grep -q '^>' changes || fail "nothing was added"
! grep -q '^<' changes || fail "lines were changed where rows were added"
# The next tuning takes nothing of it again.
run 0 tune ring.txt --device cpu --op spmm --dim 8,16 --max-samples 5 --db b.db --dry-run --csv

# A database is none, and what takes it in is named.
run 3 db import a.db other.db
err_has "a.db: a database, not a document; take it in with: gnntune db merge a.db --db other.db"
[ ! -e other.db ] || fail "a database was made"

# Into a database that exists: as merging does it.
run 0 db import a.json b.db --csv
tail -1 out | grep -q '^a.json,0,' || fail "rows that were there already were taken again"
run 0 db export --db b.db again.json
cmp -s a.json again.json || fail "taking it in again changed something"
run 0 generate uniform --n-rows 60 --m 300 -o other.mtx -q
run 0 tune other.mtx --device cpu --dim 8 --max-samples 5 --db merged.db -q
cp merged.db imported.db
run 0 db merge a.db --db merged.db --csv && tail -1 out | cut -d, -f2- >before
run 0 db import a.json imported.db --csv && tail -1 out | cut -d, -f2- >after
cmp -s before after || fail "importing and merging say different things"
# Both have made the choices again, at their time and under their name.
for name in merged imported; do
    run 0 db export --db $name.db
    grep -v '"command":"gnntune db' out | sed 's/"decided_at":"[^"]*"//' >$name.json
done
cmp -s merged.json imported.json || fail "importing and merging give different databases"
python3 -c 'import sys
text = open("a.json").read().replace("\"status\":\"ok\"", "\"status\":\"wrong\"")
text = text[:text.index("\"choice\":[")] + "\"choice\":[],\"model\":[]}"
open("wrong.json", "w").write(text)'
run 0 db import wrong.json imported.db
err_has "is wrong there and ok here"

# Nothing of a wrong document, and nothing beside it.
ls -A >before
sed 's/"samples":5/"samples":"five"/' a.json >bad.json
run 3 db import bad.json new.db
out_empty
err_has "bad.json: line "
err_has ".samples: expected a whole number from 0, found \"five\""
sed 's/row_block=[0-9]*/row_block=null/' a.json >null.json
cmp -s a.json null.json && fail "no config has a param to spoil"
run 3 db import null.json new.db
err_has "the param 'row_block' of spmm.cpu_rows is a number, not 'null'"
[ ! -e new.db ] || fail "a database was made of it"
run 0 db export --db imported.db before.json
run 3 db import bad.json imported.db
run 0 db export --db imported.db after.json
cmp -s before.json after.json || fail "a wrong document changed the database"
# What killed imports have left is removed, what running ones have is not.
mkdir killed.db.importing-999999999.new-abcdef
touch killed.db.importing-999999999 killed.db.importing-999999999-journal killed.db.importing-$$ killed.db.importing-x
run 0 db import a.json killed.db
[ "$(ls -d killed.db* | tr '\n' ' ')" = "killed.db killed.db.importing-$$ killed.db.importing-x " ] ||
    fail "left behind: $(ls -d killed.db*)"
rm killed.db*
head -c 5000 a.json >cut.json
run 3 db import cut.json new.db
err_has "cut.json: not JSON: line "
sed 's,gnntune.database/4,gnntune.database/5,' a.json >newer.json
run 3 db import newer.json new.db
err_has "use the version that wrote it"
run 3 db import a.db new.db
run 3 db import missing.json new.db
err_has "missing.json: no such file"
run 6 db import a.json no/such/folder/new.db
err_has "the folder no/such/folder does not exist"
run 6 db import a.json ring.txt
run 2 db import
run 2 db import a.json b.db c.db
run 2 db import a.json b.db --db c.db
err_has "give the database once"
run 6 db export --db missing.db
[ -z "$(ls -A | grep importing)" ] || fail "a half-made database was left"
[ ! -e new.db ] || fail "a database was made of a wrong document"
