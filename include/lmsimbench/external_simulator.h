#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lmsimbench/simulator.h"

/// \file
/// Simulators that are programs of their own, in any language: a process that
/// reads one JSON request a line and writes one JSON answer a line.
/// `examples/line_protocol/README.md` describes the lines; this header has both
/// ends of them, the asking one (`MakeExternalSimulator`) and the answering one
/// (`ServeSimulator`).

namespace lmsimbench {

/// Version of the line protocol that this library speaks.
inline constexpr int64_t kLineProtocol = 1;

/// How a program is run and asked.
struct ExternalOptions {
  /// Name to score it by; empty: the one with which the program introduces
  /// itself, else the file name of the program.
  std::string name;
  /// The program and its arguments. A program without a slash is looked up in
  /// PATH; no shell is run.
  std::vector<std::string> command;
  /// Seconds that one question may take.
  double timeout_s = 60;
  /// Seconds from the start of a process to its greeting.
  double startup_timeout_s = 60;
  /// Processes that may be started, over the whole life of the simulator, in
  /// place of others that came to grief.
  int restarts = 10;
  /// Processes that answer at the same time, each one question. With one, calls
  /// from several threads wait for each other.
  int processes = 1;
  /// The longest line that is read from the program, in bytes.
  size_t longest_line = size_t{16} << 20;
};

/// What asking a program has cost so far.
struct ExternalStatistics {
  /// Processes started, those of `restarts` among them.
  int64_t starts = 0;
  int64_t restarts = 0;
  /// From starting processes to their greetings, summed.
  double startup_s = 0;
  /// Questions that were put to a process, and the seconds until their answers
  /// were there, summed.
  int64_t questions = 0;
  double waited_s = 0;
  /// Processes lost because they took too long, ended (or closed their input or
  /// output) before they answered, or wrote a line that belongs to no question.
  int64_t timeouts = 0;
  int64_t crashes = 0;
  int64_t garbled = 0;
  /// Questions failed at once, because `restarts` were used up.
  int64_t not_asked = 0;
};

/// A simulator whose answers come from a program.
class ExternalSimulator : public Simulator {
 public:
  /// What asking has cost up to now. May be called at any time.
  virtual ExternalStatistics Statistics() const = 0;

 protected:
  using Simulator::Simulator;
};

/// Starts the program, exchanges greetings and gives the simulator that asks
/// it. Further processes are started when they are needed.
///
/// The simulator's answers are those of the program: a prediction; a refusal
/// with the program's reason (UNIMPLEMENTED); a failure with its reason
/// (INTERNAL). Everything that goes wrong in between costs the question, never
/// the host:
/// - no answer in time: DEADLINE_EXCEEDED;
/// - a process that ended or closed its input or output: UNAVAILABLE, with the
///   exit code or signal and the end of what it wrote to stderr;
/// - a line that is no answer to the question, or a line too many: INTERNAL,
///   quoting it. An answer to the question that holds something wrong (an
///   unknown key, a text for a number) is INTERNAL too and the process stays;
/// - in the other cases the process is killed, with all of its group, and the
///   next question starts another one, at most `restarts` times; after that
///   every question fails at once with UNAVAILABLE, saying why the last process
///   was lost.
///
/// Processes are told to end by the end of their input, and killed if they have
/// not after two seconds. Their stderr is read and dropped but for its end.
/// The simulator may be called by several threads.
///
/// INVALID_ARGUMENT for options that make no sense, NOT_FOUND if there is no
/// such program, UNAVAILABLE or DEADLINE_EXCEEDED if it cannot be started or
/// does not greet.
absl::StatusOr<std::unique_ptr<ExternalSimulator>> MakeExternalSimulator(
    const ExternalOptions& options);

/// The words of a command line, as a POSIX shell divides them: at blanks, with
/// single quotes, double quotes and backslashes. Nothing else of a shell is
/// done: `$`, `*`, `~`, `|`, `>` and their like are ordinary characters.
/// INVALID_ARGUMENT for a quote that does not end, a backslash at the end, or a
/// line without words.
absl::StatusOr<std::vector<std::string>> SplitCommand(absl::string_view line);

/// The answering end: greets the host, then reads requests from `input_fd`
/// and writes the simulator's answers to `output_fd` until the input ends.
/// Nothing else may write there. Refusals and failures of the simulator are
/// answers; so is a request that cannot be read. An exception that the
/// simulator throws is let through.
///
/// INVALID_ARGUMENT if the host's greeting is none or of another version, or a
/// line has more than 64 MiB; UNAVAILABLE if reading or writing fails.
absl::Status ServeSimulator(const Simulator& simulator, int input_fd,
                            int output_fd);

/// For a program that cannot serve what it was asked to: says why in place of a
/// greeting, so that the host can show it. Errors as `ServeSimulator`.
absl::Status ServeFailure(const absl::Status& why, int input_fd, int output_fd);

}  // namespace lmsimbench
