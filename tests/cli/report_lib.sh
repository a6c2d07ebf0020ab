# Sourced by the tests of reports: databases to make pages of.

# A small one of every kind of figure that a CPU can have: two graphs, two ops, a step.
make_database() {
    export OMP_NUM_THREADS=1
    run 0 generate uniform --n-rows 300 --m 1500 -o plain.gnng -q
    run 0 generate rmat --scale 8 --m 2000 -o skewed.gnng -q
    run 0 tune plain.gnng skewed.gnng --device cpu --op spmm,sddmm --dim 8,16 --max-samples 5 --exhaustive --db "$1" -q
    run 0 tune plain.gnng --device cpu --op spmm --dim 8 --max-samples 5 --allow-sampling --max-error 1 --db "$1" -q
    run 0 tune plain.gnng --device cpu --step gcn --dim 8 --max-samples 5 --db "$1" -q
}

# One without a row, and one of whose pages many are noise.
make_empty() {
    echo '{"schema":"gnntune.database/3"}' >empty.json
    run 0 db import empty.json "$1" -q
}
make_damaged() { # FROM TO
    cp "$1" "$2"
    python3 - "$2" <<'PYTHON'
import random, sys
path = sys.argv[1]
data = bytearray(open(path, "rb").read())
page = 4096
random.seed(3)
# The schema stays: without it there is no table at all.
for at in range(20 * page, len(data) - page, 3 * page):
    data[at:at + page] = bytes(random.randrange(256) for _ in range(page))
open(path, "wb").write(data)
PYTHON
}
