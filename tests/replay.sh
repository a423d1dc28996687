#!/usr/bin/env bash
# replay.sh - the accuracy table: each record of validate/records is simulated
# with the settings it was measured with, and the bandwidths are compared.
set -euo pipefail
cd "$(dirname "$0")/.."
lagom=${BUILD_DIR:-build/release}/lagom
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# One record: print "SOURCE MEASURED PREDICTED" in GB/s.
replay() {
    local source=$1 kind=$2 size=$3 measured=$4 channels=$5 threads=$6 notes=$7
    local topology transport chunk predicted
    topology=$(sed -E 's/.*topology=([^ ]*).*/\1/' <<<"$notes")
    transport=$(sed -E 's/.*transport=([^ ]*).*/\1/' <<<"$notes")
    chunk=$(sed -E 's/.*chunk_bytes=([0-9]*).*/\1/' <<<"$notes")
    cat >"$work/one.yaml" <<YAML
name: one
ops:
  - {id: a, kind: $kind, size: $size B, algorithm: ring, protocol: simple, transport: $transport, channels: $channels, threads: $threads, chunk: $chunk B}
YAML
    predicted=$("$lagom" run -t "$topology" -w "$work/one.yaml" \
        --format json | sed -n 's/.*"algbw_GBps": \([0-9.]*\).*/\1/p')
    echo "$source,$measured,$predicted"
}

printf '%-34s %5s %8s %8s %8s\n' records rows median worst bias
for file in validate/records/*.csv; do
    tail -n +2 "$file" | while IFS=, read -r source _ _ _ _ kind size _ \
        measured _ channels threads _ _ _ notes; do
        replay "$source" "$kind" "$size" "$measured" "$channels" "$threads" \
            "$notes"
    done >"$work/pairs"
    awk -F, '{error = $3 / $2 - 1; size = error < 0 ? -error : error
              print $1 "," size "," error; print "all," size "," error}' \
        "$work/pairs" | sort -t, -k1,1 -k2,2g |
        awk -F, '
            function out() {
                if (n > 0) printf "%-34s %5d %7.1f%% %7.1f%% %+7.1f%%\n", name, n,
                    100 * (n % 2 ? e[(n + 1) / 2] : (e[n / 2] + e[n / 2 + 1]) / 2),
                    100 * e[n], 100 * sum / n
            }
            $1 != name {out(); name = $1; n = 0; sum = 0}
            {e[++n] = $2; sum += $3}
            END {out()}'
done
