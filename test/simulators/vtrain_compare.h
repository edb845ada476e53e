#pragma once

#include <string>
#include <vector>

#include "lib/simulators/vtrain/kernel_simulation.h"
#include "lib/simulators/vtrain/outputs.h"

namespace lmsimbench::vtrain {

/// What of two answers differs by more than `tolerance` of its value (idle
/// time, a difference, of the end of its rank); empty: nothing.
std::string Difference(const Outputs& a, const Outputs& b, double tolerance);

/// The same of two timelines.
std::string Difference(const std::vector<RankTasks>& a,
                       const std::vector<RankTasks>& b, double tolerance);

}  // namespace lmsimbench::vtrain
