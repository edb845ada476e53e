#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lib/simulators/external/lines.h"

namespace lmsimbench::external {

using Clock = std::chrono::steady_clock;

/// A file descriptor that is closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { Close(); }
  Descriptor(Descriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept;

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  void Close();

 private:
  int fd_;
};

/// A running program that is sent a line and answers with a line. Used by one
/// thread at a time. It leads a process group of its own, which goes with it.
class ChildProcess {
 public:
  /// Starts the program with pipes at its stdin, stdout and stderr. NOT_FOUND
  /// if there is no such program, UNAVAILABLE if it cannot be started; both
  /// with the system's reason.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(
      const std::vector<std::string>& command, size_t longest_line);

  /// Closes the program's input and gives it two seconds to end; then kills it
  /// and its group.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Sends a line (a newline is added) and waits for one. After an error the
  /// process is dead:
  /// - DEADLINE_EXCEEDED: no line within `timeout_s`,
  /// - UNAVAILABLE: the process ended, or closed its input or output,
  /// - DATA_LOSS: it wrote something before it was asked, or too long a line.
  absl::StatusOr<std::string> Exchange(const std::string& line,
                                       double timeout_s);

  /// Tells the program to end, without waiting for it.
  void CloseInput() { input_.Close(); }

  /// Ends the program and its group at once.
  void Kill();

 private:
  ChildProcess(pid_t pid, size_t longest_line)
      : pid_(pid), longest_line_(longest_line) {}

  /// DATA_LOSS if the program wrote something that is not taken yet.
  absl::Status CheckNothingWaits();
  /// Reads what waits at the program's stdout; false at its end.
  bool ReadOutput();
  /// Reads what waits at the program's stderr, of which the end is kept; false
  /// if nothing did.
  bool ReadErrors();
  /// Writes the rest of `line`; false if the program reads no more.
  bool Send(const std::string& line, size_t& sent);
  /// Waits for what the open descriptors bring, at most until `deadline`.
  void Wait(bool sending, Clock::time_point deadline);
  /// True if the program has ended, or ends in time. Leaves it to be reaped.
  bool EndsBy(Clock::time_point deadline);
  /// The error of a program that answers no more; `seen` is what was seen of
  /// that.
  absl::Status Lost(absl::string_view seen);
  /// "; its stderr ends with 'text'", or nothing.
  std::string LastWords() const;

  const pid_t pid_;
  const size_t longest_line_;
  bool running_ = true;
  Descriptor input_, output_, errors_;
  LineBuffer lines_;
  std::string last_errors_;
};

}  // namespace lmsimbench::external
