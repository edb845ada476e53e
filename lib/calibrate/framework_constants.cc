#include "lib/calibrate/framework_constants.h"

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace lmsimbench::calibrate {
namespace {

constexpr double kGiB = 1073741824.0;

// A fork that changes how the framework trains is a class of its own, and so
// are the submissions that are tuned for one benchmark and the releases from
// the middle of 2026 on, which run experts in a new way. What they do not say
// themselves they take from the class they come from.
constexpr FrameworkClass kClasses[] = {
    {"nanotron", "", {"nanotron"}},
    {"megatron-deepspeed", "", {"megatron-deepspeed"}},
    {"megatron-deepspeed sailor",
     "megatron-deepspeed",
     {"megatron-deepspeed (sailor"}},
    {"megatron-core",
     "",
     {"megatron-lm", "megatron-core", "megatron (pai", "megatron-swift",
      "primus"}},
    {"nemo", "", {"nemo", "megatron-bridge"}},
    {"nemo mlperf", "nemo", {"nemo mlperf"}},
    {"megatron-bridge 26.06",
     "nemo",
     {"megatron-bridge 26.06", "megatron-bridge 26.08"}},
    {"internevo", "", {"internevo"}},
    {"torchtitan", "", {"torchtitan", "pytorch fsdp"}},
    {"llm-foundry", "", {"llm-foundry"}},
    {"mindspeed", "", {"mindspeed"}},
    {"mindformers", "", {"mindformers"}},
    {"paddlenlp", "", {"paddlenlp"}},
    {"deepspeed", "", {"xtuner", "deepspeed", "hf"}},
    {"maxtext", "", {"maxtext", "paxml"}},
};

}  // namespace

absl::Span<const FrameworkClass> FrameworkClasses() { return kClasses; }

int ClassOf(const std::string& framework) {
  const absl::Span<const FrameworkClass> classes = FrameworkClasses();
  int best = -1;
  size_t longest = 0;
  for (size_t i = 0; i < classes.size(); ++i) {
    for (const char* const text : classes[i].begins) {
      if (text == nullptr) break;
      const absl::string_view begin = text;
      if (begin.size() > longest &&
          absl::StartsWithIgnoreCase(framework, begin)) {
        best = static_cast<int>(i);
        longest = begin.size();
      }
    }
  }
  return best;
}

std::vector<FrameworkConstant> FrameworkConstants() {
  // {name, initial, lowest, highest, spread}, busy, of a device. Factors of
  // kernels are expected near 1; times of the host and shares that are hidden
  // are hardly known before.
  return {
      {{"matrix_factor", 1, 0.4, 2.5, 0.2}, 1, true},
      {{"matrix_fp8_factor", 1, 0.4, 2.5, 0.2}, 1},
      {{"matrix_fp4_factor", 0.7, 0.3, 2, 0.3}, 0.7},
      {{"expert_matrix_factor", 1, 0.4, 2.5, 0.2}, 1},
      {{"attention_factor", 1, 0.2, 4, 0.3}, 1, true},
      {{"elementwise_factor", 1, 0.2, 4, 0.3}, 1},
      {{"loss_factor", 1, 0.1, 10, 0.7}, 1},
      {{"operator_s", 70e-6, 2e-6, 600e-6, 0.8}, 50e-6},
      {{"operator_host_s", 20e-6, 2e-6, 600e-6, 1}, 100e-6},
      {{"collective_host_s", 30e-6, 1e-6, 5e-3, 1.5}, 100e-6},
      {{"collective_growth", 0.3, 0, 2, 0.5}, 0.8},
      {{"collective_node_growth", 0.3, 0, 2, 0.5}, 0.8},
      {{"pipelined_host_s", 20e-6, 1e-6, 5e-3, 1.5}, 300e-6},
      {{"pipelined_growth", 0.3, 0, 2, 0.5}, 0.8},
      {{"skew_s", 10e-6, 1e-6, 2e-3, 1}, 30e-6},
      {{"tensor_factor", 1, 0.05, 3, 0.4}, 1},
      {{"expert_factor", 1, 0.05, 4, 0.5}, 1},
      {{"data_factor", 1, 0.05, 8, 0.5}, 1},
      {{"contention", 0.1, 0.01, 1, 0.7}, 0.2, true},
      {{"gather_rank_s", 20e-6, 1e-7, 20e-3, 2}, 1e-3},
      {{"transfer_s", 20e-6, 1e-6, 0.05, 1.5}, 500e-6},
      {{"iteration_s", 5e-3, 1e-4, 2, 2}, 50e-3},
      {{"activations_factor", 1, 0.5, 3, 0.2}, 1, false, Target::kMemory},
      {{"logits_factor", 1, 0.3, 6, 0.5}, 1, false, Target::kMemory},
      {{"gradients_factor", 1, 0.5, 2.5, 0.3}, 1, false, Target::kMemory},
      {{"reserved_bytes", 0.5 * kGiB, 0.01 * kGiB, 8 * kGiB, 1},
       kGiB,
       false,
       Target::kMemory},
  };
}

double& FieldOf(FrameworkParameters& parameters, const std::string& name) {
  double* found = nullptr;
  FrameworkParameters::VisitFields(
      [&](const char* field, double& value) {
        if (name == field) found = &value;
      },
      parameters);
  return *found;
}

FrameworkParameters ParametersOf(const CalibratedFramework& framework,
                                 const std::string& accelerator) {
  FrameworkParameters parameters;
  for (const bool of_device : {false, true}) {
    for (const CalibratedConstant& constant : framework.constants) {
      if (constant.accelerator != (of_device ? accelerator : "")) continue;
      FieldOf(parameters, constant.name) = constant.value;
    }
  }
  return parameters;
}

}  // namespace lmsimbench::calibrate
