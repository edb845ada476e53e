#include "lib/testing/error_figures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "lib/score/statistics.h"

namespace lmsimbench {
namespace {

using score::Mean;
using score::Median;
using score::Quantile;

using Rows = std::vector<const MeasuredRow*>;

// What the best of all models is off: one number for each question, the median
// of its logarithms, minimises the mean distance to them.
void SetNoise(const Rows& rows, ErrorFigures& figures) {
  std::map<size_t, std::vector<double>> by_question;
  for (const MeasuredRow* row : rows) {
    by_question[row->repeats].push_back(std::log(row->measured_s));
  }
  std::vector<double> distances;
  for (const auto& [question, logarithms] : by_question) {
    if (logarithms.size() < 2) continue;
    const double median = Median(logarithms);
    for (double logarithm : logarithms) {
      distances.push_back(std::abs(logarithm - median));
    }
  }
  figures.repeated = static_cast<int64_t>(distances.size());
  figures.noise_gmae = std::exp(Mean(distances)) - 1;
}

template <typename NameOf>
std::vector<ErrorFigures> FiguresBy(const std::vector<MeasuredRow>& rows,
                                    NameOf name_of) {
  std::map<std::string, Rows> by_name;
  for (const MeasuredRow& row : rows) by_name[name_of(row)].push_back(&row);
  std::vector<ErrorFigures> all;
  all.reserve(by_name.size());
  for (const auto& [name, some] : by_name) {
    all.push_back(FiguresOf(name, some));
  }
  return all;
}

}  // namespace

double MeasuredRow::Factor() const {
  if (!answered()) return kNoNumber;
  if (predicted_s == 0) return std::numeric_limits<double>::infinity();
  return std::max(predicted_s / measured_s, measured_s / predicted_s);
}

ErrorFigures FiguresOf(std::string name, const Rows& rows) {
  ErrorFigures figures;
  figures.name = std::move(name);
  figures.rows = static_cast<int64_t>(rows.size());
  SetNoise(rows, figures);
  std::vector<double> signed_errors, errors, ratios, distances;
  for (const MeasuredRow* row : rows) {
    if (!row->answered()) continue;
    ++figures.answered;
    signed_errors.push_back(row->Error());
    errors.push_back(std::abs(row->Error()));
    ratios.push_back(std::log(row->predicted_s / row->measured_s));
    distances.push_back(std::abs(ratios.back()));
    if (figures.answered == 1 || row->Factor() > figures.worst_factor) {
      figures.worst_factor = row->Factor();
    }
  }
  figures.gmae = std::exp(Mean(distances)) - 1;
  figures.geometric_mean_ratio = std::exp(Mean(ratios));
  figures.mape = Mean(errors);
  figures.bias = Median(std::move(signed_errors));
  figures.median = Median(errors);
  figures.p90 = Quantile(errors, 0.9);
  figures.worst = Quantile(std::move(errors), 1);
  return figures;
}

void SetFigures(CostErrors& errors) {
  Rows all;
  all.reserve(errors.rows.size());
  for (const MeasuredRow& row : errors.rows) all.push_back(&row);
  errors.all = FiguresOf("all", all);
  errors.splits =
      FiguresBy(errors.rows, [](const MeasuredRow& row) { return row.split; });
  errors.categories = FiguresBy(
      errors.rows, [](const MeasuredRow& row) { return row.category; });
}

const ErrorFigures* CostErrors::Find(absl::string_view category) const {
  for (const ErrorFigures& figures : categories) {
    if (figures.name == category) return &figures;
  }
  return nullptr;
}

int64_t CostErrors::UnusableRows() const {
  int64_t count = 0;
  for (const CountedReason& reason : unusable) count += reason.rows;
  return count;
}

}  // namespace lmsimbench
