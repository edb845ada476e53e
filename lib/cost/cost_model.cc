#include "lmsimbench/cost_model.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"
#include "fmt/format.h"
#include "lib/core/operator_text.h"

namespace lmsimbench {
namespace {

std::string Text(absl::string_view text) { return std::string(text); }

absl::Status NotAnAnswer(const std::string& model, const std::string& what,
                         const Cost& cost) {
  return absl::InternalError(
      fmt::format("cost model '{}' answers {} seconds ({}) for {}; seconds "
                  "have to be finite and not negative",
                  model, cost.seconds, Text(Name(cost.evidence)), what));
}

bool IsTime(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

// The message of a model that failed, with its name. The part of a composite
// has named itself: it becomes 'composite/part'.
std::string Named(const std::string& model, const std::string& message) {
  const std::string prefix = "cost model '";
  if (!absl::StartsWith(message, prefix)) {
    return fmt::format("cost model '{}': {}", model, message);
  }
  const std::string part = message.substr(prefix.size());
  const bool same_name = absl::StartsWith(part, model + "/") ||
                         absl::StartsWith(part, model + "'");
  return same_name ? message : prefix + model + "/" + part;
}

// The checks that both kinds of question share.
template <typename Question, typename Ask>
absl::Status CheckedCosts(const std::string& model,
                          absl::Span<const Question> questions,
                          absl::Span<Cost> costs, Ask ask) {
  if (costs.size() != questions.size()) {
    return absl::InvalidArgumentError(
        fmt::format("cost model '{}' is asked {} questions with room for {} "
                    "answers",
                    model, questions.size(), costs.size()));
  }
  std::fill(costs.begin(), costs.end(), Cost{});
  absl::Status status = ask();
  if (!status.ok()) {
    return absl::Status(status.code(), Named(model, Text(status.message())));
  }
  for (size_t i = 0; i < costs.size(); ++i) {
    Cost& cost = costs[i];
    if (cost.evidence == Evidence::kNotAnswered) {
      cost.seconds = cost.host_s = 0;
      continue;
    }
    const bool known = static_cast<int>(cost.evidence) < kEvidences;
    if (!known || !IsTime(cost.seconds)) {
      return NotAnAnswer(model, Describe(questions[i]), cost);
    }
    if (!IsTime(cost.host_s)) {
      return absl::InternalError(fmt::format(
          "cost model '{}' answers {} seconds of the host for {}; seconds have "
          "to be finite and not negative",
          model, cost.host_s, Describe(questions[i])));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CostModel::Costs(const System& system,
                              absl::Span<const Operator> operators,
                              absl::Span<Cost> costs) const {
  return CheckedCosts(name_, operators, costs, [&] {
    return DoOperatorCosts(system, operators, costs);
  });
}

absl::Status CostModel::Costs(const System& system,
                              absl::Span<const SpannedCollective> collectives,
                              absl::Span<Cost> costs) const {
  return CheckedCosts(name_, collectives, costs, [&] {
    return DoCollectiveCosts(system, collectives, costs);
  });
}

absl::StatusOr<Contention> CostModel::ContentionOn(const System& system) const {
  const Contention contention = DoContentionOn(system);
  if (IsTime(contention.compute)) return contention;
  return absl::InternalError(fmt::format(
      "cost model '{}' says that computation beside communication takes {} of "
      "its time more; this has to be finite and not negative",
      name_, contention.compute));
}

absl::Status CostModel::DoOperatorCosts(const System&,
                                        absl::Span<const Operator>,
                                        absl::Span<Cost>) const {
  return absl::OkStatus();
}

absl::Status CostModel::DoCollectiveCosts(const System&,
                                          absl::Span<const SpannedCollective>,
                                          absl::Span<Cost>) const {
  return absl::OkStatus();
}

Contention CostModel::DoContentionOn(const System&) const { return {}; }

std::string Describe(const Operator& op) {
  return fmt::format("{}, {}, {}, {}", Text(Name(op.kind)), Text(Name(op.pass)),
                     Text(Name(op.precision)), ShapeText(op));
}

std::string Describe(const SpannedCollective& collective) {
  const Span& span = collective.span;
  return fmt::format("{} of {} bytes over {} {} ranks in {} {}",
                     Text(Name(collective.collective.kind)),
                     collective.collective.bytes, span.members,
                     Text(Name(collective.collective.group)), span.nodes,
                     span.nodes == 1 ? "node" : "nodes");
}

}  // namespace lmsimbench
