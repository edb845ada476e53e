#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "fmt/format.h"
#include "lmsimbench/answer_sheet.h"
#include "lmsimbench/lookup.h"

namespace lmsimbench {
namespace {

struct Question {
  const MeasuredRun* run;
  Answer* answer;
};

using Platforms = std::map<std::string, absl::StatusOr<System>>;

std::string Joined(const std::vector<std::string>& sentences) {
  std::string joined;
  for (const std::string& sentence : sentences) {
    if (!joined.empty()) joined += "; ";
    joined += sentence;
  }
  return joined;
}

void Decline(AnswerStatus status, absl::string_view reason, Answer& answer) {
  answer = Answer();
  answer.status = status;
  answer.notes = std::string(reason);
}

void AskOne(const Simulator& simulator, const Platforms& platforms,
            const Question& question, Workspace& workspace,
            Prediction& prediction) {
  const MeasuredRun& run = *question.run;
  Answer& answer = *question.answer;
  const absl::StatusOr<System>& platform = platforms.at(run.platform);
  if (!platform.ok()) {
    Decline(AnswerStatus::kRefused, platform.status().message(), answer);
    return;
  }
  const absl::Status status =
      simulator.PredictInto(run.workload, SystemOfRun(*platform, run),
                            run.config, workspace, prediction);
  if (!status.ok()) {
    Decline(absl::IsDeadlineExceeded(status) ? AnswerStatus::kTimedOut
            : IsRefusal(status)              ? AnswerStatus::kRefused
                                             : AnswerStatus::kFailed,
            status.message(), answer);
    return;
  }
  answer.status = AnswerStatus::kAnswered;
  answer.iteration_time_s = prediction.iteration_time_s;
  answer.peak_memory_bytes = PeakAsMeasured(run, prediction);
  answer.verdict = prediction.verdict;
  answer.notes = Joined(prediction.adaptations);
}

/// Which platforms hold a selected run.
std::set<std::string> SelectedPlatforms(const Selection& selection,
                                        const Measurements& measurements) {
  std::set<std::string> platforms;
  for (const auto* runs : {&measurements.runs, &measurements.failed_runs}) {
    for (const MeasuredRun& run : *runs) {
      if (Selects(selection, run)) platforms.insert(run.platform);
    }
  }
  return platforms;
}

std::vector<Question> QuestionsOf(const Measurements& measurements,
                                  const AskOptions& options,
                                  AnswerSheet& sheet) {
  const std::set<std::string> platforms =
      SelectedPlatforms(options.selection, measurements);
  std::vector<Question> questions;
  for (size_t i = 0; i < measurements.runs.size(); ++i) {
    const MeasuredRun& run = measurements.runs[i];
    const bool calibrates = options.calibration_runs &&
                            run.split == kFitSplit &&
                            platforms.count(run.platform) > 0;
    if (calibrates || Selects(options.selection, run)) {
      questions.push_back({&run, &sheet.runs[i]});
    }
  }
  for (size_t i = 0; i < measurements.failed_runs.size(); ++i) {
    const MeasuredRun& run = measurements.failed_runs[i];
    if (Selects(options.selection, run)) {
      questions.push_back({&run, &sheet.failed_runs[i]});
    }
  }
  return questions;
}

/// Counts answers and asks the caller whether to go on.
class Progress {
 public:
  Progress(const std::function<bool(size_t, size_t)>& callback, size_t total)
      : callback_(callback), total_(total) {}

  bool cancelled() const { return cancelled_; }

  void CountOne() {
    if (!callback_) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    ++asked_;
    if (!cancelled_ && !callback_(asked_, total_)) cancelled_ = true;
  }

 private:
  const std::function<bool(size_t, size_t)>& callback_;
  const size_t total_;
  std::mutex mutex_;
  size_t asked_ = 0;
  std::atomic<bool> cancelled_{false};
};

}  // namespace

System SystemOfRun(const System& platform, const MeasuredRun& run) {
  System system = platform;
  system.devices = run.devices;
  system.framework = run.framework;
  if (IsStated(run.devices_per_node) && !system.network.empty()) {
    system.network.front().size = run.devices_per_node;
  }
  return system;
}

double PeakAsMeasured(const MeasuredRun& run, const Prediction& prediction) {
  if (!run.memory_of_first_rank) return prediction.peak_memory_bytes;
  for (const RankPrediction& rank : prediction.ranks) {
    if (rank.pipeline_rank == 0 && IsStated(rank.peak_memory_bytes)) {
      return rank.peak_memory_bytes;
    }
  }
  return prediction.peak_memory_bytes;
}

absl::StatusOr<AnswerSheet> Ask(const Simulator& simulator,
                                const Measurements& measurements,
                                const Bundle& bundle,
                                const AskOptions& options) {
  if (options.threads < 1) {
    return absl::InvalidArgumentError(fmt::format(
        "asking with {} threads; at least 1 is needed", options.threads));
  }
  if (absl::Status status = CheckSelection(options.selection, measurements);
      !status.ok()) {
    return status;
  }
  AnswerSheet sheet;
  sheet.simulator = simulator.name();
  sheet.runs.resize(measurements.runs.size());
  sheet.failed_runs.resize(measurements.failed_runs.size());
  const std::vector<Question> questions =
      QuestionsOf(measurements, options, sheet);

  Platforms platforms;
  for (const Question& question : questions) {
    const std::string& platform = question.run->platform;
    if (platforms.count(platform) == 0) {
      platforms.emplace(platform, FindPlatform(bundle, platform));
    }
  }

  Progress progress(options.progress, questions.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    Workspace workspace;
    Prediction prediction;
    for (size_t i = next++; i < questions.size() && !progress.cancelled();
         i = next++) {
      AskOne(simulator, platforms, questions[i], workspace, prediction);
      progress.CountOne();
    }
  };
  const size_t helpers =
      std::min(static_cast<size_t>(options.threads), questions.size()) - 1;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < helpers; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  if (progress.cancelled()) {
    return absl::CancelledError(fmt::format(
        "asking '{}' was stopped by its progress callback", simulator.name()));
  }
  return sheet;
}

}  // namespace lmsimbench
