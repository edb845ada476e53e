#include <cmath>
#include <string>
#include <vector>

#include "lib/report/text_table.h"
#include "lmsimbench/report.h"
#include "nlohmann/json.hpp"

namespace lmsimbench {
namespace {

using Json = nlohmann::ordered_json;

// The mean of errors that are stated, by runs, as if all were of one source.
class Mean {
 public:
  void Add(double percent, int64_t runs) {
    sum_ += std::log1p(percent / 100) * static_cast<double>(runs);
    runs_ += runs;
  }
  double percent() const {
    if (runs_ == 0) return kNoNumber;
    return 100 * std::expm1(sum_ / static_cast<double>(runs_));
  }

 private:
  double sum_ = 0;
  int64_t runs_ = 0;
};

CarryOverError All(const std::vector<CarriedOver>& carried,
                   CarryOverError CarriedOver::*target) {
  Mean uncalibrated;
  Mean without;
  Mean with;
  CarryOverError all;
  for (const CarriedOver& entry : carried) {
    const CarryOverError& error = entry.*target;
    if (error.runs == 0) continue;
    all.runs += error.runs;
    uncalibrated.Add(error.uncalibrated_percent, error.runs);
    without.Add(error.without_percent, error.runs);
    with.Add(error.with_percent, error.runs);
  }
  all.uncalibrated_percent = uncalibrated.percent();
  all.without_percent = without.percent();
  all.with_percent = with.percent();
  return all;
}

void AddCells(const CarryOverError& error, std::vector<std::string>& cells) {
  cells.push_back(error.runs == 0 ? "-" : std::to_string(error.runs));
  for (const double percent : {error.uncalibrated_percent,
                               error.without_percent, error.with_percent}) {
    cells.push_back(report::Fixed(percent, 1));
  }
}

Json Number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json ErrorJson(const CarryOverError& error) {
  return {{"runs", error.runs},
          {"error_percent_uncalibrated", Number(error.uncalibrated_percent)},
          {"error_percent_without", Number(error.without_percent)},
          {"error_percent_with", Number(error.with_percent)}};
}

}  // namespace

std::string CarryOverTable(const std::vector<CarriedOver>& carried) {
  report::TextTable table({{"class", "", true},
                           {"source", "", true},
                           {"runs", ""},
                           {"time: as is", "%"},
                           {"without it", "%"},
                           {"with it", "%"},
                           {"runs", ""},
                           {"peak: as is", "%"},
                           {"without it", "%"},
                           {"with it", "%"}});
  for (const CarriedOver& entry : carried) {
    std::vector<std::string> cells = {entry.framework, entry.source};
    AddCells(entry.time, cells);
    AddCells(entry.memory, cells);
    table.Add(std::move(cells));
  }
  std::vector<std::string> cells = {"all", ""};
  AddCells(All(carried, &CarriedOver::time), cells);
  AddCells(All(carried, &CarriedOver::memory), cells);
  table.Add(std::move(cells));
  return table.Print();
}

std::string CarryOverJson(const std::vector<CarriedOver>& carried) {
  Json json = Json::array();
  for (const CarriedOver& entry : carried) {
    json.push_back({{"class", entry.framework},
                    {"source", entry.source},
                    {"time", ErrorJson(entry.time)},
                    {"memory", ErrorJson(entry.memory)}});
  }
  return json.dump(1) + "\n";
}

}  // namespace lmsimbench
