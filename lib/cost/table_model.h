#pragma once

#include <memory>

#include "lib/cost/measured_kernels.h"
#include "lmsimbench/cost_models.h"

namespace lmsimbench {

/// As the public one, over measurements that are read already.
std::unique_ptr<CostModel> MakeTableModel(const MeasuredKernels& kernels,
                                          const TableParameters& parameters);

}  // namespace lmsimbench
