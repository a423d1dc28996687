#!/usr/bin/env bash
# replay.sh - build/lagom-replay itself, where `make replay` has built it: what
# it does of which no test with a fake GPU can tell. Prints TAP.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

replay=build/lagom-replay
if [ ! -x $replay ]; then
    echo '1..0 # SKIP no lagom-replay: make replay builds it where nvcc is'
    echo '0 passed, 0 failed'
    exit 0
fi
number=0
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# check TEXT STATUS PATTERN WORD...: how it ends, and a line that it prints.
check() {
    local text=$1 expected=$2 pattern=$3 status=0 word=ok
    shift 3
    timeout 120 $replay "$@" >"$work/out" 2>&1 </dev/null || status=$?
    number=$((number + 1))
    if [ $status -ne "$expected" ] || ! grep -q -- "$pattern" "$work/out"; then
        word='not ok'
        failed=$((failed + 1))
        sed 's/^/# /' "$work/out"
    fi
    echo "$word $number - $text"
}

pair=(-t '1x1 gpu:h200' -w validate/replay/sweeps/overlap.yaml -m sweep)
check 'help' 0 '^usage: lagom-replay' --help
check 'an option misspelt' 2 'did you mean "--mode"' --moed alone
check 'a file that is not there' 1 'no file' -t '1x1 gpu:h200' -w "$work/none"
if [ -e /dev/nvidiactl ]; then
    check 'the self-test' 0 '^ok 1' --self-test
else
    check 'no GPU' 5 '^lagom-replay: error: no CUDA device' "${pair[@]}"
    check 'no GPU to describe' 5 'no CUDA device' --describe
fi
echo "1..$number"
echo "$((number - failed)) passed, $failed failed"
[ $failed -eq 0 ]
