#!/usr/bin/env bash
# format.sh [-i] - every C file is as clang-format 14 writes it; -i makes it so.
# Another major version formats differently, so only 14 may judge.
set -euo pipefail
shopt -s nullglob

format=clang-format-14
command -v $format >/dev/null || format=clang-format
if ! $format --version | grep -qE 'version 14\.'; then
    echo "format: clang-format 14 is needed, here is: $($format --version)" >&2
    exit 1
fi
files=({model,model/nccl,sim,search,validate,validate/replay}/*.[ch] validate/replay/*.cu tests/*.[ch] tests/*/*.[ch])
[ ${#files[@]} -gt 0 ] || exit 0
if [ "${1-}" = -i ]; then
    $format -i "${files[@]}"
else
    $format --dry-run -Werror "${files[@]}"
fi
