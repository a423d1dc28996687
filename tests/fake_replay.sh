#!/usr/bin/env bash
# fake_replay.sh - takes lagom-replay's words and answers as it does, but from a
# machine that is simulated: the one that is asked for, or with the --set of
# each line of $FAKE_MACHINE. Times scatter by $FAKE_NOISE, a relative deviation,
# drawn by the plan. $FAKE_LOG gets a line for each measurement: the words, and
# the plan's settings.
set -euo pipefail
words=("$@")
plan='' out='' ops=false input=()
while [ $# -gt 0 ]; do
    case $1 in
    -t | -w | --set)
        input+=("$1" "$2")
        shift 2
        ;;
    --plan)
        plan=$2
        shift 2
        ;;
    --mode | --repeats) shift 2 ;;
    -o)
        out=$2
        shift 2
        ;;
    --ops)
        ops=true
        shift
        ;;
    *)
        echo "fake: what is $1?" >&2
        exit 2
        ;;
    esac
done
$ops && [ -n "$out" ] || exit 2
while read -r set; do
    [ -z "$set" ] || input+=(--set "$set")
done <<<"${FAKE_MACHINE:-}"
if [ -n "${FAKE_LOG:-}" ]; then
    printf '%s | %s\n' "${words[*]:0:${#words[@]}}" \
        "$(grep -oE 'algorithm.*' "$plan" | tr '\n' ';')" >>"$FAKE_LOG"
fi
lagom run "${input[@]}" --plan "$plan" --format json | jq -r '
    "op,stream,start_us,end_us,spread_us",
    (.ops[] | select(.rank == 0) | [.id, .stream, .start_us, .end_us, 0.5] | @csv),
    "iteration,,0,\(.iteration_us),0.7"' |
    awk -F, -v OFS=, -v noise="${FAKE_NOISE:-0}" \
        -v seed="$(cksum <"$plan" | cut -d' ' -f1)" '
        BEGIN {
            srand(seed)
            factor = 1 + noise * sqrt(-2 * log(rand())) * cos(6.28318 * rand())
        }
        NR > 1 && noise > 0 {
            $3 = sprintf("%.6f", $3 * factor)
            $4 = sprintf("%.6f", $4 * factor)
        }
        {print}' >"$out"
