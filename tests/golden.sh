#!/usr/bin/env bash
# golden.sh [--update] [NAME...] - compare what the program prints with what it
# printed before. Prints TAP. BUILD_DIR says which build is tested.
#
# A test is tests/golden/NAME/ with
#   cmd     bash, run in the repository's root; `lagom` is the program, $T an
#           empty directory of its own
#   stdout  what is expected there
#   stderr  the same; no such file: nothing
#   exit    the exit status; no such file: 0
# What differs between two honest runs (version, wall time, the name of $T) is
# replaced by fixed words on both sides.
set -euo pipefail
cd "$(dirname "$0")/.."

normal() {
    sed -E -e "s|$T|\$T|g" \
        -e 's/lagom [0-9]+\.[0-9]+\.[0-9]+[^ ",]*/lagom VERSION/g' \
        -e 's/"version": *"[^"]*"/"version": "VERSION"/g' \
        -e 's/"wall_us": *[0-9.eE+-]+/"wall_us": 0/g'
}

# Runs one test and leaves stdout, stderr, exit and diff in $work/NAME.
one() {
    local dir=tests/golden/$1 out=$work/$1 status=0 file
    mkdir -p "$out/tmp"
    T=$out/tmp
    export T
    TMPDIR=$T timeout -k 5 "${TEST_TIMEOUT:-300}" bash "$dir/cmd" \
        </dev/null >"$out/raw.stdout" 2>"$out/raw.stderr" || status=$?
    normal <"$out/raw.stdout" >"$out/stdout"
    normal <"$out/raw.stderr" >"$out/stderr"
    echo "$status" >"$out/exit"
    if $update; then
        cp "$out/stdout" "$dir/stdout"
        rm -f "$dir/stderr" "$dir/exit"
        [ ! -s "$out/stderr" ] || cp "$out/stderr" "$dir/stderr"
        [ "$status" -eq 0 ] || cp "$out/exit" "$dir/exit"
        return
    fi
    for file in stdout stderr exit; do
        if [ -e "$dir/$file" ]; then
            diff -u "$dir/$file" "$out/$file"
        elif [ "$file" = exit ]; then
            echo 0 | diff -u --label 'exit (default)' - "$out/$file"
        else
            diff -u --label "$file (default)" /dev/null "$out/$file"
        fi || true
    done >"$out/diff" 2>&1
}

# Below xargs this script calls itself for one test.
if [ "${1-}" = --one ]; then
    one "$2"
    exit
fi

export update=false LC_ALL=C
if [ "${1-}" = --update ]; then
    update=true
    shift
fi
work=$(mktemp -d)
export work
trap 'rm -rf "$work"' EXIT
# A directory with nothing else in it, whatever the build directory holds.
mkdir "$work/.bin"
ln -s "$PWD/${BUILD_DIR:-build/release}/lagom" "$work/.bin/lagom"
export PATH="$work/.bin:$PATH"

shopt -s nullglob
names=("$@")
if [ ${#names[@]} -eq 0 ]; then
    for cmd in tests/golden/*/cmd; do
        names+=("$(basename "$(dirname "$cmd")")")
    done
fi
[ ${#names[@]} -gt 0 ] || exit 0
printf '%s\0' "${names[@]}" | xargs -0 -n 1 -P "$(nproc)" tests/golden.sh --one
! $update || exit 0

echo "1..${#names[@]}"
bad=0
for i in "${!names[@]}"; do
    name=${names[i]}
    if [ -s "$work/$name/diff" ]; then
        bad=1
        echo "not ok $((i + 1)) - golden $name"
        sed 's/^/# /' "$work/$name/diff"
    else
        echo "ok $((i + 1)) - golden $name"
    fi
done
exit $bad
