# peaks.awk - where each AutoCCL curve over channels (NC), threads (NT) or chunk
# (C) peaks, in measurement and model:
#
#     lagom validate autoccl-a40-allgather --format csv | awk -f validate/peaks.awk
#
# A step is from one measured point to the next; the last column is what the
# measurement reaches at the model's peak, of its own.

BEGIN {
    FS = ","
}

NR == 1 {
    for (i = 1; i <= NF; i++) at[$i] = i
}

$at["set"] ~ /figure 3 (NC|NT|C)$/ {
    axis = $at["set"]
    sub(/.* /, "", axis)
    # "ring simple p2p 8x96 120 KiB"
    split($at["settings"], setting, " ")
    split(setting[4], grid, "x")
    chunk = setting[5] " " setting[6]
    curve = axis == "NC" ? "NT " grid[2] ", C " chunk \
        : axis == "NT" ? "NC " grid[1] ", C " chunk \
        : "NC " grid[1] ", NT " grid[2]
    curve = axis " at " curve
    if (!(curve in points)) curves[++curve_count] = curve
    n = ++points[curve]
    x[curve, n] = axis == "NC" ? grid[1] : axis == "NT" ? grid[2] : chunk
    measured[curve, n] = 1 / $at["measured_us"]
    predicted[curve, n] = 1 / $at["predicted_us"]
}

# The point of the largest value; the curves are in the order of the records.
function peak(value, curve,    i, best) {
    best = 1
    for (i = 2; i <= points[curve]; i++) {
        if (value[curve, i] > value[curve, best]) best = i
    }
    return best
}

END {
    if (curve_count == 0) exit
    printf "%-28s %9s %9s %6s %9s\n", "peak of AutoCCL's curve over",
        "measured", "model", "steps", "reached"
    for (i = 1; i <= curve_count; i++) {
        curve = curves[i]
        m = peak(measured, curve)
        p = peak(predicted, curve)
        printf "%-28s %9s %9s %+6d %8.1f%%\n", curve, x[curve, m],
            x[curve, p], p - m,
            100 * measured[curve, p] / measured[curve, m]
        near += (p - m) * (p - m) <= 1
    }
    printf "%d of %d within one step\n", near, curve_count
}
