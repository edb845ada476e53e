#include "capi/cost_questions.h"

#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "capi/conformance.h"
#include "capi/graph.h"
#include "capi/values.h"

namespace lmsimbench::capi {
namespace {

// What tells questions apart that are to be asked in any case.
auto SignatureOf(const Operator& op) {
  return std::make_tuple(op.kind, op.pass, op.computation, op.precision);
}
auto SignatureOf(const SpannedCollective& collective) {
  return std::make_tuple(collective.collective.kind,
                         collective.collective.group, collective.span.level,
                         collective.span.nodes > 1);
}

template <typename Question, typename Signatures>
bool AddsTo(Signatures& signatures, const std::vector<Question>& questions) {
  bool adds = false;
  for (const Question& question : questions) {
    adds |= signatures.insert(SignatureOf(question)).second;
  }
  return adds;
}

Operator MatrixMultiplication(int64_t m, int64_t n, int64_t k) {
  Operator op;
  op.kind = OperatorKind::kMlpUp;
  op.pass = OperatorPass::kForward;
  op.computation = Computation::kMatrixMultiplication;
  op.precision = Precision::kBf16;
  op.batch = 1;
  op.m = m, op.n = n, op.k = k;
  const auto dm = static_cast<double>(m);
  const auto dn = static_cast<double>(n);
  const auto dk = static_cast<double>(k);
  op.flops = 2 * dm * dn * dk;
  op.bytes = 2 * (dm * dk + dk * dn + dm * dn);
  return op;
}

Operator Attention(int64_t tokens, int64_t window) {
  constexpr int64_t kHeadDim = 128;
  Operator op;
  op.kind = OperatorKind::kAttention;
  op.pass = OperatorPass::kForward;
  op.computation = Computation::kAttention;
  op.precision = Precision::kBf16;
  op.batch = op.heads = op.kv_heads = 1;
  op.query_tokens = op.key_tokens = tokens;
  op.head_dim = kHeadDim;
  op.causal = true;
  op.window = window;
  const auto keys = static_cast<double>(window > 0 ? window : tokens);
  const auto queries = static_cast<double>(tokens);
  // Two multiplications; half of them above the diagonal.
  op.flops = (window > 0 ? 4 : 2) * queries * keys * kHeadDim;
  op.bytes = 2 * 4 * queries * kHeadDim;
  return op;
}

Operator Elementwise(int64_t rows, int64_t width) {
  Operator op;
  op.kind = OperatorKind::kResidual;
  op.pass = OperatorPass::kForward;
  op.computation = Computation::kElementwise;
  op.precision = Precision::kBf16;
  op.rows = rows, op.width = width;
  op.flops = static_cast<double>(rows) * static_cast<double>(width);
  op.bytes = 6 * op.flops;
  return op;
}

SpannedCollective CollectiveOf(CollectiveKind kind, int64_t bytes,
                               int64_t members, int64_t nodes, int32_t level) {
  SpannedCollective question;
  question.collective = {kind, Group::kData, bytes};
  question.span = {members, nodes, members / nodes, level};
  return question;
}

// The smallest shapes there are, and some that are far too large.
CostCase EdgeCase(const System& system) {
  CostCase edge;
  edge.name = "edge shapes";
  edge.system = system;
  edge.is_real = false;
  constexpr int64_t kHuge = int64_t{1} << 20;
  edge.operators = {MatrixMultiplication(1, 1, 1),
                    MatrixMultiplication(1, kHuge, 1),
                    MatrixMultiplication(7, 13, 17),
                    MatrixMultiplication(kHuge, kHuge, kHuge),
                    Attention(1, 0),
                    Attention(kHuge, 0),
                    Attention(kHuge, 4096),
                    Elementwise(1, 1),
                    Elementwise(kHuge, kHuge)};
  const auto outer = static_cast<int32_t>(system.network.size()) - 1;
  for (int kind = 1; kind < kCollectiveKinds; ++kind) {
    const auto of = static_cast<CollectiveKind>(kind);
    edge.collectives.push_back(CollectiveOf(of, 1, 2, 1, 0));
    if (of == CollectiveKind::kSendReceive || outer < 1) continue;
    edge.collectives.push_back(
        CollectiveOf(of, int64_t{1} << 40, 16384, 2048, outer));
  }
  return edge;
}

}  // namespace

absl::StatusOr<std::vector<CostCase>> CostCasesOf(const Bundle& bundle) {
  auto cases = CasesOf(bundle);
  if (!cases.ok()) return cases.status();
  decltype(std::set{SignatureOf(Operator())}) operators;
  decltype(std::set{SignatureOf(SpannedCollective())}) collectives;
  std::vector<CostCase> chosen;
  for (const Case& of : *cases) {
    const lmsb_workload workload(&of.workload);
    const lmsb_system system(&of.system);
    const lmsb_config config(&of.config);
    lmsb_graph* made = nullptr;
    if (lmsb_graph_new(&made, &workload, &system, &config) != LMSB_OK) continue;
    const std::unique_ptr<lmsb_graph> graph(made);
    CostCase next{of.name, of.system, graph->costed.graph.program.operators,
                  graph->costed.spanned};
    const bool adds_operators = AddsTo(operators, next.operators);
    const bool adds_collectives = AddsTo(collectives, next.collectives);
    if (adds_operators || adds_collectives) chosen.push_back(std::move(next));
  }
  if (chosen.empty()) {
    return absl::FailedPreconditionError(
        "the bundle has no run to ask about that the library can lower");
  }
  chosen.push_back(EdgeCase(chosen.front().system));
  return chosen;
}

}  // namespace lmsimbench::capi
