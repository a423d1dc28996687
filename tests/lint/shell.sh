#!/usr/bin/env bash
# shell.sh - shellcheck over every file that names a shell in its first line.
set -euo pipefail

scripts=()
while IFS= read -r -d '' file; do
    if head -n 1 "$file" | grep -qE '^#!.*\b(ba|da)?sh\b'; then
        scripts+=("$file")
    fi
done < <(find .ci tests plots validate -type f -print0)
shellcheck "${scripts[@]}"
