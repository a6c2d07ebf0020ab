# JSON of every verb that needs no measuring: one object with schema, tool, device, data, warnings; typed numbers.
. "$(dirname "$0")/lib.sh"
need_python

envelope() {
    json "j['schema'] == 'gnntune.$1/1' and j['tool'].startswith('gnntune ') and isinstance(j['data'], list)"
    json "list(j) == ['schema', 'tool', 'device', 'data', 'warnings'] and isinstance(j['warnings'], list)"
}
run 0 info --json "$cora"
envelope info
json "j['data'][0]['n_rows'] == 2708 and j['data'][0]['m'] == 10556 and j['data'][0]['weighted'] is False"
json "sum(bin['rows'] for bin in j['data'][0]['degree_histogram']) == 2708"
json "sum(bin['edges'] for bin in j['data'][0]['degree_histogram']) == 10556"
json "[r['k'] for r in j['data'][0]['l2_hit_rate']] == [16, 32, 64, 128, 256]"
json "j['device'] is None and j['data'][0]['l2_bytes'] == 50 * 2**20"
json "'sampling_rate' not in j['data'][0]"
run 0 info --json --sampling "$cora"
json "[r['S'] for r in j['data'][0]['sampling_rate']] == [16, 32, 64, 128, 256, 512]"
json "[round(100 * r['rate'], 1) for r in j['data'][0]['sampling_rate']] == [94.1, 97.2, 98.8, 99.6, 100.0, 100.0]"
run 0 info --json --device cpu "$cora"
json "j['device']['backend'] == 'cpu'"

for what in variants ops formats generators standins; do
    run 0 list --json $what
    envelope list
    json "len(j['data']) > 0"
done
run 0 doctor --json
envelope doctor
run 0 generate --json mesh -o mesh.mtx
envelope generate
json "j['data'][0]['name'] == 'mesh'"
# A name that needs escapes stays one value in both formats.
cp "$cora" 'a "b",c.mtx.gz'
run 0 convert --json 'a "b",c.mtx.gz' out.gnng
envelope convert
json "j['data'][0]['name'] == 'a \"b\",c'"
run 0 convert --csv 'a "b",c.mtx.gz' out.gnng
python3 -c 'import csv; assert list(csv.DictReader(open("out")))[0]["name"] == "a \"b\",c"' || fail "CSV quoting"
