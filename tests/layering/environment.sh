# Every environment variable that the library reads is named in gnntune.h and in both tables of the documents:
# environment.sh SOURCE
source=${1:?the source tree}
cd "$source" || exit 1
files=$(grep -rl 'getenv(' --include=*.cpp --include=*.hpp --include=*.cu core kernels profiles tuner/measuring) || {
    echo "no file reads the environment: this test looks in the wrong place"; exit 1; }
names=$(grep -ohE '"([A-Z]+(_[A-Z0-9]+)+|HOME)"' $files | tr -d '"' | sort -u)
[ "$(echo "$names" | wc -l)" -ge 10 ] || { echo "too few variables were found: $names"; exit 1; }
failed=0
for name in $names; do
    for page in core/include/gnntune/gnntune.h docs/commands.md docs/dispatcher.md; do
        # Those of the dispatcher alone do nothing in the program.
        case "$page $name" in
            "docs/commands.md GNNTUNE_FORCE" | "docs/commands.md GNNTUNE_SOURCES" | "docs/commands.md GNNTUNE_TUNE_BUDGET" | \
                "docs/commands.md GNNTUNE_VERBOSE") continue ;;
        esac
        grep -qw "$name" "$page" || { echo "$page does not name $name, which $(grep -l "\"$name\"" $files | head -n 1) reads"; failed=1; }
    done
done
exit $failed
