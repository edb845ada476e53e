#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <limits>
#include <string>
#include <thread>
#include <utility>

#include "test/profile/temporary_folder.h"
#include "test/simulators/external/programs.h"

namespace lmsimbench {
namespace {

using Catch::Contains;
using Catch::EndsWith;
using Catch::Equals;
using Catch::StartsWith;

std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

/// What becomes of the first question in this mode.
absl::Status FirstAnswer(const std::string& mode) {
  return AskAnything(*Make(Faulty(mode))).status();
}

absl::Status NotMade(const ExternalOptions& options) {
  const auto simulator = MakeExternalSimulator(options);
  REQUIRE_FALSE(simulator.ok());
  return simulator.status();
}

TEST_CASE("a program that does it right is asked as often as one likes") {
  const auto simulator = Make(Faulty("right"));
  for (int i = 1; i <= 3; ++i) {
    CHECK(AnsweredTime(*simulator) == i);
  }
  const ExternalStatistics statistics = simulator->Statistics();
  CHECK(statistics.starts == 1);
  CHECK(statistics.questions == 3);
  CHECK(statistics.startup_s > 0);
  CHECK(statistics.waited_s > 0);
  CHECK(statistics.crashes + statistics.timeouts + statistics.garbled == 0);
}

TEST_CASE(
    "a simulator has the name given, else the program's, else the file's") {
  ExternalOptions options = Faulty("right");
  CHECK(Make(options)->name() == "mine");
  options.name = "";
  CHECK(Make(options)->name() == "faulty");
  options.command[1] = "descriptors";
  options.command[0] = SERVING_PROGRAM;
  options.command[1] = "nameless";
  CHECK(Make(options)->name() == "serving_program");
}

TEST_CASE("options that make no sense are refused by number") {
  ExternalOptions options;
  CHECK_THAT(Message(NotMade(options)), Equals("no program is named"));
  options = Faulty("right");
  options.timeout_s = 0;
  CHECK_THAT(Message(NotMade(options)), Contains("found 0 s for a question"));
  options = Faulty("right");
  options.startup_timeout_s = kNoNumber;
  CHECK_THAT(Message(NotMade(options)), Contains("nan s for the start"));
  options = Faulty("right");
  options.restarts = -1;
  CHECK_THAT(Message(NotMade(options)), Contains("-1 restarts"));
  options = Faulty("right");
  options.processes = 0;
  CHECK_THAT(Message(NotMade(options)), Contains("of 0 processes"));
  options = Faulty("right");
  options.command.emplace_back("a\0b", 3);
  CHECK_THAT(Message(NotMade(options)), Contains("NUL"));
}

TEST_CASE("a time-out without end is one") {
  ExternalOptions options = Faulty("right");
  options.timeout_s = std::numeric_limits<double>::infinity();
  options.startup_timeout_s = 1e300;
  CHECK(AskAnything(*Make(options)).ok());
}

TEST_CASE("a program that is not there is named with the system's reason") {
  ExternalOptions options;
  options.command = {"/no/such/program"};
  const absl::Status status = NotMade(options);
  CHECK(absl::IsNotFound(status));
  CHECK_THAT(Message(status), Equals("cannot start '/no/such/program': No such "
                                     "file or directory"));
  options.command = {"no-such-program-in-path"};
  CHECK(absl::IsNotFound(NotMade(options)));
}

TEST_CASE("a file that is no program is named with the system's reason") {
  const TemporaryFolder folder;
  folder.Write("text", "echo hello\n");
  ExternalOptions options;
  options.command = {folder.path("text")};
  CHECK_THAT(Message(NotMade(options)), EndsWith(": Permission denied"));
  // No shell is run for a script that does not say which one.
  REQUIRE(chmod(folder.path("text").c_str(), 0700) == 0);
  CHECK_THAT(Message(NotMade(options)), EndsWith(": Exec format error"));
}

TEST_CASE("a program that ends at its start is quoted") {
  const absl::Status status = NotMade(Faulty("exit at start"));
  CHECK(absl::IsUnavailable(status));
  CHECK_THAT(Message(status),
             Contains("ended with exit code 4 before it answered; its stderr "
                      "ends with 'cannot find my weights'"));
}

TEST_CASE("a program that does not greet in time is given up") {
  ExternalOptions options = Faulty("hang at start");
  options.startup_timeout_s = 0.2;
  const absl::Status status = NotMade(options);
  CHECK(absl::IsDeadlineExceeded(status));
  CHECK_THAT(Message(status),
             Contains("asked for its greeting, did not answer within 0.2 s"));
}

TEST_CASE("a greeting that is none, or of another version, is quoted") {
  CHECK_THAT(
      Message(NotMade(Faulty("no greeting"))),
      Contains("not a greeting") && EndsWith("'Welcome to the simulator!'"));
  CHECK_THAT(Message(NotMade(Faulty("other version"))),
             Contains("protocol 2; this library speaks protocol 1"));
  CHECK_THAT(Message(NotMade(Faulty("cannot"))),
             EndsWith("cannot be asked: no licence"));
}

TEST_CASE("a process that exits is told with its code and its last words") {
  const absl::Status status = FirstAnswer("exit");
  CHECK(absl::IsUnavailable(status));
  CHECK(Message(status) ==
        "the process of 'mine' ended with exit code 3 before it answered; its "
        "stderr ends with 'first\\nsecond\\nlast words'");
}

TEST_CASE("a process that is killed is told with its signal") {
  const absl::Status status = FirstAnswer("signal");
  CHECK(absl::IsUnavailable(status));
  CHECK(Message(status) ==
        "the process of 'mine' was ended by signal 9 (Killed) before it "
        "answered");
}

TEST_CASE("a process that hangs is killed with its group") {
  const TemporaryFolder folder;
  ExternalOptions options = Faulty("hang");
  options.command.push_back(folder.path("child"));
  options.timeout_s = 2;
  const absl::Status status = AskAnything(*Make(options)).status();
  CHECK(absl::IsDeadlineExceeded(status));
  CHECK(Message(status) ==
        "the process of 'mine' did not answer within 2 s; its stderr ends "
        "with 'thinking'");
  // Its child is gone, or a zombie that waits for the system to take it.
  pid_t child = 0;
  std::ifstream(folder.path("child")) >> child;
  REQUIRE(child > 0);
  const auto runs = [child] {
    std::ifstream stat("/proc/" + std::to_string(child) + "/stat");
    std::string number, name, state;
    return stat >> number >> name >> state && state != "Z";
  };
  for (int i = 0; i < 1000 && runs(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  CHECK_FALSE(runs());
}

TEST_CASE("a line that answers nothing is quoted, and its process is lost") {
  const std::pair<const char*, const char*> cases[] = {
      {"garbage", "'Segmentation fault'"},
      {"binary", "'\\xff\\x00\\x01'"},
      {"nan", "'{\"id\":1,\"iteration_time_s\":NaN}'"},
      {"no object", "expected an object, found a list: '[1, 2]'"},
      {"other id", "its id is 2: '{\"id\":2,\"iteration_time_s\":1}'"},
      {"no id", "it has no id: '{\"iteration_time_s\":1}'"},
  };
  for (const auto& [mode, quoted] : cases) {
    INFO(mode);
    const auto simulator = Make(Faulty(mode));
    const absl::Status status = AskAnything(*simulator).status();
    CHECK(absl::IsInternal(status));
    CHECK_THAT(Message(status),
               StartsWith("the process of 'mine' wrote no answer to question "
                          "1: ") &&
                   EndsWith(quoted));
    CHECK(simulator->Statistics().garbled == 1);
    // The next question is put to a fresh process, which has its own id.
    CHECK_THAT(Message(AskAnything(*simulator).status()),
               Contains("question 2"));
    CHECK(simulator->Statistics().starts == 2);
  }
}

TEST_CASE("an answer with something wrong in it costs a question, no process") {
  const std::pair<const char*, const char*> cases[] = {
      {"unknown key", "did you mean 'iteration_time_s'?"},
      {"text for a number",
       "iteration_time_s: expected a number, found the text \"fast\""},
      {"negative", "simulator 'mine' answered iteration_time_s = -1"},
      {"nothing", "answered without time, memory or verdict"},
      {"fail", "table is missing"},
  };
  for (const auto& [mode, wrong] : cases) {
    INFO(mode);
    const auto simulator = Make(Faulty(mode));
    for (int i = 0; i < 2; ++i) {
      const absl::Status status = AskAnything(*simulator).status();
      CHECK(absl::IsInternal(status));
      CHECK_THAT(Message(status), Contains(wrong));
    }
    CHECK(simulator->Statistics().starts == 1);
  }
}

TEST_CASE("a refusal arrives as it was given") {
  const auto simulator = Make(Faulty("refuse"));
  const absl::Status status = AskAnything(*simulator).status();
  CHECK(status == absl::UnimplementedError("no experts"));
  CHECK(IsRefusal(status));
  CHECK(simulator->Statistics().starts == 1);
}

TEST_CASE("a line without its newline is no answer") {
  CHECK(Message(FirstAnswer("partial line")) ==
        "the process of 'mine' ended with exit code 0 in the middle of a line: "
        "'{\"id\":1,\"iteration_t'");
  CHECK_THAT(Message(FirstAnswer("no newline")),
             EndsWith("in the middle of a line: "
                      "'{\"id\":1,\"iteration_time_s\":1}'"));
}

TEST_CASE("lines that nobody asked for are found at the next question") {
  for (const char* mode : {"extra line", "two lines"}) {
    INFO(mode);
    const auto simulator = Make(Faulty(mode));
    CHECK(AnsweredTime(*simulator) == 1);
    const absl::Status status = AskAnything(*simulator).status();
    CHECK(absl::IsInternal(status));
    CHECK_THAT(Message(status), Contains("wrote before it was asked: '"));
    // A fresh process has not written yet.
    CHECK(AnsweredTime(*simulator) == 3);
  }
}

TEST_CASE("a line that does not end is cut off") {
  ExternalOptions options = Faulty("long line");
  options.longest_line = 100'000;
  const absl::Status status = AskAnything(*Make(options)).status();
  CHECK(absl::IsInternal(status));
  CHECK_THAT(Message(status),
             Contains("wrote a line of more than 100000 bytes: 'xxx"));
}

TEST_CASE("a program that reads no more does not take the host with it") {
  const auto simulator = Make(Faulty("closes input"));
  CHECK(AskAnything(*simulator).ok());
  const absl::Status status = AskAnything(*simulator).status();
  CHECK(absl::IsUnavailable(status));
  CHECK(Message(status) ==
        "the process of 'mine' closed its input before it answered");
  // SIGPIPE neither reached this process nor waits for it.
  sigset_t pending;
  REQUIRE(sigpending(&pending) == 0);
  CHECK(sigismember(&pending, SIGPIPE) == 0);
  struct sigaction action = {};
  REQUIRE(sigaction(SIGPIPE, nullptr, &action) == 0);
  CHECK(action.sa_handler == SIG_DFL);
}

TEST_CASE("a program that closes its output is lost") {
  CHECK_THAT(Message(FirstAnswer("closes output")),
             Contains("closed its output before it answered"));
}

TEST_CASE("stderr may be flooded or closed") {
  for (const char* mode : {"much on stderr", "closes stderr", "slowly"}) {
    INFO(mode);
    const auto simulator = Make(Faulty(mode));
    CHECK(AnsweredTime(*simulator) == 1);
    CHECK(AnsweredTime(*simulator) == 2);
  }
}

TEST_CASE("a question longer than a pipe holds arrives") {
  const auto simulator = Make(Faulty("right"));
  Workload workload;
  workload.model.name = std::string(1 << 20, 'm');
  CHECK(simulator->Predict(workload, System(), ParallelConfig()).ok());
}

TEST_CASE("a program that ignores the end of its input is ended") {
  const auto simulator = Make(Faulty("ignores the end"));
  CHECK(AskAnything(*simulator).ok());
}

TEST_CASE("a program has its three descriptors and no other") {
  // Another simulator's pipes are open in this process meanwhile.
  const auto other = Make(Faulty("right"));
  // What the test itself inherited without being asked is inherited further.
  int inherited = 0;
  for (int fd = 3; fd < 256; ++fd) {
    const int flags = fcntl(fd, F_GETFD);
    inherited += flags != -1 && (flags & FD_CLOEXEC) == 0;
  }
  ExternalOptions options = Faulty("descriptors");
  options.name = "";
  CHECK(Make(options)->name() == std::to_string(inherited));
}

TEST_CASE("no process is left behind, not even a dead one") {
  for (const char* mode : {"right", "exit", "garbage"}) {
    const auto simulator = Make(Faulty(mode));
    (void)AskAnything(*simulator);
  }
  errno = 0;
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
}

}  // namespace
}  // namespace lmsimbench
