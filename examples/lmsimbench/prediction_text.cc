#include "prediction_text.h"

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lmsimbench/fmt.h"
#include "table.h"

namespace {

using lmsimbench::IsStated;
using lmsimbench::MemoryParts;
using lmsimbench::Prediction;
using lmsimbench::RankPrediction;
using lmsimbench::TimeParts;

using Rows = std::vector<std::vector<std::string>>;

// "tensor_communication_s" as "tensor communication".
std::string PartName(std::string field) {
  field.erase(field.rfind('_'));
  for (char& c : field) {
    if (c == '_') c = ' ';
  }
  return field;
}

std::string VerdictLine(const Prediction& prediction) {
  std::string line = fmt::format("verdict: {}", prediction.verdict);
  if (!prediction.verdict_reason.empty()) {
    line += ": " + prediction.verdict_reason;
  }
  if (IsStated(prediction.memory_margin_bytes)) {
    line += fmt::format(" (margin {} GiB)",
                        Gibibytes(prediction.memory_margin_bytes));
  }
  return line + "\n";
}

std::string EvidenceLine(const lmsimbench::EvidenceShares& evidence) {
  std::string line;
  lmsimbench::EvidenceShares::VisitFields(
      [&line](const char* name, double share) {
        if (!IsStated(share)) return;
        line += fmt::format("{}{} {:.1f} %", line.empty() ? "" : ", ", name,
                            100 * share);
      },
      evidence);
  return line.empty() ? line : "the time rests on: " + line + "\n";
}

std::string RankTimes(const Prediction& prediction) {
  Rows rows = {{"class", "pipeline rank", "ranks", "compute", "exposed",
                "bubble", "idle", "overlapped", "peak GiB", "peak at"}};
  for (size_t i = 0; i < prediction.ranks.size(); ++i) {
    const RankPrediction& rank = prediction.ranks[i];
    rows.push_back({fmt::format("{}", i), fmt::format("{}", rank.pipeline_rank),
                    fmt::format("{}", rank.ranks), Milliseconds(rank.compute_s),
                    Milliseconds(rank.exposed_communication_s),
                    Milliseconds(rank.bubble_s), Milliseconds(rank.idle_s),
                    Milliseconds(rank.overlapped_communication_s),
                    Gibibytes(rank.peak_memory_bytes),
                    Milliseconds(rank.peak_time_s)});
  }
  return "\nrank classes, ms (compute, exposed communication, bubble and idle "
         "sum to the iteration)\n" +
         FormatTable(rows);
}

std::string RankMemory(const Prediction& prediction) {
  Rows rows = {{"class"}};
  MemoryParts::VisitFields(
      [&rows](const char* name, double) { rows[0].push_back(PartName(name)); },
      prediction.memory);
  for (size_t i = 0; i < prediction.ranks.size(); ++i) {
    rows.push_back({fmt::format("{}", i)});
    MemoryParts::VisitFields(
        [&rows](const char*, double part) {
          rows.back().push_back(Gibibytes(part));
        },
        prediction.ranks[i].memory);
  }
  return "\nmemory at the peak, GiB\n" + FormatTable(rows);
}

// What one rank class does of a category.
struct CategoryTotal {
  std::string name;
  std::string detail;
  int64_t runs = 0;
  double seconds = 0;

  bool operator==(const CategoryTotal& other) const {
    return name == other.name && detail == other.detail && runs == other.runs &&
           seconds == other.seconds;
  }
};

// Classes in a row that do the same stand together.
std::string TotalsTable(const std::vector<std::vector<CategoryTotal>>& classes,
                        const char* name, const char* detail) {
  Rows rows = {{"class", name, detail, "runs", "ms"}};
  for (size_t begin = 0, end = 0; begin < classes.size(); begin = end) {
    end = begin;
    while (end < classes.size() && classes[end] == classes[begin]) ++end;
    for (const CategoryTotal& total : classes[begin]) {
      rows.push_back({end - begin == 1 ? fmt::format("{}", begin)
                                       : fmt::format("{}-{}", begin, end - 1),
                      total.name, total.detail, fmt::format("{}", total.runs),
                      fmt::format("{:.3f}", total.seconds * 1e3)});
    }
  }
  return FormatTable(rows);
}

std::string OperatorTotals(const Prediction& prediction) {
  std::vector<std::vector<CategoryTotal>> classes(prediction.ranks.size());
  for (const auto& total : prediction.operators) {
    classes[total.rank_class].push_back({fmt::format("{}", total.kind),
                                         fmt::format("{}", total.pass),
                                         total.runs, total.seconds});
  }
  return "\noperators of a rank, by category\n" +
         TotalsTable(classes, "operator", "pass");
}

std::string CollectiveTotals(const Prediction& prediction) {
  std::vector<std::vector<CategoryTotal>> classes(prediction.ranks.size());
  for (const auto& total : prediction.collectives) {
    classes[total.rank_class].push_back({fmt::format("{}", total.kind),
                                         fmt::format("{}", total.group),
                                         total.runs, total.seconds});
  }
  return "\ncollectives of a rank, by category; exposed or not\n" +
         TotalsTable(classes, "collective", "group");
}

}  // namespace

std::string PredictionText(const Prediction& prediction) {
  Rows rows = {{"part", "time, ms", "memory, GiB"}};
  TimeParts::VisitFields(
      [&rows](const char* name, double part) {
        if (IsStated(part))
          rows.push_back({PartName(name), Milliseconds(part), "-"});
      },
      prediction.time);
  MemoryParts::VisitFields(
      [&rows](const char* name, double part) {
        if (IsStated(part))
          rows.push_back({PartName(name), "-", Gibibytes(part)});
      },
      prediction.memory);
  rows.push_back({"total", Milliseconds(prediction.iteration_time_s),
                  Gibibytes(prediction.peak_memory_bytes)});
  std::string text = FormatTable(rows) + VerdictLine(prediction);
  for (const std::string& adaptation : prediction.adaptations) {
    text += fmt::format("adapted: {}\n", adaptation);
  }
  return text;
}

std::string PredictionDetails(const Prediction& prediction) {
  std::string text = EvidenceLine(prediction.evidence);
  if (prediction.ranks.empty()) return text;
  text += RankTimes(prediction) + RankMemory(prediction);
  if (!prediction.operators.empty()) text += OperatorTotals(prediction);
  if (!prediction.collectives.empty()) text += CollectiveTotals(prediction);
  return text;
}
