. "$(dirname "$0")/check.sh"

expect_exit 0 score --csv "$scratch/answers.csv" --json "$scratch/card.json"
expect_out "calculon"
expect_out "naive-bubble"
head -1 "$scratch/answers.csv" | grep -qF \
  "record_id,simulator,status,measured_ms,predicted_ms,measured_mem_gib,predicted_mem_gib,verdict,notes" ||
  fail "the CSV has another head"
cp "$scratch/out" "$scratch/first"

# What was written can be scored again, with the same result.
expect_exit 0 score --simulator calculon --source vtrain --csv "$scratch/calculon.csv"
cp "$scratch/out" "$scratch/asked"
expect_exit 0 score --predictions calculon="$scratch/calculon.csv" --source vtrain
# The table has six digits, which is all that a scorecard prints.
expect_out "calculon"

# The same question, the same answer.
expect_exit 0 score
cmp -s "$scratch/out" "$scratch/first" || fail "two runs differ"

expect_exit 0 score --split fit --platform a100-sxm4-80g --settings
expect_out "fit"
# A place that cannot be written to is an error, before anything is printed.
expect_exit 1 score --simulator calculon --csv "$scratch/no/such/folder.csv"
expect_err "$scratch/no/such/folder.csv"
echo "record_id,predicted_ms
vtrain-0001,fast" >"$scratch/bad.csv"
expect_exit 1 score --predictions "$scratch/bad.csv"
expect_err "bad.csv"

# A bundle of one's own, with a split of one's own: what needs rows of split
# fit is left out, the others are scored.
mkdir "$scratch/own"
cp "$source_dir/lib/measurements/sources.csv" "$source_dir/lib/measurements/platforms.csv" "$scratch/own"
head -1 "$source_dir/lib/measurements/iterations.csv" >"$scratch/own/iterations.csv"
grep '^vtrain-000' "$source_dir/lib/measurements/iterations.csv" |
  sed -e 's/,fit,/,mine,/' -e 's/,test,/,mine,/' >>"$scratch/own/iterations.csv"
expect_exit 0 bundle build --from "$scratch/own" -o "$scratch/own.bundle"
expect_exit 0 score --bundle "$scratch/own.bundle" --split mine
expect_out "Scorecard: split mine"
expect_err "naive-bubble is left out"
expect_exit 1 score --bundle "$scratch/own.bundle" --split mine --simulator naive-bubble
finish
