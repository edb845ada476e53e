#include "lib/testing/row_text.h"

#include <cmath>

#include "fmt/format.h"
#include "lib/core/operator_text.h"

namespace lmsimbench {
namespace {

template <typename Enum>
std::string Text(Enum value) {
  return std::string(Name(value));
}

std::string CategoryOf(const Operator& op) {
  if (op.computation != Computation::kMatrixMultiplication) {
    return fmt::format("{} {}", Text(op.kind), Text(op.pass));
  }
  if (op.kind != OperatorKind::kNotStated) {
    return fmt::format("{} {}", Text(op.kind), Text(op.precision));
  }
  return fmt::format("{} {}", op.batch > 1 ? "batched matmul" : "matmul",
                     Text(op.precision));
}

std::string CategoryOf(const SpannedCollective& spanned) {
  return fmt::format("{} {}", Text(spanned.collective.kind),
                     spanned.span.nodes == 1 ? "in a node" : "between nodes");
}

std::string ShapeOf(const Operator& op) {
  switch (op.computation) {
    case Computation::kMatrixMultiplication:
      return ShapeText(op);
    case Computation::kAttention:
      return fmt::format("{} {} x {} tokens, {} heads ({} kv) of {}{}",
                         Text(op.precision), op.batch, op.query_tokens,
                         op.heads, op.kv_heads, op.head_dim,
                         op.causal ? ", causal" : "");
    case Computation::kElementwise:
    case Computation::kHost:
      break;
  }
  return fmt::format("{} {}", Text(op.precision), ShapeText(op));
}

std::string ShapeOf(const SpannedCollective& spanned) {
  std::string shape =
      fmt::format("{}, {} ranks", BytesText(spanned.collective.bytes),
                  spanned.span.members);
  if (spanned.span.nodes > 1) {
    shape += fmt::format(" on {} nodes", spanned.span.nodes);
  }
  return shape;
}

}  // namespace

std::string CategoryOf(const MeasuredQuestion& question) {
  return std::visit([](const auto& asked) { return CategoryOf(asked); },
                    question);
}

std::string ShapeOf(const MeasuredQuestion& question) {
  return std::visit([](const auto& asked) { return ShapeOf(asked); }, question);
}

std::string SecondsText(double seconds) {
  if (std::isnan(seconds)) return "-";
  if (seconds == 0) return "0 s";
  struct Unit {
    double seconds;
    const char* name;
  };
  constexpr Unit kUnits[] = {{1e-9, "ns"}, {1e-6, "us"}, {1e-3, "ms"}};
  Unit unit = {1, "s"};
  // Below what three digits round to the next unit.
  for (const Unit& smaller : kUnits) {
    if (seconds / smaller.seconds < 999.5) {
      unit = smaller;
      break;
    }
  }
  const double value = seconds / unit.seconds;
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, unit.name);
}

std::string BytesText(int64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB"};
  size_t unit = 0;
  while (unit < 3 && bytes != 0 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", bytes, kUnits[unit]);
}

}  // namespace lmsimbench
