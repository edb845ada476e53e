#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace lmsimbench::external {

/// Bytes as they come in, and the lines that are complete.
class LineBuffer {
 public:
  void Append(absl::string_view bytes) {
    bytes_.append(bytes.data(), bytes.size());
  }
  /// Takes the first complete line, without its newline; false if there is
  /// none.
  bool TakeLine(std::string& line);
  /// What came in and was not taken.
  const std::string& rest() const { return bytes_; }

 private:
  std::string bytes_;
  /// So far no newline was found.
  size_t searched_ = 0;
};

/// Bytes from another program for a message: in single quotes, cut where long,
/// with what does not print as `\n` or `\x1f`.
std::string Quoted(absl::string_view bytes);

/// `write`, but the end of the reader is EPIPE and nothing else: no signal
/// reaches the process, and its handling of signals is not changed.
ssize_t WriteWithoutSignal(int fd, const char* bytes, size_t size);

}  // namespace lmsimbench::external
