# Prints each include that goes up the layers: model < sim < search < validate.
BEGIN {
    allow["model"] = "model"
    allow["sim"] = "sim model"
    allow["search"] = "search sim model"
    allow["validate"] = "validate search sim model"
}

FNR == 1 {
    split(FILENAME, part, "/")
    me = part[1]
}

# It puts the program together, so it may include all.
FILENAME == "sim/main.c" { next }

match($0, /^[ \t]*#[ \t]*include[ \t]*"[^"\/]+\//) {
    folder = substr($0, RSTART, RLENGTH)
    sub(/.*"/, "", folder)
    sub(/\/$/, "", folder)
    # build/ holds what make generates, such as version.h: no layer.
    if (folder != "build" && (" " allow[me] " ") !~ (" " folder " ")) {
        printf "%s:%d: %s/ may not include %s/\n", FILENAME, FNR, me, folder
        bad = 1
    }
}

END { exit bad }
