#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "lmsimbench/cost_model.h"

namespace lmsimbench {

/// A cost model for tests: answers each question with what a function says, and
/// counts what it is asked.
class FixedModel : public CostModel {
 public:
  explicit FixedModel(Cost cost, std::string name = "fixed")
      : CostModel(std::move(name)),
        of_operator([cost](const Operator&) { return cost; }),
        of_collective([cost](const SpannedCollective&) { return cost; }) {}

  std::function<Cost(const Operator&)> of_operator;
  std::function<Cost(const SpannedCollective&)> of_collective;
  absl::Status status;
  mutable int asked = 0;

 private:
  absl::Status DoOperatorCosts(const System&,
                               absl::Span<const Operator> operators,
                               absl::Span<Cost> costs) const override {
    for (size_t i = 0; i < operators.size(); ++i) {
      costs[i] = of_operator(operators[i]);
      ++asked;
    }
    return status;
  }
  absl::Status DoCollectiveCosts(
      const System&, absl::Span<const SpannedCollective> collectives,
      absl::Span<Cost> costs) const override {
    for (size_t i = 0; i < collectives.size(); ++i) {
      costs[i] = of_collective(collectives[i]);
      ++asked;
    }
    return status;
  }
};

/// A matrix multiplication in bf16 with its operations and bytes.
inline Operator Matmul(int64_t m, int64_t n, int64_t k,
                       OperatorPass pass = OperatorPass::kForward) {
  Operator op;
  op.kind = OperatorKind::kMlpUp;
  op.pass = pass;
  op.computation = Computation::kMatrixMultiplication;
  op.precision = Precision::kBf16;
  op.batch = 1;
  op.m = m;
  op.n = n;
  op.k = k;
  op.flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) *
             static_cast<double>(k);
  op.bytes = 2.0 * static_cast<double>(m * n + n * k + m * k);
  return op;
}

/// An elementwise operator that reads and writes 16-bit numbers.
inline Operator Elementwise(OperatorKind kind, int64_t rows, int64_t width) {
  Operator op;
  op.kind = kind;
  op.pass = OperatorPass::kForward;
  op.computation = Computation::kElementwise;
  op.precision = Precision::kBf16;
  op.rows = rows;
  op.width = width;
  op.bytes = 4.0 * static_cast<double>(rows * width);
  return op;
}

/// A causal attention core in bf16.
inline Operator Attention(int64_t batch, int64_t tokens, int64_t heads,
                          int64_t head_dim,
                          OperatorPass pass = OperatorPass::kForward) {
  Operator op;
  op.kind = OperatorKind::kAttention;
  op.pass = pass;
  op.computation = Computation::kAttention;
  op.precision = Precision::kBf16;
  op.batch = batch;
  op.query_tokens = tokens;
  op.key_tokens = tokens;
  op.heads = heads;
  op.kv_heads = heads;
  op.head_dim = head_dim;
  op.causal = true;
  const double pairs =
      0.5 * static_cast<double>(tokens) * static_cast<double>(tokens);
  op.flops = 4 * pairs * static_cast<double>(batch * heads * head_dim);
  if (pass != OperatorPass::kForward) op.flops *= 2.5;
  op.bytes = 8.0 * static_cast<double>(batch * tokens * heads * head_dim);
  return op;
}

/// A device of 100 TFLOP/s and 1 TB/s in nodes of 8, joined by 50 GB/s inside
/// and 10 GB/s outside a node.
inline System TestSystem() {
  System system;
  system.name = "test system";
  system.accelerator.name = "test device";
  system.accelerator.bf16_flops = 100e12;
  system.accelerator.memory_bandwidth = 1e12;
  NetworkLevel node;
  node.name = "node";
  node.size = 8;
  node.bandwidth = 50e9;
  NetworkLevel cluster;
  cluster.name = "cluster";
  cluster.bandwidth = 10e9;
  system.network = {node, cluster};
  return system;
}

/// A collective over a group that has `per_node` members in each of `nodes`.
inline SpannedCollective Spanned(CollectiveKind kind, int64_t bytes,
                                 int64_t per_node, int64_t nodes = 1) {
  SpannedCollective spanned;
  spanned.collective = {kind, Group::kData, bytes};
  spanned.span.members = per_node * nodes;
  spanned.span.nodes = nodes;
  spanned.span.members_per_node = per_node;
  spanned.span.level = nodes > 1 ? 1 : 0;
  return spanned;
}

/// The answer to one question; not answered if the model fails.
template <typename Question>
Cost CostOf(const CostModel& model, const System& system,
            const Question& question) {
  Cost cost;
  if (!model
           .Costs(system, absl::MakeConstSpan(&question, 1),
                  absl::MakeSpan(&cost, 1))
           .ok()) {
    return {};
  }
  return cost;
}

/// What the model says when it fails at a question.
template <typename Question>
absl::Status StatusOf(const CostModel& model, const System& system,
                      const Question& question) {
  Cost cost;
  return model.Costs(system, absl::MakeConstSpan(&question, 1),
                     absl::MakeSpan(&cost, 1));
}

}  // namespace lmsimbench
