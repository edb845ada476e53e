#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "capi/callback.h"
#include "lmsimbench/bundle.h"
#include "lmsimbench/parallel_config.h"
#include "lmsimbench/system.h"
#include "lmsimbench/values.h"
#include "lmsimbench/workload.h"

/// \file
/// What the checks of both kinds of plug-in share: the report, the questions
/// and how a callback is called.
///
/// What they cannot see: a function that never returns, a data race that
/// changes no answer (the thread sanitizer sees it), and a wild pointer.

namespace lmsimbench::capi {

/// Faults in words, one a line.
class FaultReport {
 public:
  /// Takes a fault. Of those with the same `kind` the first is told and the
  /// others are counted.
  void Add(const std::string& kind, const std::string& line);
  bool empty() const { return lines_.empty(); }
  /// Hands out the report: OK and an empty text without a fault, else
  /// FAILED_PRECONDITION with the first fault.
  absl::Status Finish(const std::string& plugin, lmsb_text** out) const;

 private:
  struct Line {
    std::string text;
    int64_t more = 0;
  };
  std::vector<Line> lines_;
  std::map<std::string, size_t> line_of_kind_;
};

/// What became of a call of a callback.
struct Outcome {
  lmsb_code code = LMSB_OK;
  std::string text;
  bool text_is_utf8 = true;
  /// Words of the exception; empty if none was thrown.
  std::string thrown;

  bool ok() const { return thrown.empty() && code == LMSB_OK; }
  /// A reason not to answer that is the plug-in's good right.
  bool refused() const;
};

/// Calls a callback, and catches what it throws.
Outcome Call(const std::function<lmsb_code(lmsb_error*)>& function);

/// Adds what is wrong with how the callback `function` ended for `question`.
void CheckOutcome(const Outcome& outcome, const std::string& function,
                  const std::string& question, FaultReport& report);

/// Adds what is wrong with the fields that both structs of functions have.
void CheckDeclaration(size_t struct_size, size_t known_size,
                      int32_t thread_safe, int32_t reserved,
                      FaultReport& report);

/// One question of a simulator, from which those of a cost model come.
struct Case {
  /// "run 'x'", or what is special about it.
  std::string name;
  Workload workload;
  System system;
  ParallelConfig config;
  /// What was measured; missing where nothing was.
  double iteration_time_s = kNoNumber;
  double peak_memory_bytes = kNoNumber;
  /// False for what nobody would train.
  bool is_real = true;
};

/// Runs of the bundle: one of each platform in each precision, and one of each
/// model, failed ones too.
absl::StatusOr<std::vector<Case>> CasesOf(const Bundle& bundle);

/// Runs `work(thread)` on so many threads, which all begin together.
absl::Status OnThreads(int threads, const std::function<void(int)>& work);
inline constexpr int kThreads = 4;

/// The value in the middle; missing if there is none.
double Median(std::vector<double> values);

/// A median of answers over what they should be, from which on the unit is
/// taken to be wrong. Below 1,000: the answers need not be exact.
inline constexpr double kWrongUnit = 200;

}  // namespace lmsimbench::capi
