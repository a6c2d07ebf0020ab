# generate and convert: equal fingerprints through every format, equal graphs for equal seeds.
. "$(dirname "$0")/lib.sh"

run 0 generate uniform --n-rows 1000 --m 5000 --weighted yes --seed 7 -o a.mtx
first=$(fingerprint)
[ ${#first} -eq 32 ] || fail "no fingerprint"
run 0 generate uniform --set n_rows=1000,m=5000 --set weighted=yes --seed 7 -o b.gnng
[ "$(fingerprint)" = "$first" ] || fail "--set and options give different graphs"
run 0 generate uniform --n-rows 1000 --m 5000 --weighted yes --seed 8 -o c.mtx
[ "$(fingerprint)" != "$first" ] || fail "the seed changes nothing"

from=a.mtx
for to in b.gnng c.npz d.mtx.gz e.el f.gnng; do
    run 0 convert $from $to
    [ "$(fingerprint)" = "$first" ] || fail "$from -> $to: another fingerprint"
    run 0 info --csv $to
    [ "$(fingerprint)" = "$first" ] || fail "$to reads as another graph"
    grep -q ",1,$first" out || fail "$to lost its weights"
    from=$to
done
cmp -s b.gnng f.gnng || fail "weights or order changed on the way round"

run 0 convert --to mtx a.mtx odd.name
run 0 convert --reverse a.mtx r.npz
[ "$(fingerprint)" != "$first" ] || fail "--reverse changed nothing"
run 0 convert --reverse r.npz rr.npz
[ "$(fingerprint)" = "$first" ] || fail "reversing twice is not the same graph"
run 0 convert --symmetric --remove-self-loops --ignore-weights a.mtx s.graph
run 0 convert --from metis s.graph s.mtx

run 0 generate standin/yeast -o yeast.gnng -q
err_has "its name does not say so"
run 0 generate standin/yeast -o standin-yeast.gnng -q
generated=$(fingerprint)
err_empty
run 0 info --csv standin/yeast
[ "$(fingerprint)" = "$generated" ] || fail "the stand-in differs from what info generates"
run 0 generate --list
for kind in uniform rmat power_law; do out_has "$kind"; done
