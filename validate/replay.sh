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
# form: LL128 needs NVLink, NVLS an NVSwitch, H100 or later and more than two
# GPUs a node. `-`: as the topology says NCCL does. ring5 is the five kinds that
# rings do.
pairs='
# algorithm protocol kinds      nodes where                threads chunk    channels
ring        simple   ring5      any   .                    -       -        -
ring        ll       ring5      any   .                    512     32 KiB   -
ring        ll128    ring5      any   nvswitch|nvlink:mesh 640     576000 B -
tree        simple   all_reduce many  .                    512     -        -
tree        ll       all_reduce many  .                    512     32 KiB   -
tree        ll128    all_reduce many  nvswitch|nvlink:mesh 640     576000 B -
nvls        simple   all_reduce one   gpu:h.*nvswitch      640     128 KiB  16
nvls        simple   all_reduce one   gpu:b.*nvswitch      640     128 KiB  24
nvls_tree   simple   all_reduce many  gpu:h.*nvswitch      640     128 KiB  16
nvls_tree   simple   all_reduce many  gpu:b.*nvswitch      640     128 KiB  32
pairwise    simple   all_to_all any   nvswitch|nvlink:mesh 640     512 KiB  32
pairwise    simple   send_recv  any   nvswitch|nvlink:mesh 640     512 KiB  32
'
rings='all_gather reduce_scatter all_reduce broadcast reduce'

# Constants of the model were fitted to these, or to one kind of theirs: they
# show a fit.
fitted='autoccl-a40-allgather b300-channels stas-h200:all_reduce'

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
    -v pairs="$pairs" -v rings="$rings" -v machines="$work/machines" \
    -v fitted="$fitted" \
    -v kinds="$(choices kind)" -v algorithms="$(choices algorithm)" \
    -v protocols="$(choices protocol)" "$@"

# One run; a pair that the machine refuses (LL128 without GPUDirect) is taken out
# for all of its rows.
run_job() {
    local job=$1 topology=$2 nodes=$3 mode=$4 refused
    until "$lagom" run -t "$topology" --set "nodes=$nodes" --ranks "$mode" \
        -w "$work/$job.yaml" --format csv >"$work/out" 2>"$work/err"; do
        refused=$(sed -nE 's/.*error: r[0-9]+(\.[a-z_]+\.[a-z0-9]+): .*/\1/p' \
            "$work/err" | head -n 1)
        if [ -z "$refused" ]; then
            cat "$work/err" >&2
            return 1
        fi
        sed -i "/$refused, /d" "$work/$job.yaml"
    done
    tail -n +2 "$work/out"
}

while IFS=$'\t' read -r job topology nodes mode; do
    run_job "$job" "$topology" "$nodes" "$mode" </dev/null
done <"$work/jobs" >"$work/times"

awk -f $here/replay_table.awk -v verbose="$verbose" "$work/times" "$work/rows"
cat "$work/skipped"
awk -f $here/replay_peaks.awk "$work/times" "$work/rows"
