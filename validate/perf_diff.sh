#!/bin/sh
# perf_diff.sh [-i] FIRST SECOND - two outputs of nccl-tests, or of lagom perf,
# side by side: what was measured, then what was predicted, say:
#
#     lagom perf all_reduce -t dgx-a100 -b 4 -e 8G |
#         validate/perf_diff.sh validate/logs/superbench-all_reduce.log -
#
# For each size that both have: times, bus bandwidths, and the second time over
# the first; then the median of these ratios and the one farthest from 1. Either
# file may be "-", standard input. -i takes the in-place columns. Lines that are
# no rows (NCCL's own log, other ranks) are passed over. Exit status: 1 when
# either has no row, or they share no size; 2 for wrong usage.
set -eu

usage() {
    sed -n 's/^# \(perf_diff.sh .*\) - .*/usage: validate\/\1/p' "$0" >&2
    exit 2
}

skip=0
if [ "${1-}" = -i ]; then
    skip=4
    shift
fi
[ $# -eq 2 ] || usage
[ "$1" != - ] || [ "$2" != - ] || usage
for file; do
    [ "$file" = - ] || { [ -r "$file" ] && [ ! -d "$file" ]; } || {
        echo "perf_diff.sh: cannot read $file" >&2
        exit 1
    }
done

# A name with "=" would be a variable to awk; behind a slash it is not.
operand() {
    case $1 in
    - | /*) printf '%s' "$1" ;;
    *) printf './%s' "$1" ;;
    esac
}

# A row is a size, a count, words, then twice: time, algbw, busbw, errors. The
# header says in which column times are, as that differs between versions.
LC_ALL=C awk -v skip="$skip" -v first="$1" -v second="$2" '
function number(text) {
    return text ~ /^[0-9]+(\.[0-9]*)?(e[-+]?[0-9]+)?$/
}

{
    sub(/\r$/, "")
    sub(/^\[[0-9,]+\]<[a-z]+>: ?/, "") # mpirun --tag-output
}

$1 == "#" && $2 == "size" {
    for (i = 3; i <= NF && $i != "time"; i++) continue
    column = i - 1
    next
}

$1 ~ /^[0-9]+$/ && $2 ~ /^[0-9]+$/ {
    at = (column > 0 ? column : NF - 7) + skip
    if (!number($at) || !number($(at + 2))) next
    if (++rows[which] == 1) reduction[which] = $4
    if ($1 == 0 || (which, $1) in time) next
    time[which, $1] = $at
    bus[which, $1] = $(at + 2)
    if (which == 1) size[++sizes] = $1
}

function distance(ratio) {
    return ratio < 1 ? 1 / ratio : ratio
}

# Sorts ratio[1..n], which is short.
function sort(n,    i, j, held) {
    for (i = 2; i <= n; i++) {
        held = ratio[i]
        for (j = i - 1; j > 0 && ratio[j] > held; j--) ratio[j + 1] = ratio[j]
        ratio[j + 1] = held
    }
}

END {
    for (which = 1; which <= 2; which++) {
        if (rows[which] > 0) continue
        print "perf_diff.sh: no rows in " (which == 1 ? first : second) \
            > "/dev/stderr"
        missing = 1
    }
    if (missing) exit 1
    for (i = 1; i <= sizes; i++) {
        if (!((2, size[i]) in time) || time[1, size[i]] + 0 == 0) continue
        if (n == 0) {
            printf "%12s  %10s  %10s  %8s  %8s  %6s\n", "size (B)", "time (us)", \
                "second", "busbw", "second", "ratio"
        }
        ratio[++n] = time[2, size[i]] / time[1, size[i]]
        printf "%12s  %10s  %10s  %8s  %8s  %6.3f\n", size[i], \
            time[1, size[i]], time[2, size[i]], bus[1, size[i]], \
            bus[2, size[i]], ratio[n]
        if (n == 1 || distance(ratio[n]) > distance(worst)) {
            worst = ratio[n]
            where = size[i]
        }
    }
    if (n == 0) {
        print "perf_diff.sh: no size is in both" > "/dev/stderr"
        exit 1
    }
    # Old versions have no such column for all kinds.
    if (reduction[1] != reduction[2] && reduction[1] reduction[2] ~ /^[a-z]+$/) {
        print "perf_diff.sh: not the same collective? redop is " reduction[1] \
            " in the first, " reduction[2] " in the second" > "/dev/stderr"
    }
    sort(n)
    median = n % 2 ? ratio[(n + 1) / 2] : (ratio[n / 2] + ratio[n / 2 + 1]) / 2
    printf "%d sizes, ratio of times: median %.3f, worst %.3f at %s B\n", n, \
        median, worst, where
}' which=1 "$(operand "$1")" which=2 "$(operand "$2")"
