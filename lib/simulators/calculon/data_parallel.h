#pragma once

#include "lib/simulators/calculon/batch.h"

namespace lmsimbench::calculon {

/// Communication of gradients and weights among replicas, for a whole batch.
struct DataParallelTimes {
  double block_bytes = 0;  ///< message of one block
  double link = 0;         ///< seconds
  double exposed = 0;      ///< seconds; can exceed `link` where overlapped
  double required_bandwidth_chunk =
      0;  ///< bytes/s to hide all chunks but the last; 0: no window
  double required_bandwidth_tail =
      0;  ///< bytes/s to hide the last chunk; 0: no window
};

/// x/y rounded down, as Python's float floor division does it; x >= 0, y > 0.
double FloorDivide(double x, double y);

/// Section "data-parallel communication" of the model. DIV0_OTHER if a chunk's
/// backward pass takes no time.
ErrorCode TimeDataParallel(const Execution& execution, const Geometry& geometry,
                           const Placement& placement, const BlockSums& sums,
                           const BatchTimes& batch, DataParallelTimes& times);

}  // namespace lmsimbench::calculon
