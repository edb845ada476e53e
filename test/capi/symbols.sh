#!/bin/sh
# The shared library exports what symbols.txt lists, and nothing else; every one
# of them is declared in the header with the version it came with.
#   symbols.sh LIBRARY SYMBOLS HEADER
set -eu
exported=$(nm -D --defined-only "$1" | sed -n 's/^[0-9a-f]* [TDBRVWiu] \([^@]*\)@.*/\1/p' |
  grep -v '^LMSIMBENCH_C_' | LC_ALL=C sort)
if [ "$exported" != "$(LC_ALL=C sort "$2")" ]; then
  echo "exported, but not in symbols.txt (<), or the other way round (>):"
  printf '%s\n' "$exported" >exported.txt
  LC_ALL=C sort "$2" | diff exported.txt - || true
  exit 1
fi
declared=$(sed -n 's/^LMSB_API .*\(lmsb_[a-z0-9_]*\)(.*/\1/p' "$3" | LC_ALL=C sort)
if [ "$exported" != "$declared" ]; then
  echo "exported (<) and declared in the header (>) differ:"
  printf '%s\n' "$exported" >exported.txt
  printf '%s\n' "$declared" | diff exported.txt - || true
  exit 1
fi
unnamed=$(nm -D --undefined-only "$1" | grep -c ' lmsb_' || true)
[ "$unnamed" -eq 0 ] || { echo "the library lacks some of its own symbols"; exit 1; }
