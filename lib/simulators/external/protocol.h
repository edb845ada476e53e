#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lmsimbench/parallel_config.h"
#include "lmsimbench/prediction.h"
#include "lmsimbench/system.h"
#include "lmsimbench/values.h"
#include "lmsimbench/workload.h"

/// \file
/// The lines of the protocol (examples/line_protocol/README.md), written and
/// read. Lines are without their newline. What is read is never trusted; every
/// message quotes what it found.

namespace lmsimbench::external {

/// The first line of either side.
struct Greeting {
  int64_t protocol = kNoCount;
  std::string name;
  /// Of a program that cannot answer: why.
  std::string failed;

  template <typename Visit, typename... Self>
  static void VisitFields(Visit&& visit, Self&... self) {
    visit("protocol", self.protocol...);
    visit("name", self.name...);
    visit("failed", self.failed...);
  }
};

/// A question.
struct Request {
  int64_t protocol = kNoCount;
  int64_t id = kNoCount;
  Workload workload;
  System system;
  ParallelConfig configuration;

  template <typename Visit, typename... Self>
  static void VisitFields(Visit&& visit, Self&... self) {
    visit("protocol", self.protocol...);
    visit("id", self.id...);
    visit("workload", self.workload...);
    visit("system", self.system...);
    visit("configuration", self.configuration...);
  }
};

std::string GreetingLine(const Greeting& greeting);
std::string RequestLine(const Request& request);
/// The answer to question `id`: the prediction, a refusal or a failure. Without
/// an id (-1), to a question whose id could not be read, always a failure.
std::string AnswerLine(int64_t id,
                       const absl::StatusOr<Prediction>& prediction);

/// Reads the other side's greeting. INVALID_ARGUMENT if it is none, is of
/// another version, or says why the program cannot answer.
absl::StatusOr<Greeting> ParseGreeting(absl::string_view line);

/// Reads a question of version `kLineProtocol`. INVALID_ARGUMENT names what is
/// wrong with it.
absl::StatusOr<Request> ParseRequest(absl::string_view line);

/// The id of a line that is an object with one, else -1.
int64_t IdOf(absl::string_view line);

/// Reads the answer to question `id`:
/// - UNIMPLEMENTED with the program's reason where it refuses,
/// - INTERNAL with the program's reason where it failed, or with what is wrong
///   with an answer to this question,
/// - DATA_LOSS where the line is no answer to this question: nobody knows any
///   more which line answers what.
absl::StatusOr<Prediction> ParseAnswer(absl::string_view line, int64_t id);

}  // namespace lmsimbench::external
