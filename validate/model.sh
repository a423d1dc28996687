#!/usr/bin/env bash
# model.sh - how near Lagom's cost model (model/window_cost.h) comes to the
# simulator: every shipped workload that is a model's, on clusters A and B, the
# large ones on 64 H100. Built by `make validate`.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C

large='llama-3-70b gpt-3-175b deepseek-v3-ep'
small=$(grep -l '^model:' workloads/*.yaml | sed -E 's|.*/(.*)\.yaml|\1|' |
    grep -vxF "${large// /$'\n'}" | paste -sd,)
"${BUILD_DIR:-build/release}/validate/model" \
    lagom-a-1node,lagom-a,lagom-b-1node,lagom-b "$small" \
    dgx-h100:nodes=8 "${large// /,}"
