#!/usr/bin/env bash
# fingerprint.sh - the same run has the same fingerprint to the bit, built by
# gcc and by clang, with and without optimisation. Ends with the line
# "N passed, N failed"; each topology and workload, with options, is one test.
set -euo pipefail
cd "$(dirname "$0")/.."

pairs=(
    'topologies/lagom-a-1node.yaml workloads/phi-2-fsdp.yaml'
    'topologies/lagom-a.yaml workloads/llama-3-8b-fsdp.yaml'
    'topologies/lagom-b.yaml workloads/mpt-7b-fsdp.yaml'
    'topologies/lagom-a-1node.yaml workloads/phi-2-fsdp.yaml --ranks all --seed 3 --set variation.jitter=2%'
)

programs=()
for compiler in gcc clang; do
    for build in debug release; do
        make CC=$compiler BUILD=$build all
        suffix=
        [ $compiler = gcc ] || suffix=-$compiler
        programs+=("build/$build$suffix/lagom")
    done
done

passed=0
failed=0
for pair in "${pairs[@]}"; do
    read -r topology workload line <<<"$pair"
    read -r -a options <<<"$line"
    seen=()
    for program in "${programs[@]}"; do
        # A run that fails gives no fingerprint, and so fails the test.
        seen+=("$("$program" run -t "$topology" -w "$workload" "${options[@]}" \
            --format json |
            sed -nE 's/.*"fingerprint": *"?([^",} ]+).*/\1/p' || true)")
    done
    if [ -n "${seen[0]}" ] &&
        [ "$(printf '%s\n' "${seen[@]}" | sort -u | wc -l)" -eq 1 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "fingerprints of $topology $workload differ:"
        for i in "${!programs[@]}"; do
            echo "  ${programs[i]} ${seen[i]:-none}"
        done
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
