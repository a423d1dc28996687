#!/usr/bin/env bash
# patterns.sh - the two patterns of Lagom's section 4.3 (arXiv 2602.20656):
# Phi-2, FSDP, one node of cluster A. Pattern 1 is the forward pass, an AllGather
# beside each layer; pattern 2 the backward pass, with a ReduceScatter too. Each
# strategy's settings, the time of the pass from its first kernel to its last,
# and NCCL's time over it; what the paper says stands beside. The last rows are
# the settings that the paper found, simulated: where it gives channels alone,
# the rest is that of AutoCCL's best (its paper's table 4); threads are 256, of
# which its chunks are multiples; the AllGather of pattern 2, of which it says
# nothing, is that of pattern 1.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C
lagom=${BUILD_DIR:-build/release}/lagom
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pair=(-t lagom-a-1node -w phi-2-fsdp)

"$lagom" run "${pair[@]}" --format csv >"$work/nccl.csv"
for strategy in autoccl lagom; do
    "$lagom" tune "${pair[@]}" -s "$strategy" -v -o "$work/plan.yaml" \
        2>"$work/$strategy.log"
    "$lagom" run "${pair[@]}" --plan "$work/plan.yaml" --format csv \
        >"$work/$strategy.csv"
done

# published NAME ROW...: rows of a plan, simulated
published() {
    local name=$1
    shift
    {
        echo 'collectives:'
        printf -- '- {%s}\n' "$@"
    } >"$work/plan.yaml"
    "$lagom" run "${pair[@]}" --plan "$work/plan.yaml" --format csv \
        >"$work/$name.csv" 2>"$work/$name.log"
}
published theirs1 'transport: shm, channels: 61, threads: 512, chunk: 108 KiB'
published theirs2 'kind: all_gather, channels: 2, threads: 256, chunk: 684 KiB' \
    'kind: reduce_scatter, channels: 4, threads: 256, chunk: 1366 KiB'

# time_of STRATEGY PASS: ms
time_of() {
    awk -F, -v pass="^step0[.]$2[.]" '
        $1 ~ pass && $3 == "compute" {
            if (first == "" || $5 < first) first = $5
            if ($6 > last) last = $6
        }
        END { print (last - first) / 1000 }' "$work/$1.csv"
}

# setting_of STRATEGY PASS KIND: of a layer in the middle
setting_of() {
    awk -F, -v id="step0.$2.15.$3" '$1 == id {
        printf "%s %dx%d %g KiB", $18, $15, $16, $17 / 1024
    }' "$work/$1.csv"
}

# pattern PASS KINDS RUN TITLE PUBLISHED ...: three words a row
pattern() {
    local pass=$1 kinds=$2 kind nccl
    nccl=$(time_of nccl "$pass")
    shift 2
    while [ $# -gt 0 ]; do
        printf '  %-22s%8.1f ms %6.2f%s\n' "$2" "$(time_of "$1" "$pass")" \
            "$(awk "BEGIN { print $nccl / $(time_of "$1" "$pass") }")" \
            "${3:+   $3}"
        for kind in $kinds; do
            printf '    %-20s%s\n' "$kind" "$(setting_of "$1" "$pass" "$kind")"
        done
        shift 3
    done
}

echo 'pattern 1, the forward pass'
pattern forward all_gather \
    nccl nccl '1.00 with 8 channels of 2 MB, published' \
    autoccl autoccl '0.87 with 61 channels, published' \
    lagom lagom '1.35 with 2 channels of 684 KB, published' \
    theirs1 "autoccl's, published" '' theirs2 "lagom's, published" ''
echo
echo 'pattern 2, the backward pass'
pattern backward 'all_gather reduce_scatter' \
    nccl nccl '1.00 with 8 channels of 2 MB, published' \
    autoccl autoccl '' \
    lagom lagom '1.43, ReduceScatter with 4 channels of 1366 KB, published' \
    theirs1 "autoccl's, published" '' theirs2 "lagom's, published" ''
echo
awk '/^window/ { backward = $2 == "backward," }
    backward && /^  / {
        sub(/,$/, "", $0)
        split($0, h, ", H ")
        split(h[2], number, ",")
        if (least == "" || number[1] < least) { least = number[1]; first = $1 }
        printf "H of %s %s\n", $1, number[1]
    }
    END { print "H puts " first " first (published: ReduceScatter)" }' \
    "$work/lagom.log"
awk -F, -v passes="$(time_of nccl forward) $(time_of nccl backward)" '
    FNR > 1 && $6 + 0 > last { last = $6 + 0 }
    END {
        split(passes, ms, " ")
        printf "both passes are %.0f %% of the iteration with NCCL " \
            "(published: about 90 %%)\n", 100 * (ms[1] + ms[2]) * 1000 / last
    }' "$work/nccl.csv"
