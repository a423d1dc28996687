# replay_table.awk TIMES ROWS - how far predicted bandwidths are from measured.
#
# TIMES is what `lagom run --format csv` printed: ids as in replay_plan.awk, and
# in columns 5 and 6 start and end.
# The error of a row is predicted over measured bandwidth less 1: positive where
# the model is too fast.

BEGIN {
    FS = ","
}

FNR == NR {
    us[$1] = $6 - $5
    pick[$1] = $19 " " $20 " " $15 "x" $16
    next
}

FNR == 1 {
    FS = "\t"
    $0 = $0
}

{
    error = $7 / us["r" $1] - 1
    if (!($2 in seen)) {
        seen[$2] = 1
        names[++name_count] = $2
        is_fit[$2] = $8
        gpu_of[$2] = $3
    }
    add($2, error)
    shape[$2, $4] = 1
    if (!index(" " shapes[$2] " ", " " $4 " ")) shapes[$2] = shapes[$2] " " $4
    if ($8) {
        add("all fits", error)
    } else {
        add("gpu " $3, error)
        add("all predictions", error)
        if (!(("gpu " $3) in seen)) gpus[++gpu_count] = $3
        seen["gpu " $3] = 1
    }
    if (verbose) {
        printf "%-34s %-6s %12.0f %10.1f %10.1f %+7.1f%% %s\n", $2, $4, $6, $7,
            us["r" $1], 100 * error, pick["r" $1]
    }
}

function add(name, error) {
    errors[name, ++rows[name]] = error < 0 ? -error : error
    sum[name] += error
}

# Sorts the sizes of a group's errors in place.
function sort(name,    i, j, value) {
    for (i = 2; i <= rows[name]; i++) {
        value = errors[name, i]
        for (j = i - 1; j > 0 && errors[name, j] > value; j--) {
            errors[name, j + 1] = errors[name, j]
        }
        errors[name, j + 1] = value
    }
}

function median(name,    n) {
    n = rows[name]
    return n % 2 ? errors[name, (n + 1) / 2] \
        : (errors[name, n / 2] + errors[name, n / 2 + 1]) / 2
}

function print_line(name, label) {
    if (rows[name] == 0) return
    sort(name)
    printf "%-34s %5d %7.1f%% %7.1f%% %+7.1f%%%s\n", label, rows[name],
        100 * median(name), 100 * errors[name, rows[name]],
        100 * sum[name] / rows[name], name in shapes ? " " shapes[name] : ""
}

END {
    printf "%-34s %5s %8s %8s %8s  %s\n", "records", "rows", "median",
        "worst", "bias", "nodes x GPUs"
    for (i = 1; i <= name_count; i++) {
        name = names[i]
        print_line(name, name (is_fit[name] ? " *" : ""))
        if (!is_fit[name]) add_median(median(name))
    }
    print ""
    for (i = 1; i <= gpu_count; i++) print_line("gpu " gpus[i], gpus[i])
    print_line("all fits", "all of the fit *")
    print_line("all predictions", "all others")
    if (rows["medians"] == 0) exit
    sort("medians")
    printf "%-34s %5d %7.1f%%\n", "median of the others' medians",
        rows["medians"], 100 * median("medians")
}

function add_median(value) {
    errors["medians", ++rows["medians"]] = value
}
