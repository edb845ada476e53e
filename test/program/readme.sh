. "$(dirname "$0")/check.sh"

# The result that the README shows is what the command prints today.
awk '/^<!-- the first lines/ { found = 1; next }
     found && /^```/ { if (inside) exit; inside = 1; next }
     inside' "$source_dir/README.md" >"$scratch/shown"
[ -s "$scratch/shown" ] || { echo "FAILED: README.md shows no result"; exit 1; }
expect_exit 0 score
head -n "$(wc -l <"$scratch/shown")" "$scratch/out" >"$scratch/printed"
diff "$scratch/shown" "$scratch/printed" || fail "README.md shows another result"

# Of what `explain` prints the README shows some lines, in their order.
awk '/^lmsimbench explain/ { found = 1 }
     found { line = $0; sub(/\\$/, "", line); printf "%s", line; if (line == $0) exit }' \
  "$source_dir/README.md" | sed 's/^lmsimbench//' >"$scratch/arguments"
[ -s "$scratch/arguments" ] || fail "README.md explains nothing"
awk '/^<!-- lines of what it prints/ { found = 1; next }
     found && /^```/ { if (inside) exit; inside = 1; next }
     inside && !/^…$/' "$source_dir/README.md" >"$scratch/shown"
[ -s "$scratch/shown" ] || fail "README.md shows no explanation"
expect_exit 0 $(cat "$scratch/arguments")
awk 'NR == FNR { shown[++n] = $0; next }
     $0 == shown[at + 1] { ++at }
     END { if (at < n) { print "not printed: " shown[at + 1]; exit 1 } }' \
  "$scratch/shown" "$scratch/out" || fail "README.md explains another result"
finish
