#include "lib/cost/operator_tables.h"

#include <algorithm>
#include <cmath>
#include <utility>

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

// What an elementwise kernel does, wherever in the network.
OperatorKind KernelKind(OperatorKind kind) {
  switch (kind) {
    case OperatorKind::kLatentNorm:
      return OperatorKind::kNorm;
    case OperatorKind::kExpertActivation:
    case OperatorKind::kSharedExpertActivation:
      return OperatorKind::kMlpActivation;
    default:
      return kind;
  }
}

double HeadWidth(const Operator& op) {
  const auto width = static_cast<double>(op.head_dim);
  return IsStated(op.value_head_dim)
             ? (width + static_cast<double>(op.value_head_dim)) / 2
             : width;
}

Extent ExtentOf(const Operator& op) {
  const auto length = [](int64_t count) { return static_cast<double>(count); };
  switch (op.computation) {
    case Computation::kMatrixMultiplication:
      if (IsGrouped(op)) {
        if (op.pass == OperatorPass::kWeightGradient) {
          return {length(op.batch), length(op.k), length(op.m) * length(op.n)};
        }
        return {length(op.batch), length(op.m), length(op.n) * length(op.k)};
      }
      return {length(op.m), length(op.n), length(op.k)};
    case Computation::kAttention:
      return {length(op.batch) * length(op.heads) * length(op.query_tokens) /
                  length(op.key_tokens),
              length(op.key_tokens), HeadWidth(op)};
    case Computation::kElementwise:
      return {op.bytes, 1, 1};
    case Computation::kHost:
      break;
  }
  return {};
}

// An operator of the extent, as `example` otherwise, for the reference.
Operator OperatorAt(const Extent& at, const Operator& example) {
  Operator op = example;
  switch (op.computation) {
    case Computation::kMatrixMultiplication: {
      if (IsGrouped(op)) {
        const bool weights = op.pass == OperatorPass::kWeightGradient;
        const double tall = static_cast<double>(op.n) /
                            static_cast<double>(weights ? op.m : op.k);
        const double n = std::sqrt(at[2] * tall);
        const double other = at[2] / n;
        op.batch = std::max<int64_t>(2, std::llround(at[0]));
        op.m = std::llround(weights ? other : at[1]);
        op.n = std::llround(n);
        op.k = std::llround(weights ? at[1] : other);
        op.bytes = at[0] * MatrixBytes(op.precision, weights ? other : at[1], n,
                                       weights ? at[1] : other);
        break;
      }
      op.m = std::llround(at[0]);
      op.n = std::llround(at[1]);
      op.k = std::llround(at[2]);
      op.bytes = MatrixBytes(op.precision, at[0], at[1], at[2]);
      break;
    }
    case Computation::kAttention: {
      const Extent of_example = ExtentOf(example);
      const double longer = at[1] / of_example[1];
      const double scale =
          at[0] / of_example[0] * longer * at[2] / of_example[2];
      op.flops *= scale * longer;
      op.bytes *= scale;
      op.key_tokens = std::llround(at[1]);
      break;
    }
    case Computation::kElementwise:
      op.bytes = at[0];
      break;
    case Computation::kHost:
      break;
  }
  return op;
}

bool HasFigures(const Accelerator& accelerator, const Operator& op) {
  return IsStated(accelerator.memory_bandwidth) &&
         (op.computation == Computation::kElementwise ||
          IsStated(PeakFlops(accelerator, op.precision)));
}

// The factor by which a shape is brought to an aligned one in the table, and
// back when it is asked for.
double FromAligned(const Operator& op) {
  return op.computation == Computation::kMatrixMultiplication
             ? AlignmentFactor(RooflineParameters(), op)
             : 1;
}

}  // namespace

