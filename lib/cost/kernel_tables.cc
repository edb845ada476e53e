#include "lib/cost/kernel_tables.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lib/cost/collective_model.h"
#include "lib/cost/roofline.h"

namespace lmsimbench {
namespace {

// Both 16-bit formats are as fast as each other; so are all 8-bit formats.
int WidthOf(Precision precision) {
  if (IsFp8(precision)) return 1;
  switch (precision) {
    case Precision::kFp16:
    case Precision::kBf16:
    case Precision::kAmp:
      return 0;
    case Precision::kFp32:
      return 2;
    default:
      return -1;
  }
}

// Tables know nothing of a window that hides keys.
bool HasWindow(const Operator& op) {
  return op.window > 0 && op.window < op.key_tokens;
}

Extent ExtentOf(const Operator& op) {
  const auto length = [](int64_t count) { return static_cast<double>(count); };
  switch (op.computation) {
    case Computation::kMatrixMultiplication:
      return {length(op.m), length(op.n), length(op.k)};
    case Computation::kAttention:
      return {length(op.batch) * length(op.heads), length(op.query_tokens),
              length(op.head_dim)};
    case Computation::kElementwise:
      return {op.bytes, 1, 1};
  }
  return {};
}

Extent ExtentOf(const SpannedCollective& spanned) {
  return {static_cast<double>(spanned.collective.bytes),
          static_cast<double>(spanned.span.members), 1};
}

// An operator of the extent, as `example` otherwise, for the reference.
Operator OperatorAt(const Extent& at, const Operator& example) {
  Operator op = example;
  switch (op.computation) {
    case Computation::kMatrixMultiplication: {
      op.m = std::llround(at[0]);
      op.n = std::llround(at[1]);
      op.k = std::llround(at[2]);
      const double element = IsFp8(op.precision)                ? 1
                             : op.precision == Precision::kFp32 ? 4
                                                                : 2;
      op.bytes = element * (at[0] * at[2] + at[2] * at[1]) + 2 * at[0] * at[1];
      break;
    }
    case Computation::kAttention: {
      const double scale = at[0] * at[1] * at[2] /
                           (static_cast<double>(op.batch * op.heads) *
                            static_cast<double>(op.query_tokens) *
                            static_cast<double>(op.head_dim));
      op.flops *= scale * at[1] / static_cast<double>(op.query_tokens);
      op.bytes *= scale;
      op.key_tokens = std::llround(at[1]);
      break;
    }
    case Computation::kElementwise:
      op.bytes = at[0];
      break;
  }
  return op;
}

// The platform with the figures that the reference needs, where it does not
// state them: their level does not matter.
System Completed(System platform) {
  if (platform.network.empty()) platform.network.emplace_back();
  if (!IsStated(platform.network[0].bandwidth)) {
    platform.network[0].bandwidth = 100e9;
  }
  return platform;
}

}  // namespace

int KernelTables::SlotOf(const Operator& op) {
  const int width = WidthOf(op.precision);
  if (width < 0) return -1;
  int kind = 0;
  int direction = op.pass == OperatorPass::kForward ? 0 : 1;
  switch (op.computation) {
    case Computation::kMatrixMultiplication:
      if (op.batch > 1) return -1;
      kind = 0;
      direction = 0;
      break;
    case Computation::kAttention:
      if (HasWindow(op) || op.key_tokens != op.query_tokens) return -1;
      kind = op.causal ? 1 : 2;
      break;
    case Computation::kElementwise:
      kind = 3 + static_cast<int>(op.kind);
      break;
  }
  return (kind * kDirections + direction) * kWidths + width;
}

KernelTables::KernelTables(
    const System& system, absl::Span<const Measured<Operator>* const> operators,
    absl::Span<const Measured<SpannedCollective>* const> collectives,
    double reach)
    : platform(system) {
  index_.fill(-1);
  AddOperatorTables(operators, reach);
  has_operators_ = !tables_.empty();
  const size_t of_operators = tables_.size();
  AddCollectiveTables(collectives, reach);
  has_collectives_ = tables_.size() > of_operators;
}

void KernelTables::AddTable(int slot, std::vector<TablePoint> points,
                            const MonotoneTable::Reference& reference,
                            double reach) {
  index_[slot] = static_cast<int16_t>(tables_.size());
  tables_.emplace_back(std::move(points), reference, reach);
}

void KernelTables::AddOperatorTables(
    absl::Span<const Measured<Operator>* const> operators, double reach) {
  const Accelerator& accelerator = platform.accelerator;
  const RooflineParameters parameters;
  std::vector<std::vector<const Measured<Operator>*>> of_slot(
      kOperatorSlots * kDirections * kWidths);
  for (const Measured<Operator>* measured : operators) {
    const Operator& op = measured->question;
    const int slot = SlotOf(op);
    const bool has_figures = IsStated(accelerator.memory_bandwidth) &&
                             (op.computation == Computation::kElementwise ||
                              IsStated(PeakFlops(accelerator, op.precision)));
    if (slot >= 0 && has_figures) of_slot[slot].push_back(measured);
  }
  // All shapes are brought to aligned ones, and back when they are asked for.
  RooflineParameters aligned = parameters;
  aligned.misaligned_factor = 1;
  for (size_t slot = 0; slot < of_slot.size(); ++slot) {
    if (of_slot[slot].empty()) continue;
    std::vector<TablePoint> points;
    for (const Measured<Operator>* measured : of_slot[slot]) {
      const Operator& op = measured->question;
      const double factor = op.computation == Computation::kMatrixMultiplication
                                ? AlignmentFactor(parameters, op)
                                : 1;
      points.push_back({ExtentOf(op), measured->seconds / factor});
    }
    const Operator& example = of_slot[slot].front()->question;
    AddTable(
        static_cast<int>(slot), std::move(points),
        [&](const Extent& at) {
          return RooflineSeconds(aligned, accelerator, OperatorAt(at, example));
        },
        reach);
  }
}

void KernelTables::AddCollectiveTables(
    absl::Span<const Measured<SpannedCollective>* const> collectives,
    double reach) {
  const System completed = Completed(platform);
  for (int kind = 0; kind < kCollectiveKinds; ++kind) {
    std::vector<TablePoint> points;
    for (const Measured<SpannedCollective>* measured : collectives) {
      if (static_cast<int>(measured->question.collective.kind) != kind) {
        continue;
      }
      points.push_back({ExtentOf(measured->question), measured->seconds});
    }
    if (points.empty()) continue;
    AddTable(
        kOperatorSlots * kDirections * kWidths + kind, std::move(points),
        [&](const Extent& at) {
          SpannedCollective spanned;
          spanned.collective.kind = static_cast<CollectiveKind>(kind);
          spanned.collective.bytes = std::llround(at[0]);
          spanned.span.members = std::max<int64_t>(2, std::llround(at[1]));
          spanned.span.members_per_node = spanned.span.members;
          return *CollectiveSeconds({}, completed, spanned);
        },
        reach);
  }
}

Cost KernelTables::Find(const Operator& op) const {
  const MonotoneTable* table = At(SlotOf(op));
  if (table == nullptr) return {};
  Cost cost = table->Find(ExtentOf(op));
  if (op.computation == Computation::kMatrixMultiplication) {
    cost.seconds *= AlignmentFactor({}, op);
  }
  return cost;
}

Cost KernelTables::Find(const SpannedCollective& spanned) const {
  if (spanned.span.nodes != 1) return {};
  const MonotoneTable* table = At(kOperatorSlots * kDirections * kWidths +
                                  static_cast<int>(spanned.collective.kind));
  if (table == nullptr) return {};
  return table->Find(ExtentOf(spanned));
}

}  // namespace lmsimbench
