#include "lib/cost/measured_kernels.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "lib/cost/measured_row.h"
#include "lmsimbench/lookup.h"

namespace lmsimbench {
namespace {

// Of the operators, kernels: the products and the last norm of the view are
// timed with what a framework does around them.
absl::StatusOr<Operator> KernelQuestion(const ViewRow& row) {
  absl::StatusOr<Operator> op = OperatorQuestion(row);
  const bool framework =
      op.ok() && op->computation == Computation::kMatrixMultiplication &&
      op->kind != OperatorKind::kExpertUp;
  if (framework || (op.ok() && row.Text("op") == "layernorm_final")) {
    return absl::InvalidArgumentError("timed within a framework");
  }
  return op;
}

absl::StatusOr<SpannedCollective> LibraryQuestion(const ViewRow& row,
                                                  const System& platform) {
  const std::string library = row.Text("library");
  if (!absl::StrContains(library, "NCCL") &&
      !absl::StrContains(library, "RCCL") &&
      !absl::StrContains(library, "HCCL")) {
    return absl::InvalidArgumentError("no communication library");
  }
  if (row.Count("nodes") != 1) {
    return absl::InvalidArgumentError("between nodes");
  }
  return CollectiveQuestion(row, platform);
}

class Reader {
 public:
  explicit Reader(const Bundle& bundle) : bundle_(bundle) {}

  absl::StatusOr<MeasuredKernels> Read() {
    for (const std::string& name : PlatformNames(bundle_)) {
      absl::StatusOr<System> platform = FindPlatform(bundle_, name);
      if (!platform.ok()) return platform.status();
      kernels_.platforms.push_back(*std::move(platform));
    }
    ReadView(
        "gemms", kernels_.operators,
        [](const ViewRow& row, const System&) { return GemmQuestion(row); });
    ReadView(
        "operators", kernels_.operators,
        [](const ViewRow& row, const System&) { return KernelQuestion(row); });
    ReadView("collectives", kernels_.collectives, LibraryQuestion);
    return std::move(kernels_);
  }

 private:
  template <typename Question, typename QuestionOf>
  void ReadView(absl::string_view name, std::vector<Measured<Question>>& out,
                QuestionOf question_of) {
    const ProfileView& view = bundle_.ViewOrEmpty(name);
    for (size_t i = 0; i < view.rows(); ++i) {
      const ViewRow row(view, i);
      Measured<Question> measured;
      measured.seconds = row.Number("latency_us") * 1e-6;
      const std::string split = row.Text("split");
      measured.is_fit = split == "fit";
      if (!(measured.seconds > 0) || IsFlagged(row) ||
          (!measured.is_fit && split != "test") ||
          !PlatformOf(row.Text("platform"), measured.platform)) {
        continue;
      }
      absl::StatusOr<Question> question =
          question_of(row, kernels_.platforms[measured.platform]);
      if (!question.ok()) continue;
      measured.question = *std::move(question);
      measured.source_id = row.Text("source_id");
      out.push_back(std::move(measured));
    }
  }

  // The platforms are sorted by name.
  bool PlatformOf(const std::string& name, size_t& index) const {
    const auto found = std::lower_bound(
        kernels_.platforms.begin(), kernels_.platforms.end(), name,
        [](const System& system, const std::string& other) {
          return system.name < other;
        });
    if (found == kernels_.platforms.end() || found->name != name) return false;
    index = static_cast<size_t>(found - kernels_.platforms.begin());
    return true;
  }

  const Bundle& bundle_;
  MeasuredKernels kernels_;
};

}  // namespace

absl::StatusOr<MeasuredKernels> ReadMeasuredKernels(const Bundle& bundle) {
  return Reader(bundle).Read();
}

}  // namespace lmsimbench
