// Prints how far the cost models are from the kernels and collectives of split
// `test`: the geometric mean of the error, by platform and kind, of the tables,
// of the formulas with default parameters, and of the default model.

#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include "fmt/format.h"
#include "lib/cost/measured_kernels.h"
#include "lmsimbench/cost_models.h"

namespace lmsimbench {
namespace {

constexpr int kModels = 3;

struct Errors {
  int rows = 0;
  int answered[kModels] = {};
  double sum[kModels] = {};
  double bias[kModels] = {};
  int measured = 0;
  int extrapolated = 0;
};

std::string KindOf(const Operator& op) {
  const std::string precision(Name(op.precision));
  switch (op.computation) {
    case Computation::kMatrixMultiplication:
      return (op.batch > 1 ? "batched matmul " : "matmul ") + precision;
    case Computation::kAttention:
      return "attention " + std::string(Name(op.pass));
    case Computation::kElementwise:
      return std::string(Name(op.kind)) + " " + std::string(Name(op.pass)) +
             " " + precision;
  }
  return "";
}
std::string KindOf(const SpannedCollective& spanned) {
  return std::string(Name(spanned.collective.kind));
}

template <typename Question>
void Score(const std::vector<Measured<Question>>& rows,
           const MeasuredKernels& kernels,
           const std::unique_ptr<CostModel> (&models)[kModels],
           bool by_source) {
  std::map<std::string, Errors> table;
  for (const Measured<Question>& row : rows) {
    if (row.is_fit) continue;
    const System& system = kernels.platforms[row.platform];
    std::string key =
        fmt::format("{:<34} {:<22}", KindOf(row.question), system.name);
    if (by_source) key += row.source_id;
    Errors& errors = table[key];
    ++errors.rows;
    for (int i = 0; i < kModels; ++i) {
      Cost cost;
      if (!models[i]
               ->Costs(system, absl::MakeConstSpan(&row.question, 1),
                       absl::MakeSpan(&cost, 1))
               .ok() ||
          cost.evidence == Evidence::kNotAnswered) {
        continue;
      }
      ++errors.answered[i];
      const double log_ratio = std::log(cost.seconds / row.seconds);
      errors.sum[i] += std::abs(log_ratio);
      errors.bias[i] += log_ratio;
      if (i == 0) {
        errors.measured += cost.evidence == Evidence::kMeasured;
        errors.extrapolated += cost.evidence == Evidence::kExtrapolated;
      }
    }
  }
  for (const auto& [key, errors] : table) {
    fmt::print("{} {:5}", key, errors.rows);
    for (int i = 0; i < kModels; ++i) {
      const auto mean = [&](double sum) {
        return 100 * (std::exp(sum / errors.answered[i]) - 1);
      };
      fmt::print(" |{:5} {:7.1f} {:+7.1f}", errors.answered[i],
                 mean(errors.sum[i]), mean(errors.bias[i]));
    }
    fmt::print(" | {} measured, {} extrapolated\n", errors.measured,
               errors.extrapolated);
  }
}

int Run(bool by_source) {
  const absl::StatusOr<Bundle> bundle = Bundle::Embedded();
  if (!bundle.ok()) return 1;
  const absl::StatusOr<MeasuredKernels> kernels = ReadMeasuredKernels(*bundle);
  absl::StatusOr<std::unique_ptr<CostModel>> tables = MakeTableModel(*bundle);
  absl::StatusOr<std::unique_ptr<CostModel>> whole =
      MakeDefaultCostModel(*bundle);
  if (!kernels.ok() || !tables.ok() || !whole.ok()) return 1;
  std::vector<std::unique_ptr<CostModel>> formulas;
  formulas.push_back(MakeRooflineModel());
  formulas.push_back(MakeCollectiveModel());
  const std::unique_ptr<CostModel> models[kModels] = {
      *std::move(tables), MakeCompositeModel("formulas", std::move(formulas)),
      *std::move(whole)};
  fmt::print(
      "{:<57} rows | tables: answered, GMAE %, bias % | formulas | default\n",
      "");
  Score(kernels->operators, *kernels, models, by_source);
  Score(kernels->collectives, *kernels, models, by_source);
  return 0;
}

}  // namespace
}  // namespace lmsimbench

int main(int argc, char** argv) {
  return lmsimbench::Run(argc > 1 && std::string(argv[1]) == "--by-source");
}
