#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lmsimbench/values.h"

namespace lmsimbench {

/// Whether a configuration can run.
enum class Verdict : uint8_t {
  kNotAnswered,
  kFits,
  kDoesNotFit,  ///< needs more memory than a device has
  kIllegal,     ///< breaks a rule of `legality.h`
};
template <>
struct EnumNames<Verdict> {
  static constexpr const char* kNames[] = {"not answered", "fits",
                                           "does not fit", "illegal"};
};

/// Parts of the iteration time on the critical path, in seconds. Communication
/// is the exposed part only. A part that a simulator does not give is missing
/// (NaN), never zero; the parts that are given sum to the iteration time.
struct TimeParts {
  double forward_s = kNoNumber;
  double backward_s = kNoNumber;
  double recompute_s = kNoNumber;
  double optimizer_s = kNoNumber;
  double tensor_communication_s = kNoNumber;
  double pipeline_communication_s = kNoNumber;
  double data_communication_s = kNoNumber;
  double context_communication_s = kNoNumber;
  double expert_communication_s = kNoNumber;
  double offload_s = kNoNumber;
  double bubble_s = kNoNumber;
  /// What belongs to no other part: the host, the data loader, waiting.
  double other_s = kNoNumber;

  template <typename Visit, typename... Self>
  static void VisitFields(Visit&& visit, Self&... self) {
    visit("forward_s", self.forward_s...);
    visit("backward_s", self.backward_s...);
    visit("recompute_s", self.recompute_s...);
    visit("optimizer_s", self.optimizer_s...);
    visit("tensor_communication_s", self.tensor_communication_s...);
    visit("pipeline_communication_s", self.pipeline_communication_s...);
    visit("data_communication_s", self.data_communication_s...);
    visit("context_communication_s", self.context_communication_s...);
    visit("expert_communication_s", self.expert_communication_s...);
    visit("offload_s", self.offload_s...);
    visit("bubble_s", self.bubble_s...);
    visit("other_s", self.other_s...);
  }
  friend bool operator==(const TimeParts& a, const TimeParts& b) {
    return SameFields(a, b);
  }
  friend bool operator!=(const TimeParts& a, const TimeParts& b) {
    return !SameFields(a, b);
  }
  template <typename H>
  friend H AbslHashValue(H state, const TimeParts& parts) {
    return HashFields(std::move(state), parts);
  }
};

/// Parts of the peak memory of the device that needs most, in bytes; missing
/// (NaN) where not answered.
struct MemoryParts {
  double weights_bytes = kNoNumber;
  double gradients_bytes = kNoNumber;
  double optimizer_bytes = kNoNumber;
  double activations_bytes = kNoNumber;
  double logits_bytes = kNoNumber;
  /// Temporary tensors and communication buffers.
  double buffers_bytes = kNoNumber;
  /// What the framework and the driver keep, whatever the model.
  double framework_bytes = kNoNumber;

  template <typename Visit, typename... Self>
  static void VisitFields(Visit&& visit, Self&... self) {
    visit("weights_bytes", self.weights_bytes...);
    visit("gradients_bytes", self.gradients_bytes...);
    visit("optimizer_bytes", self.optimizer_bytes...);
    visit("activations_bytes", self.activations_bytes...);
    visit("logits_bytes", self.logits_bytes...);
    visit("buffers_bytes", self.buffers_bytes...);
    visit("framework_bytes", self.framework_bytes...);
  }
  friend bool operator==(const MemoryParts& a, const MemoryParts& b) {
    return SameFields(a, b);
  }
  friend bool operator!=(const MemoryParts& a, const MemoryParts& b) {
    return !SameFields(a, b);
  }
  template <typename H>
  friend H AbslHashValue(H state, const MemoryParts& parts) {
    return HashFields(std::move(state), parts);
  }
};

/// What a simulator says of one configuration. Every part may be 'not
/// answered': NaN, `Verdict::kNotAnswered`, or empty.
struct Prediction {
  /// Time of one iteration in seconds.
  double iteration_time_s = kNoNumber;
  TimeParts time;
  /// Peak memory of the device that needs most, in bytes.
  double peak_memory_bytes = kNoNumber;
  MemoryParts memory;
  Verdict verdict = Verdict::kNotAnswered;
  /// Why the verdict is not 'fits'.
  std::string verdict_reason;
  /// What the simulator changed in the question to be able to answer it, one
  /// sentence each.
  std::vector<std::string> adaptations;

  template <typename Visit, typename... Self>
  static void VisitFields(Visit&& visit, Self&... self) {
    visit("iteration_time_s", self.iteration_time_s...);
    visit("time", self.time...);
    visit("peak_memory_bytes", self.peak_memory_bytes...);
    visit("memory", self.memory...);
    visit("verdict", self.verdict...);
    visit("verdict_reason", self.verdict_reason...);
    visit("adaptations", self.adaptations...);
  }
  friend bool operator==(const Prediction& a, const Prediction& b) {
    return SameFields(a, b);
  }
  friend bool operator!=(const Prediction& a, const Prediction& b) {
    return !SameFields(a, b);
  }
  template <typename H>
  friend H AbslHashValue(H state, const Prediction& prediction) {
    return HashFields(std::move(state), prediction);
  }

  /// Forgets the answer and keeps what is allocated.
  void Clear() {
    iteration_time_s = kNoNumber;
    time = TimeParts();
    peak_memory_bytes = kNoNumber;
    memory = MemoryParts();
    verdict = Verdict::kNotAnswered;
    verdict_reason.clear();
    adaptations.clear();
  }
};

}  // namespace lmsimbench
