#!/bin/sh
# Holds a source tree to the rules in rules.txt: who may include whom, which room a package belongs to, no package in CUDA
# code, no file over 450 lines without a reason, a README.md in every folder of kernels/, one writer of the program's streams,
# a graph asked about a problem where the rules say so and nowhere else.
#
#   check.sh TREE [LONG_FILES]
#
# Prints one line per violation, "path[:line]: words", and exits 1 if there is any.
set -eu
found=$(mktemp)
trap 'rm -f "$found"' EXIT
here=$(cd "$(dirname "$0")" && pwd)
long_files=${2:-$here/long_files.txt}
cd "$1"

rooms=""
for room in core kernels tuner profiles tools examples; do
    [ ! -d "$room" ] || rooms="$rooms $room"
done
# shellcheck disable=SC2086
sources() { find $rooms "$@" -type f \( -name '*.h' -o -name '*.hpp' -o -name '*.c' -o -name '*.cpp' -o -name '*.cu' \
    -o -name '*.cuh' -o -name '*.in' -o -name '*.inl' \) | LC_ALL=C sort; }
if [ -z "$rooms" ] || [ -z "$(sources)" ]; then
    echo "$1: no source file found"
    exit 1
fi

{
    sources | tr '\n' '\0' | xargs -0 awk -v rules="$here/rules.txt" -f "$here/includes.awk"

    tests=""
    [ ! -d tests ] || tests=tests
    # shellcheck disable=SC2086
    sources $tests | tr '\n' '\0' | xargs -0 awk -v list="$long_files" '
        BEGIN {
            while ((getline line < list) > 0) {
                if (line ~ /^(#|$)/) continue
                split(line, word, " ")
                listed[word[1]] = 1
                if (line !~ / [^ ]+ [^ ]+/) print word[1] ": stands in the list of long files without a reason"
            }
        }
        { lines[FILENAME] = FNR }
        END {
            for (file in lines) {
                if (lines[file] > 450 && !(file in listed)) {
                    print file ": " lines[file] " lines; split it, or give a reason in tests/layering/long_files.txt"
                }
            }
            for (file in listed) {
                if (lines[file] <= 450) print file ": is no longer over 450 lines; take it off the list of long files"
            }
        }'

    # What the program prints goes through one place, which makes it printable; tools/run_once and tools/scale are programs of their own.
    streams='std::(cout|cerr|clog)|(^|[^A-Za-z0-9_])(f?printf|fputc|fputs|puts|putchar|fwrite|fmt::print)\('
    sources | sed -n '\,^tools/run_once/,d; \,^tools/scale/,d; \,^tools/common/streams\.cpp$,d; \,^tools/,p' | tr '\n' '\0' |
        xargs -0 -r grep -nE "$streams" /dev/null |
        sed -E 's,^([^:]*:[0-9]+):.*,\1: only tools/common/streams.cpp writes to stdout and stderr,' || true

    # Whoever stands beneath gets the answer handed on, and has no need of the graph.
    asks='graph(_|\(\))?(\.|->)query\('
    sources | sed -n '\,^\(core\|profiles\|tuner\)/,p' | tr '\n' '\0' | xargs -0 -r grep -cE "$asks" /dev/null |
        awk -F: -v rules="$here/rules.txt" '
            BEGIN {
                while ((getline line < rules) > 0) {
                    if (split(line, word, " ") == 3 && word[1] == "asks") may[word[2]] = word[3]
                }
            }
            $2 > may[$1] + 0 {
                print $1 ": lines that ask a graph about a problem: " $2 ", allowed " may[$1] + 0 \
                    "; hand the query on (tests/layering/rules.txt)"
            }
            { seen[$1] = $2 }
            END {
                for (file in may) {
                    if (file in seen && seen[file] < may[file]) {
                        print file ": lines that ask a graph about a problem: " seen[file] ", the rules say " may[file]
                    }
                }
            }'

    for folder in kernels/*/*/; do
        [ -d "$folder" ] || continue
        for file in README.md CMakeLists.txt; do
            case $folder$file in kernels/common/*/CMakeLists.txt | kernels/*/common/*) continue ;; esac
            [ -s "$folder$file" ] || echo "${folder%/}: has no $file"
        done
    done
} >"$found"
if [ -s "$found" ]; then
    LC_ALL=C sort "$found"
    exit 1
fi
echo "$(sources | wc -l) files keep the rules"
