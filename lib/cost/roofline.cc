#include "lib/cost/roofline.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "lib/cost/host.h"
#include "lib/cost/platform_match.h"

namespace lmsimbench {
namespace {

class RooflineModel : public CostModel {
 public:
  RooflineModel(const RooflineParameters& parameters,
                std::vector<FittedOn<RooflineParameters>> fitted)
      : CostModel("roofline"),
        parameters_(parameters),
        fitted_(std::move(fitted)) {}

 private:
  absl::Status DoOperatorCosts(const System& system,
                               absl::Span<const Operator> operators,
                               absl::Span<Cost> costs) const override {
    const int match = MatchPlatform(fitted_, system, SameAccelerator);
    const RooflineParameters& parameters =
        match < 0 ? parameters_ : fitted_[match].parameters;
    for (size_t i = 0; i < operators.size(); ++i) {
      const Operator& op = operators[i];
      const bool of_host = op.computation == Computation::kHost;
      absl::Status status =
          of_host ? StatesHost(system) : StatesFigures(system.accelerator, op);
      if (!status.ok()) return status;
      if (of_host) {
        costs[i] = {HostSeconds(parameters, system, op) + parameters.launch_s,
                    Evidence::kAnalytic};
        continue;
      }
      costs[i] = {RooflineSeconds(parameters, system.accelerator, op),
                  Evidence::kAnalytic};
    }
    return absl::OkStatus();
  }

  absl::Status StatesHost(const System& system) const {
    if (parameters_.assumes_host) return absl::OkStatus();
    const bool link = !IsStated(system.host_link_bandwidth);
    if (!link && IsStated(system.host_memory_bandwidth)) {
      return absl::OkStatus();
    }
    return absl::FailedPreconditionError(fmt::format(
        "system '{}' states no {}, which an offloaded optimizer needs",
        system.name, link ? "host_link_bandwidth" : "host_memory_bandwidth"));
  }

  static absl::Status StatesFigures(const Accelerator& accelerator,
                                    const Operator& op) {
    if (!IsStated(accelerator.memory_bandwidth)) {
      return absl::FailedPreconditionError(fmt::format(
          "accelerator '{}' states no memory bandwidth", accelerator.name));
    }
    if (op.computation != Computation::kElementwise &&
        !IsStated(MatrixPeak(accelerator, op.precision))) {
      return absl::FailedPreconditionError(fmt::format(
          "accelerator '{}' states no peak for {}, which '{}' needs",
          accelerator.name, std::string(Name(op.precision)), Describe(op)));
    }
    return absl::OkStatus();
  }

