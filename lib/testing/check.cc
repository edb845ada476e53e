#include <cmath>
#include <utility>

#include "fmt/format.h"
#include "lib/report/text_table.h"
#include "lmsimbench/nearest_name.h"
#include "lmsimbench/testing.h"

namespace lmsimbench {
namespace {

using report::Percent;

constexpr char kGmae[] = "GMAE";
constexpr char kP90[] = "90th percentile";
constexpr char kBias[] = "bias";
constexpr char kFactor[] = "worst row";
constexpr char kAnswered[] = "answered";
constexpr char kRows[] = "rows";

void CheckCategory(const ErrorFigures& figures, const Tolerance& tolerance,
                   std::vector<BrokenTolerance>& broken) {
  const auto at_most = [&](const char* limit, double allowed, double found) {
    // A figure that is missing keeps no limit.
    if (IsStated(allowed) && !(found <= allowed)) {
      broken.push_back({figures.name, limit, allowed, found});
    }
  };
  at_most(kGmae, tolerance.max_gmae, figures.gmae);
  at_most(kP90, tolerance.max_p90, figures.p90);
  at_most(kBias, tolerance.max_bias, std::abs(figures.bias));
  at_most(kFactor, tolerance.max_factor, figures.worst_factor);
  const double answered =
      static_cast<double>(figures.answered) / static_cast<double>(figures.rows);
  if (IsStated(tolerance.min_answered) && answered < tolerance.min_answered) {
    broken.push_back(
        {figures.name, kAnswered, tolerance.min_answered, answered});
  }
}

std::string Line(const BrokenTolerance& broken, const CostErrors& errors) {
  if (broken.limit == kRows) {
    std::vector<std::string> names;
    for (const ErrorFigures& figures : errors.categories) {
      names.push_back(figures.name);
    }
    const std::string nearest = NearestName(broken.category, names);
    return fmt::format("there is a tolerance for '{}', but no row of it{}",
                       broken.category,
                       nearest.empty() ? "" : "; nearest: '" + nearest + "'");
  }
  const std::string name = broken.category + ": ";
  if (broken.limit == kAnswered) {
    const ErrorFigures& figures = *errors.Find(broken.category);
    return name + fmt::format("answered {} of {} rows ({} %), limit {} %",
                              figures.answered, figures.rows,
                              Percent(broken.found), Percent(broken.allowed));
  }
  if (!IsStated(broken.found)) {
    return name + broken.limit + " is undefined: no row is answered";
  }
  if (broken.limit == kFactor) {
    return name +
           fmt::format("worst row off by a factor of {:.4g}, limit {:.4g}",
                       broken.found, broken.allowed);
  }
  std::string line =
      name + fmt::format("{} {} %, limit {} %", broken.limit,
                         Percent(broken.found), Percent(broken.allowed));
  // Then the limit is at fault, not the model alone.
  const double noise = errors.Find(broken.category)->noise_gmae;
  if (broken.limit == kGmae && noise > broken.allowed) {
    line += fmt::format(", noise of repeats {} %", Percent(noise));
  }
  return line;
}

}  // namespace

ToleranceCheck Check(const CostErrors& errors, const Tolerances& tolerances) {
  ToleranceCheck check;
  for (const ErrorFigures& figures : errors.categories) {
    const auto own = tolerances.categories.find(figures.name);
    CheckCategory(figures,
                  own == tolerances.categories.end() ? tolerances.every_category
                                                     : own->second,
                  check.broken);
  }
  for (const auto& [name, tolerance] : tolerances.categories) {
    if (errors.Find(name) != nullptr) continue;
    check.broken.push_back({name, kRows, kNoNumber, 0});
  }

  const size_t count = check.broken.size();
  check.message = fmt::format(
      "'{}' {} on {} of the {} rows of {}{}\n", errors.model,
      check.ok()
          ? "keeps all tolerances"
          : fmt::format("breaks {} tolerance{}", count, count == 1 ? "" : "s"),
      errors.rows.size(), errors.view_rows, errors.view, check.ok() ? "" : ":");
  // The rows that broke a limit on errors.
  std::vector<std::string> categories;
  for (const BrokenTolerance& broken : check.broken) {
    check.message += "  " + Line(broken, errors) + "\n";
    if (broken.limit != kAnswered && broken.limit != kRows) {
      categories.push_back(broken.category);
    }
  }
  if (!categories.empty()) {
    check.message += WorstRowsText(errors, 10, categories);
  }
  check.message += FiguresText(errors);
  return check;
}

}  // namespace lmsimbench
