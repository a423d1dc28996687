# replay_peaks.awk TIMES ROWS - where each AutoCCL curve over channels (NC),
# threads (NT) or chunk (C) peaks, in measurement and model. A step is from one
# measured point to the next; the last column is what the measurement reaches at
# the model's peak, of its own.

BEGIN {
    FS = ","
}

FNR == NR {
    us[$1] = $6 - $5
    next
}

FNR == 1 {
    FS = "\t"
    $0 = $0
}

$2 ~ /figure 3 (NC|NT|C)$/ {
    axis = $2
    sub(/.* /, "", axis)
    curve = axis == "NC" ? "NT " $10 ", C " kib($11) \
        : axis == "NT" ? "NC " $9 ", C " kib($11) : "NC " $9 ", NT " $10
    curve = axis " at " curve
    if (!(curve in points)) curves[++curve_count] = curve
    n = ++points[curve]
    x[curve, n] = axis == "NC" ? $9 : axis == "NT" ? $10 : kib($11)
    measured[curve, n] = 1 / $7
    predicted[curve, n] = 1 / us["r" $1]
}

function kib(bytes) {
    return sprintf("%g KiB", bytes / 1024)
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
    printf "\n%-28s %9s %9s %6s %9s\n", "peak of AutoCCL's curve over",
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
