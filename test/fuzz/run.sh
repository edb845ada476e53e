#!/bin/sh
# Fuzzes each reader for some seconds, from the seeds in this folder. What fails
# is kept in build/fuzz/crashes; add it to the seeds with its repair.
#   sh test/fuzz/run.sh [SECONDS]
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-60}
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz
crashes=build/fuzz/crashes
mkdir -p "$crashes"

# fuzz WHAT: into a log, whose end is shown if it fails.
fuzz() {
  corpus=build/fuzz/corpus/$1
  mkdir -p "$corpus"
  if build/fuzz/test/fuzz/"$1"_fuzz -max_total_time="$seconds" -timeout=25 -rss_limit_mb=4096 \
    -artifact_prefix="$crashes/$1-" "$corpus" "test/fuzz/seeds/$1" >"build/fuzz/$1.log" 2>&1
  then
    echo "fuzz: $1: $(grep '^Done' "build/fuzz/$1.log")"
  else
    tail -60 "build/fuzz/$1.log"
    echo "fuzz: $1: failed"
    exit 1
  fi
}

# All at once: each has its seconds, whoever shares the machine.
running=""
for what in json bundle protocol; do
  fuzz "$what" &
  running="$running $!"
done
failed=0
for process in $running; do
  wait "$process" || failed=1
done
exit "$failed"
