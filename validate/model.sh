#!/usr/bin/env bash
# model.sh - how near Lagom's cost model (model/window_cost.h) comes to the
# simulator: clusters A and B, every shipped workload that is a model's.
# Built by `make validate`.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C
workloads=$(grep -l '^model:' workloads/*.yaml | sed -E 's|.*/(.*)\.yaml|\1|' |
    paste -sd,)
"${BUILD_DIR:-build/release}/validate/model" \
    lagom-a-1node,lagom-a,lagom-b-1node,lagom-b "$workloads"
