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

// An operator of the extent, as `example` otherwise, for the reference.
Operator OperatorAt(const Extent& at, const Operator& example) {
  Operator op = example;
  switch (op.computation) {
    case Computation::kMatrixMultiplication: {
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
      if (op.batch > 1) return -1;
      direction = 0;
      break;
    case Computation::kAttention:
      // No measurement has a window that hides keys.
      if (op.window > 0 && op.window < op.key_tokens) return -1;
      if (op.key_tokens != op.query_tokens) return -1;
      kind = op.causal ? 1 : 2;
      break;
    case Computation::kElementwise:
      kind = 3 + static_cast<int>(op.kind);
      break;
  }
  return (kind * 2 + direction) * 3 + width;
}

OperatorTables::OperatorTables(
    const System& platform,
    absl::Span<const Measured<Operator>* const> measured, double reach) {
  index_.fill(-1);
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
  if (slot < 0 || index_[slot] < 0) return {};
  Cost cost = tables_[index_[slot]].Find(ExtentOf(op));
  cost.seconds *= FromAligned(op);
  return cost;
}

}  // namespace lmsimbench
