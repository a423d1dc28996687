#!/usr/bin/env bash
# growth.sh [N...] - how many iterations a search measures, by the number of
# different collectives, 1 to 16.
#
# Collective i is an AllGather of 64 MiB and i times 4 MiB more, beside a GEMM
# of its own. "windows": one after another, each pair a window of its own;
# "window": all AllGathers on one stream, all GEMMs on another, which is one
# window. Lagom takes a step of each window in one iteration; "turns" is lagom
# with --reading turns=window, one window after another.
#
# Published (Lagom, arXiv 2602.20656, section 4.4): AutoCCL 16 iterations with two
# collectives, Lagom 33, "about 1:2", as evidence of linear cost. AutoCCL's number
# here ends by its code's own budget: 1 of NCCL's settings, 20 random, 50 of
# descents; all collectives try a candidate in one iteration.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C
lagom=${BUILD_DIR:-build/release}/lagom
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

[ $# -gt 0 ] || set -- {1..16}
for count; do
    if ! [[ $count =~ ^[1-9][0-9]?$ ]]; then
        echo "growth.sh: no such number of collectives: $count (write 1 to 99)" >&2
        exit 2
    fi
done

# workload COUNT FORM: to standard output.
workload() {
    local i after
    printf 'name: growth\nops:\n'
    for ((i = 0; i < $1; i++)); do
        after=
        [ "$2" = window ] || [ "$i" = 0 ] || after=", after: [gemm$((i - 1))]"
        echo "  - {id: gather$i, kind: all_gather, size: $((64 + 4 * i)) MiB$after}"
        echo "  - {id: gemm$i, kind: gemm, m: 4096, n: 4096, k: 8192}"
    done
}

# evaluations FORM OPTION...
evaluations() {
    "$lagom" tune -q -t lagom-a-1node -w "$work/$1.yaml" --format json \
        "${@:2}" | sed -n 's/.*"evaluations": *\([0-9]*\).*/\1/p'
}

printf '%-12s %8s %8s %8s %8s %8s\n' '' windows windows windows window window
printf '%-12s %8s %8s %8s %8s %8s\n' collectives autoccl lagom turns autoccl \
    lagom
for count; do
    workload "$count" windows >"$work/windows.yaml"
    workload "$count" window >"$work/window.yaml"
    # A substitution that fails ends the script only where it is assigned.
    windows_autoccl=$(evaluations windows -s autoccl)
    windows_lagom=$(evaluations windows -s lagom)
    windows_turns=$(evaluations windows -s lagom --reading turns=window)
    window_autoccl=$(evaluations window -s autoccl)
    window_lagom=$(evaluations window -s lagom)
    printf '%-12d %8d %8d %8d %8d %8d\n' "$count" "$windows_autoccl" \
        "$windows_lagom" "$windows_turns" "$window_autoccl" "$window_lagom"
done
