# db verify: rows timed again, judged, and the exit codes that say what came of it.
. "$(dirname "$0")/lib.sh"
need_python

printf '# Nodes: 40\n' >ring.txt
for i in $(seq 0 39); do echo "$i $(((i + 1) % 40))"; done >>ring.txt
export OMP_NUM_THREADS=1
run 0 tune ring.txt --device cpu --op spmm --dim 8,16 --max-samples 5 --db a.db -q
usable=$(python3 -c 'import sqlite3
print(sqlite3.connect("a.db").execute("select count(*) from usable").fetchone()[0])')
[ "$usable" -ge 4 ] || fail "too few rows to verify"

# plant FILE SQL: a copy of a.db with changes.
plant() {
    cp a.db "$1"
    python3 -c 'import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as db: db.executescript(sys.argv[2])' "$1" "$2" || fail "planting $1"
}
# verify CODES ARGUMENTS...: the machine may be busy, so that a verdict on real times may be any.
verify() {
    local codes=$1
    shift
    last="gnntune db verify $*"
    "$GNNTUNE" db verify "$@" >out 2>err
    case " $codes " in *" $? "*) ;; *) fail "another exit code than $codes" ;; esac
}
# column NAME: its values in the CSV that the last run printed.
column() {
    python3 -c 'import csv, sys
for row in csv.DictReader(open("out")): print(row[sys.argv[1]])' "$1"
}

cp a.db before.db
verify "0 1" a.db --sample 1000 --csv
[ "$(column holds | wc -l)" -eq "$usable" ] || fail "not every row was timed"
column holds | grep -qvE '^(yes|no|unclear)$' && fail "an unknown word"
column verdict | grep -qvE '^(SAME|FAST|SLOW|AMBIGUOUS)$' && fail "an unknown verdict"
[ "$(column config | sort -u | wc -l)" -ge 2 ] || fail "only one config"
err_has "$usable of $usable rows timed again, drawn with seed 1"
cmp -s a.db before.db || fail "the database was changed"
[ ! -e a.db-wal ] || [ ! -s a.db-wal ] || fail "something was written"
verify "0 1" --db a.db --sample 2 --csv
[ "$(column holds | wc -l)" -eq 2 ] || fail "not the sample that was asked for"
column problem >first; column config >>first
verify "0 1" --db a.db --sample 2 --csv
column problem >second; column config >>second
sort first | cmp -s - <(sort second) || fail "the same seed draws other rows"
verify "0 1" --db a.db --sample 2 --json
json "j['schema'] == 'gnntune.db.verify/1' and len(j['data']) == 2 and j['data'][0]['worst_ratio'] <= 1"

# Times that nobody has measured: no longer held, whatever the machine does.
times="median_us = median_us * f, q1_us = q1_us * f, q3_us = q3_us * f, min_us = min_us * f"
times="$times, ci_low_us = ci_low_us * f, ci_high_us = ci_high_us * f, samples = 20"
plant slow.db "update measurement set ${times//f/1e6};"
run 1 db verify slow.db --sample 3 --csv
[ "$(column verdict | sort -u)" = FAST ] || fail "not all are faster"
[ "$(column holds | sort -u)" = no ] || fail "a row holds that is a million times off"
err_has "0 hold, 3 no longer hold, 0 are unclear"
plant fast.db "update measurement set ${times//f/1e-6};"
run 1 db verify fast.db --sample 3 --csv
[ "$(column verdict | sort -u)" = SLOW ] || fail "not all are slower"
run 1 db verify fast.db --sample 3
out_has "SLOW"
# However it is told, the exit code is the same; and the advice fits this verb.
run 1 db verify fast.db --sample 3 -q --json
run 1 db verify slow.db --sample 3 -q --csv
! grep -q -e "--again" err || fail "advises an option that db verify has not"

# A near environment: its rows count, and the table says what differs.
plant near.db "update environment set libraries = 'other 1.0'; update measurement set ${times//f/1e6};"
run 1 db verify near.db --sample 2 --csv
out_has "libraries other 1.0 -> "

# What cannot be timed again here.
plant other.db "update environment set device_name = 'another CPU';"
run 3 db verify other.db
err_has "other.db: no row can be timed again on "
err_has "$usable rows are of other devices, 0 of variants"
plant old.db "pragma foreign_keys = off; update measurement set variant_version = 999; update variant set version = 999;"
run 3 db verify old.db
err_has "0 rows are of other devices, $usable of variants that this build lacks or has in another version"

# Graphs come from where the rows say, read as they were read then.
run 0 tune ring.txt --reverse --symmetric --device cpu --dim 8 --max-samples 5 --db fixed.db -q
verify "0 1" fixed.db --sample 2 --csv
[ "$(column holds | wc -l)" -eq 2 ] || fail "the graph was not read again as it was"
run 0 generate standin/ppi -o ppi.gnng -q
run 0 info --csv ppi.gnng
plant standin.db "update graph set fingerprint = '$(fingerprint)', n_rows = 56944, n_cols = 56944, m = 818716,
    name = 'standin/ppi', source = (select 'power_law{n_rows=56944,m=818716,exponent=2.2,max_degree=400,communities=24,'
    || 'within=1,shuffle=no,symmetric=yes} seed 101'); update measurement set ${times//f/1e6};"
run 1 db verify standin.db --sample 1 --csv
[ "$(column graph)" = standin/ppi ] || fail "not generated again"
cp ring.txt kept.txt
echo "0 2" >>ring.txt
run 3 db verify a.db --sample 2
err_has "ring: the graph cannot be had again: ring.txt: gives another graph now"
rm ring.txt
run 3 db verify a.db --sample 2
err_has "ring: the graph cannot be had again: ring.txt: no such file"
err_has "0 of $usable rows timed again"
# Other rows take the places of those whose graph is lost.
run 0 tune kept.txt --device cpu --dim 8,16 --max-samples 5 --db kept.db -q
plant both.db "update graph set fingerprint = '0123456789abcdef0123456789abcdef';"
run 0 db merge kept.db --db both.db -q
verify "0 1" both.db --sample 3 --csv
[ "$(column graph | sort -u)" = kept ] || fail "not the rows of the graph that is there"
[ "$(column holds | wc -l)" -eq 3 ] || fail "the sample is not complete"

mv kept.txt ring.txt
run 2 db verify a.db --sample 0
run 2 db verify a.db b.db
run 2 db verify a.db --db a.db
run 6 db verify missing.db
run 6 db verify ring.txt
