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

# A timeline: one event a line, the slices of a thread one after the other, the
# counter of memory as high as the peak that is printed. Times are microseconds;
# awk adds them exactly enough for a tenth of a picosecond.
question="--model megatron-22B --platform a100-sxm4-80g --devices 32 --tp 8 --pp 2
  --seq-len 2048 --global-batch 16 --micro-batch 2 --recompute selective"
expect_exit 0 predict $question --trace "$scratch/trace.json"
expect_out "timeline: $scratch/trace.json"
head -1 "$scratch/trace.json" | grep -qF '"traceEvents":[' || fail "the timeline has another head"
[ "$(tail -1 "$scratch/trace.json")" = "]}" ] || fail "the timeline has no end"
awk '$1 == "total" { print $3 }' "$scratch/out" >"$scratch/peak"
awk -F'[:,}]' '/"ph":"C"/ { for (i = 1; i < NF; i++) if ($i ~ /"bytes"$/ && $(i + 1) + 0 > most) most = $(i + 1) + 0 }
  END { printf "%.2f\n", most / 1073741824 }' "$scratch/trace.json" >"$scratch/counted"
cmp -s "$scratch/peak" "$scratch/counted" ||
  fail "peak $(cat "$scratch/peak") GiB, counter $(cat "$scratch/counted") GiB"
awk -F'"pid":|,"tid":|,"ts":|,"dur":|,"args"' '/"ph":"X"/ {
    thread = $2 "/" $3; n++
    if ($4 + 0.00000005 < end[thread]) exit 1
    end[thread] = $4 + $5 }
  END { if (n == 0) exit 1 }' "$scratch/trace.json" || fail "slices of a thread overlap"

expect_exit 1 predict $question --simulator calculon --trace "$scratch/other.json"
expect_err "simulator 'calculon' gives no timeline"
expect_no_file "$scratch/other.json"
# 2048 micro-batches are more than a viewer opens: refused before it is written.
long=$(echo "$question" | sed 's/--global-batch 16/--global-batch 8192/')
expect_exit 1 predict $long --trace "$scratch/long.json"
expect_err "more than the 1500000 that a viewer opens"
expect_no_file "$scratch/long.json"
expect_exit 1 predict $question --trace "$scratch/no/such/folder.json"
expect_err "$scratch/no/such/folder.json"

# vTrain with kernels of one's own: a trace of one layer, as vTrain names it.
cat >"$scratch/trace_1024_2_2" <<'END'
10,0,TIMESTAMP,"forward start transformer"
11,2,RUNTIME,211,1,1,1
13,0,TIMESTAMP,"backward start transformer"
14,2,RUNTIME,211,1,1,2
20,1000000,KERNEL,"gemm",0,1,7,1,1,1,1,1,1,1
1000030,2000000,KERNEL,"gemm_bwd",0,1,7,1,1,1,1,1,1,2
END
expect_exit 0 predict --run vtrain-0001 --vtrain-kernels "$scratch/trace_1024_2_2" \
  --tp 2 --pp 1 --micro-batch 2 --simulator vtrain-repaired
expect_out "kernels profiled: $scratch/trace_1024_2_2"
expect_exit 1 predict --run vtrain-0001 --vtrain-kernels "$scratch/trace_1024_2_2" --simulator vtrain
expect_err "asked are 1024, 1 and 8"
echo "5,1,NOISE" >>"$scratch/trace_1024_2_2"
expect_exit 1 predict --run vtrain-0001 --vtrain-kernels "$scratch/trace_1024_2_2"
expect_err "trace_1024_2_2:7: record type 'NOISE'"
expect_exit 1 predict --run vtrain-0001 --vtrain-kernels published --simulator staged
expect_err "simulator 'staged' takes no kernels of vTrain"
expect_exit 1 predict --run vtrain-0001 --vtrain-kernels published
expect_err "no layer latencies were published"
finish
