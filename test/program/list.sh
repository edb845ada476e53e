. "$(dirname "$0")/check.sh"

expect_exit 0 list simulators
expect_out "calculon-described"
expect_exit 0 list models
expect_out "parameters, 1e9"
expect_exit 0 list platforms
expect_out "h100-sxm5-80g"
expect_exit 0 list settings --source vtrain
expect_out "vtrain/"
expect_exit 0 list settings --split test --platform h100-sxm5-80g
expect_out "h100-sxm5-80g"

expect_exit 0 list platforms --json h100-sxm5-80g
expect_out '"memory_bytes"'
cp "$scratch/out" "$scratch/platform.json"
# What is printed to start from is accepted where a name is.
expect_exit 0 list platforms --json "$scratch/platform.json"
cmp -s "$scratch/out" "$scratch/platform.json" || fail "a platform's JSON changes when it is read"
expect_exit 2 list platforms --json h100-sxm5-8g
expect_err "h100-sxm5-80g"
finish
