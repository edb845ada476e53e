#pragma once

#include "lib/simulators/calculon/evaluate.h"
#include "test/simulators/calculon_records.h"

namespace lmsimbench::calculon {

/// The three documents of an evaluation that succeeds: a small application on a
/// system with two networks, divided by 2 in every way. Tests change what they
/// are about.
struct Documents {
  Json application =
      ParsePythonJson(R"({"hidden": 64, "feedforward": 256, "seq_size": 32,
      "attn_heads": 4, "attn_size": 16, "num_blocks": 8})");
  Json execution =
      ParsePythonJson(R"({"num_procs": 8, "tensor_par": 2, "pipeline_par": 2,
      "data_par": 2, "tensor_par_net": 0, "pipeline_par_net": 1, "data_par_net": 1,
      "batch_size": 8, "microbatch_size": 1, "datatype": "float16", "fused_activation": false,
      "attention_type": "multihead", "activation_recompute": "none", "pipeline_interleaving": 1,
      "optimizer_sharding": false, "tensor_par_comm_type": "ar", "tensor_par_overlap": "none",
      "seq_par_ag_redo": false, "data_par_overlap": false, "weight_offload": false,
      "activations_offload": false, "optimizer_offload": false, "training": true})");
  Json system = ParsePythonJson(R"({
      "matrix": {"float16": {"tflops": 300, "gflops_efficiency": [[16, 0.9], [0, 0.1]]}},
      "vector": {"float16": {"tflops": 80, "gflops_efficiency": [[1, 0.5], [0, 0.1]]}},
      "mem1": {"GiB": 80, "GBps": 2000, "MB_efficiency": [[10, 0.9], [0, 0.3]]},
      "mem2": {"GiB": 500, "GBps": 32, "MB_efficiency": [[10, 0.9], [0, 0.3]]},
      "processing_mode": "no_overlap",
      "networks": [
        {"bandwidth": 300, "efficiency": 0.5, "size": 8, "latency": 1e-5,
         "ops": {"p2p": [1.0, null], "reduce_scatter": [1.0, -1], "all_gather": [1.0, -1],
                 "all_reduce": [2.0, -1]},
         "must_be_filled": true, "processor_usage": 0.15},
        {"bandwidth": 25, "efficiency": 0.9, "size": 64, "latency": 2e-5,
         "ops": {"p2p": [1.0, null], "reduce_scatter": [1.0, 0], "all_gather": [1.0, 0],
                 "all_reduce": [1.0, 0]},
         "must_be_filled": false, "processor_usage": 0.02}]})");
};

/// What became of an evaluation.
struct Outcome {
  ErrorCode code = ErrorCode::kNone;
  std::string message;
  Statistics statistics = {};

  std::string_view Name() const { return ErrorName(code); }
};

/// Reads the documents in the order of the original and evaluates them.
Outcome EvaluateDocuments(const Documents& documents);

}  // namespace lmsimbench::calculon
