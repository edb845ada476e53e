. "$(dirname "$0")/check.sh"

# The result that the README shows is what the command prints today.
awk '/^<!-- the first lines/ { found = 1; next }
     found && /^```/ { if (inside) exit; inside = 1; next }
     inside' "$source_dir/README.md" >"$scratch/shown"
[ -s "$scratch/shown" ] || { echo "FAILED: README.md shows no result"; exit 1; }
expect_exit 0 score
head -n "$(wc -l <"$scratch/shown")" "$scratch/out" >"$scratch/printed"
diff "$scratch/shown" "$scratch/printed" || fail "README.md shows another result"
finish
