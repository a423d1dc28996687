#!/usr/bin/env bash
# figure3.sh - Lagom's figure 3 (arXiv 2602.20656, section 3.2) as CSV: times of
# computation and communication of workloads/figure-3.yaml, swept over channels
# and chunk. What the paper says of its curves stands before each sweep.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C
lagom=${BUILD_DIR:-build/release}/lagom

# point SWEEP CHANNELS CHUNK-KiB
point() {
    "$lagom" run -t lagom-b-1node -w figure-3 --format csv \
        --set "ops[0].channels=$2" --set "ops[0].chunk=$3 KiB" |
        awk -F, -v row="$1,$2,$3" '
            FNR > 1 && $3 == "comm" { comm = $6 - $5 }
            FNR > 1 && $3 == "compute" { compute += $6 - $5 }
            END { printf "%s,%.1f,%.1f\n", row, compute, comm }'
}

cat <<'TEXT'
# 8 A40 over PCIe, NT = 128, an AllReduce of 32 MB beside a feed-forward network.
# Published: larger NC or C first shorten communication, then flatten or slightly
# worsen it, and lengthen computation throughout; beyond NC = 8 computation
# suffers strongly for little gain of communication.
sweep,channels,chunk_kib,computation_us,communication_us
# (a) NC and C together
TEXT
for i in 1 2 4 8 16 32; do
    point both "$i" "$((4 * i))"
done
echo '# (b) NC at C = 16 KB; published: 32 against 16 channels, computation 30.2 % longer,'
echo '# communication almost equal'
for i in 1 2 4 8 16 32; do
    point channels "$i" 16
done
echo '# (c) C at NC = 4'
for i in 4 8 16 32 64 128 256 512 1024 2048; do
    point chunk 4 "$i"
done
