# Help of every verb: usage, examples first, every common flag; the same by both ways of asking. docs/commands.md has
# every verb and every flag.
. "$(dirname "$0")/lib.sh"

run 0 help
err_empty
verbs=$(sed -n '/^Verbs:/,/^$/p' out | awk 'NR > 1 && NF { print $1 }')
[ "$(echo "$verbs" | wc -l)" -ge 10 ] || fail "fewer than ten verbs"
run 0 --help
out_has "usage: gnntune VERB"
run 0 --version
grep -qE '^gnntune [0-9]+\.[0-9]+\.[0-9]+( \([0-9a-f]+(-dirty)?\))?$' out || fail "unexpected version line"

check_help() {
    out_has "usage: gnntune $1"
    out_has "Examples:"
    for flag in --db --device --json --csv --quiet --verbose --no-color --seed --help; do out_has "$flag"; done
    examples=$(grep -n '^Examples:' out | cut -d: -f1)
    common=$(grep -n '^Common options:' out | cut -d: -f1)
    [ "$examples" -lt "$common" ] || fail "the examples do not come first"
    for flag in $(grep -oE '^  (-[a-z] \[ )?--[a-z0-9-]+' out | grep -oE -- '--[a-z0-9-]+'); do
        grep -qE -- "\`[^\`]*$flag( [^\`]*)?\`" "$SOURCE/docs/commands.md" || fail "docs/commands.md lacks $flag"
    done
    grep -qF "gnntune $1" "$SOURCE/docs/commands.md" || fail "docs/commands.md lacks $1"
    awk 'length > 101 { exit 1 }' out || fail "a line of the help is too long"
}
for verb in $verbs; do
    run 0 help "$verb"
    err_empty
    cp out help
    run 0 "$verb" --help
    cmp -s help out || fail "help $verb and $verb --help differ"
    [ "$verb" = db ] || check_help "$verb"
done
for part in ls show check diff export import verify errata; do
    run 0 help db $part
    check_help "db $part"
done
run 0 help generate rmat
out_has "--scale N"
run 2 help generate foo
err_has "there is no kind 'foo' among "
run 0 help generate standin/reddit
run 0 help db
out_has "environments, models, steps"
run 0 help db diff
tr -s ' \n' ' ' <out >words
grep -q "Exit code 0 whatever the verdicts, but 1 with --fail-on where one of those is found; 3 if" words ||
    fail "help db diff leaves out exit codes"
