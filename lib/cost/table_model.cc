#include "lib/cost/table_model.h"

#include <utility>

#include "lib/cost/kernel_tables.h"
#include "lib/cost/platform_match.h"

namespace lmsimbench {
namespace {

class TableModel : public CostModel {
 public:
  explicit TableModel(std::vector<KernelTables> tables) : CostModel("tables") {
    for (KernelTables& table : tables) {
      if (table.has_operators()) operators_.push_back(table);
      if (table.has_collectives()) collectives_.push_back(std::move(table));
    }
  }

 private:
  absl::Status DoOperatorCosts(const System& system,
                               absl::Span<const Operator> operators,
                               absl::Span<Cost> costs) const override {
    return Find(operators_, MatchPlatform(operators_, system, SameAccelerator),
                operators, costs);
  }
  absl::Status DoCollectiveCosts(
      const System& system, absl::Span<const SpannedCollective> collectives,
      absl::Span<Cost> costs) const override {
    return Find(collectives_, MatchPlatform(collectives_, system, SameNetwork),
                collectives, costs);
  }

  template <typename Question>
  static absl::Status Find(const std::vector<KernelTables>& tables, int match,
                           absl::Span<const Question> questions,
                           absl::Span<Cost> costs) {
    if (match < 0) return absl::OkStatus();
    for (size_t i = 0; i < questions.size(); ++i) {
      costs[i] = tables[match].Find(questions[i]);
    }
    return absl::OkStatus();
  }

  std::vector<KernelTables> operators_;
  std::vector<KernelTables> collectives_;
};

template <typename Question>
std::vector<std::vector<const Measured<Question>*>> FitRowsByPlatform(
    const std::vector<Measured<Question>>& rows, size_t platforms) {
  std::vector<std::vector<const Measured<Question>*>> by_platform(platforms);
  for (const Measured<Question>& row : rows) {
    if (row.is_fit) by_platform[row.platform].push_back(&row);
  }
  return by_platform;
}

}  // namespace

std::unique_ptr<CostModel> MakeTableModel(const MeasuredKernels& kernels,
                                          const TableParameters& parameters) {
  const size_t platforms = kernels.platforms.size();
  const auto operators = FitRowsByPlatform(kernels.operators, platforms);
  const auto collectives = FitRowsByPlatform(kernels.collectives, platforms);
  std::vector<KernelTables> tables;
  for (size_t i = 0; i < platforms; ++i) {
    tables.emplace_back(kernels.platforms[i], operators[i], collectives[i],
                        parameters.reach);
  }
  return std::make_unique<TableModel>(std::move(tables));
}

absl::StatusOr<std::unique_ptr<CostModel>> MakeTableModel(
    const Bundle& bundle, const TableParameters& parameters) {
  absl::StatusOr<MeasuredKernels> kernels = ReadMeasuredKernels(bundle);
  if (!kernels.ok()) return kernels.status();
  return MakeTableModel(*kernels, parameters);
}

}  // namespace lmsimbench
