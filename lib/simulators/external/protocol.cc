#include "lib/simulators/external/protocol.h"

#include <utility>

#include "absl/status/status.h"
#include "fmt/format.h"
#include "lib/core/json_fields.h"
#include "lib/simulators/external/lines.h"
#include "lmsimbench/external_simulator.h"
#include "lmsimbench/simulator.h"

namespace lmsimbench::external {
namespace {

/// An answer as its line has it: the fields of a prediction, or a reason.
struct Answered {
  int64_t id = kNoCount;
  std::string refused;
  std::string failed;
  Prediction prediction;

  template <typename Visit, typename... Self>
  static void VisitFields(Visit&& visit, Self&... self) {
    visit("id", self.id...);
    visit("refused", self.refused...);
    visit("failed", self.failed...);
    Prediction::VisitFields(visit, self.prediction...);
  }
};

template <typename T>
std::string Line(const T& value) {
  return json::Write(value).dump(-1, ' ', false,
                                 json::Json::error_handler_t::replace);
}

absl::StatusOr<json::Json> ParseObject(absl::string_view line) {
  absl::StatusOr<json::Json> document = ParseJson(line);
  if (document.ok() && !document->is_object()) {
    return absl::InvalidArgumentError(
        fmt::format("expected an object, found {}", DescribeJson(*document)));
  }
  return document;
}

/// "WHAT: why: 'the line'".
std::string Complaint(absl::string_view what, absl::string_view why,
                      absl::string_view line) {
  return fmt::format("{}: {}: {}", std::string(what), std::string(why),
                     Quoted(line));
}

/// The object of a line, every key of it read; INVALID_ARGUMENT begins with
/// `what` the line should have been.
template <typename T>
absl::StatusOr<T> Parse(absl::string_view line, absl::string_view what) {
  const absl::StatusOr<json::Json> document = ParseObject(line);
  absl::Status status = document.status();
  T value;
  if (status.ok()) status = json::Read(*document, "", value);
  if (status.ok()) return value;
  return absl::InvalidArgumentError(Complaint(what, status.message(), line));
}

absl::Status CheckProtocol(int64_t protocol, absl::string_view what,
                           absl::string_view line) {
  if (protocol == kLineProtocol) return absl::OkStatus();
  return absl::InvalidArgumentError(Complaint(
      what,
      IsStated(protocol)
          ? fmt::format("protocol {}; this library speaks protocol {}",
                        protocol, kLineProtocol)
          : fmt::format("no key 'protocol'; this library speaks protocol {}",
                        kLineProtocol),
      line));
}

/// The id in an object, or -1.
int64_t IdIn(const json::Json& object) {
  const auto id = object.find("id");
  int64_t value = kNoCount;
  if (id == object.end() || !json::Read(*id, "id", value).ok()) return kNoCount;
  return value;
}

/// Where an answer is a reason, it is nothing else.
absl::Status CheckReason(const json::Json& object, const char* key,
                         const std::string& reason) {
  if (!object.contains(key)) return absl::OkStatus();
  if (object.size() != 2) {
    return absl::InvalidArgumentError(
        fmt::format("'{}' stands alone beside the id", key));
  }
  if (reason.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("{}: expected a reason", key));
  }
  return absl::OkStatus();
}

}  // namespace

std::string GreetingLine(const Greeting& greeting) { return Line(greeting); }

std::string RequestLine(const Request& request) { return Line(request); }

std::string AnswerLine(int64_t id,
                       const absl::StatusOr<Prediction>& prediction) {
  Answered answered;
  answered.id = id;
  if (prediction.ok()) {
    answered.prediction = *prediction;
  } else {
    const bool refused = IsStated(id) && IsRefusal(prediction.status());
    std::string reason(prediction.status().message());
    if (reason.empty()) reason = "no reason given";
    (refused ? answered.refused : answered.failed) = std::move(reason);
  }
  return Line(answered);
}

absl::StatusOr<Greeting> ParseGreeting(absl::string_view line) {
  constexpr char kWhat[] = "not a greeting";
  absl::StatusOr<Greeting> greeting = Parse<Greeting>(line, kWhat);
  if (!greeting.ok()) return greeting;
  if (!greeting->failed.empty()) {
    return absl::InvalidArgumentError(greeting->failed);
  }
  absl::Status status = CheckProtocol(greeting->protocol, kWhat, line);
  if (!status.ok()) return status;
  return greeting;
}

absl::StatusOr<Request> ParseRequest(absl::string_view line) {
  constexpr char kWhat[] = "not a request";
  absl::StatusOr<Request> request = Parse<Request>(line, kWhat);
  if (!request.ok()) return request;
  absl::Status status = CheckProtocol(request->protocol, kWhat, line);
  if (!status.ok()) return status;
  if (!IsStated(request->id)) {
    return absl::InvalidArgumentError(Complaint(kWhat, "no key 'id'", line));
  }
  return request;
}

int64_t IdOf(absl::string_view line) {
  const absl::StatusOr<json::Json> object = ParseObject(line);
  return object.ok() ? IdIn(*object) : kNoCount;
}

absl::StatusOr<Prediction> ParseAnswer(absl::string_view line, int64_t id) {
  const std::string no_answer = fmt::format("no answer to question {}", id);
  const absl::StatusOr<json::Json> object = ParseObject(line);
  if (!object.ok()) {
    return absl::DataLossError(
        Complaint(no_answer, object.status().message(), line));
  }
  const int64_t found = IdIn(*object);
  if (found != id) {
    return absl::DataLossError(Complaint(
        no_answer,
        IsStated(found) ? fmt::format("its id is {}", found) : "it has no id",
        line));
  }
  Answered answered;
  absl::Status status = json::Read(*object, "", answered);
  if (status.ok()) status = CheckReason(*object, "refused", answered.refused);
  if (status.ok()) status = CheckReason(*object, "failed", answered.failed);
  if (!status.ok()) {
    return absl::InternalError(
        Complaint("a faulty answer", status.message(), line));
  }
  if (!answered.refused.empty()) {
    return absl::UnimplementedError(answered.refused);
  }
  if (!answered.failed.empty()) return absl::InternalError(answered.failed);
  return std::move(answered.prediction);
}

}  // namespace lmsimbench::external
