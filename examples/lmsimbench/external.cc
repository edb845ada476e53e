#include "external.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace {

// A name before '=' is a word: what has another character is a command that
// holds a '='.
bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

std::string Counted(int64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace

std::string TakeName(std::string& argument) {
  const size_t equals = argument.find('=');
  if (equals == std::string::npos || equals == 0 ||
      !std::all_of(argument.begin(),
                   argument.begin() + static_cast<std::ptrdiff_t>(equals),
                   IsNameCharacter)) {
    return "";
  }
  std::string name = argument.substr(0, equals);
  argument.erase(0, equals + 1);
  return name;
}

void AddExternalOptions(CLI::App& command, ExternalArguments& arguments) {
  command
      .add_option("--simulator-command", arguments.commands,
                  "Program to score that speaks the line protocol "
                  "(examples/line_protocol). Divided into words as by a shell, "
                  "with quotes and backslashes, but no shell is run")
      ->type_name("[NAME=]'PROGRAM ARGUMENTS'");
  command
      .add_option("--timeout", arguments.timeout_s,
                  "Seconds that such a program has for a question, and at "
                  "least 60 for its start")
      ->check(CLI::PositiveNumber)
      ->type_name("SECONDS")
      ->capture_default_str();
  command
      .add_option("--restarts", arguments.restarts,
                  "How often it is started again after a crash, a time-out or "
                  "a line that is no answer")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--processes", arguments.processes,
                  "Processes of it that answer at the same time")
      ->check(CLI::Range(1, 1024))
      ->type_name("N")
      ->capture_default_str();
}

absl::StatusOr<std::unique_ptr<lmsimbench::ExternalSimulator>> StartExternal(
    const std::string& command, const ExternalArguments& arguments) {
  std::string line = command;
  std::string name = TakeName(line);
  auto words = lmsimbench::SplitCommand(line);
  if (!words.ok()) return words.status();
  return StartExternal(*std::move(words), arguments, std::move(name));
}

absl::StatusOr<std::unique_ptr<lmsimbench::ExternalSimulator>> StartExternal(
    std::vector<std::string> command, const ExternalArguments& arguments,
    std::string name) {
  lmsimbench::ExternalOptions options;
  options.name = std::move(name);
  options.command = std::move(command);
  options.startup_timeout_s =
      std::max(options.startup_timeout_s, arguments.timeout_s);
  options.timeout_s = arguments.timeout_s;
  options.restarts = arguments.restarts;
  options.processes = arguments.processes;
  return lmsimbench::MakeExternalSimulator(options);
}

std::string CostOfAsking(const std::string& name,
                         const lmsimbench::ExternalSimulator& simulator) {
  const lmsimbench::ExternalStatistics cost = simulator.Statistics();
  std::string line =
      fmt::format("{}: started {} ({:.2f} s), {}", name,
                  Counted(cost.starts, "time", "times"), cost.startup_s,
                  Counted(cost.questions, "question", "questions"));
  if (cost.questions > 0) {
    line +=
        fmt::format(", {:.2f} ms each",
                    cost.waited_s * 1000 / static_cast<double>(cost.questions));
  }
  line += fmt::format(", {}, {}", Counted(cost.crashes, "crash", "crashes"),
                      Counted(cost.timeouts, "time-out", "time-outs"));
  if (cost.garbled > 0) {
    line += ", " + Counted(cost.garbled, "line that was no answer",
                           "lines that were no answers");
  }
  if (cost.not_asked > 0) {
    line += fmt::format(", {} not asked: {} used up",
                        Counted(cost.not_asked, "question", "questions"),
                        Counted(cost.restarts, "restart", "restarts"));
  }
  return line;
}
