#!/usr/bin/env bash
# replay.sh [-v] [FILE...] - the accuracy table: every row of validate/records
# (or of the named files) of at least $MIN_SIZE bytes (1 MiB) is simulated as it
# was measured, and bandwidths are compared. -v prints each row too.
#
# A row that states its settings gets those. For the others the fastest
# predicted of the pairs below stands in for NCCL's own choice, with as many
# channels as the topology says NCCL uses. One run of the program takes all rows
# and all pairs of a machine, back to back on one stream, as nccl-tests does: an
# operation's time has the launch gap of a full stream, but not the CPU's.
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

# What NCCL may choose from. `where` is matched with the topology's one-line
# form: LL128 needs NVLink in a node (or a network alone), NVLS an NVSwitch of
# H100 or later and more than two GPUs. `-`: as the topology says NCCL does.
pairs='
# algorithm protocol kinds       nodes where                threads chunk    channels
ring        simple   all         any   .                    -       -        -
ring        ll       all         any   .                    512     32 KiB   -
ring        ll128    all         any   nvswitch|nvlink:mesh 640     576000 B -
tree        simple   all_reduce  any   .                    512     512 KiB  -
tree        ll       all_reduce  any   .                    512     32 KiB   -
tree        ll128    all_reduce  any   nvswitch|nvlink:mesh 640     576000 B -
nvls        simple   all_reduce  one   (h[12]|b[23])00.*nvswitch 640  128 KiB  16
nvlstree    simple   all_reduce  many  (h[12]|b[23])00.*nvswitch 640  128 KiB  16
'

# Constants of the model were fitted to these: they show a fit.
fitted='autoccl-a40-allgather b300-channels'

# The choices of an op's key, as the program's own help lists them.
choices() {
    "$lagom" help workload |
        sed -nE "s/^  $1 +one of (.*), (required|optional)$/\1/p" | tr -d ,
}

# Machines: name, one-line form.
sed -nE 's/.*topology=([^ ;,]+).*/\1/p' "$@" | sort -u |
    while read -r topology; do
        if line=$("$lagom" show "$topology" --form line 2>/dev/null); then
            printf '%s\t%s\n' "$topology" "$line"
        fi
    done >"$work/machines"

# From rows to $work/jobs (a line a run), $work/N.yaml and $work/rows.
awk -f $here/replay_plan.awk -v work="$work" -v min="${MIN_SIZE:-1048576}" \
    -v pairs="$pairs" -v machines="$work/machines" -v fitted="$fitted" \
    -v kinds="$(choices kind)" -v algorithms="$(choices algorithm)" \
    -v protocols="$(choices protocol)" "$@"

while IFS=$'\t' read -r job topology nodes mode; do
    "$lagom" run -t "$topology" --set "nodes=$nodes" --ranks "$mode" \
        -w "$work/$job.yaml" --format csv | tail -n +2
done <"$work/jobs" >"$work/times"

awk -f $here/replay_table.awk -v verbose="$verbose" "$work/times" "$work/rows"
cat "$work/skipped"
awk -f $here/replay_peaks.awk "$work/times" "$work/rows"
