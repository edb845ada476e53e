#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "command.h"
#include "contestants.h"
#include "lmsimbench/answer_sheet.h"
#include "lmsimbench/measurements.h"
#include "lmsimbench/report.h"
#include "lmsimbench/score.h"
#include "lmsimbench/simulators.h"

namespace {

struct Options {
  ContestantArguments contestants;
  std::vector<std::string> predictions;
  lmsimbench::ScoreOptions score;
  lmsimbench::TableOptions table;
  std::string json_file;
  std::string csv_file;
};

// Shows on stderr how far a long question has come, where somebody watches.
class Progress {
 public:
  explicit Progress(std::string name)
      : name_(std::move(name)), watched_(isatty(STDERR_FILENO) == 1) {}
  ~Progress() {
    if (shown_) fmt::print(stderr, "\r{:{}}\r", "", width_);
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Show(size_t asked, size_t total) {
    const auto now = std::chrono::steady_clock::now();
    if (!watched_ || now < next_) return;
    next_ = now + std::chrono::milliseconds(200);
    const std::string line =
        fmt::format("{}: {} of {} runs", name_, asked, total);
    fmt::print(stderr, "\r{:{}}", line, width_);
    width_ = std::max(width_, line.size());
    shown_ = true;
  }

 private:
  std::string name_;
  bool watched_;
  bool shown_ = false;
  size_t width_ = 0;
  // What takes less than a second needs no progress.
  std::chrono::steady_clock::time_point next_ =
      std::chrono::steady_clock::now() + std::chrono::seconds(1);
};

// "NAME=FILE": a table of predictions under the name to score it by.
absl::StatusOr<lmsimbench::AnswerSheet> ReadPredictions(
    const std::string& argument, const lmsimbench::Measurements& measurements) {
  const size_t equals = argument.find('=');
  const std::string file =
      equals == std::string::npos ? argument : argument.substr(equals + 1);
  return lmsimbench::ReadAnswerSheet(
      file, equals == std::string::npos ? file : argument.substr(0, equals),
      measurements);
}

// Asks a simulator about the runs selected, with this many threads.
absl::StatusOr<lmsimbench::AnswerSheet> AskWatched(
    const Contestant& contestant, const lmsimbench::Measurements& measurements,
    const lmsimbench::Bundle& bundle, const lmsimbench::Selection& selection) {
  Progress progress(contestant.name);
  lmsimbench::AskOptions ask;
  ask.selection = selection;
  ask.threads = contestant.threads;
  ask.progress = [&progress](size_t asked, size_t total) {
    progress.Show(asked, total);
    return true;
  };
  auto sheet =
      lmsimbench::Ask(*contestant.simulator, measurements, bundle, ask);
  if (sheet.ok()) sheet->simulator = contestant.name;
  return sheet;
}

int Score(const Program& program, Options options) {
  const auto bundle = OpenBundle(program);
  if (!bundle.ok()) return Fail(bundle.status());
  const auto measurements = lmsimbench::ReadMeasurements(*bundle);
  if (!measurements.ok()) return Fail(measurements.status());
  const auto& selection = options.score.selection;
  if (const auto known = lmsimbench::CheckSelection(selection, *measurements);
      !known.ok()) {
    return FailLookup(known);
  }

  const bool all = options.contestants.empty() && options.predictions.empty();
  if (all) {
    for (const auto& simulator : lmsimbench::BuiltInSimulators()) {
      if (simulator.scored_by_default) {
        options.contestants.simulators.emplace_back(simulator.name);
      }
    }
  }
  std::vector<Contestant> contestants;
  const int made =
      MakeContestants(options.contestants, *bundle, all, contestants);
  if (made != kAnswered) return made;

  std::vector<lmsimbench::AnswerSheet> sheets;
  for (const Contestant& contestant : contestants) {
    auto sheet = AskWatched(contestant, *measurements, *bundle, selection);
    if (!sheet.ok()) return Fail(sheet.status());
    sheets.push_back(*std::move(sheet));
    if (contestant.external != nullptr) {
      fmt::print(stderr, "{}\n",
                 CostOfAsking(contestant.name, *contestant.external));
    }
  }
  for (const std::string& argument : options.predictions) {
    auto sheet = ReadPredictions(argument, *measurements);
    if (!sheet.ok()) return Fail(sheet.status());
    sheets.push_back(*std::move(sheet));
  }

  const auto card = lmsimbench::Score(*measurements, sheets, options.score);
  if (!card.ok()) return Fail(card.status());
  // Files first: a scorecard on the terminal says that they are there.
  if (!options.json_file.empty()) {
    const auto written = lmsimbench::WriteReport(
        options.json_file, lmsimbench::ScorecardJson(*card));
    if (!written.ok()) return Fail(written);
  }
  if (!options.csv_file.empty()) {
    const auto written = lmsimbench::WriteReport(
        options.csv_file,
        lmsimbench::AnswersCsv(*measurements, sheets, selection));
    if (!written.ok()) return Fail(written);
  }
  fmt::print("{}", lmsimbench::ScorecardTable(*card, options.table));
  return kAnswered;
}

}  // namespace

void AddScoreCommand(CLI::App& app, Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App* score =
      app.add_subcommand("score", "Score simulators on the measured runs");
  score->fallthrough();
  AddContestantOptions(*score, options->contestants);
  score
      ->add_option(
          "--predictions", options->predictions,
          "Table of predictions made elsewhere to score (CSV: record_id, "
          "predicted_ms, predicted_mem_gib, verdict, notes)")
      ->type_name("[NAME=]FILE");
  score
      ->add_option("--split", options->score.selection.split,
                   "Split to score on: test, fit, or one of your own")
      ->capture_default_str();
  score->add_option("--source", options->score.selection.source,
                    "Only this source");
  score->add_option("--platform", options->score.selection.platform,
                    "Only this platform");
  score
      ->add_option(
          "--margin", options->score.memory_margin,
          "Fraction added to a predicted peak before it is called to fit")
      ->check(CLI::Range(0.0, 10.0))
      ->capture_default_str();
  score->add_flag("--settings", options->table.by_setting,
                  "Print a line for each setting too");
  score
      ->add_option("--json", options->json_file,
                   "Write every figure to this file")
      ->type_name("FILE");
  score
      ->add_option("--csv", options->csv_file,
                   "Write a line for each row and simulator to this file")
      ->type_name("FILE");
  score->callback([&program, options] {
    program.action = [&program, options] { return Score(program, *options); };
  });
}
