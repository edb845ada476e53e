#include <utility>

#include "lmsimbench/cost_models.h"

namespace lmsimbench {
namespace {

class DispatchModel final : public CostModel {
 public:
  DispatchModel(std::unique_ptr<CostModel> device,
                const DispatchParameters& parameters)
      : CostModel(device->name()),
        device_(std::move(device)),
        parameters_(parameters) {}

 private:
  absl::Status DoOperatorCosts(const System& system,
                               absl::Span<const Operator> operators,
                               absl::Span<Cost> costs) const override {
    absl::Status status = device_->Costs(system, operators, costs);
    if (!status.ok()) return status;
    for (Cost& cost : costs) {
      if (cost.evidence == Evidence::kNotAnswered ||
          cost.seconds >= parameters_.operator_s) {
        continue;
      }
      cost = {parameters_.operator_s, Evidence::kAnalytic};
    }
    return absl::OkStatus();
  }

  absl::Status DoCollectiveCosts(
      const System& system, absl::Span<const SpannedCollective> collectives,
      absl::Span<Cost> costs) const override {
    return device_->Costs(system, collectives, costs);
  }

  std::unique_ptr<CostModel> device_;
  DispatchParameters parameters_;
};

}  // namespace

std::unique_ptr<CostModel> MakeDispatchModel(
    std::unique_ptr<CostModel> device, const DispatchParameters& parameters) {
  return std::make_unique<DispatchModel>(std::move(device), parameters);
}

}  // namespace lmsimbench
