#!/bin/sh
# Checks that includes run one way through the rooms (see lib/README.md).
#   sh cmake/check_includes.sh SOURCE_DIR
# Reads cmake/rooms.txt; prints each offending include and exits 1 if there is
# one.
set -eu
cd "$1"

{
  sed -e 's/#.*//' -e '/^[[:space:]]*$/d' -e 's/^/T /' cmake/rooms.txt
  grep -rnE '^[[:space:]]*#[[:space:]]*include' include lib capi examples \
    --include='*.h' --include='*.cc' --include='*.c' 2>/dev/null |
    sed -e 's/^/I /'
} | awk '
  function fail(place, text) { print place ": " text; bad = 1 }
  # The room of a file of the tree, or "" for a header from outside.
  function room_of(path,   parts) {
    if (path ~ /^include\/lmsimbench\//) {
      sub(/^include\/lmsimbench\//, "", path)
      return (path in header_room) ? header_room[path] : "unlisted"
    }
    split(path, parts, "/")
    if (parts[1] == "lib") return parts[2]
    if (parts[1] == "capi" || parts[1] == "examples") return parts[1]
    return ""
  }
  $1 == "T" && $2 == "room" { known[$3] = 1; for (i = 4; i <= NF; ++i) may[$3, $i] = 1; may[$3, $3] = 1; next }
  $1 == "T" && $2 == "headers" { for (i = 4; i <= NF; ++i) header_room[$i] = $3; next }
  $1 == "I" {
    line = substr($0, 3)
    match(line, /^[^:]*:[^:]*/)
    place = substr(line, RSTART, RLENGTH)
    file = place; sub(/:.*/, "", file)
    rest = substr(line, RLENGTH + 2)
    if (!match(rest, /["<][^">]*[">]/)) next
    target = substr(rest, RSTART + 1, RLENGTH - 2)
    from = room_of(file)
    if (from == "unlisted") { fail(place, "cmake/rooms.txt gives this header no room"); next }
    if (target ~ /^lmsimbench\// && target != "lmsimbench/c.h") {
      public_name = target; sub(/^lmsimbench\//, "", public_name)
      to = room_of("include/lmsimbench/" public_name)
      if (to == "unlisted") { if (from != "examples") fail(place, "cmake/rooms.txt gives " target " no room"); next }
    } else if (target ~ /^lib\//) {
      if (file ~ /^include\//) { fail(place, "a public header includes " target); next }
      if (from == "examples") { fail(place, "an example includes " target ", which is not public"); next }
      to = room_of(target)
    } else {
      if (file ~ /^include\// && target ~ /^(Eigen|fmt|flatbuffers|nlohmann|catch2)\// && file !~ /\/(fmt|testing_catch2)\.h$/)
        fail(place, "a public header includes " target)
      next
    }
    if (!(from in known)) { fail(place, "cmake/rooms.txt does not know the room " from); next }
    if (!((from, to) in may)) fail(place, "room " from " includes " target " of room " to)
    ++checked
  }
  END {
    if (checked == 0) { print "no include was checked"; bad = 1 }
    exit bad
  }
'
