#include "lib/cost/table_model.h"

#include <utility>

#include "lib/cost/collective_tables.h"
#include "lib/cost/operator_tables.h"
#include "lib/cost/platform_match.h"

namespace lmsimbench {
namespace {

template <typename Tables>
struct PlatformTables {
  System platform;
  Tables tables;
};

// Tables of every platform that has any, from its rows of split `fit`.
template <typename Tables, typename Question>
std::vector<PlatformTables<Tables>> TablesOf(
    const std::vector<System>& platforms,
    const std::vector<Measured<Question>>& measured, double reach) {
  std::vector<std::vector<const Measured<Question>*>> rows(platforms.size());
  for (const Measured<Question>& row : measured) {
    if (row.is_fit) rows[row.platform].push_back(&row);
  }
  std::vector<PlatformTables<Tables>> all;
  for (size_t i = 0; i < platforms.size(); ++i) {
    if (rows[i].empty()) continue;
    Tables tables(platforms[i], rows[i], reach);
    if (!tables.empty()) all.push_back({platforms[i], std::move(tables)});
  }
  return all;
}

class TableModel : public CostModel {
 public:
  TableModel(const MeasuredKernels& kernels, const TableParameters& parameters)
      : CostModel("tables"),
        operators_(TablesOf<OperatorTables>(
            kernels.platforms, kernels.operators, parameters.reach)),
        collectives_(TablesOf<CollectiveTables>(
            kernels.platforms, kernels.collectives, parameters.reach)) {}

 private:
  absl::Status DoOperatorCosts(const System& system,
                               absl::Span<const Operator> operators,
                               absl::Span<Cost> costs) const override {
    Find(operators_, MatchPlatform(operators_, system, SameAccelerator),
         operators, costs);
    return absl::OkStatus();
  }
  absl::Status DoCollectiveCosts(
      const System& system, absl::Span<const SpannedCollective> collectives,
      absl::Span<Cost> costs) const override {
    Find(collectives_, MatchPlatform(collectives_, system, SameNode),
         collectives, costs);
    return absl::OkStatus();
  }

  template <typename Tables, typename Question>
  static void Find(const std::vector<PlatformTables<Tables>>& tables, int match,
                   absl::Span<const Question> questions,
                   absl::Span<Cost> costs) {
    if (match < 0) return;
    for (size_t i = 0; i < questions.size(); ++i) {
      costs[i] = tables[match].tables.Find(questions[i]);
    }
  }

  std::vector<PlatformTables<OperatorTables>> operators_;
  std::vector<PlatformTables<CollectiveTables>> collectives_;
};

}  // namespace

std::unique_ptr<CostModel> MakeTableModel(const MeasuredKernels& kernels,
                                          const TableParameters& parameters) {
  return std::make_unique<TableModel>(kernels, parameters);
}

absl::StatusOr<std::unique_ptr<CostModel>> MakeTableModel(
    const Bundle& bundle, const TableParameters& parameters) {
  absl::StatusOr<MeasuredKernels> kernels = ReadMeasuredKernels(bundle);
  if (!kernels.ok()) return kernels.status();
  return MakeTableModel(*kernels, parameters);
}

}  // namespace lmsimbench
