#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "absl/strings/str_split.h"
#include "fmt/format.h"
#include "lib/report/text_table.h"
#include "lib/testing/row_text.h"
#include "lmsimbench/testing.h"

namespace lmsimbench {
namespace {

// Reasons that a text lists; the value has all.
constexpr size_t kReasons = 8;

using report::Count;
using report::Percent;
using report::TextTable;

std::string Rows(int64_t count) {
  return fmt::format("{} row{}", count, count == 1 ? "" : "s");
}

// With its sign.
std::string SignedPercent(double fraction) {
  const std::string text = Percent(fraction);
  return fraction > 0 && text != "0.0" ? "+" + text : text;
}

// "x 3.2": predicted is that much longer than measured; "/ 3.2": shorter.
std::string FactorText(const MeasuredRow& row) {
  const double factor = row.Factor();
  return fmt::format("{} {:.{}f}", row.Error() < 0 ? "/" : "x", factor,
                     factor < 99.95 ? 1 : 0);
}

void AddFigures(std::string name, const ErrorFigures& figures,
                TextTable& table) {
  table.Add({std::move(name), Count(static_cast<double>(figures.rows)),
             Count(static_cast<double>(figures.answered)),
             Percent(figures.gmae), SignedPercent(figures.bias),
             Percent(figures.median), Percent(figures.p90),
             Percent(figures.worst), Percent(figures.noise_gmae)});
}

std::string ReasonLines(const std::vector<CountedReason>& reasons) {
  std::string text;
  for (size_t i = 0; i < std::min(kReasons, reasons.size()); ++i) {
    const CountedReason& reason = reasons[i];
    text += fmt::format("{:>7}  {} (first: row {})\n", reason.rows,
                        reason.reason, reason.first_row);
  }
  if (reasons.size() > kReasons) {
    int64_t rest = 0;
    for (size_t i = kReasons; i < reasons.size(); ++i) rest += reasons[i].rows;
    text += fmt::format("{:>7}  for {} other reasons\n", rest,
                        reasons.size() - kReasons);
  }
  return text;
}

// The rows that the model does not answer, by why.
std::vector<CountedReason> Unanswered(const CostErrors& errors) {
  std::map<std::string, CountedReason> by_reason;
  for (const MeasuredRow& row : errors.rows) {
    if (row.answered()) continue;
    const std::string reason = row.refusal.empty()
                                   ? row.category + ": left open"
                                   : "refused: " + row.refusal;
    CountedReason& counted = by_reason[reason];
    if (counted.rows++ > 0) continue;
    counted.reason = reason;
    counted.first_row = row.row;
  }
  std::vector<CountedReason> reasons;
  for (const auto& [reason, counted] : by_reason) reasons.push_back(counted);
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const CountedReason& a, const CountedReason& b) {
                     return a.rows > b.rows;
                   });
  return reasons;
}

}  // namespace

std::string FiguresText(const CostErrors& errors) {
  TextTable table({{"errors, %", "", true},
                   {"rows", ""},
                   {"answ.", ""},
                   {"GMAE", ""},
                   {"bias", ""},
                   {"median", ""},
                   {"p90", ""},
                   {"worst", ""},
                   {"noise", ""}});
  for (const ErrorFigures& figures : errors.categories) {
    AddFigures(figures.name, figures, table);
  }
  for (const ErrorFigures& figures : errors.splits) {
    AddFigures("split " + figures.name, figures, table);
  }
  if (errors.categories.size() > 1 && errors.splits.size() > 1) {
    AddFigures("all", errors.all, table);
  }
  std::string text = table.Print();
  if (errors.all.answered < errors.all.rows) {
    text += fmt::format("not answered: {}\n",
                        Rows(errors.all.rows - errors.all.answered));
    text += ReasonLines(Unanswered(errors));
  }
  if (!errors.unusable.empty()) {
    text += fmt::format("not asked, beside what the filter leaves out: {}\n",
                        Rows(errors.UnusableRows()));
    text += ReasonLines(errors.unusable);
  }
  return text;
}

std::string WorstRowsText(const CostErrors& errors, size_t count,
                          absl::Span<const std::string> categories) {
  std::vector<const MeasuredRow*> rows;
  for (const MeasuredRow& row : errors.rows) {
    if (row.answered() &&
        (categories.empty() || std::find(categories.begin(), categories.end(),
                                         row.category) != categories.end())) {
      rows.push_back(&row);
    }
  }
  if (rows.empty()) return {};
  const size_t of = rows.size();
  std::stable_sort(rows.begin(), rows.end(),
                   [](const MeasuredRow* a, const MeasuredRow* b) {
                     return a->Factor() > b->Factor();
                   });
  rows.resize(std::min(count, rows.size()));

  TextTable table({{"", ""},
                   {"measured", ""},
                   {"predicted", ""},
                   {"error", ""},
                   {"off by", ""},
                   {"split", "", true},
                   {"row", ""},
                   {"source", "", true}});
  for (size_t i = 0; i < rows.size(); ++i) {
    const MeasuredRow& row = *rows[i];
    table.Add({fmt::format("{}", i + 1), SecondsText(row.measured_s),
               SecondsText(row.predicted_s), SignedPercent(row.Error()) + " %",
               FactorText(row), row.split, fmt::format("{}", row.row),
               row.source});
  }
  std::string text = fmt::format("worst {} of {}:\n", rows.size(), Rows(of));
  const std::vector<std::string> lines = absl::StrSplit(table.Print(), '\n');
  text += lines[0] + "\n";
  // What a row is about needs a line of its own.
  for (size_t i = 0; i < rows.size(); ++i) {
    const MeasuredRow& row = *rows[i];
    text +=
        fmt::format("{}\n    {}, {}; {}; {}\n", lines[i + 1], row.category,
                    row.shape, row.platform, std::string(Name(row.evidence)));
  }
  return text;
}

}  // namespace lmsimbench
