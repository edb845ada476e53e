#include "lib/cost/fit_parameters.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lib/cost/collective_model.h"
#include "lib/cost/roofline.h"

namespace lmsimbench {
namespace {

// Kernels that a share needs at least.
constexpr size_t kEnough = 5;
// Kernels shorter than this say more about their launch than about a share.
constexpr double kLongKernel_s = 50e-6;
constexpr int64_t kLongSequence = 2048;
constexpr int64_t kSmallMessage = 32 << 10;
constexpr int64_t kLargeMessage = 32 << 20;

double Median(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half]
                                : (values[half - 1] + values[half]) / 2;
}

// Sets a parameter to the median of what kernels reached, but to no more than
// all there is.
void SetShare(std::vector<double> reached, double& share) {
  if (reached.size() >= kEnough) share = std::min(1.0, Median(reached));
}

// What kernels of one platform reached of each share.
struct Reached {
  std::vector<double> matrix;
  std::vector<double> matrix_fp8;
  std::vector<double> attention_forward;
  std::vector<double> attention_backward;
};

// The share at which the formula would give the measured time, which it does
// where the share alone decides: formula * share / measured.
void AddOperator(const RooflineParameters& parameters,
                 const Accelerator& accelerator,
                 const Measured<Operator>& measured, Reached& reached) {
  const Operator& op = measured.question;
  const double kernel_s = measured.seconds - parameters.launch_s;
  if (kernel_s < kLongKernel_s || !IsStated(accelerator.memory_bandwidth)) {
    return;
  }
  const double memory_s = op.bytes / accelerator.memory_bandwidth;
  // Bound by memory, or partly so.
  if (op.computation == Computation::kElementwise || memory_s > kernel_s / 3 ||
      !IsStated(PeakFlops(accelerator, op.precision))) {
    return;
  }
  RooflineParameters whole = parameters;
  whole.matrix_efficiency = whole.matrix_efficiency_fp8 = 1;
  whole.attention_forward_efficiency = whole.attention_backward_efficiency = 1;
  whole.launch_s = 0;
  const double share = RooflineSeconds(whole, accelerator, op) / kernel_s;
  if (op.computation == Computation::kAttention) {
    if (op.key_tokens < kLongSequence) return;
    (op.pass == OperatorPass::kForward ? reached.attention_forward
                                       : reached.attention_backward)
        .push_back(share);
  } else if (IsFp8(op.precision)) {
    reached.matrix_fp8.push_back(share);
  } else if (op.precision != Precision::kFp32) {
    reached.matrix.push_back(share);
  }
}

RooflineParameters ParametersOf(RooflineParameters parameters,
                                const Reached& reached) {
  const double backward_to_forward = parameters.attention_backward_efficiency /
                                     parameters.attention_forward_efficiency;
  SetShare(reached.matrix, parameters.matrix_efficiency);
  SetShare(reached.matrix_fp8, parameters.matrix_efficiency_fp8);
  SetShare(reached.attention_forward, parameters.attention_forward_efficiency);
  // The backward pass is rarely measured; it follows the forward pass.
  parameters.attention_backward_efficiency =
      parameters.attention_forward_efficiency * backward_to_forward;
  SetShare(reached.attention_backward,
           parameters.attention_backward_efficiency);
  return parameters;
}

// Seconds by the formula with these parameters.
double Formula(const CollectiveParameters& parameters, const System& platform,
               const SpannedCollective& spanned) {
  return *CollectiveSeconds(parameters, platform, spanned);
}

// The algorithm may be one that not every collective has.
bool Applies(const CollectiveParameters& parameters,
             const SpannedCollective& spanned) {
  CollectiveParameters anywhere = parameters;
  anywhere.unstated_bandwidth = 1;
  return std::isfinite(Formula(anywhere, System(), spanned));
}

CollectiveParameters ParametersOf(
    CollectiveParameters parameters, const System& platform,
    absl::Span<const Measured<SpannedCollective>* const> measured) {
  // Small messages show what it takes to start.
  CollectiveParameters at_once = parameters;
  at_once.base_s = 0;
  std::vector<double> starts;
  for (const auto* row : measured) {
    if (row->question.collective.bytes > kSmallMessage) continue;
    starts.push_back(std::max(
        0.0, row->seconds - Formula(at_once, platform, row->question)));
  }
  if (starts.size() >= kEnough) parameters.base_s = Median(starts);
  // Large ones show the bandwidth.
  CollectiveParameters latency = parameters;
  latency.node_efficiency = 1;
  std::vector<double> reached;
  for (const auto* row : measured) {
    if (row->question.collective.bytes < kLargeMessage) continue;
    SpannedCollective nothing = row->question;
    nothing.collective.bytes = 0;
    const double start = Formula(latency, platform, nothing);
    const double whole = Formula(latency, platform, row->question) - start;
    if (row->seconds > 2 * start) {
      reached.push_back(whole / (row->seconds - start));
    }
  }
  SetShare(std::move(reached), parameters.node_efficiency);
  return parameters;
}

}  // namespace

std::vector<FittedOn<RooflineParameters>> FitRoofline(
    const MeasuredKernels& kernels, const RooflineParameters& defaults) {
  std::vector<Reached> reached(kernels.platforms.size());
  std::vector<bool> has_rows(kernels.platforms.size());
  for (const Measured<Operator>& row : kernels.operators) {
    if (!row.is_fit) continue;
    has_rows[row.platform] = true;
    AddOperator(defaults, kernels.platforms[row.platform].accelerator, row,
                reached[row.platform]);
  }
  std::vector<FittedOn<RooflineParameters>> fitted;
  for (size_t i = 0; i < reached.size(); ++i) {
    if (!has_rows[i]) continue;
    fitted.push_back(
        {kernels.platforms[i], ParametersOf(defaults, reached[i])});
  }
  return fitted;
}

std::vector<FittedOn<CollectiveParameters>> FitCollectives(
    const MeasuredKernels& kernels, const CollectiveParameters& defaults) {
  std::vector<std::vector<const Measured<SpannedCollective>*>> rows(
      kernels.platforms.size());
  for (const Measured<SpannedCollective>& row : kernels.collectives) {
    if (row.is_fit && Applies(defaults, row.question)) {
      rows[row.platform].push_back(&row);
    }
  }
  std::vector<FittedOn<CollectiveParameters>> fitted;
  for (size_t i = 0; i < rows.size(); ++i) {
    const System& platform = kernels.platforms[i];
    if (rows[i].empty() || platform.network.empty() ||
        !IsStated(platform.network[0].bandwidth)) {
      continue;
    }
    fitted.push_back({platform, ParametersOf(defaults, platform, rows[i])});
  }
  return fitted;
}

}  // namespace lmsimbench
