# replay_plan.awk - from records to simulations.
#
# Writes to the folder `work`: N.yaml, one workload a machine and number of
# ranks, with an op rROW.ALGORITHM.PROTOCOL for each candidate of each row; jobs, a line for each N;
# rows, what the tables need; skipped, what was left out and why.

BEGIN {
    FS = ","
    OFS = "\t"
    while ((getline line < machines) > 0) {
        split(line, part, "\t")
        form[part[1]] = part[2]
    }
    split(fitted, part, " ")
    for (i in part) is_fitted[part[i]] = 1
    read_choices(kinds, "kind")
    read_choices(algorithms, "algorithm")
    read_choices(protocols, "protocol")
    count = split(pairs, line_of, "\n")
    for (i = 1; i <= count; i++) {
        if (line_of[i] !~ /^(#|$)/) pair[++pair_count] = line_of[i]
    }
}

function read_choices(list, key,    i, n, word) {
    n = split(list, word, " ")
    for (i = 1; i <= n; i++) known[key, word[i]] = 1
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
    return value == "" || value == "-" ? "" : ", " name ": " value unit
}

# A job for the row's machine and ranks; made at its first row.
function job_of(topology,    id, per_node, node, gpu, used, ranks) {
    id = topology SUBSEP $3 SUBSEP $4
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
    print job_count, topology, $3, used < per_node ? "all" : "folded" \
        > (work "/jobs")
    return job_count
}

function add_op(id, settings) {
    print "  - {id: " id ", kind: " kind ", size: " $7 " B, stream: s" \
        key("group", group[number]) settings "}" > file[number]
}

# Says whether a pair may carry this row.
function allowed(part, topology) {
    return (part[3] == "ring5" ? index(" " rings " ", " " kind " ") > 0 \
                               : part[3] == kind) &&
        (part[4] == "any" || (part[4] == "one") == ($3 == 1)) &&
        form[topology] ~ part[5] && (part[1] !~ /^nvls/ || $4 / $3 > 2) &&
        ($14 == "" || $14 == part[1]) && ($15 == "" || $15 == part[2]) &&
        (only == "" || index("+" only "+", "+" part[1] "/" part[2] "+")) &&
        ("algorithm", part[1]) in known && ("protocol", part[2]) in known
}

# The ops of a row; returns how many.
function add_ops(topology,    i, n, part, chunk, channels) {
    chunk = note("chunk_bytes")
    only = note("only")
    for (i = 1; i <= pair_count; i++) {
        split_pair(pair[i], part)
        if (!allowed(part, topology)) continue
        channels = $11 != "" ? $11 : part[8]
        add_op("r" row "." part[1] "." part[2], key("algorithm", part[1]) \
            key("protocol", part[2]) key("channels", channels) \
            key("threads", $12 != "" ? $12 : part[6]) \
            (chunk != "" ? key("chunk", chunk, " B") : key("chunk", part[7])) \
            key("transport", note("transport")))
        n++
    }
    return n
}

# Words of a pair; a chunk is two words, as "32 KiB", or "-".
function split_pair(text, part,    n, word, i) {
    n = split(text, word, " ")
    for (i = 1; i <= 7; i++) part[i] = word[i]
    part[8] = word[n]
    if (n == 9) part[7] = word[7] " " word[8]
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
    if (!(("kind", kind) in known)) {
        skip("kind " kind " unknown to the program")
        next
    }
    number = job_of(topology)
    row++
    candidates = add_ops(topology)
    if (candidates == 0) {
        skip($14 " " $15 " unknown to the program")
        next
    }
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
