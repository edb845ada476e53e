#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "lib/report/text_table.h"
#include "lmsimbench/report.h"
#include "lmsimbench/row_kind.h"

namespace lmsimbench {
namespace {

using report::Count;
using report::Fixed;
using report::Percent;
using report::TextTable;

constexpr size_t kWidth = 120;
constexpr char kAll[] = "ALL";
constexpr char kMacro[] = "MACRO";
constexpr char kHeadline[] = "headline";
constexpr char kUnseparated[] = "unseparated-failures";

/// The figures of one line of one simulator.
class Values {
 public:
  Values(const SimulatorScore& score, std::string source, std::string subset,
         bool shared = false)
      : score_(score),
        source_(std::move(source)),
        subset_(std::move(subset)),
        shared_(shared) {}

  double operator()(const std::string& metric) const {
    return score_.Value(source_, subset_, metric, shared_);
  }
  const Figure* Find(const std::string& metric) const {
    return score_.Find(source_, subset_, metric, shared_);
  }

 private:
  const SimulatorScore& score_;
  const std::string source_, subset_;
  const bool shared_;
};

using Cells = std::vector<std::string>;

/// How much of the overview a table shows.
enum class Detail { kFull, kBrief };

/// The cost of the decision first, accuracy beside it.
std::vector<TextTable::Column> OverviewColumns(
    std::vector<TextTable::Column> columns, Detail detail) {
  const auto add = [&](const char* name, const char* unit, Detail least) {
    if (detail == Detail::kFull || least == Detail::kBrief) {
      columns.push_back({name, unit});
    }
  };
  add("answered", "of rows", Detail::kBrief);
  add("sets", "ranked", Detail::kBrief);
  add("regret", "@1 %", Detail::kBrief);
  add("@1", "median", Detail::kFull);
  add("random", "pick %", Detail::kBrief);
  add("regret", "@3 %", Detail::kBrief);
  add("hit@1", "%", Detail::kBrief);
  add("tau-b", "", Detail::kBrief);
  add("GMAE", "%", Detail::kBrief);
  add("calib.", "GMAE %", Detail::kBrief);
  add("MAPE", "%", Detail::kFull);
  add("bias", "%", Detail::kBrief);
  add("mem.", "MAPE", Detail::kBrief);
  return columns;
}

/// The line under those columns, behind `names`.
Cells OverviewCells(Cells names, const Values& value, Detail detail) {
  Cells cells = std::move(names);
  const auto add = [&](std::string cell, Detail least) {
    if (detail == Detail::kFull || least == Detail::kBrief) {
      cells.push_back(std::move(cell));
    }
  };
  const Figure* regret = value.Find("regret@1");
  add(fmt::format("{} of {}", Count(value("answered")), Count(value("n"))),
      Detail::kBrief);
  add(regret == nullptr ? "-"
                        : Count(static_cast<double>(regret->settings_defined)),
      Detail::kBrief);
  add(Percent(value("regret@1")), Detail::kBrief);
  add(Percent(value("regret@1_median")), Detail::kFull);
  add(Percent(value("random_regret@1")), Detail::kBrief);
  add(Percent(value("regret@3")), Detail::kBrief);
  add(Percent(value("hit@1")), Detail::kBrief);
  add(Fixed(value("tau_b"), 2), Detail::kBrief);
  add(Percent(value("gmae")), Detail::kBrief);
  add(Percent(value("gmae_calibrated")), Detail::kBrief);
  add(Percent(value("mape")), Detail::kFull);
  add(Percent(value("bias")), Detail::kBrief);
  add(Percent(value("mem_mape")), Detail::kBrief);
  return cells;
}

std::string Head(const Scorecard& card) {
  const Selection& selection = card.selection;
  std::string head = fmt::format("Scorecard: split {}", selection.split);
  if (!selection.source.empty()) {
    head += fmt::format(", source {}", selection.source);
  }
  if (!selection.platform.empty()) {
    head += fmt::format(", platform {}", selection.platform);
  }
  return head + fmt::format(", data {}\n", card.fingerprint.empty()
                                               ? std::string("unnamed")
                                               : card.fingerprint);
}

std::string Overview(const Scorecard& card, bool shared) {
  TextTable table(OverviewColumns({{"simulator", "", true}}, Detail::kFull));
  for (const SimulatorScore& score : card.simulators) {
    table.Add(OverviewCells({score.simulator},
                            Values(score, kAll, kHeadline, shared),
                            Detail::kFull));
  }
  const std::string title =
      shared ? fmt::format(
                   "Shared set: the {} of {} headline rows that every "
                   "simulator answers",
                   card.shared_rows, card.headline_rows)
             : std::string(
                   "Choice and accuracy: headline rows, each simulator on what "
                   "it answers");
  return title + "\n" + table.Print();
}

std::string Accuracy(const Scorecard& card) {
  TextTable table({{"simulator", "", true},
                   {"mean over", "", true},
                   {"answered", "n"},
                   {"refused", "n"},
                   {"failed", "n"},
                   {"timed", "out n"},
                   {"missing", "n"},
                   {"bias", "%"},
                   {"MAPE", "%"},
                   {"MdAPE", "%"},
                   {"P90", "%"},
                   {"max", "%"},
                   {"GMAE", "%"},
                   {"calib.", "GMAE %"}});
  for (const SimulatorScore& score : card.simulators) {
    for (const char* source : {kAll, kMacro}) {
      const Values value(score, source, kHeadline);
      const bool rows = source == kAll;
      Cells cells = {rows ? score.simulator : "", rows ? "rows" : "settings"};
      for (const char* metric :
           {"answered", "refused", "failed", "timed_out", "missing"}) {
        cells.push_back(rows ? Count(value(metric)) : "");
      }
      for (const char* metric :
           {"bias", "mape", "mdape", "p90", "max", "gmae", "gmae_calibrated"}) {
        cells.push_back(Percent(value(metric)));
      }
      table.Add(std::move(cells));
    }
  }
  return "Coverage and error of the iteration time: headline rows\n" +
         table.Print();
}

std::string Memory(const Scorecard& card) {
  TextTable table({{"simulator", "", true},
                   {"peak measured as", "", true},
                   {"rows", "n"},
                   {"bias", "%"},
                   {"MAPE", "%"},
                   {"GMAE", "%"}});
  const std::pair<const char*, const char*> scopes[] = {
      {"", "allocated"},
      {"/memory-reserved", "reserved"},
      {"/memory-process", "process"},
      {"/memory-unstated", "not stated"}};
  for (const SimulatorScore& score : card.simulators) {
    std::string name = score.simulator;
    for (const auto& [suffix, scope] : scopes) {
      const Values value(score, kAll, std::string(kHeadline) + suffix);
      const Figure* mape = value.Find("mem_mape");
      if (mape == nullptr) continue;
      table.Add({name, scope, Count(static_cast<double>(mape->rows)),
                 Percent(value("mem_bias")), Percent(value("mem_mape")),
                 Percent(value("mem_gmae"))});
      name.clear();
    }
  }
  return table.empty() ? ""
                       : "Peak memory: headline rows\n" + table.Print() + "\n";
}

Cells VerdictCells(const Values& value, const std::string& name,
                   const std::string& failures) {
  const Figure* fits = value.Find("false_fit");
  const Figure* refusals = value.Find("false_refusal");
  Cells cells = {name, failures, Count(static_cast<double>(refusals->rows)),
                 Count(static_cast<double>(fits->rows))};
  for (const char* metric : {"false_refusal", "false_fit", "precision_oom",
                             "recall_oom", "balanced_accuracy"}) {
    cells.push_back(Percent(value(metric)));
  }
  cells.push_back(Fixed(value("mcc"), 3));
  cells.push_back(Fixed(value("cost_score"), 3));
  cells.push_back(Percent(value("kept_of_feasible")));
  cells.push_back(Percent(value("lost_optimum")));
  return cells;
}

std::string Verdicts(const Scorecard& card) {
  TextTable table({{"simulator", "", true},
                   {"failure", "cause", true},
                   {"ran", "n"},
                   {"failed", "n"},
                   {"false no", "of ran %"},
                   {"false yes", "of fail %"},
                   {"prec.", "of no %"},
                   {"recall", "of no %"},
                   {"bal.", "acc. %"},
                   {"MCC", ""},
                   {"cost", "per row"},
                   {"kept", "%"},
                   {"optimum", "lost %"}});
  for (const SimulatorScore& score : card.simulators) {
    std::string name = score.simulator;
    const Values known(score, kAll, kHeadline);
    if (known.Find("false_fit") == nullptr) continue;
    table.Add(VerdictCells(known, name, "memory"));
    const Values unseparated(score, kAll, kUnseparated);
    if (unseparated.Find("false_fit") == nullptr) continue;
    table.Add(VerdictCells(unseparated, "", "unknown"));
  }
  if (table.empty()) return "";
  return fmt::format(
             "Does it fit? Margin {:g} %; cost {:g} for a false yes, {:g} for "
             "a false no\n",
             card.memory_margin * 100, card.false_fit_cost,
             card.false_refusal_cost) +
         table.Print() + "\n";
}

std::string Trials(const Scorecard& card) {
  TextTable table({{"simulator", "", true},
                   {"settings", "n"},
                   {"first pick", "fails %"},
                   {"trials to", "first run"},
                   {"regret of 3", "trials %"},
                   {"none runs", "of 3 %"},
                   {"refuses", "all %"}});
  for (const SimulatorScore& score : card.simulators) {
    const Values value(score, kAll, kHeadline);
    const Figure* fails = value.Find("first_pick_fails");
    if (fails == nullptr) continue;
    table.Add({score.simulator,
               fmt::format("{} of {}", fails->settings_defined,
                           fails->settings_defined + fails->settings_excluded),
               Percent(value("first_pick_fails")),
               Fixed(value("trials_to_first_runnable"), 2),
               Percent(value("regret_after_3_trials")),
               Percent(value("nothing_after_3_trials")),
               Percent(value("everything_refused"))});
  }
  return table.empty() ? ""
                       : "Trying in the simulator's order: settings with "
                         "failed runs\n" +
                             table.Print() + "\n";
}

std::string BySource(const SimulatorScore& score) {
  std::set<std::string> sources;
  for (const Figure& figure : score.figures) {
    if (figure.subset == kHeadline && figure.metric == "n") {
      sources.insert(figure.source);
    }
  }
  sources.erase(kAll);
  TextTable table(OverviewColumns({{"source", "", true}}, Detail::kBrief));
  std::vector<std::string> silent;
  double silent_rows = 0;
  for (const std::string& source : sources) {
    const Values value(score, source, kHeadline);
    if (value("answered") == 0) {
      // Without rows that have a time there is nothing to answer either.
      if (value("n") > 0) silent.push_back(source);
      silent_rows += value("n");
      continue;
    }
    table.Add(OverviewCells({source}, value, Detail::kBrief));
  }
  std::string text = fmt::format("By source: {}\n", score.simulator);
  if (!table.empty()) text += table.Print();
  if (!silent.empty()) {
    text += fmt::format("no answer to the {} rows of:\n", Count(silent_rows)) +
            report::WrapList(silent, kWidth, "  ");
  }
  return text + "\n";
}

std::string BySetting(const SimulatorScore& score) {
  // With fewer there is no order to get right.
  constexpr int64_t kLeast = 3;
  TextTable table({{"setting", "", true},
                   {"platform", "", true},
                   {"devices", "n"},
                   {"conf.", "n"},
                   {"answered", "rows"},
                   {"GMAE", "%"},
                   {"tau-b", ""},
                   {"pairs", "%"},
                   {"regret", "@1 %"},
                   {"random", "pick %"},
                   {"regret", "@3 %"}});
  for (const SettingScore& setting : score.settings) {
    if (setting.configurations < kLeast || setting.answered == 0) continue;
    table.Add({setting.workload_id, setting.platform,
               Count(static_cast<double>(setting.devices)),
               Count(static_cast<double>(setting.configurations)),
               Count(static_cast<double>(setting.answered)),
               Percent(setting.gmae), Fixed(setting.tau_b, 3),
               Percent(setting.weighted_pair_accuracy),
               Percent(setting.regret_1), Percent(setting.random_regret_1),
               Percent(setting.regret_3)});
  }
  if (table.empty()) return "";
  return fmt::format("By setting, of {} configurations or more, answered: {}\n",
                     kLeast, score.simulator) +
         table.Print() + "\n";
}

std::string Flagged(const Scorecard& card) {
  TextTable table(OverviewColumns({{"kind", "", true}, {"simulator", "", true}},
                                  Detail::kBrief));
  for (const char* kind : kFlaggedKinds) {
    std::string name = kind;
    for (const SimulatorScore& score : card.simulators) {
      const Values value(score, kAll, kind);
      if (value.Find("n") == nullptr) continue;
      table.Add(OverviewCells({name, score.simulator}, value, Detail::kBrief));
      name.clear();
    }
  }
  return table.empty()
             ? ""
             : "Flagged rows, each kind by itself and in no table above\n" +
                   table.Print() + "\n";
}

constexpr char kLegend[] =
    "regret @k: time of the best of the k configurations put first over the "
    "best measured, less one; mean over settings\n"
    "(sets) of at least k + 2 configurations. random pick: the same for one "
    "drawn at random. hit@1: the first is the\n"
    "best, within noise. tau-b: agreement of order within a setting, 1 at "
    "best. GMAE: geometric mean of the error\n"
    "factor, less one. calib.: after one factor per platform, fitted on split "
    "fit. '-': undefined or not answered.\n";

}  // namespace

std::string ScorecardTable(const Scorecard& card, const TableOptions& options) {
  std::string text = Head(card) + "\n" + Overview(card, false) + "\n";
  if (card.simulators.size() > 1) text += Overview(card, true) + "\n";
  text += Accuracy(card) + "\n";
  text += Memory(card) + Verdicts(card) + Trials(card);
  for (const SimulatorScore& score : card.simulators) {
    if (options.by_source) text += BySource(score);
    if (options.by_setting) text += BySetting(score);
  }
  if (options.flagged) text += Flagged(card);
  return text + kLegend;
}

}  // namespace lmsimbench
