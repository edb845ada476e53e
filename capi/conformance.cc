#include "capi/conformance.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "capi/text.h"
#include "fmt/format.h"
#include "lmsimbench/answer_sheet.h"
#include "lmsimbench/lookup.h"
#include "lmsimbench/measurements.h"

namespace lmsimbench::capi {
namespace {

// Larger configurations ask nothing that these do not.
constexpr int64_t kMostDevices = 1024;

bool IsCode(lmsb_code code) {
  return code >= LMSB_OK && code <= LMSB_UNAUTHENTICATED;
}

}  // namespace

void FaultReport::Add(const std::string& kind, const std::string& line) {
  const auto [at, is_new] = line_of_kind_.try_emplace(kind, lines_.size());
  if (!is_new) {
    ++lines_[at->second].more;
    return;
  }
  // Texts of plug-ins may hold line breaks.
  Line added{line};
  std::replace(added.text.begin(), added.text.end(), '\n', ' ');
  lines_.push_back(std::move(added));
}

absl::Status FaultReport::Finish(const std::string& plugin,
                                 lmsb_text** out) const {
  auto text = std::make_unique<lmsb_text>();
  for (const Line& line : lines_) {
    text->text += line.text;
    if (line.more > 0) {
      text->text += fmt::format(" (and {} more like it)", line.more);
    }
    text->text += "\n";
  }
  absl::Status status;
  if (!lines_.empty()) {
    status = absl::FailedPreconditionError(fmt::format(
        "plug-in '{}' has {} {}; the first: {}", plugin, lines_.size(),
        lines_.size() == 1 ? "fault" : "faults", lines_.front().text));
  }
  *out = text.release();
  return status;
}

bool Outcome::refused() const {
  return thrown.empty() &&
         (code == LMSB_INVALID_ARGUMENT || code == LMSB_FAILED_PRECONDITION ||
          code == LMSB_UNIMPLEMENTED || code == LMSB_OUT_OF_RANGE);
}

Outcome Call(const std::function<lmsb_code(lmsb_error*)>& function) {
  Outcome outcome;
  lmsb_error error;
  try {
    outcome.code = function(&error);
  } catch (const std::exception& exception) {
    outcome.thrown = fmt::format("an exception: {}", exception.what());
  } catch (...) {
    outcome.thrown = "an exception";
  }
  outcome.text = std::move(error.text);
  outcome.text_is_utf8 = error.is_utf8;
  return outcome;
}

void CheckOutcome(const Outcome& outcome, const std::string& function,
                  const std::string& question, FaultReport& report) {
  if (!outcome.thrown.empty()) {
    report.Add(function + " throws",
               fmt::format("{} throws {}, for {}", function, outcome.thrown,
                           question));
    return;
  }
  if (!outcome.text_is_utf8) {
    report.Add(function + " text",
               fmt::format("{} sets a text of its error that is not UTF-8, "
                           "for {}",
                           function, question));
  }
  if (outcome.code == LMSB_OK) return;
  if (!IsCode(outcome.code)) {
    report.Add(function + " code",
               fmt::format("{} returns {}, which is no code, for {}", function,
                           outcome.code, question));
    return;
  }
  if (outcome.text.empty()) {
    report.Add(function + " no text",
               fmt::format("{} returns {} without a text, for {}", function,
                           lmsb_code_name(outcome.code), question));
  }
  if (!outcome.refused()) {
    report.Add(
        fmt::format("{} fails {}", function, outcome.code),
        fmt::format("{} fails with {}{}{}, which is no refusal, for {}",
                    function, lmsb_code_name(outcome.code),
                    outcome.text.empty() ? "" : ": ", outcome.text, question));
  }
}

void CheckDeclaration(size_t struct_size, size_t known_size,
                      int32_t thread_safe, int32_t reserved,
                      FaultReport& report) {
  // A later version may be longer, but not by that much.
  constexpr size_t kMostGrowth = 4096;
  if (struct_size > known_size + kMostGrowth) {
    report.Add("size", fmt::format("struct_size is {}; the struct has {} bytes",
                                   struct_size, known_size));
  }
  if (thread_safe != 0 && thread_safe != 1) {
    report.Add("thread_safe",
               fmt::format("thread_safe is {}; it is 1 or 0", thread_safe));
  }
  if (reserved != 0) {
    report.Add("reserved", fmt::format("reserved is {}; it is 0", reserved));
  }
}

absl::StatusOr<std::vector<Case>> CasesOf(const Bundle& bundle) {
  auto measurements = ReadMeasurements(bundle);
  if (!measurements.ok()) return measurements.status();
  std::set<std::pair<std::string, Precision>> platforms;
  std::set<std::string> models;
  std::vector<Case> cases;
  for (const auto* runs : {&measurements->runs, &measurements->failed_runs}) {
    for (const MeasuredRun& run : *runs) {
      if (run.devices > kMostDevices) continue;
      const bool is_new_platform =
          platforms.emplace(run.platform, run.workload.precision).second;
      const bool is_new_model =
          models.insert(run.workload.model.name + (run.ran ? "" : " failed"))
              .second;
      if (!is_new_platform && !is_new_model) continue;
      const auto platform = FindPlatform(bundle, run.platform);
      if (!platform.ok()) continue;
      cases.push_back({fmt::format("run '{}'", run.record_id), run.workload,
                       SystemOfRun(*platform, run), run.config,
                       run.iteration_time_s, run.peak_memory_bytes});
    }
  }
  return cases;
}

absl::Status OnThreads(int threads, const std::function<void(int)>& work) {
  std::atomic<int> waiting{threads};
  std::atomic<bool> cancelled{false};
  std::vector<std::thread> started;
  absl::Status status;
  try {
    for (int thread = 0; thread < threads; ++thread) {
      started.emplace_back([&, thread] {
        --waiting;
        while (waiting > 0 && !cancelled) std::this_thread::yield();
        if (!cancelled) work(thread);
      });
    }
  } catch (const std::system_error& error) {
    cancelled = true;
    status = absl::ResourceExhaustedError(
        fmt::format("no {} threads: {}", threads, error.what()));
  }
  for (std::thread& thread : started) thread.join();
  return status;
}

double Median(std::vector<double> values) {
  if (values.empty()) return kNoNumber;
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace lmsimbench::capi
