# Hostile names through every verb: printed_text.py looks at the raw bytes of stdout and stderr.
. "$(dirname "$0")/lib.sh"
need_python
exec python3 "$SOURCE/tests/cli/printed_text.py" "$GNNTUNE" "$cora"
