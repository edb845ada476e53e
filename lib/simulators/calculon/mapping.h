#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "lib/simulators/calculon/inputs.h"
#include "lmsimbench/calculon.h"
#include "lmsimbench/parallel_config.h"
#include "lmsimbench/workload.h"

namespace lmsimbench::calculon {

/// Two of Calculon's three inputs; the third is a description of the system.
struct Question {
  Application application;
  Execution execution;
};

/// Maps a workload and its configuration to Calculon's inputs, on a system
/// whose nodes hold `devices_per_node` devices and which has one network within
/// a node and one between nodes. Appends the name of each adaptation made.
///
/// FAILED_PRECONDITION names the figure that is not stated; UNIMPLEMENTED what
/// Calculon does not know, or the adaptation that is switched off.
absl::Status MapQuestion(const Workload& workload, const ParallelConfig& config,
                         int64_t devices_per_node,
                         const CalculonAdaptations& allowed, Question& question,
                         std::vector<std::string>& adaptations);

}  // namespace lmsimbench::calculon
