#!/usr/bin/env bash
# malloc.sh - only model/arena.c asks the system for memory. Functions that do
# so on the quiet are no way around.
set -euo pipefail
shopt -s nullglob

files=({model,model/nccl,sim,search,validate,validate/replay}/*.[ch])
[ ${#files[@]} -gt 0 ] || exit 0
calls='(malloc|calloc|realloc|reallocarray|free|aligned_alloc|posix_memalign'
calls+='|strdup|strndup|asprintf|vasprintf)'
if awk -f tests/lint/code.awk "${files[@]}" | grep -v '^model/arena\.c:' |
    grep -E "(^|[^A-Za-z0-9_.>])$calls *\("; then
    echo 'malloc: only model/arena.c may do this' >&2
    exit 1
fi
