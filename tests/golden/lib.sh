#!/usr/bin/env bash
# lib.sh - words for the cmd files beside it; each begins with
#   . tests/golden/lib.sh
# A test that makes files then works in "$T", so that they have short names.

# try WORD...: the command as typed, all that it prints, its exit status.
try() {
    local status=0 word
    printf '$ lagom'
    for word in "$@"; do
        case $word in
        *[!a-zA-Z0-9_.,:=/+-]*) word="'$word'" ;;
        esac
        printf ' %s' "$word"
    done
    echo
    timeout 60 lagom "$@" 2>&1 || status=$?
    echo "[$status]"
}

# brief TEXT WORD...: the same, but only TEXT and the first line that comes out.
brief() {
    local text=$1 status=0
    shift
    timeout 60 lagom "$@" >"$T/brief" 2>&1 || status=$?
    printf '%s [%s] %s\n' "$text" "$status" "$(head -n 1 "$T/brief")"
}

# holds TEXT COMMAND...: whether the command succeeds, for what must be true
# however the words and numbers around it change.
holds() {
    local text=$1
    shift
    if "$@" >/dev/null 2>&1; then
        echo "yes: $text"
    else
        echo "NO:  $text"
    fi
}

# workload / topology: a file of that name from standard input.
workload() { cat >"$T/w.yaml"; }
topology() { cat >"$T/t.yaml"; }

# A run whose numbers can be derived by hand: one GPU, 1000 GB/s of HBM.
# shellcheck disable=SC2034  # for the cmd files
by_hand=(-t '1x1 gpu:a40' --set gpu.hbm.rate=1000GB/s --set gpu.hbm.achieved=1
    --set gpu.launch.latency=2us)
