#include <fmt/core.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "command.h"
#include "lmsimbench/external_simulator.h"
#include "lmsimbench/simulators.h"

namespace {

int Serve(const Program& program, const std::string& name) {
  // What a simulator prints must not come between the answers: stdout becomes
  // stderr, and the answers have a descriptor of their own.
  const int answers = dup(STDOUT_FILENO);
  if (answers < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    return Fail(absl::UnavailableError("stdout and stderr have to be open"));
  }
  const auto bundle = OpenBundle(program);
  if (!bundle.ok()) return Fail(bundle.status());
  const auto simulator = lmsimbench::MakeSimulator(name, *bundle);
  if (!simulator.ok()) return FailLookup(simulator.status());
  const absl::Status status =
      lmsimbench::ServeSimulator(**simulator, STDIN_FILENO, answers);
  return status.ok() ? kAnswered : Fail(status);
}

}  // namespace

void AddServeCommand(CLI::App& app, Program& program) {
  auto name = std::make_shared<std::string>();
  CLI::App* serve = app.add_subcommand(
      "serve",
      "Answer the line protocol of --simulator-command with a simulator");
  serve->fallthrough();
  serve->add_option("--simulator", *name, "Built-in simulator to serve")
      ->type_name("NAME")
      ->required();
  serve->callback([&program, name] {
    program.action = [&program, name] { return Serve(program, *name); };
  });
}
