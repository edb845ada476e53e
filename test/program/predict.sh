. "$(dirname "$0")/check.sh"

expect_exit 0 predict --run vtrain-0001 --simulator calculon
expect_out "measured:"
expect_out "verdict:"
expect_exit 0 predict --model megatron-22B --platform a100-sxm4-80g --devices 8 --tp 8 \
  --seq-len 2048 --global-batch 4 --micro-batch 4 --recompute full --simulator calculon --json
expect_out '"iteration_time_s"'

# A refusal is exit code 1 and names its reason.
expect_exit 1 predict --run vtrain-0001 --platform tpu-v4 --simulator calculon
expect_err "Calculon has no description of tpu-v4"
# An illegal configuration names rule, numbers and a legal value.
expect_exit 1 predict --run vtrain-0001 --tp 7 --simulator calculon
expect_err "7"
expect_exit 2 predict --run vtrain-0001 --simulator calculom
expect_err "did you mean 'calculon'?"
expect_exit 2 predict --run vtrain-00001
expect_err "vtrain-0001"
expect_exit 2 predict --model megatron-22b --platform a100
expect_exit 2 predict --platform a100-sxm4-80g
expect_err "give --model and --platform, or --run"
expect_exit 2 predict --run vtrain-0001 --recompute sometimes
expect_err "selective"

# New hardware: a platform of one's own, from the JSON of a known one.
"$program" list platforms --json b200-sxm-180g | sed 's/"name": "b200-sxm-180g"/"name": "mine"/' >"$scratch/mine.json"
expect_exit 0 predict --run vtrain-0001 --platform "$scratch/mine.json" --simulator calculon-described
expect_out "adapted: default matrix efficiency"
expect_exit 1 predict --run vtrain-0001 --platform "$scratch/none.json" --simulator calculon-described
expect_err "none.json"
sed 's/"memory_bytes"/"memory_byte"/' "$scratch/mine.json" >"$scratch/typo.json"
expect_exit 1 predict --run vtrain-0001 --platform "$scratch/typo.json" --simulator calculon-described
expect_err "memory_bytes"
finish
