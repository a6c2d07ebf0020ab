# report in a headless Chromium, where there is one: it is read with scripts and without, in light and dark, sorts, filters
# and tells numbers, and loads nothing. GNNTUNE_PICTURES: a folder for screenshots.
. "$(dirname "$0")/lib.sh"
need_python
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null ||
    { echo "skipped: chromium is not installed"; exit 77; }
[ -z "${SANITIZED:-}" ] || { echo "skipped: the pages are those of the other builds"; exit 77; }
. "$SOURCE/tests/cli/report_lib.sh"

make_database a.db
run 0 report a.db --out full.html
make_empty empty.db
run 0 report empty.db --out empty.html
make_damaged a.db damaged.db
run 6 report damaged.db --out damaged.html
! grep -q ' in 0 runs' damaged.html || fail "a row without a run is said to be of none"
cp a.db hostile.db
python3 "$SOURCE/tests/cli/report_page.py" hostile hostile.db
run 0 report hostile.db --out hostile.html
last="the browser"
timeout 280 python3 "$SOURCE/tests/cli/report_browser.py" full.html empty.html damaged.html hostile.html ${GNNTUNE_PICTURES:-} >out 2>err ||
    fail "the browser does not show what it should"
