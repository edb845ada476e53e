#include "lib/core/operator_text.h"

#include "fmt/format.h"
#include "lmsimbench/fmt.h"

namespace lmsimbench {

std::string ShapeText(const Operator& op) {
  switch (op.computation) {
    case Computation::kMatrixMultiplication: {
      std::string shape = fmt::format("{} x {} x {}", op.m, op.n, op.k);
      if (op.batch > 1) shape = fmt::format("{} times {}", op.batch, shape);
      return shape;
    }
    case Computation::kAttention: {
      std::string shape = fmt::format(
          "{} x {} queries, {} keys, {} heads ({} of keys and values) of {}",
          op.batch, op.query_tokens, op.key_tokens, op.heads, op.kv_heads,
          op.head_dim);
      if (IsStated(op.value_head_dim)) {
        shape += fmt::format(" and {}", op.value_head_dim);
      }
      if (op.causal) shape += ", causal";
      if (op.window > 0) shape += fmt::format(", window {}", op.window);
      return shape;
    }
    case Computation::kElementwise:
    case Computation::kHost:
      return fmt::format("{} x {}", op.rows, op.width);
  }
  return "invalid shape";
}

std::string CollectivesText(absl::Span<const Collective> collectives) {
  constexpr char kLine[] = "  {:>4}  {:<14} {:<10} {:>14}\n";
  std::string text = fmt::format(kLine, "id", "collective", "group", "bytes");
  for (size_t i = 0; i < collectives.size(); ++i) {
    const Collective& collective = collectives[i];
    text += fmt::format(kLine, fmt::format("c{}", i), collective.kind,
                        collective.group, collective.bytes);
  }
  return text;
}

}  // namespace lmsimbench
