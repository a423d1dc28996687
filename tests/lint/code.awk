# Prints the code of C files as FILE:LINE:text, without comments and with empty
# strings, so that checks do not stumble over words.
FNR == 1 { inside = 0 }

{
    text = $0
    out = ""
    while (text != "") {
        if (inside) {
            end = index(text, "*/")
            if (end == 0)
                break
            text = substr(text, end + 2)
            inside = 0
        } else if (match(text, /^"([^"\\]|\\.)*"/)) {
            out = out "\"\""
            text = substr(text, RLENGTH + 1)
        } else if (match(text, /^'([^'\\]|\\.)+'/)) {
            out = out "' '"
            text = substr(text, RLENGTH + 1)
        } else if (text ~ /^\/\//) {
            break
        } else if (text ~ /^\/\*/) {
            inside = 1
            text = substr(text, 3)
        } else {
            match(text, /^(\/|[^\/"']+|.)/)
            out = out substr(text, 1, RLENGTH)
            text = substr(text, RLENGTH + 1)
        }
    }
    if (out ~ /[^ \t]/)
        printf "%s:%d:%s\n", FILENAME, FNR, out
}
