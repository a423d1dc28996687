#!/usr/bin/env bash
# replay.sh [-v] [FILE...] - the accuracy table: every row of validate/records
# (or of the named files) of at least $MIN_SIZE bytes (1 MiB) is simulated as it
# was measured, and bandwidths are compared. -v prints each row too.
#
# A row runs with the settings that it states; the rest is what NCCL chooses
# there: of the version that the row names, or else the topology's. One run of
# the program takes all rows of a machine, back to back on one stream, as
# nccl-tests does: an operation's time has the launch gap of a full stream, but
# not the CPU's.
set -euo pipefail
cd "$(dirname "$0")/.."
lagom=${BUILD_DIR:-build/release}/lagom
here=validate
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

verbose=0
if [ "${1-}" = -v ]; then
    verbose=1
    shift
fi
[ $# -gt 0 ] || set -- $here/records/*.csv

# Constants of the model were fitted to these, or to one kind of theirs: they
# show a fit.
fitted='autoccl-a40-allgather b300-channels stas-h200:all_reduce'

# Machines: name, one-line form.
sed -nE 's/.*topology=([^ ;,]+).*/\1/p' "$@" | sort -u |
    while read -r topology; do
        if line=$("$lagom" show "$topology" --form line 2>/dev/null); then
            printf '%s\t%s\n' "$topology" "$line"
        fi
    done >"$work/machines"

# From rows to $work/jobs (a line a run), $work/N.yaml and $work/rows.
awk -f $here/replay_plan.awk -v work="$work" -v min="${MIN_SIZE:-1048576}" \
    -v machines="$work/machines" -v fitted="$fitted" "$@"

while IFS=$'\t' read -r job topology nodes mode version; do
    "$lagom" run -t "$topology" --set "nodes=$nodes" --ranks "$mode" \
        ${version:+--set "nccl.version=$version"} \
        -w "$work/$job.yaml" --format csv </dev/null | tail -n +2
done <"$work/jobs" >"$work/times"

awk -f $here/replay_table.awk -v verbose="$verbose" "$work/times" "$work/rows"
cat "$work/skipped"
awk -f $here/replay_peaks.awk "$work/times" "$work/rows"
