#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/simulators/calculon/rate_table.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/values.h"

namespace lmsimbench::calculon {

/// What the `fit` rows of a bundle say of one platform.
struct MeasuredEfficiency {
  /// Share of the peak that matrix multiplications reach, by size: the median
  /// of the kernels of a step. Steps with too few kernels are not there.
  std::vector<EfficiencyStep> matrix_16bit;
  std::vector<EfficiencyStep> matrix_8bit;
  /// Share of a device's link within a node that large all-reduces reach, and
  /// the time of the smallest ones in seconds; missing if not measured.
  double node_link_share = kNoNumber;
  double node_latency_s = kNoNumber;
};

/// Reads the gemms and collectives views: rows of split `fit` on platforms that
/// state the peak or the link. By platform.
absl::StatusOr<std::map<std::string, MeasuredEfficiency>> MeasureEfficiency(
    const Bundle& bundle);

/// Lower ends of the size steps of a description, in gflops, descending.
inline constexpr double kMatrixSteps[] = {1024, 128, 16, 1, 0};

}  // namespace lmsimbench::calculon
