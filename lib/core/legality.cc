#include "lmsimbench/legality.h"

#include "fmt/format.h"
#include "lib/core/offers.h"
#include "lib/core/rules.h"
#include "lmsimbench/fmt.h"

namespace lmsimbench {
namespace legality {
namespace {

// Visits rules in their order: those that keep figures in range, and the others
// only if these hold. The visitor says whether to go on.
template <typename Visit>
void VisitRules(const Subject& subject, Visit&& visit) {
  bool in_range = true;
  for (absl::Span<const Rule> table : {WorkloadRules(), SizeRules()}) {
    for (const Rule& rule : table) {
      if (rule.holds(subject, nullptr)) continue;
      in_range = false;
      if (!visit(rule)) return;
    }
  }
  if (!in_range) return;
  for (absl::Span<const Rule> table :
       {DivisionRules(), TensorRules(), ExpertRules(), PipelineRules(),
        StateRules()}) {
    for (const Rule& rule : table) {
      if (!rule.holds(subject, nullptr) && !visit(rule)) return;
    }
  }
}

}  // namespace

const Rule* FirstBroken(const Subject& subject) {
  const Rule* first = nullptr;
  VisitRules(subject, [&first](const Rule& rule) {
    first = &rule;
    return false;
  });
  return first;
}

bool AllHold(const Subject& subject) { return FirstBroken(subject) == nullptr; }

size_t CountBroken(const Subject& subject) {
  size_t count = 0;
  VisitRules(subject, [&count](const Rule&) {
    ++count;
    return true;
  });
  return count;
}

}  // namespace legality

bool IsLegal(const Workload& workload, const ParallelConfig& config,
             int64_t devices) {
  return legality::AllHold(legality::MakeSubject(workload, config, devices));
}

std::vector<Violation> FindViolations(const Workload& workload,
                                      const ParallelConfig& config,
                                      int64_t devices) {
  const legality::Subject subject =
      legality::MakeSubject(workload, config, devices);
  std::vector<Violation> violations;
  legality::VisitRules(subject, [&](const legality::Rule& rule) {
    Violation violation;
    violation.rule = rule.name;
    rule.holds(subject, &violation.message);
    violation.offers = legality::FindOffers(subject, rule, devices);
    violation.message += legality::OffersText(violation.offers);
    violations.push_back(std::move(violation));
    return true;
  });
  return violations;
}

absl::Status CheckLegal(const Workload& workload, const ParallelConfig& config,
                        int64_t devices) {
  if (IsLegal(workload, config, devices)) return absl::OkStatus();
  std::string message;
  for (const Violation& violation : FindViolations(workload, config, devices)) {
    if (!message.empty()) message += " | ";
    message += fmt::format("{}: {}", violation.rule, violation.message);
  }
  const absl::StatusOr<ParallelConfig> nearest =
      NearestLegal(workload, config, devices);
  if (nearest.ok()) {
    message += fmt::format(" | nearest legal configuration: {}", *nearest);
  }
  return absl::InvalidArgumentError(message);
}

}  // namespace lmsimbench
