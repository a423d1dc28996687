#!/usr/bin/env bash
# install.sh - what `make install` puts somewhere works from there: the program
# finds its data, a program that uses the library builds and says the same, and
# uninstall leaves no file. Ends with the line "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/.."
source=$PWD/tests/install/use.c
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
make install DESTDIR="$root"
export PATH=$root/usr/local/bin:$PATH
export PKG_CONFIG_PATH=$root/usr/local/lib/pkgconfig

passed=0
failed=0
holds() {
    if "${@:2}"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "NO: $1"
    fi
}

# Nowhere near the source, with no word of where the data are.
elsewhere() { (cd "$root" && env -u LAGOM_DATA "$@"); }
explains() {
    case $(elsewhere lagom explain -t dgx-h100 -w phi-2-fsdp --nccl "$1") in
    "NCCL $1".*) ;;
    *) return 1 ;;
    esac
}
# lagom.pc names places below /; data are looked for there, too.
builds() {
    # shellcheck disable=SC2046  # flags are words
    cc -std=c11 "$source" -o "$root/use" $(PKG_CONFIG_SYSROOT_DIR=$root \
        pkg-config --cflags --libs lagom)
}
same() {
    local ours theirs
    ours=$(elsewhere lagom run -t "$1" -w "$2" --nccl "$3" --format json |
        sed -nE 's/.*"iteration_us": *([0-9.]+).*/\1/p')
    theirs=$(LAGOM_DATA=$root/usr/local/share/lagom "$root/use" "$@")
    echo "$*: $ours, $theirs us"
    awk "BEGIN { exit !($ours > 0 && ($ours - $theirs) ^ 2 < 1e-4) }"
}
validates() {
    case $(elsewhere lagom validate gcm-a100) in
    *"gcm-a100 all_reduce "*) ;;
    *) return 1 ;;
    esac
}
# Each header by itself, from where it was put.
stand_alone() {
    local folder=$root/usr/local/include/lagom header good=true
    local -a flags
    read -r -a flags <<<"$(pkg-config --cflags gsl yaml-0.1 jansson expat)"
    while read -r header; do
        cc -std=c11 -D_GNU_SOURCE -fsyntax-only "-I$folder" "${flags[@]}" \
            -x c "$header" || good=false
    done < <(find "$folder" -name '*.h')
    $good
}
gone() {
    make uninstall DESTDIR="$root" && rm -f "$root/use" &&
        [ -z "$(find "$root" -type f)" ]
}

holds 'the program finds NCCL 2.18' explains 2.18
holds 'the program finds NCCL 2.30' explains 2.30
holds 'it finds the shipped records' validates
holds 'a program that uses the library builds' builds
holds 'each header stands alone' stand_alone
holds 'it says the same' same dgx-h100 phi-2-fsdp 2.30
holds 'of a line, too' same '2x8 gpu:a100 nvswitch nic:8x200Gbit/s' \
    llama-3-8b-fsdp 2.18
holds 'uninstall leaves nothing' gone
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
