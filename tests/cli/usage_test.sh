# Wrong command lines end with 2, say what is wrong on stderr and print no data.
. "$(dirname "$0")/lib.sh"

refused() {
    run 2 "${@:2}"
    out_empty
    err_has "$1"
}
run 2
out_empty
err_has "usage: gnntune VERB"
refused "there is no verb 'inof'; did you mean info?" inof
refused "there is no verb 'nonsense'" nonsense
refused "there is no verb 'nonsense'" help nonsense
refused "expected a verb before the option '--json'" --json

refused "unrecognised option '--jsn'; did you mean --json?" info --jsn "$cora"
refused "unrecognised option '--budgt'; did you mean --budget?" tune --budgt 5m "$cora"
refused "unrecognised option '--zzzzzz' (gnntune help info)" info --zzzzzz "$cora"
# No abbreviations, even where only one option starts so.
refused "unrecognised option '--js'; did you mean --json?" info --js "$cora"
refused "unrecognised option '--l2'" info --l2 1M "$cora"
refused "unrecognised option '--verb'" list --verb
refused "--json and --csv exclude each other" list --json --csv
refused "--quiet and --verbose exclude each other" list -qv

refused "an argument is missing; usage: gnntune info" info
refused "an argument is missing; usage: gnntune convert" convert "$cora"
refused "'c' is one argument too many" convert a b c
refused "--l2-bytes: expected a size such as 50MiB" info --l2-bytes 5furlongs "$cora"
refused "--base: expected a whole number from 0 to 1, not '2'" info --base 2 "$cora"
refused "--from: expected mtx" info --from pdf "$cora"
refused "--allow-sampling needs --max-error E above 0" tune --allow-sampling "$cora"
refused "--seed: expected a whole number of at least 0, not '-1'" list --seed -1
refused "--device: expected cpu, cuda or cuda:N, not 'tpu'" info --device tpu "$cora"
refused "there is no op 'sppm'; did you mean spmm?" list --op sppm
refused "expected words with commas" list --op spmm,,sddmm
refused "there is no list of 'variant'; did you mean variants?" list variant
refused "the name does not say which format" convert "$cora" cora.unknown
refused "-o FILE is missing" generate rmat
refused "there is no kind 'rmt'" generate rmt -o a.mtx
refused "given twice" generate uniform --m 5 --set m=6 -o a.mtx
refused "expected one of ls, show, sql, check, diff, merge, prune, rescue, export" db list
refused "did you mean runs?" db ls run
refused "the options for reading graphs do not apply" info --reverse standin/yeast
refused "--clock is 'host', expected auto, span, events or both" bench "$cora" --device cpu --clock host
GNNTUNE_DEVICE=foo refused "GNNTUNE_DEVICE: expected cpu, cuda or cuda:N, not 'foo'" bench "$cora"
refused "--reduce is for spmm and its gradient, and --op is 'gat'" bench "$cora" --device cpu --op gat --reduce max
refused "--dim 1048576 with --heads 512, of spmm: k = 1048576 times heads = 512 is more than" tune "$cora" --device cpu --op spmm,gat --heads 1,512 --dim 16,1048576
refused "--heads is for spmm" bench "$cora" --device cpu --op gcn_norm --heads 4
refused "a '}' too many behind 'tile=16'" profile "$cora" --config 'spmm.cpu_rows{tile=16}}'
run 0 verify "$cora" --device cpu --dim 1 --reduce sum,max --self-loop both --variant spmm.cpu_rows --csv
out_has "spmm k=1 max"
out_has "spmm k=1 self_loop"
run 0 verify "$cora" --device cpu --dim 3 --heads 2 --weights both --reduce sum,max --variant spmm.cpu_rows --csv
out_has "spmm k=3 heads=2"
out_has "spmm k=6 unweighted"
out_has "spmm k=6 max"
run 0 list --device cpu --csv
out_has ",cpu,"
out_lacks ",cuda,"
