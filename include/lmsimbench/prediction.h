#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lmsimbench/evidence.h"
#include "lmsimbench/operator.h"
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

/// What ranks of one class do in an iteration. Compute, exposed communication,
/// bubble and idle sum to the iteration time.
struct RankPrediction {
  /// Place in the pipeline.
  int64_t pipeline_rank = kNoCount;
  /// Ranks that behave alike.
  int64_t ranks = kNoCount;
  /// Time in which an operator runs, or in which nothing but the host keeps the
  /// next one from running.
  double compute_s = kNoNumber;
  /// Time in which something is communicated and no operator runs.
  double exposed_communication_s = kNoNumber;
  /// Time in which something is communicated while an operator runs.
  double overlapped_communication_s = kNoNumber;
  /// Time in which the rank waits for another one, up to its last work.
  double bubble_s = kNoNumber;
  /// Time behind its last work.
  double idle_s = kNoNumber;
  double peak_memory_bytes = kNoNumber;
  /// Seconds from the begin of the iteration to the first moment of the peak.
  double peak_time_s = kNoNumber;
  MemoryParts memory;

  template <typename Visit, typename... Self>
  static void VisitFields(Visit&& visit, Self&... self) {
    visit("pipeline_rank", self.pipeline_rank...);
    visit("ranks", self.ranks...);
    visit("compute_s", self.compute_s...);
    visit("exposed_communication_s", self.exposed_communication_s...);
    visit("overlapped_communication_s", self.overlapped_communication_s...);
    visit("bubble_s", self.bubble_s...);
    visit("idle_s", self.idle_s...);
    visit("peak_memory_bytes", self.peak_memory_bytes...);
    visit("peak_time_s", self.peak_time_s...);
    visit("memory", self.memory...);
  }
  friend bool operator==(const RankPrediction& a, const RankPrediction& b) {
    return SameFields(a, b);
  }
  friend bool operator!=(const RankPrediction& a, const RankPrediction& b) {
    return !SameFields(a, b);
  }
  template <typename H>
  friend H AbslHashValue(H state, const RankPrediction& rank) {
    return HashFields(std::move(state), rank);
  }
};

/// All runs of one kind of operator in one rank class.
struct OperatorTotal {
  /// Index into `Prediction::ranks`.
  int64_t rank_class = kNoCount;
  OperatorKind kind = OperatorKind::kNotStated;
  OperatorPass pass = OperatorPass::kNotStated;
  /// Runs in an iteration.
  int64_t runs = kNoCount;
  /// Sum of their times.
  double seconds = kNoNumber;

  template <typename Visit, typename... Self>
  static void VisitFields(Visit&& visit, Self&... self) {
    visit("rank_class", self.rank_class...);
    visit("kind", self.kind...);
    visit("pass", self.pass...);
    visit("runs", self.runs...);
    visit("seconds", self.seconds...);
  }
  friend bool operator==(const OperatorTotal& a, const OperatorTotal& b) {
    return SameFields(a, b);
  }
  friend bool operator!=(const OperatorTotal& a, const OperatorTotal& b) {
    return !SameFields(a, b);
  }
  template <typename H>
  friend H AbslHashValue(H state, const OperatorTotal& total) {
    return HashFields(std::move(state), total);
  }
};

/// All runs of one kind of collective over one kind of group in one rank class.
/// A transfer counts at its sender.
struct CollectiveTotal {
  /// Index into `Prediction::ranks`.
  int64_t rank_class = kNoCount;
  CollectiveKind kind = CollectiveKind::kNotStated;
  Group group = Group::kNotStated;
  int64_t runs = kNoCount;
  /// Sum of their times, exposed or not.
  double seconds = kNoNumber;

  template <typename Visit, typename... Self>
  static void VisitFields(Visit&& visit, Self&... self) {
    visit("rank_class", self.rank_class...);
    visit("kind", self.kind...);
    visit("group", self.group...);
    visit("runs", self.runs...);
    visit("seconds", self.seconds...);
  }
  friend bool operator==(const CollectiveTotal& a, const CollectiveTotal& b) {
    return SameFields(a, b);
  }
  friend bool operator!=(const CollectiveTotal& a, const CollectiveTotal& b) {
    return !SameFields(a, b);
  }
  template <typename H>
  friend H AbslHashValue(H state, const CollectiveTotal& total) {
    return HashFields(std::move(state), total);
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
  /// Memory of a device less the peak; negative where it does not fit.
  double memory_margin_bytes = kNoNumber;
  /// What the time rests on: shares of the time of all operators and
  /// collectives of the rank class that works longest.
  EvidenceShares evidence;
  /// One entry a rank class.
  std::vector<RankPrediction> ranks;
  std::vector<OperatorTotal> operators;
  std::vector<CollectiveTotal> collectives;
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
    visit("memory_margin_bytes", self.memory_margin_bytes...);
    visit("evidence", self.evidence...);
    visit("ranks", self.ranks...);
    visit("operators", self.operators...);
    visit("collectives", self.collectives...);
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
    memory_margin_bytes = kNoNumber;
    evidence = EvidenceShares();
    ranks.clear();
    operators.clear();
    collectives.clear();
    adaptations.clear();
  }
};

}  // namespace lmsimbench
