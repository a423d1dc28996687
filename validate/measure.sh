#!/usr/bin/env bash
# measure.sh [measure] [fit] - measure this machine's GPU and fit the numbers of
# its file in topologies/gpu to what was measured; without words both.
#
# measure, a few minutes of a GPU: build lagom-replay, where that can be done;
#   self-test; the lists of validate/replay/sweeps: GEMMs,
#   ring steps, both side by side, memory, L2, and points held out. Results are
#   $MEASURED/GPU-LIST.csv (build/measured).
# fit, no GPU: lagom calibrate on them, into $MEASURED/GPU.params.yaml, and lagom
#   validate on the held-out points, before and after.
#
# LAGOM_REPLAY and LAGOM name other programs. REPEATS: measurements behind each
# time (20). Exit status 5: no GPU.
set -euo pipefail
cd "$(dirname "$0")/.."

measured=${MEASURED:-build/measured}
lists=(gemm ring-step overlap hbm l2 held-out)
build=${BUILD_DIR:-build/release}

fail() {
    echo "measure: $2" >&2
    exit "$1"
}

# A tool's own words go to the log, which ends on the terminal when it fails.
quietly() {
    "$@" >"$measured/log" 2>&1 || {
        status=$?
        cat "$measured/log" >&2
        return $status
    }
}

# Folders of CUDA's libraries as Python's packages have them, for machines where
# the toolkit has none.
python_libraries() {
    python3 - 2>/dev/null <<'PY' || true
import glob, sys
print(":".join(d for p in sys.path for d in glob.glob(p + "/nvidia/*/lib")))
PY
}

# Built anew where our packages are; else as it was brought here (make replay
# STATIC=1 makes one that needs none of them).
find_replay() {
    replay=${LAGOM_REPLAY:-$build/lagom-replay}
    if [ -z "${LAGOM_REPLAY-}" ] &&
        { [ ! -x "$replay" ] || pkg-config --exists gsl yaml-0.1 2>/dev/null; }; then
        quietly make replay || [ -x "$replay" ] ||
            fail 1 'lagom-replay cannot be built here'
    fi
    [ -x "$replay" ] || fail 5 "no lagom-replay: $(
        sed -n 's/^replay: skipped: //p' "$measured/log"
    )"
    if ! "$replay" --version >/dev/null 2>&1; then
        LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$(python_libraries)
        export LD_LIBRARY_PATH
    fi
}

# What the GPU is called: of its file, else of the product.
find_gpu() {
    "$replay" --describe >"$measured/description.txt" ||
        fail $? 'there is nothing to measure'
    gpu=$(sed -n 's/^gpu: *//p' "$measured/description.txt")
    [ -n "$gpu" ] || fail 1 "no file in topologies/gpu lists this GPU ($(
        sed -n 's/^device_id: *//p' "$measured/description.txt"
    )): write one like the nearest, with its device_ids"
}

# One GPU is measured: the first that the user lets us see.
measure() {
    local list result
    export CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES-0}
    CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES%%,*}
    find_replay
    find_gpu
    mv "$measured/description.txt" "$measured/$gpu-description.txt"
    echo "self-test"
    "$replay" --self-test || fail $? 'the self-test failed: nothing was measured'
    for list in "${lists[@]}"; do
        SECONDS=0
        result=$measured/$gpu-$list.csv # whole, or not there
        rm -f "$result"
        "$replay" -t "1x1 gpu:$gpu" -w "validate/replay/sweeps/$list.yaml" \
            -m sweep -r "${REPEATS:-20}" -o "$result.part" ||
            fail $? "$list: not finished"
        mv "$result.part" "$result"
        echo "$list: $(($(wc -l <"$result") - 1)) rows, $SECONDS s"
    done
}

# The GPU that was measured last.
find_measured() {
    local newest='' file
    for file in "$measured"/*-held-out.csv; do
        if [ -e "$file" ] && { [ -z "$newest" ] || [ "$file" -nt "$newest" ]; }; then
            newest=$file
        fi
    done
    [ -n "$newest" ] || fail 1 "nothing was measured yet: no $measured/GPU-held-out.csv"
    gpu=$(basename "$newest" -held-out.csv)
}

fit() {
    local lagom=${LAGOM:-$build/lagom} records=() list params
    [ -n "$gpu" ] || find_measured
    params=$measured/$gpu.params.yaml
    [ -n "${LAGOM-}" ] || quietly make all || [ -x "$lagom" ] ||
        fail 1 "lagom cannot be built here: take $measured to where it can, and run validate/measure.sh fit"
    for list in gemm ring-step overlap hbm; do
        records+=("$measured/$gpu-$list.csv")
    done
    "$lagom" calibrate "${records[@]}" -t "1x1 gpu:$gpu" \
        --hold-out-file "$measured/$gpu-held-out.csv" \
        --name "$gpu" -o "$params"
    echo
    echo 'held-out points, before'
    "$lagom" validate "$measured/$gpu-held-out.csv"
    echo
    echo 'held-out points, after'
    "$lagom" validate "$measured/$gpu-held-out.csv" --params "$params"
}

advise() {
    cat <<END

To keep it: cp $measured/$gpu-*.csv validate/records/, but for $gpu-l2.csv, a curve;
say in validate/records/README.md where and when; take the numbers of
$measured/$gpu.params.yaml over into topologies/gpu/$gpu.yaml, as {from: fitted}.
END
}

mkdir -p "$measured"
[ $# -gt 0 ] || set -- measure fit
gpu=
for word in "$@"; do
    case $word in
    measure | fit) ;;
    *) fail 2 "no such part: $word (write measure, fit or nothing)" ;;
    esac
done
for word in "$@"; do
    "$word"
done
case " $* " in *' fit '*) advise ;; esac
