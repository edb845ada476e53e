#include <utility>

#include "lmsimbench/cost_models.h"

namespace lmsimbench {
namespace {

class CompositeModel : public CostModel {
 public:
  CompositeModel(std::string name,
                 std::vector<std::unique_ptr<CostModel>> parts)
      : CostModel(std::move(name)), parts_(std::move(parts)) {}

 private:
  // Each part is asked for the runs of questions that are still open.
  template <typename Question>
  absl::Status Ask(const System& system, absl::Span<const Question> questions,
                   absl::Span<Cost> costs) const {
    for (const std::unique_ptr<CostModel>& part : parts_) {
      size_t i = 0;
      while (i < questions.size()) {
        size_t end = i;
        while (end < questions.size() &&
               costs[end].evidence == Evidence::kNotAnswered) {
          ++end;
        }
        if (end > i) {
          absl::Status status = part->Costs(
              system, questions.subspan(i, end - i), costs.subspan(i, end - i));
          if (!status.ok()) return status;
        }
        // The run ends with a question that is answered, or with the last one.
        i = end + 1;
      }
    }
    return absl::OkStatus();
  }

  absl::Status DoOperatorCosts(const System& system,
                               absl::Span<const Operator> operators,
                               absl::Span<Cost> costs) const override {
    return Ask(system, operators, costs);
  }
  absl::Status DoCollectiveCosts(
      const System& system, absl::Span<const SpannedCollective> collectives,
      absl::Span<Cost> costs) const override {
    return Ask(system, collectives, costs);
  }

  // That of the first part that says anything.
  Contention DoContentionOn(const System& system) const override {
    for (const std::unique_ptr<CostModel>& part : parts_) {
      const absl::StatusOr<Contention> contention = part->ContentionOn(system);
      if (contention.ok() && contention->any()) return *contention;
    }
    return {};
  }

  std::vector<std::unique_ptr<CostModel>> parts_;
};

}  // namespace

std::unique_ptr<CostModel> MakeCompositeModel(
    std::string name, std::vector<std::unique_ptr<CostModel>> parts) {
  return std::make_unique<CompositeModel>(std::move(name), std::move(parts));
}

}  // namespace lmsimbench
