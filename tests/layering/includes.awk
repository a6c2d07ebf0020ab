# Reads sources, prints the includes that rules.txt (variable `rules`) does not allow. Every file is read in one run.
BEGIN {
    while ((getline line < rules) > 0) {
        count = split(line, word, " ")
        if (word[1] == "package") {
            package_names[++packages] = word[2]
            package_pattern[packages] = word[3]
        } else if (word[1] == "not_in_cuda") {
            for (i = 2; i <= count; ++i) not_in_cuda[word[i]] = 1
        } else if (word[1] == "room") {
            split(substr(line, 6), part, ":")
            room_name[++room_count] = part[1]
            pattern = part[1]
            gsub(/\*/, "[^/]+", pattern)
            room_pattern[room_count] = "^" pattern "/"
            room_own[room_count] = part[2]
            room_packages[room_count] = part[3]
        }
    }
    if (room_count == 0) print rules ": no rule was read"
}

FNR == 1 {
    file = FILENAME
    room = 0
    for (i = 1; i <= room_count; ++i) {
        if (file ~ room_pattern[i]) room = i
    }
    if (room == 0) print file ": no room has this file"
    folder = file
    if (room) {
        match(file, room_pattern[room])
        folder = substr(file, 1, RLENGTH - 1)
    }
}

/^[ \t]*#[ \t]*(include|import|include_next)/ {
    text = $0
    sub(/^[ \t]*#[ \t]*(include_next|include|import)[ \t]*/, "", text)
    if (text !~ /^(<[^>]+>|"[^"]+")/) {
        print file ":" FNR ": writes an include that this test cannot read: " $0
        next
    }
    quoted = substr(text, 1, 1) == "\""
    header = substr(text, 2)
    sub(/[>"].*/, "", header)
    check(header, quoted)
}

END {
    for (f in seen_cuda) follow(f)
}

# Whether `header` is the folder or file `place`, or lies in it.
function lies_in(header, place) {
    return header == place || index(header, place "/") == 1
}

# The folder that a word of a rule names, from the folder of the file.
function place_of(word,    parent) {
    if (word == ".") return folder
    if (word !~ /^\.\.\//) return word
    parent = folder
    sub(/\/[^\/]+$/, "", parent)
    return parent substr(word, 3)
}

function check(header, quoted,    i, n, own, allowed, package) {
    if (file ~ /\.cuh?$/) seen_cuda[file] = 1
    if (header ~ /^(core|kernels|tuner|profiles|tools|tests|examples|gnntune)\//) {
        edges[file] = edges[file] " " header
        n = split(room_own[room], own, " ")
        for (i = 1; i <= n; ++i) {
            if (lies_in(header, place_of(own[i]))) return
        }
        print file ":" FNR ": " room_name[room] " may not include " header
        return
    }
    if (quoted) {
        print file ":" FNR ": \"" header "\" does not start at the source root"
        return
    }
    package = package_of(header)
    if (package == "") {
        print file ":" FNR ": <" header "> belongs to no package in tests/layering/rules.txt"
        return
    }
    if (package == "free") return
    uses[file] = uses[file] " " package
    n = split(room_packages[room], allowed, " ")
    for (i = 1; i <= n; ++i) {
        if (allowed[i] == package) return
    }
    print file ":" FNR ": " room_name[room] " may not use " package " (<" header ">)"
}

# "free" for the standard library.
function package_of(header,    i) {
    if (header ~ /^[a-z_0-9]+$/) return "free"
    for (i = 1; i <= packages; ++i) {
        if (header ~ package_pattern[i]) {
            if (package_names[i] == "c") return "free"
            # The public headers and the examples are for every system that has a C or C++ compiler.
            if (package_names[i] == "posix" && file !~ /^(core\/include|examples)\//) return "free"
            return package_names[i]
        }
    }
    return ""
}

# Walks all headers that the CUDA source `start` reaches.
function follow(start,    queue, head, tail, reached, at, n, i, next_header, used, from) {
    queue[1] = start
    head = tail = 1
    reached[start] = 1
    while (head <= tail) {
        at = queue[head++]
        n = split(uses[at], used, " ")
        for (i = 1; i <= n; ++i) {
            if (used[i] in not_in_cuda) {
                print start ": CUDA code reaches " used[i] (at == start ? "" : " through " at)
            }
        }
        n = split(edges[at], next_header, " ")
        for (i = 1; i <= n; ++i) {
            if (next_header[i] in reached) continue
            reached[next_header[i]] = 1
            queue[++tail] = next_header[i]
        }
    }
}
