. "$(dirname "$0")/check.sh"

expect_exit 0 calibrate --framework internevo --output "$scratch/frameworks.json"
expect_out "internevo"
expect_out "matrix_factor"
grep -q '"begins": \["internevo"\]' "$scratch/frameworks.json" ||
  fail "the file does not say how names begin"
# The same runs give the same constants.
cp "$scratch/frameworks.json" "$scratch/first.json"
expect_exit 0 calibrate --framework internevo --output "$scratch/frameworks.json"
cmp -s "$scratch/first.json" "$scratch/frameworks.json" || fail "two calibrations differ"

# What each constant buys is shown where it is asked for.
expect_exit 0 calibrate --framework internevo --leave-one-out
expect_out "without"

# How constants carry over to a source that they were not fitted on.
expect_exit 0 calibrate --framework maxtext --carry-over --threads 2 --output "$scratch/carried.json"
expect_out "without it"
grep -q '"error_percent_without"' "$scratch/carried.json" ||
  fail "the file does not say what is carried over"

expect_exit 2 calibrate --framework internvo --output "$scratch/none.json"
expect_err "did you mean 'internevo'"
expect_no_file "$scratch/none.json"

# A framework named on the command line brings its constants and defaults.
expect_exit 0 predict --simulator staged --model megatron-22B --platform a100-sxm4-80g \
  --devices 8 --tp 8 --seq-len 2048 --global-batch 4 --micro-batch 4 --framework NeMo
expect_out "as NeMo has it by default"
finish
