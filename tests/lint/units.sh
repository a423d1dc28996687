#!/usr/bin/env bash
# units.sh - in headers, a number's name ends in its unit (_us, _bytes,
# _bytes_per_us, ...) and not in _time, _bw, _lat or _size.
set -euo pipefail
shopt -s nullglob

files=({model,model/nccl,sim,search,validate,validate/replay}/*.h)
[ ${#files[@]} -gt 0 ] || exit 0
number='\b(double|float|int|long|short|unsigned|size_t|u?int[0-9]+_t)\b'
if awk -f tests/lint/code.awk "${files[@]}" |
    grep -E "$number.*_(time|bw|lat|size)\b"; then
    echo 'units: the last part of these names is no unit' >&2
    exit 1
fi
