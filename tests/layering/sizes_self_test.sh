#!/bin/sh
# sizes.sh can fail: a file of 9 MB is refused, and four of 7 MB together; what stands beside them and git does not track is
# nobody's affair.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
command -v git >/dev/null || { echo "skipped: git is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
mkdir -p "$tree/profiles" "$tree/docs"
git -C "$tree" init --quiet
# file PATH BYTES: a binary one.
file() { head -c "$2" /dev/zero >"$tree/$1"; }
# refused WORDS: sizes.sh says them, and nothing else.
refused() {
    status=0
    sh "$here/sizes.sh" "$tree" >"$work/words" || status=$?
    [ "$status" -eq 1 ] || { echo "exit code $status, expected 1: $1"; cat "$work/words"; exit 1; }
    [ "$(cat "$work/words")" = "$1" ] || { echo "expected: $1"; cat "$work/words"; exit 1; }
}

refused "no tracked file was found"
echo words >"$tree/README.md"
file profiles/fits.db 8000000
file untracked.db 9000000
git -C "$tree" add README.md profiles
sh "$here/sizes.sh" "$tree" >"$work/words" || { cat "$work/words"; exit 1; }
[ "$(cat "$work/words")" = "2 files, 8.0 MB of data" ] || { echo "expected the sum of two files"; cat "$work/words"; exit 1; }

file "docs/too large.png" 9000000
git -C "$tree" add docs
refused "docs/too large.png: 9.0 MB, expected 8 at most; keep a summary of it, or make it when it is needed"
# Text is held to the size of a file, not to the sum.
rm "$tree/docs/too large.png" "$tree/profiles/fits.db"
for name in a b c; do
    yes words | head -c 7000000 >"$tree/docs/$name.txt"
    file "docs/$name.png" 7000000
done
git -C "$tree" add --all docs profiles
sh "$here/sizes.sh" "$tree" >"$work/words" || { cat "$work/words"; exit 1; }
yes words | head -c 7000000 >"$tree/profiles/d.csv"
git -C "$tree" add profiles
refused "profiles/, data/ and binary files: 28.0 MB in 4 files, expected 24 at most; put one in the place of another"
mkdir "$work/bare"
status=0
GIT_CEILING_DIRECTORIES=$work sh "$here/sizes.sh" "$work/bare" >"$work/words" || status=$?
[ "$status" -eq 77 ] || { echo "a folder that is no checkout: exit code $status, expected 77"; exit 1; }
echo "a file and a sum that are too large were refused"
