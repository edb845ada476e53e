#include "lmsimbench/external_simulator.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "fmt/format.h"
#include "lib/simulators/external/child_process.h"
#include "lib/simulators/external/protocol.h"
#include "lmsimbench/version.h"

namespace lmsimbench {
namespace {

using external::ChildProcess;
using external::Clock;

using Process = std::unique_ptr<ChildProcess>;

double SecondsSince(Clock::time_point time) {
  return std::chrono::duration<double>(Clock::now() - time).count();
}

absl::Status CheckOptions(const ExternalOptions& options) {
  if (options.command.empty() || options.command[0].empty()) {
    return absl::InvalidArgumentError("no program is named");
  }
  for (const std::string& word : options.command) {
    if (word.find('\0') != std::string::npos) {
      return absl::InvalidArgumentError(
          "a word of the command holds a NUL byte");
    }
  }
  // Written so that NaN is refused.
  if (!(options.timeout_s > 0) || !(options.startup_timeout_s > 0)) {
    return absl::InvalidArgumentError(
        fmt::format("a time-out is more than 0 s; found {:g} s for a question "
                    "and {:g} s for the start",
                    options.timeout_s, options.startup_timeout_s));
  }
  if (options.restarts < 0 || options.processes < 1) {
    return absl::InvalidArgumentError(fmt::format(
        "{} restarts of {} processes; at least 0 of at least 1 are needed",
        options.restarts, options.processes));
  }
  if (options.longest_line == 0) {
    return absl::InvalidArgumentError("lines of 0 bytes hold no answer");
  }
  return absl::OkStatus();
}

/// A process that has greeted, and the name it gave.
struct Started {
  Process process;
  std::string name;
};

absl::StatusOr<Started> Start(const ExternalOptions& options) {
  absl::StatusOr<Process> process =
      ChildProcess::Start(options.command, options.longest_line);
  if (!process.ok()) return process.status();
  external::Greeting ours;
  ours.protocol = kLineProtocol;
  ours.name = fmt::format("lmsimbench {}", kVersion);
  const absl::StatusOr<std::string> line = (*process)->Exchange(
      external::GreetingLine(ours), options.startup_timeout_s);
  if (!line.ok()) {
    return absl::Status(
        absl::IsDeadlineExceeded(line.status())
            ? absl::StatusCode::kDeadlineExceeded
            : absl::StatusCode::kUnavailable,
        fmt::format("'{}', asked for its greeting, {}", options.command[0],
                    std::string(line.status().message())));
  }
  absl::StatusOr<external::Greeting> theirs = external::ParseGreeting(*line);
  if (!theirs.ok()) {
    return absl::UnavailableError(
        fmt::format("'{}' cannot be asked: {}", options.command[0],
                    std::string(theirs.status().message())));
  }
  return Started{*std::move(process), std::move(theirs->name)};
}

class PooledSimulator final : public ExternalSimulator {
 public:
  /// With the first process, which took `startup_s` to start.
  PooledSimulator(std::string name, const ExternalOptions& options,
                  Process first, double startup_s)
      : ExternalSimulator(std::move(name)),
        options_(options),
        unstarted_(options.processes - 1),
        spare_(options.restarts),
        living_(1) {
    idle_.push_back(std::move(first));
    statistics_.starts = 1;
    statistics_.startup_s = startup_s;
  }

  ~PooledSimulator() override {
    // All are told before one is waited for.
    for (const Process& process : idle_) process->CloseInput();
  }

  ExternalStatistics Statistics() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return statistics_;
  }

 private:
  absl::Status DoPredict(const Workload& workload, const System& system,
                         const ParallelConfig& config, Workspace&,
                         Prediction& prediction) const override {
    external::Request request;
    request.protocol = kLineProtocol;
    request.workload = workload;
    request.system = system;
    request.configuration = config;

    absl::StatusOr<Process> process = Take(request.id);
    if (!process.ok()) return process.status();
    const std::string question = external::RequestLine(request);
    const auto asked = Clock::now();
    const absl::StatusOr<std::string> line =
        (*process)->Exchange(question, options_.timeout_s);
    const double waited_s = SecondsSince(asked);

    absl::Status status = line.status();
    if (line.ok()) {
      absl::StatusOr<Prediction> answer =
          external::ParseAnswer(*line, request.id);
      status = answer.status();
      if (answer.ok()) prediction = *std::move(answer);
      if (absl::IsDataLoss(status)) {
        status = absl::DataLossError("wrote " + std::string(status.message()));
      }
    }
    // Without its line, or with one that belongs elsewhere, nobody knows where
    // the process stands.
    const bool lost = !line.ok() || absl::IsDataLoss(status);
    if (lost) {
      if (line.ok()) (*process)->Kill();
      process->reset();
      status = Explained(status);
    }
    GiveBack(*std::move(process), lost ? status : absl::OkStatus(), waited_s);
    return status;
  }

