#!/usr/bin/env python3
"""A simulator behind the line protocol (README.md), in Python's standard library.

The time of an iteration is the operations of the model at a fraction of the
devices' peak, and the bubble of the pipeline. What that does not describe is
refused by name.
"""

import json
import sys

# Of the peak: a round figure within what training runs reach, fitted on nothing.
UTILISATION = 0.4


class Refusal(Exception):
    """The question cannot be answered; the text says why."""


def stated(table, place, key):
    """The figure of this name; a missing one is absent or null."""
    value = table.get(key)
    if value is None:
        raise Refusal(f"{place}.{key} is not stated")
    return value


def operations_per_token(workload, recompute):
    """Of forward and backward pass, multiplications and additions."""
    model = workload["model"]
    for key, what in (("experts", "a mixture of experts"),
                      ("sliding_window", "a sliding window"),
                      ("mtp_layers", "multi-token prediction")):
        if model.get(key, 0) != 0:
            raise Refusal(f"{what} is not modelled")
    if model.get("attention") == "mla":
        raise Refusal("latent attention is not modelled")

    hidden = stated(model, "model", "hidden")
    heads = stated(model, "model", "heads")
    kv_heads = stated(model, "model", "kv_heads")
    head_dim = model.get("head_dim")
    if head_dim is None:
        head_dim = hidden / heads
    matrices = 3 if stated(model, "model", "gated_mlp") else 2
    seq_len = stated(workload, "workload", "seq_len")

    # Multiplications of one token in one layer, forward.
    queries = heads * head_dim
    projections = hidden * (queries + 2 * kv_heads * head_dim) + queries * hidden
    mlp = matrices * hidden * stated(model, "model", "ffn")
    # Scores and values; a causal token sees half of the sequence on average.
    core = seq_len * queries * (2 if workload.get("causal") is False else 1)
    layers = stated(model, "model", "layers")
    output = hidden * stated(model, "model", "vocab")

    # The backward pass does the forward one's work twice; recomputation does a
    # part of it once more.
    passes = {None: 0, "none": 0, "selective": core,
              "full": projections + mlp + core}
    if recompute not in passes:
        raise Refusal(f"recomputation of {recompute} is not modelled")
    again = layers * passes[recompute]
    return 2 * (3 * (layers * (projections + mlp + core) + output) + again)


def predict(workload, system, configuration):
    """The answer, without its id."""
    precision = stated(workload, "workload", "precision")
    peaks = {"fp32": "fp32_flops", "tf32": "tf32_flops", "fp16": "fp16_flops",
             "bf16": "bf16_flops", "fp8": "fp8_flops"}
    if precision not in peaks:
        raise Refusal(f"precision {precision} is not modelled")
    peak = stated(system["accelerator"], "accelerator", peaks[precision])
    devices = stated(system, "system", "devices")

    recompute = configuration.get("recompute")
    tokens = stated(workload, "workload", "seq_len") * stated(
        workload, "workload", "global_batch")
    busy_s = (operations_per_token(workload, recompute) * tokens
              / (UTILISATION * peak * devices))

    bubble_s = 0.0
    pp = configuration["pp"]
    if pp > 1:
        schedule = configuration.get("schedule")
        if schedule not in (None, "gpipe", "1f1b", "interleaved"):
            raise Refusal(f"schedule {schedule} is not modelled")
        micro_batch = stated(configuration, "configuration", "micro_batch")
        chunks = stated(configuration, "configuration", "vpp")
        micro_batches = workload["global_batch"] / (
            configuration["dp"] * micro_batch)
        bubble_s = busy_s * (pp - 1) / (micro_batches * chunks)

    answer = {
        "iteration_time_s": busy_s + bubble_s,
        "time": {"bubble_s": bubble_s, "other_s": busy_s},
    }
    if recompute is None:
        answer["adaptations"] = ["recomputation is not stated: none"]
    return answer


def write(line):
    # NaN is no JSON: a missing number is null, or left out. A line has to leave
    # at once, so it is flushed.
    print(json.dumps(line, allow_nan=False), flush=True)


def main():
    greeting = json.loads(sys.stdin.readline())
    if greeting["protocol"] != 1:
        write({"protocol": 1, "failed": "speaks protocol 1 only"})
        return
    write({"protocol": 1, "name": "peak-fraction"})
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = predict(request["workload"], request["system"],
                             request["configuration"])
        except Refusal as refusal:
            answer = {"refused": str(refusal)}
        write({"id": request["id"], **answer})


if __name__ == "__main__":
    main()
