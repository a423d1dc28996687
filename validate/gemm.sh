#!/usr/bin/env bash
# gemm.sh [-v] - how near the model comes to measured GEMMs, by shape: the rows
# of validate/records/gemm run alone, and the times are compared. A kernel's
# time, as traces have it, begins when it runs: no launch latency. Rows that
# gave a number to their GPU's file ("no test") are left out of `all`. -v prints
# each row.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C
lagom=${BUILD_DIR:-build/release}/lagom
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# All rows of a GPU as one workload, whose ops run one after another.
predict() {
    local gpu=$1
    {
        echo 'name: gemms'
        echo 'ops:'
        awk -F, -v gpu="$gpu" '$2 == gpu {
            printf "  - {id: r%d, kind: gemm, type: %s, m: %s, n: %s, k: %s, batch: %s}\n",
                NR, $3, $4, $5, $6, $7}' "$work/records"
    } >"$work/$gpu.yaml"
    "$lagom" run -t "1x1 gpu:$gpu" -w "$work/$gpu.yaml" --format csv \
        --set gpu.launch.latency=0us --set gpu.launch.interval=0us |
        awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) at[$i] = i}
            NR > 1 {print substr($at["id"], 2) "," $at["alone_us"]}'
}

tail -q -n +2 validate/records/gemm/*.csv >"$work/records"
cut -d, -f2 "$work/records" | sort -u | while read -r gpu; do
    predict "$gpu"
done | sort -t, -n >"$work/times"

# SOURCE,MEASURED,PREDICTED,SHAPE,NOTES
awk -F, 'NR == FNR {us[$1] = $2; next}
    {print $1 "," $8 "," us[FNR] "," $4 " x " $5 " x " $6 ($7 > 1 ? " x " $7 : "") "," $9}' \
    "$work/times" "$work/records" >"$work/pairs"

if [ "${1-}" = -v ]; then
    awk -F, '{printf "%-22s %-28s %10.2f us %10.2f us %+7.1f%%\n", $1, $4, $2, $3,
        100 * ($3 / $2 - 1)}' "$work/pairs"
fi
printf '\n%-34s %5s %8s %8s %8s\n' 'gemms (H100: a fit)' rows median worst bias
# Classes of a set by measured time; bias is positive where the model is slow.
awk -F, '
    function put(set) {print set "," (e < 0 ? -e : e) "," e}
    {e = $3 / $2 - 1
     put($1 ($2 > 50 ? ", above 50 us" : ", up to 50 us"))
     if ($2 > 50 && $5 !~ /no test/) put("all, above 50 us")}' "$work/pairs" |
    sort -t, -k1,1 -k2,2 -k3,3g |
    awk -F, '
        function out() {
            if (n > 0) printf "%-34s %5d %7.1f%% %7.1f%% %+7.1f%%\n", name, n,
                100 * (n % 2 ? e[(n + 1) / 2] : (e[n / 2] + e[n / 2 + 1]) / 2),
                100 * e[n], 100 * sum / n
        }
        {set = $1 "," $2}
        set != name {out(); name = set; n = 0; sum = 0}
        {e[++n] = $3; sum += $4}
        END {out()}'
