# report: one page that is well formed, whose numbers are those of `db show`, and that takes names as they come.
. "$(dirname "$0")/lib.sh"
need_python
. "$SOURCE/tests/cli/report_lib.sh"
here="$SOURCE/tests/cli"

python3 "$here/report_colors.py" "$SOURCE/tools/report/figure.css" >out || fail "colours are not told apart"
make_database a.db
run 0 report a.db
out_has "What won?"
cp out won.txt
out_has "won "
err_has "the page is report.html"
python3 "$here/report_page.py" well_formed report.html || fail "the page is not well formed"
run 0 db show plain --db a.db --json
cp out show.json
run 0 report a.db --json
json "j['schema'] == 'gnntune.report/1' and len(j['data']) == 1"
cp out report.json
# All settings count, in the page as on the terminal, and they are the rows of --csv.
"$GNNTUNE" report --db a.db --csv >rows.csv
python3 - rows.csv won.txt report.html <<'PYTHON' || fail "won problems are not those of --csv"
import collections, csv, re, sys
rows = list(csv.DictReader(open(sys.argv[1])))
variant, won, of = re.search(r"`([^`]*)` won (\d+) of (\d+) problems", open(sys.argv[2]).read()).groups()
page = re.search(r"<code>([^<]*)</code> won (\d+) of (\d+) problems", open(sys.argv[3]).read()).groups()
wins = collections.Counter(r["config"].partition("{")[0] for r in rows if r["config"])
sys.exit((len(rows), wins[variant], max(wins.values())) != (int(of), int(won), int(won)) or page != (variant, won, of) or len({r["problem"].split()[0] for r in rows}) < 2)
PYTHON
python3 "$here/report_page.py" same_numbers report.html report.json show.json || fail "numbers differ from those of db show"
out_has '"over_library_default"'
[ "$(wc -c <report.html)" -lt 600000 ] || fail "the page is too large"
if command -v tidy >/dev/null; then
    tidy -q -e --show-warnings no --drop-empty-elements no report.html >/dev/null 2>tidy.txt
    [ $? -lt 2 ] || { cat tidy.txt; fail "tidy has something against the page"; }
fi

# --csv has a row for each problem and writes no page.
rm report.html
run 0 report --db a.db --csv
[ "$(wc -l <out)" -ge 10 ] || fail "expected a row for each problem"
[ ! -e report.html ] || fail "a page was written"
# Figures are files of their own; a page may go to stdout, and one graph may be asked for.
run 0 report a.db --graph plain --figures figures --out page.html
python3 "$here/report_page.py" pictures figures || fail "figures are no SVG"
[ "$(find figures -name 'won-*.svg' | wc -l)" -ge 2 ] || fail "figures are missing"
grep -q 'data-graph="skewed"' page.html && fail "another graph is in it"
run 0 report a.db --out - -q
out_has "<!DOCTYPE html>"
err_empty
cp a.db b.db
run 0 report a.db --score b.db --json
json "j['data'][0]['score_database'].endswith('b.db')"

run 2 report a.db --db a.db
run 2 report a.db b.db
run 2 report a.db --score a.db
run 2 report a.db --json --out -
run 3 report a.db --graph plian
err_has "did you mean plain?"
run 6 report missing.db
run 3 report a.db --out missing/folder/report.html
err_has "cannot be written"

make_empty empty.db
run 0 report empty.db --out empty.html
out_has "Nothing was measured"
python3 "$here/report_page.py" well_formed empty.html || fail "the empty page is not well formed"
make_damaged a.db damaged.db
run 6 report damaged.db --out damaged.html
python3 "$here/report_page.py" well_formed damaged.html || fail "the page of a damaged file is not well formed"
grep -q "Not all of the file could be read" damaged.html || fail "the damage is not said"

# Names of graphs are text, whatever is in them.
python3 "$here/report_page.py" hostile a.db
run 0 report a.db --out hostile.html --figures hostile
python3 "$here/report_page.py" well_formed hostile.html || fail "a name got into the page as markup"
python3 "$here/report_page.py" pictures hostile || fail "a name got into a figure as markup"
# A time that is no number is left out with a word: it has no place on an axis.
cp a.db infinite.db
python3 - <<'PYTHON'
import sqlite3
db = sqlite3.connect("infinite.db")
db.execute("update measurement set median_us = 9e999 where id = 1")
db.commit()
PYTHON
run 0 report infinite.db --out infinite.html
err_has "1 measurement is left out"
python3 "$here/report_page.py" well_formed infinite.html || fail "the page is not well formed"
