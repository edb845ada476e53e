#include "lib/simulators/external/lines.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "fmt/format.h"
#include "lib/profile/utf8.h"

namespace lmsimbench::external {
namespace {

constexpr size_t kQuoted = 300;

bool ContinuesCharacter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

}  // namespace

bool LineBuffer::TakeLine(std::string& line) {
  const size_t newline = bytes_.find('\n', searched_);
  if (newline == std::string::npos) {
    searched_ = bytes_.size();
    return false;
  }
  line.assign(bytes_, 0, newline);
  bytes_.erase(0, newline + 1);
  searched_ = 0;
  return true;
}

std::string Quoted(absl::string_view bytes) {
  size_t shown = bytes.size();
  if (shown > kQuoted) {
    shown = kQuoted;
    while (shown > 0 && ContinuesCharacter(bytes[shown])) --shown;
  }
  const bool text = IsUtf8(bytes.substr(0, shown));
  std::string quoted = "'";
  for (const char byte : bytes.substr(0, shown)) {
    const auto code = static_cast<unsigned char>(byte);
    if (byte == '\n') {
      quoted += "\\n";
    } else if (byte == '\t') {
      quoted += ' ';
    } else if (code < 0x20 || code == 0x7F || (code >= 0x80 && !text)) {
      quoted += fmt::format("\\x{:02x}", code);
    } else {
      quoted += byte;
    }
  }
  quoted += "'";
  if (shown < bytes.size()) {
    quoted += fmt::format("… ({} bytes)", bytes.size());
  }
  return quoted;
}

ssize_t WriteWithoutSignal(int fd, const char* bytes, size_t size) {
  sigset_t pipe_signal, pending, before;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  sigpending(&pending);
  const bool was_pending = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  const ssize_t written = write(fd, bytes, size);
  const int error = errno;
  if (written < 0 && error == EPIPE && !was_pending) {
    // The signal of this very write waits for this thread: taken away.
    const timespec at_once = {0, 0};
    while (sigtimedwait(&pipe_signal, nullptr, &at_once) < 0 &&
           errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return written;
}

}  // namespace lmsimbench::external
