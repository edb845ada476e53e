#include <cmath>
#include <utility>

#include "lmsimbench/report.h"
#include "nlohmann/json.hpp"

namespace lmsimbench {
namespace {

using Json = nlohmann::ordered_json;

/// JSON knows no NaN: what is undefined is null.
Json Number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json FiguresJson(const std::vector<Figure>& figures) {
  Json list = Json::array();
  for (const Figure& figure : figures) {
    list.push_back({{"source", figure.source},
                    {"subset", figure.subset},
                    {"metric", figure.metric},
                    {"value", Number(figure.value)},
                    {"rows", figure.rows},
                    {"settings_defined", figure.settings_defined},
                    {"settings_excluded", figure.settings_excluded}});
  }
  return list;
}

Json SettingsJson(const std::vector<SettingScore>& settings) {
  Json list = Json::array();
  for (const SettingScore& setting : settings) {
    list.push_back(
        {{"workload_id", setting.workload_id},
         {"source", setting.source},
         {"platform", setting.platform},
         {"model", setting.model},
         {"devices", setting.devices},
         {"rows", setting.rows},
         {"configurations", setting.configurations},
         {"answered", setting.answered},
         {"gmae", Number(setting.gmae)},
         {"tau_b", Number(setting.tau_b)},
         {"spearman", Number(setting.spearman)},
         {"weighted_pair_accuracy", Number(setting.weighted_pair_accuracy)},
         {"regret@1", Number(setting.regret_1)},
         {"regret@3", Number(setting.regret_3)},
         {"regret@5", Number(setting.regret_5)},
         {"hit@1", Number(setting.hit_1)},
         {"recall@3", Number(setting.recall_3)},
         {"normalised_regret", Number(setting.normalised_regret)},
         {"random_regret@1", Number(setting.random_regret_1)},
         {"undefined_because", setting.undefined_because}});
  }
  return list;
}

}  // namespace

std::string ScorecardJson(const Scorecard& card) {
  Json json = {{"split", card.selection.split},
               {"source", card.selection.source},
               {"platform", card.selection.platform},
               {"data", card.fingerprint},
               {"memory_margin", card.memory_margin},
               {"false_fit_cost", card.false_fit_cost},
               {"false_refusal_cost", card.false_refusal_cost},
               {"headline_rows", card.headline_rows},
               {"shared_rows", card.shared_rows}};
  Json simulators = Json::array();
  for (const SimulatorScore& score : card.simulators) {
    Json calibration = Json::array();
    for (const Calibration& factor : score.calibration) {
      calibration.push_back({{"platform", factor.platform},
                             {"factor", Number(factor.factor)},
                             {"rows", factor.rows}});
    }
    simulators.push_back({{"simulator", score.simulator},
                          {"figures", FiguresJson(score.figures)},
                          {"shared_figures", FiguresJson(score.shared_figures)},
                          {"settings", SettingsJson(score.settings)},
                          {"calibration", std::move(calibration)}});
  }
  json["simulators"] = std::move(simulators);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lmsimbench
