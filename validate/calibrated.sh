#!/usr/bin/env bash
# calibrated.sh - what lagom calibrate makes of the shipped records: for each
# set, numbers are fitted to two thirds of its rows of 1 MiB and more, and the
# errors of the other third are compared before and after; of AutoCCL's curves
# to one half, from what the A40's file has and from what it would have to guess,
# the A100's numbers. Sets of several GPUs and of one row cannot be split.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C
lagom=${BUILD_DIR:-build/release}/lagom
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# line NAME WORD...: calibrate, and the line of the table.
line() {
    local name=$1
    shift
    if ! "$lagom" calibrate "$@" --date 2000-01-01 >"$work/text" 2>"$work/log"; then
        grep -q 'several GPUs' "$work/log" || cat "$work/log" >&2
        return 0
    fi
    awk -v name="$name" '
        $1 == "GPU" {gpu = $2; sub(/,$/, "", gpu)}
        $1 == "fitted" {fitted = $2}
        $1 == "held" {held = $3; median[$4] = $5; p95[$4] = $6; worst[$4] = $7}
        / iterations, / {scatter = $4}
        END {
            if (held > 0)
                printf "%-26s %-8s %6d %5d  %7.1f %7.1f  %7.1f %7.1f  %7.1f %7.1f\n", \
                    name, gpu, fitted, held, median["before"], median["after"], \
                    p95["before"], p95["after"], worst["before"], worst["after"]
        }' "$work/text"
}

printf '%-26s %-8s %6s %5s  %15s  %15s  %15s\n' '' '' '' held \
    'median error %' '95 % of them' 'worst'
printf '%-26s %-8s %6s %5s  %7s %7s  %7s %7s  %7s %7s\n' \
    'calibrated on a part of' GPU fitted out before after before after before after
for file in validate/records/*.csv; do
    name=$(basename "$file" .csv)
    [ "$name" = autoccl-a40-allgather ] || line "$name" "$file"
done
line 'autoccl-a40, from its file' autoccl-a40-allgather --hold-out 0.5

# The same as on a GPU that nobody has measured.
guesses=()
for key in gpu.channel.issue_rate gpu.channel.rate gpu.channel.sync gpu.l2_latency; do
    value=$("$lagom" show '1x8 gpu:a100' --format csv |
        awk -F, -v key="$key" '$1 == key {print $2}')
    [ -z "$value" ] || guesses+=(--set "$key={value: $value, from: guess}")
done
line 'autoccl-a40, from guesses' autoccl-a40-allgather --hold-out 0.5 "${guesses[@]}"
