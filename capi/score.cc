#include "lmsimbench/score.h"

#include <string>
#include <utility>
#include <vector>

#include "capi/make.h"
#include "capi/measurements.h"
#include "capi/table.h"
#include "capi/text.h"
#include "fmt/format.h"
#include "lmsimbench/report.h"

namespace capi = lmsimbench::capi;
using lmsimbench::AnswerSheet;
using lmsimbench::Calibration;
using lmsimbench::Figure;
using lmsimbench::ScoreOptions;
using lmsimbench::SettingScore;
using lmsimbench::SimulatorScore;

namespace {

absl::StatusOr<ScoreOptions> ReadOptions(const lmsb_score_options* options) {
  ScoreOptions read;
  if (options == nullptr) return read;
  absl::Status status = capi::CheckSize(options->struct_size,
                                        sizeof(lmsb_score_options), "options");
  if (!status.ok()) return status;
  auto selection = capi::ReadSelection(options->selection);
  if (!selection.ok()) return selection.status();
  read.selection = *std::move(selection);
  read.memory_margin = options->memory_margin;
  read.false_fit_cost = options->false_fit_cost;
  read.false_refusal_cost = options->false_refusal_cost;
  return read;
}

// OK if the answers are of these measurements.
absl::Status CheckAnswers(const lmsb_answers* answers,
                          const lmsb_measurements& measurements) {
  absl::Status status = capi::CheckHandle(answers, "answers");
  if (!status.ok()) return status;
  const std::string& mine = measurements.runs->measurements.fingerprint;
  const std::string& theirs = answers->runs->measurements.fingerprint;
  if (mine == theirs) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "the answers of '{}' are of the measurements {}, these are {}",
      answers->sheet.simulator, theirs, mine));
}

// An entry of one simulator, with the simulator.
template <typename T>
struct Of {
  const SimulatorScore* simulator;
  const T* entry;
  bool shared = false;
};

template <typename T>
std::vector<Of<T>> All(const lmsb_scorecard& card,
                       std::vector<T> SimulatorScore::*entries) {
  std::vector<Of<T>> all;
  for (const SimulatorScore& simulator : card.card.simulators) {
    for (const T& entry : simulator.*entries) {
      all.push_back({&simulator, &entry});
    }
  }
  return all;
}

template <typename T>
void AddSimulator(const std::vector<Of<T>>& all, capi::TableBuilder& table) {
  table.Strings("simulator", [&](size_t i) -> const std::string& {
    return all[i].simulator->simulator;
  });
}

template <typename T>
void AddText(const std::vector<Of<T>>& all, const char* name,
             std::string T::*part, capi::TableBuilder& table) {
  table.Strings(name, [&](size_t i) -> const std::string& {
    return all[i].entry->*part;
  });
}

template <typename T>
void AddCount(const std::vector<Of<T>>& all, const char* name, int64_t T::*part,
              capi::TableBuilder& table) {
  table.I64(name, [&](size_t i) { return all[i].entry->*part; });
}

template <typename T>
void AddNumber(const std::vector<Of<T>>& all, const char* name, double T::*part,
               capi::TableBuilder& table) {
  table.F64(name, [&](size_t i) { return all[i].entry->*part; });
}

}  // namespace

lmsb_code lmsb_score(lmsb_scorecard** out,
                     const lmsb_measurements* measurements,
                     const lmsb_answers* const* answers, size_t answer_count,
                     const lmsb_score_options* options) {
  return capi::Make(out, [&]() -> absl::StatusOr<lmsb_scorecard*> {
    absl::Status status = capi::CheckHandle(measurements, "measurements");
    if (status.ok()) status = capi::CheckCount(answer_count, "answers");
    if (status.ok() && answer_count > 0) {
      status = capi::CheckPointer(answers, "answers");
    }
    if (!status.ok()) return status;
    auto read = ReadOptions(options);
    if (!read.ok()) return read.status();
    std::vector<AnswerSheet> sheets;
    for (size_t i = 0; i < answer_count; ++i) {
      status = CheckAnswers(answers[i], *measurements);
      if (!status.ok()) return status;
      sheets.push_back(answers[i]->sheet);
    }
    auto card =
        lmsimbench::Score(measurements->runs->measurements, sheets, *read);
    if (!card.ok()) return card.status();
    return new lmsb_scorecard(*std::move(card));
  });
}

void lmsb_scorecard_free(lmsb_scorecard* card) {
  capi::Free(card, "lmsb_scorecard_free");
}

lmsb_code lmsb_scorecard_figure(const lmsb_scorecard* card,
                                const char* simulator, size_t simulator_length,
                                const char* source, size_t source_length,
                                const char* subset, size_t subset_length,
                                const char* metric, size_t metric_length,
                                int32_t shared, double* value) {
  return capi::Guarded([&]() -> absl::Status {
    absl::Status status = capi::CheckHandle(card, "card");
    if (status.ok()) status = capi::CheckPointer(value, "value");
    if (!status.ok()) return status;
    *value = lmsimbench::kNoNumber;
    absl::string_view of;
    absl::string_view names[3];
    status = capi::ReadText(simulator, simulator_length, "simulator", of);
    if (status.ok()) {
      status = capi::ReadText(source, source_length, "source", names[0]);
    }
    if (status.ok()) {
      status = capi::ReadText(subset, subset_length, "subset", names[1]);
    }
    if (status.ok()) {
      status = capi::ReadText(metric, metric_length, "metric", names[2]);
    }
    if (!status.ok()) return status;
    std::vector<std::string> known;
    for (const SimulatorScore& candidate : card->card.simulators) {
      if (candidate.simulator == of) {
        *value = candidate.Value(std::string(names[0]), std::string(names[1]),
                                 std::string(names[2]), shared == 1);
        return absl::OkStatus();
      }
      known.push_back(candidate.simulator);
    }
    return absl::NotFoundError(fmt::format("no simulator '{}' on the card{}",
                                           std::string(of),
                                           capi::DidYouMean(of, known)));
  });
}

