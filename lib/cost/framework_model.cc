#include "lib/cost/framework_model.h"

#include <cmath>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "lmsimbench/framework.h"

namespace lmsimbench {
namespace {

bool IsAttentionCore(OperatorKind kind) {
  switch (kind) {
    case OperatorKind::kAttention:
    case OperatorKind::kAttentionScores:
    case OperatorKind::kSoftmax:
    case OperatorKind::kAttentionDropout:
    case OperatorKind::kAttentionValues:
      return true;
    default:
      return false;
  }
}

double PrecisionFactor(const FrameworkParameters& parameters,
                       Precision precision) {
  if (IsFp8(precision)) return parameters.matrix_fp8_factor;
  return precision == Precision::kNvFp4 ? parameters.matrix_fp4_factor : 1;
}

double FactorOf(const FrameworkParameters& parameters, const Operator& op) {
  if (IsAttentionCore(op.kind)) return parameters.attention_factor;
  if (op.kind == OperatorKind::kCrossEntropy) return parameters.loss_factor;
  if (op.computation == Computation::kMatrixMultiplication) {
    const bool of_experts = op.kind == OperatorKind::kExpertUp ||
                            op.kind == OperatorKind::kExpertDown;
    return parameters.matrix_factor *
           PrecisionFactor(parameters, op.precision) *
           (of_experts ? parameters.expert_matrix_factor : 1);
  }
  return op.pass == OperatorPass::kOptimizer ? 1
                                             : parameters.elementwise_factor;
}

double FactorOf(const FrameworkParameters& parameters, Group group) {
  switch (group) {
    case Group::kTensor:
    case Group::kContext:
    case Group::kContextInner:
    case Group::kContextOuter:
      return parameters.tensor_factor;
    case Group::kExpert:
    case Group::kExpertTensor:
    case Group::kExpertRegion:
      return parameters.expert_factor;
    case Group::kData:
    case Group::kShard:
    case Group::kReplica:
    case Group::kExpertData:
      return parameters.data_factor;
    default:
      return 1;
  }
}

// Groups that communicate within passes.
bool IsWithinPass(Group group) {
  switch (group) {
    case Group::kTensor:
    case Group::kContext:
    case Group::kContextInner:
    case Group::kContextOuter:
    case Group::kExpert:
    case Group::kExpertTensor:
    case Group::kExpertRegion:
      return true;
    default:
      return false;
  }
}

double HostSeconds(const FrameworkParameters& parameters, const Span& span,
                   bool pipelined) {
  const double pairs = static_cast<double>(span.members) / 2;
  double seconds = 0;
  if (parameters.collective_host_s > 0) {
    seconds += parameters.collective_host_s *
               std::pow(pairs, parameters.collective_growth) *
               std::pow(static_cast<double>(span.nodes),
                        parameters.collective_node_growth);
  }
  if (pipelined && parameters.pipelined_host_s > 0) {
    seconds += parameters.pipelined_host_s *
               std::pow(pairs, parameters.pipelined_growth);
  }
  return seconds;
}

// Groups over which parameters are sharded.
bool Gathers(Group group) {
  return group == Group::kData || group == Group::kShard ||
         group == Group::kExpertData;
}

void Scale(double factor, Cost& cost) {
  if (factor == 1) return;
  cost.seconds *= factor;
  cost.evidence = Evidence::kAnalytic;
}

class FrameworkModel final : public CostModel {
 public:
  FrameworkModel(std::shared_ptr<const CostModel> device,
                 const FrameworkParameters& parameters,
                 std::vector<FittedFramework> fitted)
      : CostModel(device->name()),
        device_(std::move(device)),
        parameters_(parameters),
        fitted_(std::move(fitted)) {}

 private:
  absl::Status DoOperatorCosts(const System& system,
                               absl::Span<const Operator> operators,
                               absl::Span<Cost> costs) const override {
    return Inside(system, operators, costs);
  }
  absl::Status DoCollectiveCosts(
      const System& system, absl::Span<const SpannedCollective> collectives,
      absl::Span<Cost> costs) const override {
    return Inside(system, collectives, costs);
  }

  Contention DoContentionOn(const System& system) const override {
    const FrameworkParameters* found = FindFramework(fitted_, system);
    return ContentionInside(found == nullptr ? parameters_ : *found);
  }

  template <typename Question>
  absl::Status Inside(const System& system,
                      absl::Span<const Question> questions,
                      absl::Span<Cost> costs) const {
    absl::Status status = device_->Costs(system, questions, costs);
    if (!status.ok()) return status;
    const FrameworkParameters* found = FindFramework(fitted_, system);
    RunInside(found == nullptr ? parameters_ : *found, questions, costs);
    return absl::OkStatus();
  }

  std::shared_ptr<const CostModel> device_;
  FrameworkParameters parameters_;
  std::vector<FittedFramework> fitted_;
};

}  // namespace

void RunInside(const FrameworkParameters& parameters,
               absl::Span<const Operator> operators, absl::Span<Cost> costs) {
  for (size_t i = 0; i < operators.size(); ++i) {
    Cost& cost = costs[i];
    if (cost.evidence == Evidence::kNotAnswered) continue;
    Scale(FactorOf(parameters, operators[i]), cost);
    if (cost.seconds < parameters.operator_s) {
      cost.seconds = parameters.operator_s;
      cost.evidence = Evidence::kAnalytic;
    }
    cost.host_s += parameters.operator_host_s;
    if (operators[i].kind == OperatorKind::kOptimizer) {
      cost.seconds += parameters.iteration_s;
    }
  }
}

void RunInside(const FrameworkParameters& parameters,
               absl::Span<const SpannedCollective> collectives,
               absl::Span<Cost> costs) {
  for (size_t i = 0; i < collectives.size(); ++i) {
    Cost& cost = costs[i];
    const auto& [collective, span, pipeline_ranks] = collectives[i];
    if (cost.evidence == Evidence::kNotAnswered || span.members < 2) continue;
    Scale(FactorOf(parameters, collective.group), cost);
    if (collective.group == Group::kPipeline) {
      cost.seconds += parameters.transfer_s;
    }
    if (collective.kind == CollectiveKind::kAllGather &&
        Gathers(collective.group)) {
      cost.seconds +=
          parameters.gather_rank_s * static_cast<double>(span.members);
    }
    if (!IsWithinPass(collective.group)) continue;
    cost.seconds += parameters.skew_s;
    cost.host_s += HostSeconds(parameters, span, pipeline_ranks > 1);
  }
}

Contention ContentionInside(const FrameworkParameters& parameters) {
  Contention contention;
  contention.compute = parameters.contention;
  contention.links = true;
  return contention;
}

const FrameworkParameters* FindFramework(
    absl::Span<const FittedFramework> fitted, const System& system) {
  const FittedFramework* best = nullptr;
  for (const FittedFramework& entry : fitted) {
    const bool named = absl::StartsWithIgnoreCase(system.framework, entry.name);
    const bool here = entry.accelerator == system.accelerator.name;
    if (!named || !(here || entry.accelerator.empty())) continue;
    if (best == nullptr || entry.name.size() > best->name.size() ||
        (entry.name.size() == best->name.size() && here)) {
      best = &entry;
    }
  }
  return best == nullptr ? nullptr : &best->parameters;
}

std::unique_ptr<CostModel> MakeFrameworkModel(
    std::shared_ptr<const CostModel> device,
    const FrameworkParameters& parameters,
    std::vector<FittedFramework> fitted) {
  return std::make_unique<FrameworkModel>(std::move(device), parameters,
                                          std::move(fitted));
}

}  // namespace lmsimbench
