#!/usr/bin/env bash
# tidy.sh - clang-tidy over the sources; it reaches the headers through them.
# LANG_FLAGS comes from the Makefile, so that both see the same program.
set -euo pipefail
shopt -s nullglob

tidy=clang-tidy-14
command -v $tidy >/dev/null || tidy=clang-tidy

# Below xargs this script calls itself for one file. clang-tidy counts what it
# left out even when all is well, so a good file's output is dropped.
if [ "${1-}" = --one ]; then
    read -r -a flags <<<"${LANG_FLAGS:--std=c11 -D_GNU_SOURCE -I. -Ibuild}"
    output=$($tidy --quiet "$2" -- "${flags[@]}" 2>&1) || {
        printf '%s\n' "$output"
        exit 1
    }
    exit
fi

if ! $tidy --version | grep -qE 'version 14\.'; then
    echo "tidy: clang-tidy 14 is needed, here is another" >&2
    exit 1
fi
files=({model,model/nccl,sim,search,validate,validate/replay}/*.c)
[ ${#files[@]} -gt 0 ] || exit 0
printf '%s\0' "${files[@]}" |
    xargs -0 -n 1 -P "${JOBS:-$(nproc)}" tests/lint/tidy.sh --one
