#!/usr/bin/env bash
# bench.sh - how fast the program is: job, median time, memory, aim. Whole
# processes are timed, reading of files included. Nothing is asserted: machines
# differ and are noisy.
set -euo pipefail
cd "$(dirname "$0")/../.."
dir=${BUILD_DIR:-build/release}
lagom=$dir/lagom
work=$dir/bench
mkdir -p "$work"
${CC:-cc} -std=c11 -D_GNU_SOURCE -O2 -o "$work/measure" tests/bench/measure.c

row() {
    local job=$1 aim=$2 runs=$3 ms mb
    shift 3
    read -r ms mb < <("$work/measure" "$runs" "$@")
    printf '%-58s %10s ms %7s MB   %s\n' "$job" "$ms" "$mb" "$aim"
}

# A kernel of N tiles beside a collective that comes in the middle of it.
waves() {
    local file=$work/waves-$1.yaml
    cat >"$file" <<YAML
name: waves-$1
ops:
  - {id: g, kind: kernel, ctas: $1, flops: $1 GFLOP, hbm: $1 MB}
  - {id: a, kind: all_gather, size: 64 MiB, start: 1 ms, algorithm: ring, protocol: simple, transport: p2p, channels: 8, threads: 512, chunk: 2 MiB}
YAML
    echo "$file"
}

printf '%-58s %13s %10s   %s\n' job median 'peak' aim
row 'start and help' '' 21 "$lagom" --help
row 'one folded iteration, Llama-3-8B FSDP, 2x8 A40' '1 ms, 20 MB' 21 \
    "$lagom" run -t lagom-a -w llama-3-8b-fsdp --format csv
row 'the same, all 16 ranks' '30 ms' 11 \
    "$lagom" run -t lagom-a -w llama-3-8b-fsdp --format csv --ranks all
row 'one folded iteration on 131,072 GPUs' '10 ms' 11 \
    "$lagom" run -w llama-3-8b-fsdp --format csv \
    -t '16384x8 gpu:h100 nvswitch pcie:5 nic:8x400Gbit/s'
row 'tune --strategy lagom, Phi-2 FSDP, one node' '100 ms' 11 \
    "$lagom" tune -q -t lagom-a-1node -w phi-2-fsdp -s lagom
row 'tune --strategy autoccl, the same' '' 5 \
    "$lagom" tune -q -t lagom-a-1node -w phi-2-fsdp -s autoccl
row 'tune --strategy lagom+, the same' '' 5 \
    "$lagom" tune -q -t lagom-a-1node -w phi-2-fsdp -s lagom+
row 'compare nccl, autoccl, lagom: the 12 FSDP rows' '10 s' 1 \
    "$lagom" compare -q --published -w phi-2-fsdp -w llama-3-8b-fsdp \
    -w mpt-7b-fsdp --strategies nccl,autoccl,lagom
row 'one iteration of Llama-3-70B, TP 8 x PP 4 x DP 2, 64 H100' '' 5 \
    "$lagom" run -t dgx-h100 --set nodes=8 -w llama-3-70b --format csv
row 'validate: all shipped records' '' 5 "$lagom" validate -q
row "calibrate: ABCI's A100 records, one thread" '' 3 \
    "$lagom" calibrate -q -j 1 abci-a100
for tiles in 1000 100000 10000000; do
    row "a kernel of $tiles CTAs beside an AllGather" 'no growth' 11 \
        "$lagom" run -t lagom-a-1node -w "$(waves $tiles)" --format csv
done
