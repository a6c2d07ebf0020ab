#!/bin/sh
# Holds what git tracks to sizes that a clone can bear, since whatever was committed once stays in every clone: no file over
# 8 MB, and 24 MB for data, which is all of profiles/ and data/ and what git calls binary anywhere else.
#
#   sizes.sh TREE
#
# MB are 10^6 bytes. Exit code 77, with the reason, where git does not know the files.
set -eu
cd "$1"
if ! git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    echo "skipped: $1 is no checkout, git does not know its files"
    exit 77
fi
# "i/lf w/lf attr/ <tab>PATH": i/-text is what git calls binary.
git -c core.quotePath=off ls-files --eol | while IFS='	' read -r kind path; do
    [ -f "$path" ] || continue
    size=$(wc -c <"$path")
    case "$kind $path" in
        *" profiles/"* | *" data/"* | i/-text*) echo "data $size $path" ;;
        *) echo "text $size $path" ;;
    esac
done | awk -v most_file=8000000 -v most_data=24000000 '
    {
        path = $0
        sub(/^[a-z]+ [0-9]+ /, "", path)
        ++files
        if ($1 == "data") { data += $2; ++data_files }
        if ($2 > most_file) {
            printf "%s: %.1f MB, expected %d at most; keep a summary of it, or make it when it is needed\n", path, $2 / 1e6, most_file / 1e6
            failed = 1
        }
    }
    END {
        if (files == 0) { print "no tracked file was found"; exit 1 }
        if (data > most_data) {
            printf "profiles/, data/ and binary files: %.1f MB in %d files, expected %d at most; put one in the place of another\n", data / 1e6, data_files, most_data / 1e6
            failed = 1
        }
        if (!failed) printf "%d files, %.1f MB of data\n", files, data / 1e6
        exit failed
    }'
