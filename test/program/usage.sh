. "$(dirname "$0")/check.sh"

expect_exit 0 --help
expect_out "Exit codes: 0 answered, 1 refused or failed, 2 wrong usage."
expect_exit 0 --version
expect_out "lmsimbench 0."
expect_exit 0 score --help
expect_out "--simulator"

expect_exit 2
expect_exit 2 scroe
expect_err "'scroe' is not known here; did you mean 'score'?"
expect_exit 2 score --simulater calculon
expect_err "did you mean '--simulator'?"
expect_exit 2 list modles
expect_err "did you mean 'models'?"
expect_exit 2 score --simulator calculom
expect_err "did you mean 'calculon'?"
expect_exit 2 score --source vtrian
expect_err "nearest: 'vtrain'"
expect_exit 2 score --platform h100-sxm5-81g
expect_err "nearest: 'h100-sxm5-80g'"
expect_exit 2 score --split tets
expect_err "nearest: 'test'"
expect_exit 2 score --margin much
expect_exit 2 bundle build --from somewhere

expect_exit 1 --bundle "$scratch/none" score
expect_err "$scratch/none"
echo "this is no bundle" >"$scratch/bad.bundle"
expect_exit 1 --bundle "$scratch/bad.bundle" list models
expect_exit 1 list models --bundle "$scratch/bad.bundle"
finish
