#!/usr/bin/env bash
# patterns.sh - the two patterns of Lagom's section 4.3 (arXiv 2602.20656):
# Phi-2, FSDP, one node of cluster A. Pattern 1 is the forward pass, an AllGather
# beside each layer; pattern 2 the backward pass, with a ReduceScatter too. Each
# strategy's settings, the time of the pass from its first kernel to its last,
# and NCCL's time over it; published figures beside them.
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

# pattern PASS KIND TEXT-BY-STRATEGY...
pattern() {
    local pass=$1 kinds=$2 strategy kind nccl
    nccl=$(time_of nccl "$pass")
    shift 2
    for strategy in nccl autoccl lagom; do
        printf '  %-9s%8.1f ms %6.2f%s\n' "$strategy" \
            "$(time_of "$strategy" "$pass")" \
            "$(awk "BEGIN { print $nccl / $(time_of "$strategy" "$pass") }")" \
            "${1:+   $1}"
        shift
        for kind in $kinds; do
            printf '    %-16s%s\n' "$kind" \
                "$(setting_of "$strategy" "$pass" "$kind")"
        done
    done
}

echo 'pattern 1, the forward pass   published'
pattern forward all_gather 'p2p 8 channels, 2 MB' '61 channels, 0.87' \
    '2 channels, 684 KB, 1.35'
echo
echo 'pattern 2, the backward pass  published'
pattern backward 'all_gather reduce_scatter' '8 channels, 2 MB' '' \
    'ReduceScatter 4 channels, 1366 KB, 1.43'
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
