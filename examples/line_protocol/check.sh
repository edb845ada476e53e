# The examples as an author meets them.
#   sh check.sh LMSIMBENCH SCRATCH SOURCE_DIR SIMULATOR_C [PYTHON SIMULATOR_PY]
# Checks that README.md shows the session that the real host has with the real
# program, that the program answers and refuses by name, and that simulator.py
# gives the same answers as simulator.c.
set -eu
lmsimbench=$1
scratch=$2
source_dir=$3
c_program=$4
python=${5:-}
py_program=${6:-}
rm -rf "$scratch"
mkdir -p "$scratch/own"

fail() {
  echo "FAILED: $1"
  exit 1
}

# A bundle of one run, so that the session does not move with the measurements.
tables="$source_dir/lib/measurements"
cp "$tables/sources.csv" "$tables/platforms.csv" "$scratch/own"
head -1 "$tables/iterations.csv" >"$scratch/own/iterations.csv"
grep '^vtrain-0001,' "$tables/iterations.csv" | sed -e 's/,fit,/,mine,/' -e 's/,test,/,mine,/' \
  >>"$scratch/own/iterations.csv"
"$lmsimbench" bundle build --from "$scratch/own" -o "$scratch/own.bundle" >"$scratch/log" 2>&1 ||
  fail "no bundle: $(cat "$scratch/log")"

"$lmsimbench" score --bundle "$scratch/own.bundle" --split mine \
  --simulator-command "sh -c 'tee \"$scratch/asked\" | \"$c_program\" | tee \"$scratch/answered\"'" \
  >"$scratch/out" 2>"$scratch/err" || fail "not scored: $(cat "$scratch/err")"
grep -q '^peak-fraction: started 1 time (.* s), 1 question, .* ms each, 0 crashes, 0 time-outs$' \
  "$scratch/err" || fail "stderr says: $(cat "$scratch/err")"
sed 's/^/> /' "$scratch/asked" >"$scratch/asked.shown"
sed 's/^/< /' "$scratch/answered" >"$scratch/answered.shown"
paste -d '\n' "$scratch/asked.shown" "$scratch/answered.shown" >"$scratch/session"
awk '/^<!-- session -->/ { found = 1; next }
     found && /^```/ { if (inside) exit; inside = 1; next }
     inside' "$source_dir/examples/line_protocol/README.md" >"$scratch/shown"
diff "$scratch/shown" "$scratch/session" || fail "README.md shows another session"

# On the embedded measurements it answers many rows and refuses others by name.
answers() {
  name=$1
  shift
  "$lmsimbench" score --simulator-command "$name=$*" --csv "$scratch/$name.csv" \
    >"$scratch/$name.out" 2>"$scratch/$name.err" || fail "not scored: $(cat "$scratch/$name.err")"
  sed "s/,$name,/,NAME,/" "$scratch/$name.csv" >"$scratch/$name.answers"
}
answers c "'$c_program'"
grep -q ',NAME,answered,' "$scratch/c.answers" || fail "nothing was answered"
grep -q ',NAME,refused,.*a mixture of experts is not modelled' "$scratch/c.answers" ||
  fail "experts were not refused"
! grep -q -e ',NAME,failed,' -e ',NAME,timed out,' "$scratch/c.answers" || fail "it failed"

if [ -n "$python" ]; then
  answers py "'$python' '$py_program'"
  cmp "$scratch/c.answers" "$scratch/py.answers" || fail "the two programs differ"
fi
echo "passed"