lmsb_code lmsb_scorecard_figures(const lmsb_scorecard* card, lmsb_table** out) {
  return capi::MakeFrom(card, "card", out, [&] {
    auto all = All(*card, &SimulatorScore::figures);
    for (Of<Figure> of : All(*card, &SimulatorScore::shared_figures)) {
      of.shared = true;
      all.push_back(of);
    }
    capi::TableBuilder table("figures", all.size());
    AddSimulator(all, table);
    table.I64("shared", [&](size_t i) { return all[i].shared ? 1 : 0; });
    AddText(all, "source", &Figure::source, table);
    AddText(all, "subset", &Figure::subset, table);
    AddText(all, "metric", &Figure::metric, table);
    AddNumber(all, "value", &Figure::value, table);
    AddCount(all, "rows", &Figure::rows, table);
    AddCount(all, "settings_defined", &Figure::settings_defined, table);
    AddCount(all, "settings_excluded", &Figure::settings_excluded, table);
    return std::move(table).Finish();
  });
}

lmsb_code lmsb_scorecard_settings(const lmsb_scorecard* card,
                                  lmsb_table** out) {
  return capi::MakeFrom(card, "card", out, [&] {
    const auto all = All(*card, &SimulatorScore::settings);
    capi::TableBuilder table("settings", all.size());
    AddSimulator(all, table);
    AddText(all, "workload", &SettingScore::workload_id, table);
    AddText(all, "source", &SettingScore::source, table);
    AddText(all, "platform", &SettingScore::platform, table);
    AddText(all, "model", &SettingScore::model, table);
    AddCount(all, "devices", &SettingScore::devices, table);
    AddCount(all, "rows", &SettingScore::rows, table);
    AddCount(all, "configurations", &SettingScore::configurations, table);
    AddCount(all, "answered", &SettingScore::answered, table);
    AddNumber(all, "gmae", &SettingScore::gmae, table);
    AddNumber(all, "tau_b", &SettingScore::tau_b, table);
    AddNumber(all, "spearman", &SettingScore::spearman, table);
    AddNumber(all, "weighted_pair_accuracy",
              &SettingScore::weighted_pair_accuracy, table);
    AddNumber(all, "regret_1", &SettingScore::regret_1, table);
    AddNumber(all, "regret_3", &SettingScore::regret_3, table);
    AddNumber(all, "regret_5", &SettingScore::regret_5, table);
    AddNumber(all, "hit_1", &SettingScore::hit_1, table);
    AddNumber(all, "recall_3", &SettingScore::recall_3, table);
    AddNumber(all, "normalised_regret", &SettingScore::normalised_regret,
              table);
    AddNumber(all, "random_regret_1", &SettingScore::random_regret_1, table);
    AddText(all, "undefined_because", &SettingScore::undefined_because, table);
    return std::move(table).Finish();
  });
}

lmsb_code lmsb_scorecard_calibration(const lmsb_scorecard* card,
                                     lmsb_table** out) {
  return capi::MakeFrom(card, "card", out, [&] {
    const auto all = All(*card, &SimulatorScore::calibration);
    capi::TableBuilder table("calibration", all.size());
    AddSimulator(all, table);
    AddText(all, "platform", &Calibration::platform, table);
    AddNumber(all, "factor", &Calibration::factor, table);
    AddCount(all, "rows", &Calibration::rows, table);
    return std::move(table).Finish();
  });
}

lmsb_code lmsb_scorecard_to_json(const lmsb_scorecard* card, lmsb_text** out) {
  return capi::MakeFrom(card, "card", out, [&] {
    return new lmsb_text{{}, lmsimbench::ScorecardJson(card->card)};
  });
}

lmsb_code lmsb_scorecard_to_text(const lmsb_scorecard* card, lmsb_text** out) {
  return capi::MakeFrom(card, "card", out, [&] {
    return new lmsb_text{{}, lmsimbench::ScorecardTable(card->card)};
  });
}

lmsb_code lmsb_sweep_margin(const lmsb_measurements* measurements,
                            const lmsb_answers* answers, const double* margins,
                            size_t margin_count,
                            const lmsb_score_options* options,
                            lmsb_table** out) {
  return capi::Make(out, [&]() -> absl::StatusOr<lmsb_table*> {
    absl::Status status = capi::CheckHandle(measurements, "measurements");
    if (status.ok()) status = CheckAnswers(answers, *measurements);
    if (status.ok()) status = capi::CheckCount(margin_count, "margins");
    if (status.ok() && margin_count > 0) {
      status = capi::CheckPointer(margins, "margins");
    }
    if (!status.ok()) return status;
    auto read = ReadOptions(options);
    if (!read.ok()) return read.status();
    auto points =
        lmsimbench::SweepMargin(measurements->runs->measurements,
                                answers->sheet, {margins, margin_count}, *read);
    if (!points.ok()) return points.status();
    const auto& all = *points;
    capi::TableBuilder table("margins", all.size());
    table.F64("margin", [&](size_t i) { return all[i].margin; });
    table.F64("cost_score", [&](size_t i) { return all[i].cost_score; });
    table.F64("false_fit", [&](size_t i) { return all[i].false_fit; });
    table.F64("false_refusal", [&](size_t i) { return all[i].false_refusal; });
    return std::move(table).Finish();
  });
}
