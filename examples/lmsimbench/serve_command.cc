#include <fmt/core.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "command.h"
#include "lmsimbench/external_simulator.h"
#include "lmsimbench/plugin.h"
#include "lmsimbench/simulators.h"

namespace {

// What is served: one of the two.
struct Options {
  std::string simulator;
  std::string plugin;
};

int Answer(const lmsimbench::Simulator& simulator, int answers) {
  const absl::Status status =
      lmsimbench::ServeSimulator(simulator, STDIN_FILENO, answers);
  return status.ok() ? kAnswered : Fail(status);
}

int ServePlugin(const std::string& file, int answers) {
  const auto plugin = lmsimbench::LoadPlugin(file);
  if (plugin.ok()) return Answer(*plugin->simulator, answers);
  // The host shows why, in place of its own guess.
  const absl::Status told =
      lmsimbench::ServeFailure(plugin.status(), STDIN_FILENO, answers);
  return Fail(told.ok() ? plugin.status() : told);
}

int Serve(const Program& program, const Options& options) {
  // What a simulator prints must not come between the answers: stdout becomes
  // stderr, and the answers have a descriptor of their own.
  const int answers = dup(STDOUT_FILENO);
  if (answers < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    return Fail(absl::UnavailableError("stdout and stderr have to be open"));
  }
  if (!options.plugin.empty()) return ServePlugin(options.plugin, answers);
  const auto bundle = OpenBundle(program);
  if (!bundle.ok()) return Fail(bundle.status());
  const auto simulator = lmsimbench::MakeSimulator(options.simulator, *bundle);
  if (!simulator.ok()) return FailLookup(simulator.status());
  return Answer(**simulator, answers);
}

}  // namespace

void AddServeCommand(CLI::App& app, Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App* serve = app.add_subcommand(
      "serve",
      "Answer the line protocol of --simulator-command with a simulator");
  serve->fallthrough();
  auto* const what = serve->add_option_group("what", "One of");
  what->add_option("--simulator", options->simulator,
                   "Built-in simulator to serve")
      ->type_name("NAME");
  what->add_option("--plugin", options->plugin,
                   "Shared object to serve that exports lmsb_plugin_open")
      ->type_name("FILE");
  what->require_option(1);
  serve->callback([&program, options] {
    program.action = [&program, options] { return Serve(program, *options); };
  });
}
