#pragma once

#include <cstdint>
#include <vector>

#include "lmsimbench/values.h"

namespace lmsimbench::vtrain {

/// What one pipeline rank does; nanoseconds.
struct RankOutputs {
  /// Latest end of its layers ("GPU0", …).
  double finish_ns = 0;
  double compute_ns = 0;
  /// All-reduces of activations, and of gradients.
  double tensor_communication_ns = 0;
  double data_communication_ns = 0;
  /// Idle time between kernels, and behind what is sent to another rank.
  double gap_ns = 0;
  double end_ns = 0;
  double backward_end_ns = 0;
  /// Missing (NaN) without data parallelism.
  double gradients_start_ns = kNoNumber;
  double update_start_ns = 0;
  /// Start of the last kernel of a forward pass, repeated or not.
  double last_forward_start_ns = 0;
  /// Communication that nothing runs beside.
  double exposed_communication_ns = 0;
  double idle_ns = 0;
  /// Nodes of its list of layers and communications, and of kernels and
  /// communications.
  int64_t layer_nodes = 0;
  int64_t task_nodes = 0;
};

/// What vTrain says of one iteration.
struct Outputs {
  double iteration_ns = 0;
  /// Latest end of a communication, and the sum over all ranks.
  double communication_finish_ns = 0;
  double communication_ns = 0;
  int64_t communication_nodes = 0;
  int64_t micro_batches = 0;
  std::vector<RankOutputs> ranks;
};

}  // namespace lmsimbench::vtrain
