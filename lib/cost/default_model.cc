#include <utility>

#include "lib/cost/fit_parameters.h"
#include "lib/cost/table_model.h"

namespace lmsimbench {

absl::StatusOr<std::unique_ptr<CostModel>> MakeDefaultCostModel(
    const Bundle& bundle, const RooflineParameters& roofline,
    const CollectiveParameters& collectives) {
  absl::StatusOr<MeasuredKernels> kernels = ReadMeasuredKernels(bundle);
  if (!kernels.ok()) return kernels.status();
  std::vector<std::unique_ptr<CostModel>> parts;
  parts.push_back(MakeTableModel(*kernels, TableParameters()));
  parts.push_back(MakeRooflineModel(roofline, FitRoofline(*kernels, roofline)));
  parts.push_back(
      MakeCollectiveModel(collectives, FitCollectives(*kernels, collectives)));
  return MakeCompositeModel("default", std::move(parts));
}

}  // namespace lmsimbench
