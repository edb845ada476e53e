#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "absl/status/status.h"
#include "fmt/format.h"
#include "lib/simulators/external/lines.h"
#include "lib/simulators/external/protocol.h"
#include "lmsimbench/external_simulator.h"
#include "lmsimbench/workspace.h"

namespace lmsimbench {
namespace {

using external::Greeting;

/// Far above any request, far below what exhausts memory.
constexpr size_t kLongestLine = size_t{64} << 20;

/// The host, as the answering side sees it. Descriptors that do not block are
/// waited for.
class Host {
 public:
  Host(int input_fd, int output_fd) : input_(input_fd), output_(output_fd) {}

  /// The next line; OUT_OF_RANGE behind the last one.
  absl::StatusOr<std::string> ReadLine() {
    std::string line;
    while (!lines_.TakeLine(line)) {
      char bytes[1 << 16];
      const ssize_t size = read(input_, bytes, sizeof(bytes));
      if (size == 0) return absl::OutOfRangeError("the input ended");
      if (lines_.rest().size() > kLongestLine) {
        return absl::InvalidArgumentError(
            fmt::format("a request of more than {} bytes", kLongestLine));
      }
      if (size > 0) {
        lines_.Append(absl::string_view(bytes, static_cast<size_t>(size)));
      } else if (!CanGoOn(input_, POLLIN)) {
        return Failed("reading a request");
      }
    }
    return line;
  }

  absl::Status WriteLine(std::string line) {
    line += '\n';
    for (size_t sent = 0; sent < line.size();) {
      const ssize_t size = external::WriteWithoutSignal(
          output_, line.data() + sent, line.size() - sent);
      if (size >= 0) {
        sent += static_cast<size_t>(size);
      } else if (!CanGoOn(output_, POLLOUT)) {
        return Failed("writing an answer");
      }
    }
    return absl::OkStatus();
  }

 private:
  static bool CanGoOn(int fd, short event) {
    if (errno == EINTR) return true;
    if (errno != EAGAIN) return false;
    pollfd wait = {fd, event, 0};
    poll(&wait, 1, -1);
    return true;
  }
  static absl::Status Failed(const char* what) {
    return absl::UnavailableError(
        fmt::format("{}: {}", what, std::generic_category().message(errno)));
  }

  const int input_, output_;
  external::LineBuffer lines_;
};

/// Reads the host's greeting and answers it.
absl::Status Greet(Host& host, const Greeting& greeting) {
  const absl::StatusOr<std::string> line = host.ReadLine();
  if (absl::IsOutOfRange(line.status())) {
    return absl::InvalidArgumentError("the input ended before a greeting");
  }
  if (!line.ok()) return line.status();
  absl::StatusOr<Greeting> theirs = external::ParseGreeting(*line);
  if (theirs.ok()) return host.WriteLine(external::GreetingLine(greeting));
  // A host of another version learns why, too.
  Greeting refusal;
  refusal.protocol = kLineProtocol;
  refusal.failed = std::string(theirs.status().message());
  if (absl::Status status = host.WriteLine(external::GreetingLine(refusal));
      !status.ok()) {
    return status;
  }
  return theirs.status();
}

}  // namespace

absl::Status ServeSimulator(const Simulator& simulator, int input_fd,
                            int output_fd) {
  Host host(input_fd, output_fd);
  Greeting greeting;
  greeting.protocol = kLineProtocol;
  greeting.name = simulator.name();
  absl::Status status = Greet(host, greeting);
  Workspace workspace;
  Prediction prediction;
  while (status.ok()) {
    const absl::StatusOr<std::string> line = host.ReadLine();
    if (absl::IsOutOfRange(line.status())) return absl::OkStatus();
    if (!line.ok()) return line.status();
    const absl::StatusOr<external::Request> request =
        external::ParseRequest(*line);
    if (!request.ok()) {
      // Not a refusal of the simulator: it was not asked.
      status = host.WriteLine(external::AnswerLine(
          external::IdOf(*line),
          absl::InternalError(request.status().message())));
      continue;
    }
    const absl::Status answered =
        simulator.PredictInto(request->workload, request->system,
                              request->configuration, workspace, prediction);
    status = host.WriteLine(answered.ok()
                                ? external::AnswerLine(request->id, prediction)
                                : external::AnswerLine(request->id, answered));
  }
  return status;
}

absl::Status ServeFailure(const absl::Status& why, int input_fd,
                          int output_fd) {
  Host host(input_fd, output_fd);
  Greeting greeting;
  greeting.protocol = kLineProtocol;
  greeting.failed = std::string(why.message());
  if (greeting.failed.empty()) greeting.failed = "no reason given";
  return Greet(host, greeting);
}

}  // namespace lmsimbench
