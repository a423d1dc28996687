#!/usr/bin/env bash
# layers.sh - no folder includes one above it.
set -euo pipefail
shopt -s nullglob

files=({model,model/nccl,sim,search,validate,validate/replay}/*.[ch])
[ ${#files[@]} -gt 0 ] || exit 0
awk -f tests/lint/layers.awk "${files[@]}"
