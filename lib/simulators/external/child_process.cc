#include "lib/simulators/external/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "fmt/format.h"

extern char** environ;

namespace lmsimbench::external {
namespace {

using std::chrono::milliseconds;

/// How long a program may take to end by itself.
constexpr milliseconds kGrace(2000);
/// What is kept of a program's stderr, in bytes.
constexpr size_t kKeptErrors = 1000;

std::string ErrorText(int error) {
  return std::generic_category().message(error);
}

/// The two ends of a pipe, neither of them inherited by other programs, and
/// above 2: the host may run without the standard ones, and dup2 in the child
/// has to find all of them.
struct Pipe {
  Descriptor read, write;

  /// 0 or an error number.
  int Open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    read = Descriptor(ends[0]);
    write = Descriptor(ends[1]);
    for (Descriptor* end : {&read, &write}) {
      if (end->get() > STDERR_FILENO) continue;
      const int moved = fcntl(end->get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
      if (moved < 0) return errno;
      *end = Descriptor(moved);
    }
    return 0;
  }
};

/// What posix_spawn is told beside the program.
class SpawnSettings {
 public:
  SpawnSettings(int input, int output, int errors) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, errors, STDERR_FILENO);
    posix_spawnattr_init(&attributes_);
    // Many hosts ignore SIGPIPE; the program shall not inherit that, nor what
    // this thread blocks.
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigaddset(&signals, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP |
                                               POSIX_SPAWN_SETSIGDEF |
                                               POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnSettings() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

Clock::time_point After(double seconds) {
  // A clock ends somewhere; thirty years are as good as for ever.
  constexpr double kLongest = 1e9;
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(
             std::chrono::duration<double>(std::min(seconds, kLongest)));
}

/// Milliseconds until then, for `poll`: 0 if it is over, rounded up otherwise.
int MillisecondsUntil(Clock::time_point time) {
  const Clock::duration left = time - Clock::now();
  if (left <= Clock::duration::zero()) return 0;
  constexpr milliseconds kLongest(60'000);
  return static_cast<int>(
      std::min(kLongest, std::chrono::ceil<milliseconds>(left)).count());
}

enum class Read { kSomething, kNothingYet, kEnd };

/// Passes what can be read without waiting to `take`.
template <typename Take>
Read ReadWhatWaits(int fd, Take&& take) {
  // As much as a pipe holds. Not in a loop: who writes without an end would
  // keep us here.
  char bytes[1 << 16];
  ssize_t size = 0;
  do {
    size = read(fd, bytes, sizeof(bytes));
  } while (size < 0 && errno == EINTR);
  if (size > 0) take(absl::string_view(bytes, static_cast<size_t>(size)));
  if (size > 0) return Read::kSomething;
  return size < 0 && errno == EAGAIN ? Read::kNothingYet : Read::kEnd;
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    Close();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void Descriptor::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(
    const std::vector<std::string>& command, size_t longest_line) {
  const auto cannot = [&command](int error) {
    const std::string message =
        fmt::format("cannot start '{}': {}", command[0], ErrorText(error));
    return error == ENOENT ? absl::NotFoundError(message)
                           : absl::UnavailableError(message);
  };
  Pipe input, output, errors;
  for (Pipe* pipe : {&input, &output, &errors}) {
    if (const int error = pipe->Open(); error != 0) return cannot(error);
  }
  const SpawnSettings settings(input.read.get(), output.write.get(),
                               errors.write.get());
  std::vector<char*> arguments;
  for (const std::string& word : command) {
    // The interface is older than const; the words are not written to.
    arguments.push_back(const_cast<char*>(word.c_str()));
  }
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int error =
      posix_spawnp(&pid, arguments[0], settings.actions(),
                   settings.attributes(), arguments.data(), environ);
  if (error != 0) return cannot(error);

  auto process =
      std::unique_ptr<ChildProcess>(new ChildProcess(pid, longest_line));
  process->input_ = std::move(input.write);
  process->output_ = std::move(output.read);
  process->errors_ = std::move(errors.read);
  // Only our ends: the program's are open file descriptions of their own.
  for (const Descriptor* end :
       {&process->input_, &process->output_, &process->errors_}) {
    fcntl(end->get(), F_SETFL, fcntl(end->get(), F_GETFL) | O_NONBLOCK);
  }
  return process;
}

ChildProcess::~ChildProcess() {
  if (!running_) return;
  CloseInput();
  // Who still writes shall not wait for a reader.
  output_.Close();
  EndsBy(Clock::now() + kGrace);
  Kill();
}

absl::StatusOr<std::string> ChildProcess::Exchange(const std::string& line,
                                                   double timeout_s) {
  const Clock::time_point deadline = After(timeout_s);
  const std::string bytes = line + '\n';
  size_t sent = 0;
  absl::Status status = CheckNothingWaits();
  while (status.ok()) {
    std::string answer;
    if (sent == bytes.size() && lines_.TakeLine(answer) &&
        answer.size() <= longest_line_) {
      return answer;
    }
    if (std::max(answer.size(), lines_.rest().size()) > longest_line_) {
      status = absl::DataLossError(
          fmt::format("wrote a line of more than {} bytes: {}", longest_line_,
                      Quoted(answer.empty() ? lines_.rest() : answer)));
    } else if (Clock::now() >= deadline) {
      ReadErrors();
      status = absl::DeadlineExceededError(fmt::format(
          "did not answer within {:g} s{}", timeout_s, LastWords()));
    } else {
      Wait(sent < bytes.size(), deadline);
      ReadErrors();
      if (!ReadOutput()) {
        status = Lost("closed its output");
      } else if (sent < bytes.size() && !Send(bytes, sent)) {
        status = Lost("closed its input");
      }
    }
  }
  Kill();
  return status;
}

absl::Status ChildProcess::CheckNothingWaits() {
  // An end of the output is found, and told, when the answer does not come.
  ReadOutput();
  if (lines_.rest().empty()) return absl::OkStatus();
  return absl::DataLossError("wrote before it was asked: " +
                             Quoted(lines_.rest()));
}

bool ChildProcess::ReadOutput() {
  return ReadWhatWaits(output_.get(), [this](absl::string_view bytes) {
           lines_.Append(bytes);
         }) != Read::kEnd;
}

bool ChildProcess::ReadErrors() {
  if (!errors_.is_open()) return false;
  const Read read =
      ReadWhatWaits(errors_.get(), [this](absl::string_view bytes) {
        last_errors_.append(bytes.data(), bytes.size());
        if (last_errors_.size() > kKeptErrors) {
          last_errors_.erase(0, last_errors_.size() - kKeptErrors);
        }
      });
  // A program may close its stderr and go on.
  if (read == Read::kEnd) errors_.Close();
  return read == Read::kSomething;
}

bool ChildProcess::Send(const std::string& line, size_t& sent) {
  const ssize_t size =
      WriteWithoutSignal(input_.get(), line.data() + sent, line.size() - sent);
  if (size >= 0) {
    sent += static_cast<size_t>(size);
    return true;
  }
  return errno == EAGAIN || errno == EINTR;
}

void ChildProcess::Wait(bool sending, Clock::time_point deadline) {
  // poll passes over descriptors below 0.
  pollfd events[] = {{sending ? input_.get() : -1, POLLOUT, 0},
                     {output_.get(), POLLIN, 0},
                     {errors_.get(), POLLIN, 0}};
  poll(events, std::size(events), MillisecondsUntil(deadline));
}

bool ChildProcess::EndsBy(Clock::time_point deadline) {
  constexpr milliseconds kBetweenLooks(5);
  for (;;) {
    siginfo_t ended = {};
    const int error = waitid(P_PID, static_cast<id_t>(pid_), &ended,
                             WEXITED | WNOHANG | WNOWAIT);
    const auto now = Clock::now();
    // A host that reaps every child leaves nothing to wait for.
    if (ended.si_pid == pid_ || (error != 0 && errno == ECHILD)) return true;
    if (now >= deadline) return false;
    // Somebody has to read stderr, or the program waits for that.
    pollfd event = {errors_.get(), POLLIN, 0};
    poll(&event, 1, MillisecondsUntil(std::min(deadline, now + kBetweenLooks)));
    ReadErrors();
  }
}

absl::Status ChildProcess::Lost(absl::string_view seen) {
  const bool ended = EndsBy(Clock::now() + kGrace);
  siginfo_t info = {};
  waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  std::string what(seen);
  if (ended && info.si_pid != pid_) {
    what = "ended";
  } else if (ended && info.si_code == CLD_EXITED) {
    what = fmt::format("ended with exit code {}", info.si_status);
  } else if (ended) {
    what = fmt::format("was ended by signal {} ({})", info.si_status,
                       strsignal(info.si_status));
  }
  what += lines_.rest().empty()
              ? " before it answered"
              : " in the middle of a line: " + Quoted(lines_.rest());
  // What its group has written is all that there will be; somebody who left the
  // group may write on for ever.
  kill(-pid_, SIGKILL);
  constexpr int kReads = 64;
  for (int i = 0; i < kReads && ReadErrors(); ++i) {
  }
  return absl::UnavailableError(what + LastWords());
}

std::string ChildProcess::LastWords() const {
  absl::string_view words = last_errors_;
  while (!words.empty() && words.back() == '\n') words.remove_suffix(1);
  if (words.empty()) return "";
  constexpr size_t kShown = 300;
  if (words.size() > kShown) {
    words.remove_prefix(words.size() - kShown);
    // From the begin of a line, if there is one.
    const size_t newline = words.find('\n');
    if (newline != absl::string_view::npos) words.remove_prefix(newline + 1);
  }
  return "; its stderr ends with " + Quoted(words);
}

void ChildProcess::Kill() {
  if (!running_) return;
  running_ = false;
  // The group first: until its leader is reaped nobody else can have its
  // number.
  kill(-pid_, SIGKILL);
  // It may have gone to another group.
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  input_.Close();
  output_.Close();
  errors_.Close();
}

}  // namespace lmsimbench::external
