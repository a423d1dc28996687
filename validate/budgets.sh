#!/usr/bin/env bash
# budgets.sh [LAGOM-VALIDATE'S ARGUMENTS] - the accuracies of today as a file of
# budgets, for `lagom validate --budget`: each a twentieth, and then up to a
# point, above what is reached; correlations 0.02 below.
#
#     validate/budgets.sh >tests/accuracy.yaml
set -euo pipefail
cd "$(dirname "$0")/.."
lagom=${BUILD_DIR:-build/release}/lagom

cat <<'TEXT'
# What `make validate` lets no accuracy of the shipped records exceed. Tighten a
# line when it is far from reached; loosen one only with the reason in the
# commit. validate/budgets.sh writes this file anew.
TEXT
"$lagom" validate --format json "$@" | jq -r '
    def most: . * 105 | ceil | "\(.)%";
    def least: (. - 0.02) * 100 | floor / 100;
    def limits: ", median: \(.median_error | most), p95: \(.p95_error | most)",
        ", worst: \(.worst_error | most)",
        if .spearman == null or .spearman <= 0.02 then "" else ", spearman: \(.spearman | least)" end,
        if .kendall == null or .kendall <= 0.02 then "" else ", kendall: \(.kendall | least)" end;
    def row(name): "  - {" + name + ([limits] | join("")) + "}";
    "budgets:",
    (.sets[] | row("set: " + (.records | tojson))),
    (.gpus[] | row("gpu: " + .gpu)),
    (.others | row("others: true")),
    (.all | row("all: true"))'
