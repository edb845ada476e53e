#!/bin/sh
# The header compiles alone under strict warnings, as C99, C11 and C++, by every
# compiler that is here.
#   header.sh INCLUDE_FOLDER
set -eu
checked=0
compile() {
  command -v "$1" >/dev/null 2>&1 || return 0
  printf '#include "lmsimbench/c.h"\n' |
    "$@" -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef -Werror \
      -I "$include" -fsyntax-only -
  checked=$((checked + 1))
}
include=$1
for compiler in gcc clang; do
  for standard in c99 c11; do
    compile "$compiler" -x c -std=$standard -Wstrict-prototypes -Wmissing-prototypes
  done
done
for compiler in g++ clang++; do
  for standard in c++11 c++17 c++20; do
    compile "$compiler" -x c++ -std=$standard -Wold-style-cast
  done
done
echo "$checked compilations"
[ "$checked" -ge 5 ]
# Every function says since which version it is there.
awk 'BEGIN { RS = "" }
  /LMSB_API [a-z]/ && !/#define/ && !/@since/ { print "no @since:\n" $0; bad = 1 }
  END { exit bad }' "$include/lmsimbench/c.h"
