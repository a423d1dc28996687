# replay_plan.awk - from records to simulations.
#
# Writes to the folder `work`: N.yaml, one workload a machine, NCCL version and
# number of ranks, with an op rROW for each row; jobs, a line for each N; rows,
# what the tables need; skipped, what was left out and why.

BEGIN {
    FS = ","
    OFS = "\t"
    while ((getline line < machines) > 0) {
        split(line, part, "\t")
        form[part[1]] = part[2]
    }
    split(fitted, part, " ")
    for (i in part) is_fitted[part[i]] = 1
}

# The value of NAME=VALUE in a row's notes, or "".
function note(name) {
    return match($16, name "=[^ ;]+") \
        ? substr($16, RSTART + length(name) + 1, RLENGTH - length(name) - 1) : ""
}

function skip(reason) {
    skipped[reason]++
}

function key(name, value, unit) {
    return value == "" ? "" : ", " name ": " value unit
}

# The version whose rules are nearest to those of the row's: most changes came
# with 2.22. "" where the row does not say.
function version_of(text,    part) {
    if (text == "") return ""
    split(text, part, ".")
    return part[1] > 2 || part[2] >= 22 ? "2.30" : "2.18"
}

# A job for the row's machine and ranks; made at its first row.
function job_of(topology,    id, per_node, node, gpu, used, ranks, version) {
    version = version_of($5)
    id = topology SUBSEP $3 SUBSEP $4 SUBSEP version
    if (id in job) return job[id]
    job[id] = ++job_count
    per_node = form[topology]
    sub(/ .*/, "", per_node)
    sub(/.*x/, "", per_node)
    used = $4 / $3
    file[job_count] = work "/" job_count ".yaml"
    print "name: records" > file[job_count]
    if (used < per_node) {
        for (node = 0; node < $3; node++) {
            for (gpu = 0; gpu < used; gpu++) {
                ranks = ranks (ranks == "" ? "" : ", ") node * per_node + gpu
            }
        }
        print "groups: {part: [" ranks "]}" > file[job_count]
        group[job_count] = "part"
    }
    print "ops:" > file[job_count]
    print job_count, topology, $3, used < per_node ? "all" : "folded", version \
        > (work "/jobs")
    return job_count
}

FNR == 1 {
    set = FILENAME
    sub(/.*\//, "", set)
    sub(/\.csv$/, "", set)
    next
}

$7 < min {
    next
}

{
    topology = note("topology")
    kind = $6 == "alltoall" ? "all_to_all" : $6 == "sendrecv" ? "send_recv" : $6
    if (!(topology in form)) {
        skip("no topology " topology)
        next
    }
    number = job_of(topology)
    row++
    print "  - {id: r" row ", kind: " kind ", size: " $7 " B, stream: s" \
        key("group", group[number]) key("algorithm", $14) \
        key("protocol", $15) key("channels", $11) key("threads", $12) \
        key("chunk", note("chunk_bytes"), " B") \
        key("transport", note("transport")) "}" > file[number]
    gpu = form[topology]
    sub(/.*gpu:/, "", gpu)
    sub(/[ -].*/, "", gpu)
    name = set ~ /^autoccl/ ? $1 : set " " kind
    print row, name, gpu, $3 "x" $4 / $3, kind, $7, $8, (set in is_fitted || set ":" kind in is_fitted), \
        $11, $12, note("chunk_bytes") > (work "/rows")
}

END {
    for (reason in skipped) {
        print "left out: " skipped[reason] " rows, " reason > (work "/skipped")
    }
    if (row == 0) print "no row" > (work "/skipped")
    printf "" > (work "/skipped")
}