  /// The status of a question whose process is lost.
  absl::Status Explained(const absl::Status& status) const {
    return absl::Status(
        absl::IsDataLoss(status) ? absl::StatusCode::kInternal : status.code(),
        fmt::format("the process of '{}' {}", name(),
                    std::string(status.message())));
  }

  int starts_left() const { return unstarted_ + spare_; }
  /// No process is left, and none may be started.
  bool IsOver() const { return living_ == 0 && starts_left() == 0; }

  /// An idle process, waited for or started, and the id of the next question.
  absl::StatusOr<Process> Take(int64_t& id) const {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] {
      return !idle_.empty() || IsOver() ||
             (starts_left() > 0 && living_ < options_.processes);
    });
    id = ++last_id_;
    if (!idle_.empty()) {
      Process process = std::move(idle_.back());
      idle_.pop_back();
      return process;
    }
    if (IsOver()) {
      ++statistics_.not_asked;
      return absl::UnavailableError(fmt::format(
          "'{}' is asked no more: {} restarts are used up; the last time, {}",
          name(), options_.restarts, last_loss_));
    }
    return StartAnother(lock);
  }

  absl::StatusOr<Process> StartAnother(
      std::unique_lock<std::mutex>& lock) const {
    const bool again = unstarted_ == 0;
    --(again ? spare_ : unstarted_);
    ++living_;
    lock.unlock();
    const auto begin = Clock::now();
    absl::StatusOr<Started> started = Start(options_);
    lock.lock();
    ++statistics_.starts;
    statistics_.restarts += again ? 1 : 0;
    statistics_.startup_s += SecondsSince(begin);
    if (started.ok()) return std::move(started->process);
    CountLoss(started.status());
    --living_;
    changed_.notify_all();
    return started.status();
  }

  /// Ends a question. `lost` says why there is no process to give back.
  void GiveBack(Process process, const absl::Status& lost,
                double waited_s) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++statistics_.questions;
    statistics_.waited_s += waited_s;
    if (lost.ok()) {
      idle_.push_back(std::move(process));
    } else {
      CountLoss(lost);
      --living_;
    }
    changed_.notify_all();
  }

  void CountLoss(const absl::Status& why) const {
    last_loss_ = std::string(why.message());
    if (absl::IsDeadlineExceeded(why)) {
      ++statistics_.timeouts;
    } else if (absl::IsInternal(why)) {
      ++statistics_.garbled;
    } else {
      ++statistics_.crashes;
    }
  }

  const ExternalOptions options_;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable std::vector<Process> idle_;
  /// Processes that were never started yet, and those left to replace others.
  mutable int unstarted_;
  mutable int spare_;
  /// Processes that are idle, asked, or being started.
  mutable int living_;
  mutable int64_t last_id_ = 0;
  mutable std::string last_loss_;
  mutable ExternalStatistics statistics_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ExternalSimulator>> MakeExternalSimulator(
    const ExternalOptions& options) {
  if (absl::Status status = CheckOptions(options); !status.ok()) return status;
  const auto begin = Clock::now();
  absl::StatusOr<Started> first = Start(options);
  if (!first.ok()) return first.status();
  const double startup_s = SecondsSince(begin);
  std::string name = options.name;
  if (name.empty()) name = first->name;
  if (name.empty()) {
    const std::string& program = options.command[0];
    name = program.substr(program.rfind('/') + 1);
  }
  return std::make_unique<PooledSimulator>(
      std::move(name), options, std::move(first->process), startup_s);
}

}  // namespace lmsimbench
