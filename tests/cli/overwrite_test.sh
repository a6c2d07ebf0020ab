# No verb that writes a file writes it over a database, under whatever name: everything measured would be gone.
. "$(dirname "$0")/lib.sh"
export OMP_NUM_THREADS=1
printf '0 1\n1 2\n2 3\n3 0\n' >ring.txt
run 0 tune ring.txt --device cpu --op spmm --dim 8 --max-samples 5 --db a.db -q
cp a.db b.db
ln -s a.db link.db
mkdir figures
sum=$(md5sum a.db b.db)

refused() { # WORDS ARGUMENTS...
    local words=$1
    shift
    run 2 "$@"
    err_has "$words"
    [ "$(md5sum a.db b.db)" = "$sum" ] || fail "a database has changed"
}
itself="is the database itself"
other="is an SQLite database, which would be lost"
refused "$itself" report a.db --out a.db
refused "$itself" report --db a.db --out ./a.db
refused "$itself" report a.db --out link.db
refused "$itself" report link.db --out a.db
refused "$itself" report a.db --json --out a.db
refused "$itself" report a.db --csv --out "$PWD/a.db"
refused "$other" report a.db --score b.db --out b.db
refused "$other" report a.db --out b.db
refused "$itself" convert ring.txt a.db --to edges --db a.db
refused "$other" convert ring.txt link.db --to mtx
refused "$itself" generate uniform --n-rows 9 --m 9 --to gnng -o a.db --db a.db
refused "$other" generate uniform --n-rows 9 --m 9 --to gnng -o a.db
refused "$itself" db export --db a.db ./a.db
refused "$other" db export --db a.db --csv b.db
for suffix in -wal -shm -journal; do
    refused "belongs to the database" report a.db --out a.db$suffix
    refused "belongs to the database" convert ring.txt link.db$suffix --to edges
    [ ! -e a.db$suffix ] && [ ! -e link.db$suffix ] || fail "a file was left beside the database"
done
# A figure's name is the report's own: found where the figures are, and before any of them is written.
run 0 report a.db --figures figures --out page.html -q
figure=$(ls figures | tail -n 1)
rm figures/*
ln -s ../a.db "figures/$figure"
refused "$itself" report a.db --figures figures --out page.html
[ "$(ls figures)" = "$figure" ] || fail "other figures were written"

# What is no database may be replaced as ever.
run 0 report a.db --out page.html -q
run 0 convert ring.txt over.mtx -q
run 0 convert ring.txt over.mtx -q
run 0 generate uniform --n-rows 9 --m 9 -o over.mtx -q
run 0 db export --db a.db over.json
run 0 db export --db a.db over.json
# No variable says where a database would be, and none is asked for.
(unset HOME; run 0 convert ring.txt homeless.mtx -q) || exit 1
