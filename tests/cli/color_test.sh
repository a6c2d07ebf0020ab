# Colour only on a terminal, and neither there with NO_COLOR, TERM=dumb or --no-color.
. "$(dirname "$0")/lib.sh"

escape=$(printf '\033')
run 0 list
grep -q "$escape" out && fail "colour in a pipe"
run 2 inof
grep -q "$escape" err && fail "colour on stderr in a pipe"
command -v script >/dev/null || { echo "skipped: script(1) is not installed"; exit 77; }
script -qec true /dev/null >out 2>&1 </dev/null || { echo "skipped: no pseudo-terminal can be had"; exit 77; }
export TERM=xterm
on_terminal() { script -qec "$*" /dev/null >out 2>err </dev/null || fail "script $*"; }
last="list on a terminal"
on_terminal "$GNNTUNE" list
grep -q "$escape" out || fail "no colour on a terminal"
on_terminal "$GNNTUNE" list --no-color
grep -q "$escape" out && fail "colour with --no-color"
on_terminal env NO_COLOR=1 "$GNNTUNE" list
grep -q "$escape" out && fail "colour with NO_COLOR"
on_terminal env TERM=dumb "$GNNTUNE" list
grep -q "$escape" out && fail "colour with TERM=dumb"
on_terminal env NO_COLOR= "$GNNTUNE" list
grep -q "$escape" out || fail "an empty NO_COLOR counts"
