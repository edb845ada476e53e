. "$(dirname "$0")/check.sh"

question="--model megatron-22B --platform a100-sxm4-80g --devices 32 --tp 8 --pp 2
  --seq-len 2048 --global-batch 16 --micro-batch 2 --zero distopt --recompute selective"

# All five stages, in their order.
expect_exit 0 explain $question
grep '^== ' "$scratch/out" | sed 's/^== //; s/:.*//' | tr '\n' ' ' >"$scratch/stages"
[ "$(cat "$scratch/stages")" = "compile place lower cost aggregate " ] ||
  fail "the stages are: $(cat "$scratch/stages")"
expect_out "workload: seq-len 2048, global-batch 16"
# Operators with shapes, groups with spans, schedules, evidence, rank classes.
# A tensor rank's part of QKV: 2 * 2048 tokens, 3 * 6144 / 8 outputs.
expect_out "4096 x 2304 x 6144"
expect_out "tensor        1        8        1         8         32  node"
expect_out "schedule         F0.0 | F1.0 B0.0 F2.0 B1.0 F3.0 B2.0 | B3.0"
expect_out "interpolated"
expect_out "verdict: "
expect_out "rank classes, ms"

# What rank classes do sums to the iteration time, up to the printed digits.
awk '/^class +pipeline rank/ { inside = 1; next }
     /^$/ { inside = 0 }
     inside { sum[$1] = $4 + $5 + $6 + $7 }
     $1 == "total" { total = $2 }
     END { for (c in sum) { n++; d = sum[c] - total; if (d > 0.021 || d < -0.021) exit 1 }
           if (n != 2) exit 1 }' "$scratch/out" || fail "rank classes do not sum to the total"

# One stage only.
for stage in compile place lower cost aggregate; do
  expect_exit 0 explain $question --stage "$stage"
  [ "$(grep -c '^== ' "$scratch/out")" -eq 1 ] || fail "more than the stage $stage"
  expect_out "== $stage: "
  expect_exit 0 explain $question --stage "$stage" --json
  head -c 1 "$scratch/out" | grep -q '{' || fail "the JSON of $stage is no object"
done
# The document of all holds the single ones.
expect_exit 0 explain $question --json
for part in question compile place lower cost aggregate; do
  expect_out "\"$part\": {"
done

# From a measured run, as predict.
expect_exit 0 explain --run vtrain-0001 --stage aggregate
expect_out "measured:"
# It is what the simulator says.
sed -n '/^part /,/^verdict/p' "$scratch/out" >"$scratch/explained"
expect_exit 0 predict --run vtrain-0001 --simulator staged
sed -n '/^part /,/^verdict/p' "$scratch/out" >"$scratch/predicted"
cmp -s "$scratch/explained" "$scratch/predicted" || fail "explain and predict differ"

# A placement can be looked at where the rest is not modelled; the refusal
# comes behind the stages that are there, with the name of its stage.
expect_exit 0 explain $question --offload-weights yes --stage place
expect_exit 1 explain $question --offload-weights yes
expect_err "compile: "

expect_exit 2 explain $question --stage agregate
expect_err "aggregate"
expect_exit 2 explain
expect_err "give --model and --platform, or --run"
expect_exit 1 explain --run vtrain-0001 --tp 7
finish