int OperatorTables::SlotOf(const Operator& op) {
  const int width = WidthOf(op.precision);
  if (width < 0) return -1;
  int kind = 0;
  int direction = op.pass == OperatorPass::kForward ? 0 : 1;
  switch (op.computation) {
    case Computation::kMatrixMultiplication:
      if (IsGrouped(op)) {
        kind = 3;
        direction = op.pass == OperatorPass::kWeightGradient ? 1 : 0;
        break;
      }
      if (op.batch > 1) return -1;
      direction = 0;
      break;
    case Computation::kAttention:
      // No measurement has a window that hides keys.
      if (op.window > 0 && op.window < op.key_tokens) return -1;
      if (op.causal && op.key_tokens != op.query_tokens) return -1;
      kind = op.causal ? 1 : 2;
      break;
    case Computation::kElementwise:
      kind = 4 + static_cast<int>(KernelKind(op.kind));
      break;
    case Computation::kHost:
      // No measurement is of the host.
      return -1;
  }
  return (kind * 2 + direction) * 3 + width;
}

OperatorTables::OperatorTables(
    const System& platform,
    absl::Span<const Measured<Operator>* const> measured, double reach) {
  index_.fill(-1);
  memory_bandwidth_ = platform.accelerator.memory_bandwidth;
  std::array<std::vector<const Measured<Operator>*>, kSlots> by_slot;
  for (const Measured<Operator>* row : measured) {
    const int slot = SlotOf(row->question);
    if (slot >= 0 && HasFigures(platform.accelerator, row->question)) {
      by_slot[slot].push_back(row);
    }
  }
  for (int slot = 0; slot < kSlots; ++slot) {
    if (by_slot[slot].empty()) continue;
    AddTable(slot, platform.accelerator, by_slot[slot], reach);
  }
}

void OperatorTables::AddTable(
    int slot, const Accelerator& accelerator,
    const std::vector<const Measured<Operator>*>& measured, double reach) {
  std::vector<TablePoint> points;
  points.reserve(measured.size());
  for (const Measured<Operator>* row : measured) {
    points.push_back(
        {ExtentOf(row->question), row->seconds / FromAligned(row->question)});
  }
  const Operator& example = measured.front()->question;
  RooflineParameters aligned;
  aligned.misaligned_factor = 1;
  const auto reference = [&](const Extent& at) {
    return RooflineSeconds(aligned, accelerator, OperatorAt(at, example));
  };
  index_[slot] = static_cast<int16_t>(tables_.size());
  tables_.emplace_back(std::move(points), reference, reach);
}

Cost OperatorTables::Find(const Operator& op) const {
  const int slot = SlotOf(op);
  if (slot < 0) return {};
  if (index_[slot] < 0) {
    return IsGrouped(op) ? FindGrouped(op, WidthOf(op.precision)) : Cost();
  }
  Cost cost = tables_[index_[slot]].Find(ExtentOf(op));
  cost.seconds *= FromAligned(op);
  return cost;
}

// A device is full with the rows of all experts; where they are more than have
// been measured, with a part of them, again and again. What was measured of a
// weight gradient is not added to what is there.
Cost OperatorTables::FindGrouped(const Operator& op, int width) const {
  constexpr double kMostRows = 16384;
  constexpr double kMemoryEfficiency = 0.8;
  if (index_[width] < 0 || !IsStated(memory_bandwidth_)) return {};
  const bool weights = op.pass == OperatorPass::kWeightGradient;
  const double rows =
      weights ? static_cast<double>(op.batch * op.m) : GroupedRows(op);
  const double asked =
      weights ? static_cast<double>(op.m) : std::min(rows, kMostRows);
  Cost cost = tables_[index_[width]].Find(
      {asked, static_cast<double>(op.n), static_cast<double>(op.k)});
  if (cost.evidence == Evidence::kNotAnswered) return cost;
  if (cost.evidence == Evidence::kMeasured) {
    cost.evidence = Evidence::kInterpolated;
  }
  cost.seconds = cost.seconds * FromAligned(op) * rows / asked +
                 GroupedBytes(op) / (memory_bandwidth_ * kMemoryEfficiency);
  return cost;
}

}  // namespace lmsimbench
