. "$(dirname "$0")/check.sh"

expect_exit 0 bundle sources
expect_out "Apache-2.0"
expect_out "vtrain"

# All levels of the four-rank Ascend run.
expect_exit 0 bundle show simumax-b200-0004
expect_out "iterations"
expect_out "linked_runs"
expect_exit 2 bundle show simumax-b200-004
expect_err "simumax-b200-0004"

# Out as text and in again: the same bundle.
expect_exit 0 bundle export --csv "$scratch/tables"
expect_exit 0 bundle build --from "$scratch/tables" -o "$scratch/again.bundle"
expect_exit 0 --bundle "$scratch/again.bundle" bundle export --csv "$scratch/tables2"
diff -r "$scratch/tables" "$scratch/tables2" >/dev/null || fail "export and build do not round-trip"

# A bad cell names file, line, column and reason, and nothing is written.
sed '3s/,8,/,eight,/' "$scratch/tables/iterations.csv" >"$scratch/iterations.csv"
mv "$scratch/iterations.csv" "$scratch/tables/iterations.csv"
expect_exit 1 bundle build --from "$scratch/tables" -o "$scratch/bad.bundle"
expect_err "iterations.csv"
expect_err "eight"
expect_no_file "$scratch/bad.bundle"
expect_exit 1 bundle build --from "$scratch/nowhere" -o "$scratch/bad.bundle"
expect_err "nowhere"
finish
