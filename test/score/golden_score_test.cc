/// The scores of the real Calculon's predictions, line by line.

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "catch2/catch.hpp"
#include "lib/profile/csv_reader.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/score.h"
#include "test/test_support.h"

namespace lmsimbench {
namespace {

using Table = std::vector<std::map<std::string, std::string>>;

Table ReadTable(const std::string& name) {
  const absl::StatusOr<std::vector<CsvRow>> rows = ReadCsv(GoldenPath(name));
  REQUIRE(rows.status() == absl::OkStatus());
  Table table;
  for (size_t i = 1; i < rows->size(); ++i) {
    table.emplace_back();
    for (size_t column = 0; column < (*rows)[i].size(); ++column) {
      table.back()[(*rows)[0][column].text] = (*rows)[i][column].text;
    }
  }
  return table;
}

double NumberOf(const std::string& text) {
  double value = kNoNumber;
  if (!text.empty()) REQUIRE(absl::SimpleAtod(text, &value));
  return value;
}

/// The file prints ten digits: half a unit of the last is 5e-10 at most.
bool Agrees(double value, const std::string& printed) {
  const double expected = NumberOf(printed);
  if (std::isnan(expected)) return std::isnan(value);
  return std::abs(value - expected) <= 1e-9 * std::abs(expected);
}

SimulatorScore ScoreCalculon(const std::string& split) {
  const absl::StatusOr<Bundle> bundle = Bundle::Embedded();
  REQUIRE(bundle.status() == absl::OkStatus());
  const absl::StatusOr<Measurements> measurements = ReadMeasurements(*bundle);
  REQUIRE(measurements.status() == absl::OkStatus());
  const absl::StatusOr<AnswerSheet> sheet =
      ReadAnswerSheet(GoldenPath("calculon/predictions_on_measurements.csv"),
                      "calculon", *measurements);
  REQUIRE(sheet.status() == absl::OkStatus());
  ScoreOptions options;
  options.selection.split = split;
  const absl::StatusOr<Scorecard> card =
      Score(*measurements, {*sheet}, options);
  REQUIRE(card.status() == absl::OkStatus());
  return card->simulators.at(0);
}

std::string LineName(const Figure& figure) {
  return figure.source + ", " + figure.subset + ", " + figure.metric;
}

/// Figures that this library prints beside those of the file.
bool IsOurOwn(const std::string& metric) {
  static const std::set<std::string> own = {"failed", "failed_share",
                                            "timed_out", "timed_out_share",
                                            "regret@1_median"};
  return own.count(metric) > 0;
}

TEST_CASE("the scores of Calculon's predictions are those of the golden file") {
  const Table golden = ReadTable("score/scores.csv");
  for (const std::string split : {"test", "fit"}) {
    const SimulatorScore score = ScoreCalculon(split);
    size_t lines = 0;
    std::set<std::string> expected;
    for (const auto& line : golden) {
      if (line.at("split") != split) continue;
      ++lines;
      const Figure* figure =
          score.Find(line.at("source"), line.at("subset"), line.at("metric"));
      INFO(split << ", " << line.at("source") << ", " << line.at("subset")
                 << ", " << line.at("metric"));
      REQUIRE(figure != nullptr);
      expected.insert(LineName(*figure));
      INFO(figure->value << " where the file has " << line.at("value"));
      CHECK(Agrees(figure->value, line.at("value")));
      CHECK(std::to_string(figure->rows) == line.at("n_rows"));
      CHECK(std::to_string(figure->settings_defined) ==
            line.at("n_settings_defined"));
      CHECK(std::to_string(figure->settings_excluded) ==
            line.at("n_settings_excluded"));
    }
    CHECK(lines > 900);
    for (const Figure& figure : score.figures) {
      INFO("not in the file: " << LineName(figure));
      CHECK((IsOurOwn(figure.metric) || expected.count(LineName(figure)) > 0));
    }
  }
}

TEST_CASE("the settings of Calculon's predictions are those of the file") {
  const SimulatorScore score = ScoreCalculon("test");
  const Table golden = ReadTable("score/score_settings.csv");
  REQUIRE(score.settings.size() == golden.size());
  std::map<std::string, const SettingScore*> settings;
  for (const SettingScore& setting : score.settings) {
    settings[setting.workload_id] = &setting;
  }
  for (const auto& line : golden) {
    INFO(line.at("workload_id"));
    REQUIRE(settings.count(line.at("workload_id")) == 1);
    const SettingScore& setting = *settings[line.at("workload_id")];
    CHECK(setting.source == line.at("source"));
    CHECK(setting.platform == line.at("platform"));
    CHECK(std::to_string(setting.rows) == line.at("n_rows"));
    CHECK(std::to_string(setting.configurations) ==
          line.at("n_configurations"));
    CHECK(Agrees(setting.tau_b, line.at("tau_b")));
    CHECK(Agrees(setting.spearman, line.at("spearman")));
    CHECK(Agrees(setting.weighted_pair_accuracy,
                 line.at("weighted_pair_accuracy")));
    CHECK(Agrees(setting.regret_1, line.at("regret@1")));
    CHECK(Agrees(setting.regret_3, line.at("regret@3")));
    CHECK(setting.undefined_because == line.at("undefined_because"));
  }
}

}  // namespace
}  // namespace lmsimbench