  RooflineParameters parameters_;
  std::vector<FittedOn<RooflineParameters>> fitted_;
};

// Elements of 16 bytes in 16 bits: what matrix engines load at once.
constexpr int64_t kLoad = 8;

// The largest power of two, up to `most`, that divides both lengths.
int64_t Alignment(int64_t a, int64_t b, int64_t most) {
  int64_t alignment = kLoad;
  while (alignment < most && a % (2 * alignment) == 0 &&
         b % (2 * alignment) == 0) {
    alignment *= 2;
  }
  return alignment;
}

}  // namespace

double MatrixPeak(const Accelerator& accelerator, Precision precision) {
  return PeakFlops(accelerator, precision == Precision::kNvFp4 ? Precision::kFp8
                                                               : precision);
}

double AlignmentFactor(const RooflineParameters& parameters,
                       const Operator& op) {
  if (op.precision == Precision::kFp32) return 1;
  const int64_t other = op.pass == OperatorPass::kWeightGradient ? op.m : op.k;
  const int64_t alignment = Alignment(op.n, other, parameters.alignment);
  if (alignment >= parameters.alignment) return 1;
  return 1 + (parameters.misaligned_factor - 1) * static_cast<double>(kLoad) /
                 static_cast<double>(alignment);
}

bool IsGrouped(const Operator& op) {
  return op.batch > 1 && (op.kind == OperatorKind::kExpertUp ||
                          op.kind == OperatorKind::kExpertDown);
}

double GroupedRows(const Operator& op) {
  constexpr int64_t kTile = 128;
  return static_cast<double>(op.batch) *
         static_cast<double>((op.m + kTile - 1) / kTile * kTile);
}

double GroupedBytes(const Operator& op) {
  const auto batch = static_cast<double>(op.batch);
  const auto m = static_cast<double>(op.m);
  const auto n = static_cast<double>(op.n);
  const auto k = static_cast<double>(op.k);
  if (op.pass == OperatorPass::kWeightGradient) {
    return std::max(0.0, op.bytes - batch * MatrixBytes(op.precision, m, n, k));
  }
  return (batch - 1) * ElementBytes(op.precision) * n * k;
}

double MatrixSaturation(const RooflineParameters& parameters, double m,
                        double n, double k) {
  return m / (m + parameters.half_tile) * (n / (n + parameters.half_tile)) *
         (k / (k + parameters.half_depth));
}

double ElementBytes(Precision precision) {
  if (IsFp8(precision)) return 1;
  return precision == Precision::kFp32 || precision == Precision::kTf32 ? 4 : 2;
}

double MatrixBytes(Precision precision, double m, double n, double k) {
  // Eight-bit operands have a result of 16 bits.
  const double element = ElementBytes(precision);
  return element * (m * k + k * n) + std::max(2.0, element) * m * n;
}

double RooflineSeconds(const RooflineParameters& parameters,
                       const Accelerator& accelerator, const Operator& op) {
  const double memory_s =
      op.bytes / (accelerator.memory_bandwidth * parameters.memory_efficiency);
  if (op.computation == Computation::kElementwise) {
    return memory_s + parameters.launch_s;
  }
  const double peak = MatrixPeak(accelerator, op.precision);
  const auto share_of = [&](Precision precision) {
    return IsFp8(precision) || precision == Precision::kNvFp4
               ? parameters.matrix_efficiency_fp8
               : parameters.matrix_efficiency;
  };
  // The experts of a device fill it together, and each has its weights.
  if (op.computation == Computation::kMatrixMultiplication && IsGrouped(op)) {
    const auto n = static_cast<double>(op.n);
    const auto k = static_cast<double>(op.k);
    const bool weights = op.pass == OperatorPass::kWeightGradient;
    const double rows =
        weights ? static_cast<double>(op.batch) * static_cast<double>(op.m)
                : GroupedRows(op);
    const double saturation = MatrixSaturation(
        parameters, weights ? static_cast<double>(op.m) : rows, n, k);
    const double grouped_s = 2 * rows * n * k /
                             (peak * share_of(op.precision) * saturation) *
                             AlignmentFactor(parameters, op);
    return std::max(
               grouped_s + GroupedBytes(op) / (accelerator.memory_bandwidth *
                                               parameters.memory_efficiency),
               memory_s) +
           parameters.launch_s;
  }
  double compute_s = 0;
  if (op.computation == Computation::kAttention) {
    const double keys = static_cast<double>(std::max<int64_t>(
        1, op.window > 0 ? std::min(op.window, op.key_tokens) : op.key_tokens));
    const double share = op.pass == OperatorPass::kForward
                             ? parameters.attention_forward_efficiency
                             : parameters.attention_backward_efficiency;
    compute_s =
        op.flops / (peak * share) * ((keys + parameters.half_tokens) / keys);
  } else {
    const auto m = static_cast<double>(op.m);
    const auto n = static_cast<double>(op.n);
    const auto k = static_cast<double>(op.k);
    const double flops =
        2 * static_cast<double>(std::max<int64_t>(1, op.batch)) * m * n * k;
    compute_s = flops /
                (peak * share_of(op.precision) *
                 MatrixSaturation(parameters, m, n, k)) *
                AlignmentFactor(parameters, op);
  }
  return std::max(compute_s, memory_s) + parameters.launch_s;
}

std::unique_ptr<CostModel> MakeRooflineModel(
    const RooflineParameters& parameters,
    std::vector<FittedOn<RooflineParameters>> fitted) {
  return std::make_unique<RooflineModel>(parameters, std::move(fitted));
}

}  // namespace lmsimbench
